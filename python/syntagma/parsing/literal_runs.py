"""The steps of a compiled pattern, and the longest of several runs of literals at a position."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from syntagma.format_schema import PlacedPiece
from syntagma.parsing.text.window import Window

__all__ = ["Following", "LiteralRun", "Op", "longest_first", "run_at"]

OpKind: TypeAlias = Literal["literal", "whitespace", "placeholder"]

Following: TypeAlias = Literal["close", "separator", "argument"]
"""the end of the arguments; a separator; a further argument"""


class Op(msgspec.Struct, frozen=True):
    """A step of a pattern: a literal without whitespace, whitespace (any run or none), or a placeholder."""

    kind: OpKind
    text: str = ""
    marker: bool = False
    """whether it is a whole marker"""
    pieces: tuple[PlacedPiece, ...] = ()
    """the parts of a literal that may be tokens"""


class LiteralRun(NamedTuple):
    """Consecutive literals, with whitespace between them if the steps have some.

    Attributes:
        kind: their meaning.
        ops: literals and whitespace.
    """

    kind: Following
    ops: tuple[Op, ...]

    @property
    def size(self) -> int:
        """Code points, without whitespace."""
        return sum(len(op.text) for op in self.ops)


def longest_first(runs: Iterable[LiteralRun]) -> tuple[LiteralRun, ...]:
    """The runs in the order in which they are tried, since one may begin like a shorter one."""
    return tuple(sorted(runs, key=lambda run: -run.size))


def run_at(window: Window, index: int, runs: tuple[LiteralRun, ...]) -> tuple[LiteralRun | None, int]:
    """Find the first of `runs` that stands at `index`.

    Returns:
        the run, or None; and the index after it, or -1 if the text ends inside a run, so that more text is needed. If
        no more text comes, an incomplete run does not count.
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
    """The index after the literals at `index`; -1: the text ends inside them; None: they do not stand there."""
    text = window.text
    for op in ops:
        if op.kind == "whitespace":
            index = window.after_whitespace(index)
        elif text.startswith(op.text, index) and window.are_markers(index, op.pieces):
            index += len(op.text)
        else:
            return -1 if window.cut_at(index, op.text) else None
    return index
