"""Grammars that are a part of something larger: what is said of them points into the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from syntagma.errors import GrammarError, LimitError, UnsupportedSchema

if TYPE_CHECKING:
    from syntagma.grammars.grammar import Grammar

__all__ = ["placed"]


def placed(pointer: str, read: Callable[[], Grammar]) -> Grammar:
    """What `read` gives; the pointers of its report begin with `pointer`.

    Raises:
        GrammarError, LimitError: those of `read`, whose pointers begin with `pointer`, too.
    """
    try:
        return read().placed(pointer)
    except (GrammarError, LimitError) as error:
        if isinstance(error, UnsupportedSchema):
            error.pointers = {pointer + place: reason for place, reason in error.pointers.items()}
        error.pointer = pointer + (error.pointer or "")
        raise
