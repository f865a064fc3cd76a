"""Several spellings of one literal: the same text in successive calls, with counters for running numbers."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["common_spelling", "differ_by_one", "with_leading_counters", "with_trailing_counters"]


def common_spelling(texts: Sequence[str]) -> str | None:
    """One text with counters for numbers that run from call to call; None if the texts differ elsewhere.

    Args:
        texts: the literal in each call, from the first on.
    """
    spelled = with_leading_counters(texts)
    return spelled[0] if len(set(spelled)) == 1 else None


def with_leading_counters(texts: Sequence[str]) -> list[str]:
    """The texts with counters for running numbers, as far as all texts begin alike."""
    rows = [_split_digits(text) for text in texts]
    for at, column in enumerate(zip(*rows, strict=False)):
        counter = _counter(column)
        for row in rows if counter else ():
            row[at] = counter
        if not counter and len(set(column)) > 1:
            break
    return ["".join(row) for row in rows]


def with_trailing_counters(texts: Sequence[str]) -> list[str]:
    """The texts with counters for running numbers, as far as all texts end alike."""
    rows = [_split_digits(text) for text in texts]
    for at in range(1, 1 + min(map(len, rows))):
        column = [row[-at] for row in rows]
        counter = _counter(column)
        for row in rows if counter else ():
            row[-at] = counter
        if not counter and len(set(column)) > 1:
            break
    return ["".join(row) for row in rows]


def differ_by_one(text: str, other: str) -> bool:
    """Whether two texts differ only in numbers, which are one more in the other."""
    rows = _split_digits(text), _split_digits(other)
    changed = [(one, two) for one, two in zip(*rows, strict=False) if one != two]
    all_count = all(one.isdecimal() and two.isdecimal() and int(one) + 1 == int(two) for one, two in changed)
    return len(rows[0]) == len(rows[1]) and bool(changed) and all_count


def _counter(column: Sequence[str]) -> str:
    """The placeholder for numbers that run from 0 or from 1; empty for other texts."""
    if len(column) > 1:
        if all(piece == str(index) for index, piece in enumerate(column)):
            return "{index}"
        if all(piece == str(index) for index, piece in enumerate(column, 1)):
            return "{ordinal}"
    return ""


def _split_digits(text: str) -> list[str]:
    """The text cut where runs of digits begin and end."""
    pieces: list[str] = []
    for char in text:
        if pieces and pieces[-1][-1].isdecimal() == char.isdecimal():
            pieces[-1] += char
        else:
            pieces.append(char)
    return pieces
