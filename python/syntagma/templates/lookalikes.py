"""Finds and breaks look-alikes of markers in texts of others, for engines that take a prompt as text.

Such an engine reads the text of a special token as this token everywhere. `Prompt.ids` does not have this problem.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

from syntagma.templates.segments import Origin, Segment, joined

__all__ = ["cuts", "lookalikes", "markers_in", "separated"]

_MARKER: Final = re.compile(r"<[^<>\s]+>|\[/?[A-Z][A-Z_0-9]*\]")


def markers_in(segments: Sequence[Segment]) -> frozenset[str]:
    """Likely markers in the template's own text: words in angle brackets, and capitals in square brackets."""
    return frozenset(found for text, origin in segments if origin == "template" for found in _MARKER.findall(text))


def lookalikes(segments: Sequence[Segment], markers: Collection[str]) -> Iterator[tuple[int, int]]:
    """The occurrences of markers that are not completely the template's own text, as half-open ranges."""
    text = "".join(segment.text for segment in segments)
    own: list[tuple[int, int]] = []
    done = 0
    for piece, origin in segments:
        if origin == "template":
            own.append((done, done + len(piece)))
        done += len(piece)
    for marker in markers:
        current = 0
        place = text.find(marker)
        while place >= 0:
            end = place + len(marker)
            while current < len(own) and own[current][1] < end:
                current += 1
            if current == len(own) or own[current][0] > place:
                yield place, end
            place = text.find(marker, place + 1)


def cuts(segments: Sequence[Segment], markers: Collection[str]) -> dict[int, Origin]:
    """Offsets at which look-alikes can be cut, one inside of each, next to text of others; and that text's origin."""
    ends = list(accumulate(len(segment.text) for segment in segments))

    def origin_of(place: int) -> Origin:
        return segments[bisect_right(ends, place)].origin

    found: dict[int, Origin] = {}
    for start, end in lookalikes(segments, markers):
        if (first := origin_of(start)) != "template":
            found[start + 1] = first
        else:
            place = next(place for place in range(start + 1, end) if origin_of(place) != "template")
            found.setdefault(place, origin_of(place))
    return found


def separated(segments: Sequence[Segment], places: Mapping[int, Origin], separator: str) -> tuple[Segment, ...]:
    """The segments with the separator inserted at these offsets, as text of these origins."""
    pieces: list[Segment] = []
    begin = 0
    waiting = sorted(places, reverse=True)
    for text, origin in segments:
        done = 0
        while waiting and waiting[-1] <= begin + len(text):
            place = waiting.pop()
            pieces += (Segment(text[done : place - begin], origin), Segment(separator, places[place]))
            done = place - begin
        pieces.append(Segment(text[done:], origin))
        begin += len(text)
    return joined(pieces)
