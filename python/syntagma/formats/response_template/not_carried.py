"""What a translation between a format and a response template leaves behind."""

from __future__ import annotations

import msgspec

__all__ = ["NotCarried"]


class NotCarried(msgspec.Struct, frozen=True):
    """Something that the other side cannot say.

    Attributes:
        pointer: JSON pointer of what it is, in what was read: the template, or the tables of the format.
        reason: why, in a few words.
    """

    pointer: str
    reason: str
