"""Grammars that are a part of something larger: the JSON pointers in their reports and errors point into the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self, TypeVar

from syntagma.errors import ArgumentError, GrammarError, LimitError, UnsupportedSchema

__all__ = ["HasPointers", "with_pointer_prefix"]


class HasPointers(Protocol):
    """A grammar, as far as its pointers are concerned."""

    def with_pointer_prefix(self, pointer: str) -> Self:
        """The same grammar; the pointers of its report begin with `pointer`."""
        ...


G = TypeVar("G", bound=HasPointers)


def with_pointer_prefix(pointer: str, read: Callable[[], G]) -> G:
    """The grammar that `read` gives; the pointers of its report begin with `pointer`.

    Raises:
        ArgumentError, GrammarError, LimitError: those of `read`, whose pointers begin with `pointer`, too.
    """
    try:
        return read().with_pointer_prefix(pointer)
    except (ArgumentError, GrammarError, LimitError) as error:
        if isinstance(error, UnsupportedSchema):
            error.pointers = {pointer + inner: reason for inner, reason in error.pointers.items()}
        error.pointer = pointer + (error.pointer or "")
        raise
