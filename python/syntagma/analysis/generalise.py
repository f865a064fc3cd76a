"""Several spellings of one literal, made one: a tool's name becomes `{name}`, a running number becomes a counter."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["generalise", "split_digits"]


def generalise(texts: Sequence[str], names: Sequence[str]) -> str | None:
    """One pattern text for the same literal in calls 1, 2, …; None if they differ in more than names and counters.

    Args:
        texts: the literal as it stands in each call, in order.
        names: the calls' tool names.
    """
    named = [text.replace(name, "{name}") for text, name in zip(texts, names, strict=True)]
    if len(set(named)) <= 1:
        return named[0] if named else None
    rows = [split_digits(text) for text in named]
    if len({len(row) for row in rows}) != 1:
        return None
    made: list[str] = []
    for column in zip(*rows, strict=True):
        if len(set(column)) == 1:
            made.append(column[0])
        elif all(piece == str(index) for index, piece in enumerate(column)):
            made.append("{index}")
        elif all(piece == str(index + 1) for index, piece in enumerate(column)):
            made.append("{ordinal}")
        else:
            return None
    return "".join(made)


def split_digits(text: str) -> list[str]:
    """The text cut where runs of digits begin and end."""
    pieces: list[str] = []
    for char in text:
        if pieces and pieces[-1][-1].isdecimal() == char.isdecimal():
            pieces[-1] += char
        else:
            pieces.append(char)
    return pieces
