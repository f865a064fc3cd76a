"""The options of a parser, beside what the request says."""

from __future__ import annotations

import msgspec

from syntagma.parsing.policies import Policies
from syntagma.request import SharedOptions

__all__ = ["ParserOptions", "ReadingOptions"]


class ReadingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How text is read; the request is not asked.

    Attributes:
        id_seed: what the ids of calls that have none are made of; the same seed gives the same ids. None: random.
        stream_reasoning: False: reasoning comes in one piece, when it is over.
        policies: what happens where there is more than one right answer.
        keep_raw: keep the text, for `StreamParser.raw`.
        strict: raise at the first thing that is malformed instead of recovering.
    """

    id_seed: str | None = None
    stream_reasoning: bool = True
    policies: Policies = Policies()
    keep_raw: bool = True
    strict: bool = False


class ParserOptions(SharedOptions, total=False):
    """Keyword arguments of `StreamParser`, `ChatFormat.parser` and `ChatFormat.parse`, with those of `SharedOptions`.

    Attributes:
        prompt: the rendered prompt, whose tail says what is open already: an `sg.Prompt`, or a plain string. None:
            there is none.
        id_seed: what the ids of calls that have none are made of; the same seed gives the same ids. None (the
            default): random.
        stream_reasoning: False: reasoning comes in one piece, when it is over.
        policies: what happens where there is more than one right answer.
        keep_raw: keep the text, for `StreamParser.raw`. The default is True.
        strict: raise at the first thing that is malformed instead of recovering.
    """

    prompt: str | None
    id_seed: str | None
    stream_reasoning: bool
    policies: Policies
    keep_raw: bool
    strict: bool
