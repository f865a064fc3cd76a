"""Strings that know the origin of each character."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from markupsafe import Markup

__all__ = ["TEMPLATE", "Run", "Traced", "cut", "encodable", "is_traced", "only", "runs_of", "traced", "whole"]

Run: TypeAlias = tuple[int, str | None]
"""a number of code points and their origin; None: unknown, and therefore not trusted"""

TEMPLATE: Final = "template"
"""the origin of the template's own text"""


class Traced(str):
    """A string with the origin of each character. Immutable. Every operation but subscripts gives a plain string.

    A plain string has an unknown origin, so an operation without a derivation can lose trust but never add it.

    Attributes:
        runs: lengths and origins, in order. The lengths add up to the length of the string.
    """

    __slots__ = ("runs",)

    runs: tuple[Run, ...]

    def __getitem__(self, key: Any) -> str:
        """A character or a slice, with its origins."""
        return _subscript(self, key, str.__getitem__(self, key))


class _TracedMarkup(Markup):
    """A traced `Markup`. Its operations return instances of this class without runs."""

    __slots__ = ("runs",)

    runs: tuple[Run, ...]

    def __getitem__(self, key: Any) -> Any:
        return _subscript(self, key, Markup(str.__getitem__(self, key)))


def _subscript(text: str, key: Any, result: str) -> str:
    runs = runs_of(text)
    if len(runs) == 1:
        return whole(result, runs[0][1])
    if not isinstance(key, slice):
        place = key.__index__() % len(text)
        return traced(result, cut(runs, place, place + 1))
    start, stop, step = key.indices(len(text))
    return traced(result, cut(runs, start, stop)) if step == 1 else result


def traced(text: str, runs: Iterable[Run]) -> str:
    """The text with these origins; unchanged if their lengths do not add up to its length."""
    merged: list[Run] = []
    total = 0
    for length, origin in runs:
        if not length:
            continue
        total += length
        if merged and merged[-1][1] == origin:
            merged[-1] = merged[-1][0] + length, origin
        else:
            merged.append((length, origin))
    if total != len(text):
        return text
    return _made(text, tuple(merged))


def whole(text: str, origin: str | None) -> str:
    """The text with one origin."""
    return _made(text, ((len(text), origin),)) if text else text


def _made(text: str, runs: tuple[Run, ...]) -> str:
    made: Any = _TracedMarkup(text) if isinstance(text, Markup) else str.__new__(Traced, text)
    made.runs = runs
    return made  # type: ignore[no-any-return]


def is_traced(text: str) -> bool:
    """Whether the origins of a string are known."""
    return hasattr(text, "runs")


def runs_of(text: str) -> tuple[Run, ...]:
    """The runs of any string."""
    runs: tuple[Run, ...] | None = getattr(text, "runs", None)
    if runs is not None:
        return runs
    return ((len(text), None),) if text else ()


def only(text: str) -> tuple[str | None] | None:
    """The only origin of a string, in a tuple; None if it has none or several."""
    runs = runs_of(text)
    return (runs[0][1],) if len(runs) == 1 else None


def cut(runs: Iterable[Run], start: int, stop: int) -> Iterator[Run]:
    """The runs of `text[start:stop]`, for offsets that are not negative."""
    done = 0
    for length, origin in runs:
        inside = min(stop, done + length) - max(start, done)
        if inside > 0:
            yield inside, origin
        done += length
        if done >= stop:
            return


def encodable(text: str) -> str:
    """The string without surrogates, which JSON can contain: a lone one becomes U+FFFD, a pair its character."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return traced(whole, _paired(text)) if isinstance(text, Traced) else whole
    return text


def _paired(text: Traced) -> Iterator[Run]:
    """One run per character. A pair of surrogates is one character, and the template's only if both halves are."""
    origins = [origin for length, origin in text.runs for _ in range(length)]
    place = 0
    while place < len(text):
        pair = "\ud800" <= text[place] <= "\udbff" and "\udc00" <= text[place + 1 : place + 2] <= "\udfff"
        both = origins[place : place + 1 + pair]
        yield 1, next((origin for origin in both if origin != TEMPLATE), TEMPLATE)
        place += len(both)
