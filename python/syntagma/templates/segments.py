"""Segments: a prompt in pieces, each with the origin of its text."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import Final, Literal, NamedTuple, TypeAlias

from syntagma.templates.sandbox import TEMPLATE, Traced

__all__ = ["Origin", "Segment", "joined", "segments_of"]

Origin: TypeAlias = Literal["template", "system", "user", "assistant", "tool"]
"""Who a text is from. Declared tools and documents count as `tool`, template variables as `system`."""

_LEAST_TRUSTED: Final = "user"


class Segment(NamedTuple):
    """A piece of a prompt.

    Attributes:
        text: the piece.
        origin: `template`: the template wrote it, or it is one of its tokens or the name of a role. Anything else is
            the text of others, whose look-alikes of control tokens are text.
    """

    text: str
    origin: Origin


def segments_of(text: str, traced: str) -> tuple[Segment, ...]:
    """The segments of a prompt, neighbours of different origin; they add up to `text`.

    Args:
        text: the prompt.
        traced: the same prompt, rendered with origins. If it is another text, as with a template that draws lots, no
            origin is known and nothing counts as the template's.
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
    """The same text in as few segments as there can be."""
    groups = groupby((piece for piece in pieces if piece.text), key=attrgetter("origin"))
    return tuple(Segment("".join(piece.text for piece in group), origin) for origin, group in groups)


def _known(runs: Iterable[tuple[int, str | None]]) -> list[tuple[int, Origin]]:
    """The runs; text of unknown origin is taken for that of the others before it, or after it."""
    found: list[tuple[int, Origin]] = []
    runs = list(runs)
    others = [origin for _, origin in runs if origin is not None and origin != TEMPLATE]
    last = others[0] if others else _LEAST_TRUSTED
    for length, origin in runs:
        if origin is not None and origin != TEMPLATE:
            last = origin
        found.append((length, last if origin is None else origin))  # type: ignore[arg-type]
    return found
