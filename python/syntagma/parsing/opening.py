"""How far text goes along with the beginning of a call, in one look: most markers in prose begin none."""

from __future__ import annotations

import re
from typing import NamedTuple

from syntagma.format_schema.names import DIGITS, IN_NAME, IN_WORD
from syntagma.parsing.call_patterns import Alternative, Op

__all__ = ["Opening"]

_FAR = 128
"""code points, at most, that one look takes in; what goes farther is left to a race"""
_BLANKS = re.compile(r"\s*")
_NAME = re.compile(IN_NAME + "*")
_DIGITS = re.compile(f"[{DIGITS}]*")
_OTHER = re.compile(IN_WORD + "*")
_HELD = {"name": _NAME, "suffix": _NAME, "index": _DIGITS, "ordinal": _DIGITS}


class _Step(NamedTuple):
    """A literal, blanks or a capture."""

    literal: str = ""
    held: re.Pattern[str] = _BLANKS
    ends: tuple[str, ...] = ()
    """what ends the capture"""
    least: int = 0
    is_name: bool = False
    names_element: bool = False


class Opening:
    """The beginning of one alternative, up to where its arguments may stand.

    It says what a cursor that reads the same text would say, but only where the text at hand decides.
    """

    __slots__ = ("_gate", "_margin", "_steps", "alternative")

    def __init__(self, alternative: Alternative) -> None:
        self.alternative = alternative
        self._steps: list[_Step] = []
        self._gate: frozenset[str] | None = None
        for at, op in enumerate(alternative.ops):
            if op.kind == "whitespace":
                self._steps.append(_Step())
            elif op.kind == "literal":
                self._steps.append(_Step(op.text))
            elif op.text in ("arguments", "envelope", "value"):
                self._gate = _begins(alternative, op)
                break
            elif op.text == "name" and any(step.is_name for step in self._steps):
                break  # the same name again: a race compares them
            else:
                self._steps.append(_captured(alternative, at))
        self._margin = max(1, *(len(step.literal) for step in self._steps))

    def dies(self, text: str, index: int) -> tuple[int, bool] | None:
        """Where the text from `index` on stops to be this call, and whether its name was read; None: a race decides."""
        pos, named = index, False
        room = min(len(text) - self._margin, index + _FAR)
        for literal, held, ends, least, is_name, names_element in self._steps:
            if literal:
                if not text.startswith(literal, pos):
                    break
                pos += len(literal)
                continue
            match = held.match(text, pos, room + 1)
            end = pos if match is None else match.end()
            for one in ends:
                found = text.find(one, pos, end + len(one))
                end = end if found < 0 else found
            if end - pos < least or (names_element and text[pos] == "/"):
                break
            pos, named = end, named or is_name
        else:
            if self._gate is None or pos > room or text[pos] in self._gate:
                return None
        return (pos, named) if pos <= room else None


def _begins(alternative: Alternative, op: Op) -> frozenset[str] | None:
    """What the arguments, or their end, may begin with; None: anything."""
    if op.text == "envelope":
        return frozenset("{")
    if op.text == "value" or alternative.form.values == "literal":
        return None
    ends = (*alternative.decisive[:1], *alternative.ends)
    return frozenset(("{", *(one.text[0] for one in ends)))


def _captured(alternative: Alternative, at: int) -> _Step:
    """What a cursor takes for the capture at this step."""
    placeholder = alternative.ops[at].text
    return _Step(
        held=_HELD.get(placeholder, _OTHER),
        ends=alternative.followers(at),
        least=int(placeholder != "suffix"),
        is_name=placeholder == "name",
        names_element=placeholder not in ("index", "ordinal") and alternative.names_element(at),
    )
