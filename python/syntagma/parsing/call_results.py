"""What reading a part of a call comes to: one of three results.

* `NEED_MORE`: the text at hand decides nothing further; read again with more of it.
* `Call`: there is a call, and this is how its part ended.
* `NotACall`: what looked like a call is none.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal, NamedTuple, TypeAlias

from syntagma.parsing.call_patterns import Op, Section

__all__ = ["NEED_MORE", "Call", "NeedMore", "NotACall"]


class NeedMore(Enum):
    """More text is needed."""

    NEED_MORE = "need more"


NEED_MORE = NeedMore.NEED_MORE

Ending: TypeAlias = Literal["begun", "whole", "unreadable", "truncated"]


class Call(NamedTuple):
    """A call.

    Attributes:
        ending: `begun`: it is certain which call it is, and its arguments come; `whole`: its arguments, or its object,
            are over; `unreadable`: the next character cannot belong to the arguments; `truncated`: the text has ended.
    """

    ending: Ending


class NotACall(NamedTuple):
    """What looked like a call.

    Attributes:
        start: absolute position where it began.
        end: absolute position up to which it looked like one.
        code: the diagnostic, where it was meant as a call; else None.
        section: the section whose opener was read, or None.
        closers: what closes such a call, where it was meant as one.
        is_malformed: it was meant as a call and is none; False where it is one of a tool that is left in content.
        object_end: absolute position after a whole object that is no call, where calls are bare objects; or None.
    """

    start: int
    end: int
    code: str | None
    section: Section | None
    closers: tuple[Op, ...]
    is_malformed: bool
    object_end: int | None = None
