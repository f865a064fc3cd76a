"""Segments: the pieces of a prompt, each with the origin of its text."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import Final, Literal, NamedTuple, TypeAlias

from syntagma.templates.sandbox import TEMPLATE, Traced

__all__ = ["Origin", "Segment", "joined", "segments_of"]

Origin: TypeAlias = Literal["template", "system", "user", "assistant", "tool"]
"""the source of a text; declared tools and documents count as `tool`, template variables as `system`"""

_LEAST_TRUSTED: Final = "user"


class Segment(NamedTuple):
    """A piece of a prompt.

    Attributes:
        text: the piece.
        origin: `template` for text of the template itself, its tokens and the names of roles. All else is text of
            others, in which look-alikes of control tokens are only text.
    """

    text: str
    origin: Origin


def segments_of(text: str, traced: str) -> tuple[Segment, ...]:
    """The segments of a prompt. Adjacent segments have different origins; together they are `text`.

    Args:
        text: the prompt.
        traced: the same prompt, rendered with origins. If its text differs, for example because the template uses
            random numbers, no origin is known, and no text counts as the template's.
    """
    if not text:
        return ()
    if not isinstance(traced, Traced) or traced != text:
        return (Segment(text, _LEAST_TRUSTED),)
    pieces: list[Segment] = []
    done = 0
    for length, origin in _known(traced.runs):
        pieces.append(Segment(text[done : done + length], origin))
        done += length
    return joined(pieces)


def joined(pieces: Iterable[Segment]) -> tuple[Segment, ...]:
    """The same text with adjacent segments of one origin joined."""
    groups = groupby((piece for piece in pieces if piece.text), key=attrgetter("origin"))
    return tuple(Segment("".join(piece.text for piece in group), origin) for origin, group in groups)


def _known(runs: Iterable[tuple[int, str | None]]) -> list[tuple[int, Origin]]:
    """The runs, in which text of unknown origin gets the origin of the nearest text of others before it, or after."""
    found: list[tuple[int, Origin]] = []
    runs = list(runs)
    others = [origin for _, origin in runs if origin is not None and origin != TEMPLATE]
    last = others[0] if others else _LEAST_TRUSTED
    for length, origin in runs:
        if origin is not None and origin != TEMPLATE:
            last = origin
        found.append((length, last if origin is None else origin))  # type: ignore[arg-type]
    return found
