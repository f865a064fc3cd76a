"""The steps of a compiled pattern, and which of several runs of literals stands at a place: the longest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from syntagma.format_schema import PlacedPiece
from syntagma.parsing.text.window import Window

__all__ = ["Following", "LiteralRun", "Op", "longest_first", "run_at"]

OpKind: TypeAlias = Literal["literal", "whitespace", "placeholder"]

Following: TypeAlias = Literal["close", "separator", "argument"]
"""the arguments are over; a separator; a further argument"""


class Op(msgspec.Struct, frozen=True):
    """A step of a pattern: a literal without whitespace, whitespace (any run or none), or a placeholder."""

    kind: OpKind
    text: str = ""
    marker: bool = False
    """a whole marker"""
    pieces: tuple[PlacedPiece, ...] = ()
    """of a literal: what may be tokens"""


class LiteralRun(NamedTuple):
    """Literals that follow each other, with whitespace between them where the steps have some.

    Attributes:
        kind: what they stand for.
        ops: literals and whitespace.
    """

    kind: Following
    ops: tuple[Op, ...]

    @property
    def size(self) -> int:
        """Code points, without whitespace."""
        return sum(len(op.text) for op in self.ops)


def longest_first(runs: Iterable[LiteralRun]) -> tuple[LiteralRun, ...]:
    """The runs in the order in which they are tried: one may begin as a shorter one does."""
    return tuple(sorted(runs, key=lambda run: -run.size))


def run_at(window: Window, index: int, runs: tuple[LiteralRun, ...]) -> tuple[LiteralRun | None, int]:
    """The first of `runs` that stands at `index`.

    Returns:
        the run, None if none stands there; and the index after it, or -1 where the text ends inside of a run, so that
        more of it decides. Where no more text comes, a run that the text ends inside of does not stand there.
    """
    is_cut = False
    for run in runs:
        if is_cut and not (window.is_final and run.size):
            break
        after = _after(window, index, run.ops)
        if after is not None and after >= 0:
            return run, after
        is_cut = is_cut or after is not None
    return None, -1 if is_cut else index


def _after(window: Window, index: int, ops: tuple[Op, ...]) -> int | None:
    """The index after the literals at `index`; -1: the text ends inside of them; None: they do not stand there."""
    text = window.text
    for op in ops:
        if op.kind == "whitespace":
            index = window.after_whitespace(index)
        elif text.startswith(op.text, index) and window.are_markers(index, op.pieces):
            index += len(op.text)
        else:
            return -1 if window.cut_at(index, op.text) else None
    return index
