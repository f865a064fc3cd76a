"""How far text goes along with the beginning of a call, in one look: most markers in prose begin none."""

from __future__ import annotations

import re

from syntagma.parsing.patterns import Alternative, Op

__all__ = ["Opening"]

_FAR = 128
"""code points, at most, that one look takes in; what goes farther is left to a race"""
_HELD = {
    "name": r"[^\s<>{}()\[\]\"',=]",
    "suffix": r"[^\s<>{}()\[\]\"',=]",
    "index": "[0-9]",
    "ordinal": "[0-9]",
}
_OTHERS = r"[^\s<>{}()\[\]\"']"


class Opening:
    """The beginning of one alternative, up to where its arguments may stand.

    It says what a cursor that reads the same text would say, but only where the text at hand decides.
    """

    __slots__ = ("_gate", "_margin", "_pattern", "alternative")

    def __init__(self, alternative: Alternative) -> None:
        self.alternative = alternative
        parts: list[str] = []
        self._margin = 1
        self._gate: frozenset[str] | None = None
        for at, op in enumerate(alternative.ops):
            if op.kind == "blank":
                parts.append(r"\s*")
            elif op.kind == "literal":
                parts.append(re.escape(op.text))
                self._margin = max(self._margin, len(op.text))
            elif op.text in ("arguments", "envelope", "value"):
                self._gate = _begins(alternative, op)
                break
            elif op.text == "name" and any(part.startswith("(?P<name>") for part in parts):
                break  # the same name again: a race compares them
            else:
                parts.append(_captured(alternative, at))
        inner = "(?:".join([*parts, "(?P<gate>)"]) + ")?" * len(parts)
        self._pattern = re.compile(inner if "(?P<name>" in inner else inner + "(?P<name>)?")

    def dies(self, text: str, index: int) -> tuple[int, bool] | None:
        """Where the text from `index` on stops to be this call, and whether its name was read; None: a race decides."""
        match = self._pattern.match(text, index)
        if match is None:
            return None
        end = match.end()
        if end + self._margin > len(text) or end - index >= _FAR:
            return None
        if match["gate"] is not None and (self._gate is None or text[end] in self._gate):
            return None
        return end, bool(match["name"])


def _begins(alternative: Alternative, op: Op) -> frozenset[str] | None:
    """What the arguments, or their end, may begin with; None: anything."""
    if op.text == "envelope":
        return frozenset("{")
    if op.text == "value" or alternative.form.values == "literal":
        return None
    ends = (*alternative.decisive[:1], *alternative.ends)
    return frozenset(("{", *(one.text[0] for one in ends)))


def _captured(alternative: Alternative, at: int) -> str:
    """What a cursor takes for the capture at this step."""
    hole = alternative.ops[at].text
    held = _HELD.get(hole, _OTHERS)
    not_first = "(?!/)" if hole not in ("index", "ordinal") and alternative.names_element(at) else ""
    ends = [one for one in alternative.followers(at) if re.match(held, one)]
    if ends:
        held = f"(?:(?!{'|'.join(map(re.escape, ends))}){held})"
    text = f"{not_first}{held}{{{int(hole != 'suffix')},{_FAR}}}"
    return f"(?P<name>{text})" if hole == "name" else text
