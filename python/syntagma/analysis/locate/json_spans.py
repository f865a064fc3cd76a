"""JSON values and their positions in the text of a rendered call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from syntagma.json_types import WHITESPACE

__all__ = ["JsonSpan", "read_json", "values_around"]

_DECODER = json.JSONDecoder()


class JsonSpan(msgspec.Struct, frozen=True):
    """A JSON value in a text: half-open range of code points, decoded value, and inner values.

    `members` has (key, key's start, key's end, value) for objects, `items` the elements of arrays.
    """

    start: int
    end: int
    value: Any
    members: tuple[tuple[str, int, int, JsonSpan], ...] = ()
    items: tuple[JsonSpan, ...] = ()

    def walk(self) -> Iterator[JsonSpan]:
        """The value itself and every value inside, outer before inner."""
        waiting = [self]
        while waiting:
            span = waiting.pop(0)
            yield span
            waiting += [member[3] for member in span.members]
            waiting += span.items

    def holds(self, text: str) -> bool:
        """Whether a key or a string value is exactly `text`."""
        return any(span.value == text or any(key == text for key, _, _, _ in span.members) for span in self.walk())


def read_json(text: str, at: int) -> JsonSpan | None:
    """The object or array that begins at `at`, or None if none decodes there."""
    try:
        _, end = _DECODER.raw_decode(text, at)
        return _span(text, at)[0] if end > at else None
    except (ValueError, RecursionError):
        return None


def values_around(text: str, at: int, stop: int) -> Iterator[JsonSpan]:
    """Objects and arrays that begin in `text[at:stop]`, outermost and leftmost first."""
    for start in range(at, stop):
        if text[start] in "{[":
            span = read_json(text, start)
            if span is not None:
                yield span


def _skip_whitespace(text: str, at: int) -> int:
    while at < len(text) and text[at] in WHITESPACE:
        at += 1
    return at


def _span(text: str, at: int) -> tuple[JsonSpan, int]:
    """The value at `at`, which must decode, and its end."""
    value, end = _DECODER.raw_decode(text, at)
    if text[at] == "[":
        items: list[JsonSpan] = []
        place = _skip_whitespace(text, at + 1)
        while text[place] != "]":
            item, place = _span(text, place)
            items.append(item)
            place = _skip_whitespace(text, place)
            if text[place] == ",":
                place = _skip_whitespace(text, place + 1)
        return JsonSpan(at, end, value, (), tuple(items)), end
    if text[at] == "{":
        members: list[tuple[str, int, int, JsonSpan]] = []
        place = _skip_whitespace(text, at + 1)
        while text[place] != "}":
            key, key_end = _DECODER.raw_decode(text, place)
            inner, after = _span(text, _skip_whitespace(text, _skip_whitespace(text, key_end) + 1))
            members.append((key, place, key_end, inner))
            place = _skip_whitespace(text, after)
            if text[place] == ",":
                place = _skip_whitespace(text, place + 1)
        return JsonSpan(at, end, value, tuple(members), ()), end
    return JsonSpan(at, end, value), end
