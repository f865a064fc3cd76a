"""The options of a parser, beside those of the request."""

from __future__ import annotations

import msgspec

from syntagma.parsing.policies import Policies
from syntagma.request import SharedOptions

__all__ = ["ParserOptions", "ReadingOptions"]


class ReadingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of reading that do not come from the request.

    Attributes:
        id_seed: the seed of the ids of calls that have none; the same seed gives the same ids. None: random.
        stream_reasoning: whether reasoning comes as it is read; if not, in one piece at its end.
        policies: choices where more than one answer is right.
        keep_raw: whether to keep the text, for `StreamParser.raw`.
        strict: whether to raise at the first malformed text instead of recovering.
    """

    id_seed: str | None = None
    stream_reasoning: bool = True
    policies: Policies = Policies()
    keep_raw: bool = True
    strict: bool = False


class ParserOptions(SharedOptions, total=False):
    """Keyword arguments of `StreamParser`, `ChatFormat.parser` and `ChatFormat.parse`, with those of `SharedOptions`.

    Attributes:
        prompt: the rendered prompt, whose tail shows what is open already: an `sg.Prompt`, or a plain string. None:
            there is none.
        id_seed: the seed of the ids of calls that have none; the same seed gives the same ids. None (the default):
            random.
        stream_reasoning: whether reasoning comes as it is read; if not, in one piece at its end. The default is True.
        policies: choices where more than one answer is right.
        keep_raw: whether to keep the text, for `StreamParser.raw`. The default is True.
        strict: whether to raise at the first malformed text instead of recovering. The default is False.
    """

    prompt: str | None
    id_seed: str | None
    stream_reasoning: bool
    policies: Policies
    keep_raw: bool
    strict: bool
