"""How a grammar was put together, for those who write it in another language."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

__all__ = ["How", "Made", "Recorded"]

How: TypeAlias = Literal[
    "literal",
    "marker",
    "text",
    "regex",
    "schema",
    "token",
    "token_ids",
    "token_except",
    "union",
    "concat",
    "repeat",
    "label",
]
Recorded: TypeAlias = tuple[How, Any, tuple[Any, ...]] | None
"""What a grammar remembers of itself, the fields of `Made` as a bare tuple: thousands are made for one request.
None: it was read from text."""


class Made(NamedTuple):
    """A grammar that was made of plain data, or of other grammars.

    Attributes:
        how: the method of `Grammar` that made it.
        value: the data, as the method takes it.
        parts: the other grammars.
    """

    how: How
    value: Any
    parts: tuple[Any, ...]

    @classmethod
    def of(cls, recorded: Recorded) -> Made | None:
        """What is recorded, with names; None: nothing is."""
        return None if recorded is None else cls(*recorded)
