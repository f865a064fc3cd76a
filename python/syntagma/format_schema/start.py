"""The start state: where in a turn the output begins."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["StartState"]


class StartState(msgspec.Struct, frozen=True, kw_only=True):
    """The state before the first character of output, from the prompt, the caller or the format.

    Attributes:
        reasoning: `possible`: a block may come; `open`: inside one; `done`: reasoning is over or off, no block may
            come.
        opener: the opener of the reasoning, if the format has several blocks and it is known; else empty.
        content_open: whether the prompt already holds the opener of the content's wrapper, or part of the answer.
        pending: the rest of a literal of the format that the prompt has begun; the output must continue with it.
        begun: the beginning, in the prompt, of a literal that is not known yet: of a call, or one of several.
    """

    reasoning: Literal["possible", "open", "done"] = "possible"
    opener: str = ""
    content_open: bool = False
    pending: str = ""
    begun: str = ""
