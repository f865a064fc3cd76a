"""The results of reading a part of a call.

* `NEED_MORE`: the available text is not enough; read again when more has come.
* `Call`: there is a call, and this part of it is read.
* `NotACall`: the text looked like a call, but is none.
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
    """A part of a call was read.

    Attributes:
        ending: `begun`: the call is committed, and its arguments come next; `whole`: its arguments, or its object, are
            complete; `unreadable`: the next character cannot belong to the arguments; `truncated`: the text has ended.
    """

    ending: Ending


class NotACall(NamedTuple):
    """Text that looked like a call.

    Attributes:
        start: absolute position where it began.
        end: absolute position up to which it looked like one.
        code: the code of the diagnostic, if it was meant as a call; else None.
        section: the section whose opener was read, or None.
        closers: the literals that close such a call, if it was meant as one.
        is_malformed: whether it was meant as a call and is none; False for a call whose tool is left in content.
        object_end: absolute position after a complete object that is no call, where calls are bare objects; or None.
    """

    start: int
    end: int
    code: str | None
    section: Section | None
    closers: tuple[Op, ...]
    is_malformed: bool
    object_end: int | None = None
