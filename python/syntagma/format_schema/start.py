"""Where in a turn the output begins: what the prompt, the caller or the format says before the first character."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["StartState"]


class StartState(msgspec.Struct, frozen=True, kw_only=True):
    """The state before the first character of output.

    Attributes:
        reasoning: `possible`: a block may come; `open`: inside one; `done`: over, or off, no block may come.
        opener: what has opened the reasoning, where the format has several blocks and it is known; else empty.
        content_open: the prompt already holds the opener of the content's wrapper, or part of the answer.
        pending: the rest of a literal of the format that the prompt has begun; the output must go on with it.
        begun: what the prompt holds of a literal that is not known yet: of a call, or one of several.
    """

    reasoning: Literal["possible", "open", "done"] = "possible"
    opener: str = ""
    content_open: bool = False
    pending: str = ""
    begun: str = ""
