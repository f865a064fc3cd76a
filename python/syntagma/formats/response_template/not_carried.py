"""The losses of a translation between a format and a response template."""

from __future__ import annotations

import msgspec

__all__ = ["NotCarried"]


class NotCarried(msgspec.Struct, frozen=True):
    """Something that the other representation cannot express.

    Attributes:
        pointer: JSON pointer into the source: the template, or the tables of the format.
        reason: why, in a few words.
    """

    pointer: str
    reason: str
