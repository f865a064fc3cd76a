"""How a grammar was put together, for those who write it in another language."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

__all__ = ["How", "Made"]

How: TypeAlias = Literal[
    "literal", "marker", "text", "regex", "schema", "token", "token_except", "union", "concat", "repeat", "label"
]


class Made(NamedTuple):
    """A grammar that was made of plain data, or of other grammars.

    Attributes:
        how: the method of `Grammar` that made it.
        value: the data, as the method takes it.
        parts: the other grammars.
    """

    how: How
    value: Any = None
    parts: tuple[Any, ...] = ()
