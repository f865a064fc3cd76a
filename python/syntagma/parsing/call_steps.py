"""The steps of a call's pattern, for both readers of its beginning.

`CallMatcher` follows the steps as text arrives. `CallSteps.ruled_out` is a cheap check of the available text after a
marker, since most markers in prose begin no call. What a step accepts is decided here, for both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from syntagma.format_schema import PlacedPiece
from syntagma.format_schema.names import DIGITS, IN_NAME, IN_WORD
from syntagma.parsing.misspelt import end_of_spelling
from syntagma.parsing.repairs import Repair
from syntagma.parsing.text.scanner import is_cut

__all__ = ["CallSteps", "Slip", "Step", "characters_of"]

_NAME = re.compile(IN_NAME + "*")
_DIGITS = re.compile(f"[{DIGITS}]*")
_WORD = re.compile(IN_WORD + "*")
_WHITESPACE = re.compile(r"\s*")
_CAPTURES = {"name": _NAME, "index": _DIGITS, "ordinal": _DIGITS}
"""the characters of captures; all others are words without brackets and quotes"""
_MAX_LOOK = 128
"""the most code points that `ruled_out` reads"""


class Step(NamedTuple):
    """One step.

    Attributes:
        kind: a `literal`; `whitespace`, which is optional; a `capture`; or the place of the `envelope`, the
            `arguments` or the first `value`.
        text: the literal, or the name of the capture.
        pieces: the parts of the literal that may be tokens.
        characters: the characters of the capture.
        ends: the literals that end the capture; empty: any other character ends it.
        is_element: whether the capture is the name of an element, which does not begin with a slash.
        is_repeated: whether the name was captured before, and must be the same.
        first_chars: the first characters of the envelope, the arguments or the end of these; None: any.
    """

    kind: Literal["literal", "whitespace", "capture", "envelope", "arguments", "value"]
    text: str = ""
    pieces: tuple[PlacedPiece, ...] = ()
    characters: re.Pattern[str] = _WORD
    ends: tuple[str, ...] = ()
    is_element: bool = False
    is_repeated: bool = False
    first_chars: frozenset[str] | None = None

    def end_of_capture(self, text: str, index: int, limit: int) -> int:
        """The index after the capture in `text[index:limit]`; if it is `limit`, the capture may go on.

        A literal that ends it counts if it begins before `limit`.
        """
        match = self.characters.match(text, index, limit)
        end = index if match is None else match.end()
        found = (text.find(one, index, end + len(one)) for one in self.ends)
        return min((at for at in found if at >= 0), default=end)

    def refuses(self, text: str, index: int) -> bool:
        """Whether the capture cannot begin at this index, although it may contain the character."""
        return self.is_element and text.startswith("/", index)


def characters_of(capture: str) -> re.Pattern[str]:
    """The characters of the capture of this name."""
    return _CAPTURES.get(capture, _WORD)


class Slip(NamedTuple):
    """Something that is missing or written twice, before the arguments.

    Attributes:
        repair: what it is; None: more text decides.
        at: the step that comes next.
        pos: the index after it.
    """

    repair: Repair | None
    at: int
    pos: int


class CallSteps:
    """The steps of one pattern of a call, up to and including the place of its arguments.

    Args:
        steps: the steps.
        opener: how many of them open its section, up to the last that has a letter.

    Attributes:
        steps: the steps.
    """

    __slots__ = ("_longest", "_opener", "_rows", "_without_type", "steps")

    def __init__(self, steps: tuple[Step, ...], opener: int = 0) -> None:
        self.steps = steps
        self._opener = opener
        self._longest = max([1, *(len(step.text) for step in steps if step.kind == "literal")])
        self._without_type = dict(_without_type(steps))
        # The literal of each step, and the step if it is neither a literal nor whitespace.
        self._rows = tuple(
            (step.text if step.kind == "literal" else "", None if step.kind in ("literal", "whitespace") else step)
            for step in steps
        )

    def may_begin(self, text: str, pos: int) -> bool:
        """Whether the text follows the steps up to the first capture or the arguments, as far as it goes."""
        for at, (literal, step) in enumerate(self._rows):
            if literal:
                if not text.startswith(literal, pos):
                    return is_cut(literal, text, pos, len(text)) or self.slip_at(at, text, pos) is not None
                pos += len(literal)
            elif step is None:
                match = _WHITESPACE.match(text, pos)
                pos = pos if match is None else match.end()
            elif pos == len(text):
                return True
            elif step.kind == "capture":
                match = step.characters.match(text, pos, pos + 1)
                return match is not None and match.end() > pos
            else:
                return step.first_chars is None or text[pos] in step.first_chars
        return True

    def ruled_out(self, text: str, index: int) -> tuple[int, bool] | None:
        """The index at which the text from `index` on stops to follow the steps, and whether it has a name before.

        None: it follows them so far.
        """
        pos, named = index, False
        room = min(len(text) - self._longest, index + _MAX_LOOK)
        for at, (literal, step) in enumerate(self._rows):
            if literal:
                if not text.startswith(literal, pos):
                    if self.slip_at(at, text, pos) is not None:
                        return None
                    break
                pos += len(literal)
            elif step is None:
                match = _WHITESPACE.match(text, pos, room + 1)
                pos = pos if match is None else match.end()
            elif step.kind == "capture":
                if step.is_repeated:
                    return None
                end = step.end_of_capture(text, pos, room + 1)
                if end == pos or (step.is_element and step.refuses(text, pos)):
                    break
                pos, named = end, named or step.text == "name"
            elif step.first_chars is None or pos > room or text[pos] in step.first_chars:
                return None
            else:
                break
        else:
            return None
        return (pos, named) if pos <= room else None

    def slip_at(self, at: int, text: str, pos: int) -> Slip | None:
        """What is wrong where the literal of step `at` does not stand at `pos`; None: the text is no such call."""
        if pos >= len(text):
            return None
        if 0 < at < self._opener:
            after = end_of_spelling("".join(one.text or " " for one in self.steps[at : self._opener]), text, pos)
            if after is None or after < 0:
                return None if after is None else Slip(None, at, pos)
            return Slip("opener", self._opener, after)
        step, before = self.steps[at], self._literal_before(at)
        follows = next((n for n in range(at + 1, len(self.steps)) if self.steps[n].kind != "whitespace"), at)
        if before is not None and self._captured_before(before) == "key":
            closer = self.steps[before].text
            if text.startswith(closer, pos):
                return Slip("twice", at, pos + len(closer))
            if is_cut(closer, text, pos, len(text)):
                return Slip(None, at, pos)
        if at in self._without_type:
            literal, target = self._without_type[at]
            if text.startswith(literal, pos):
                return Slip("type", target, pos + len(literal))
            if is_cut(literal, text, pos, len(text)):
                return Slip(None, at, pos)
        if before is not None and step.text == "[" and follows > at:
            taken = self._may_take(follows, text, pos)
            return None if taken is False else Slip("list" if taken else None, follows if taken else at, pos)
        is_named = self.steps[0].kind == "literal" and any(one.text in ("name", "id") for one in self.steps[:at])
        if is_named and follows > at and self.steps[follows].kind == "arguments" and text.startswith("{", pos):
            return Slip("separator", follows, pos) if any(piece[2] for piece in step.pieces) else None
        return None

    def _may_take(self, at: int, text: str, pos: int) -> bool | None:
        """Whether the step `at` can begin at `pos`; None: more text decides."""
        step = self.steps[at]
        if step.kind == "literal":
            return text.startswith(step.text, pos) or (None if is_cut(step.text, text, pos, len(text)) else False)
        if step.kind == "envelope":
            return text.startswith("{", pos)
        name = step.characters.match(text, pos, pos + 1) if step.text == "name" else None
        return name is not None and name.end() > pos

    def _literal_before(self, at: int) -> int | None:
        """The step of the literal before step `at`, with nothing but whitespace between them."""
        n = at - 1
        while n >= 0 and self.steps[n].kind == "whitespace":
            n -= 1
        return n if n >= 0 and self.steps[n].kind == "literal" else None

    def _captured_before(self, at: int) -> str:
        """The name of the capture before step `at`; empty: none stands there."""
        n = at - 1
        while n >= 0 and self.steps[n].kind == "whitespace":
            n -= 1
        return self.steps[n].text if n >= 0 and self.steps[n].kind == "capture" else ""


def _without_type(steps: tuple[Step, ...]) -> Iterator[tuple[int, tuple[str, int]]]:
    """For the literal that begins the attribute of an argument's type: what stands there without it, and what follows.

    The attribute is a word with a quote, such as ` string="`, after whitespace; the literal after the type begins with
    the same quote.
    """
    for n, step in enumerate(steps):
        if step.kind != "capture" or step.text != "type":
            continue
        opener = next((m for m in range(n - 1, -1, -1) if steps[m].kind != "whitespace"), -1)
        closer = next((m for m in range(n + 1, len(steps)) if steps[m].kind != "whitespace"), -1)
        if opener < 1 or closer < 0 or steps[opener].kind != "literal" or steps[closer].kind != "literal":
            continue
        quote, rest = steps[opener].text[-1], steps[closer].text
        is_quoted = not quote.isalnum() and rest.startswith(quote)
        if is_quoted and steps[opener - 1].kind == "whitespace":
            rest, after = rest[len(quote) :], closer + 1
            while not rest and after < len(steps) and steps[after].kind in ("whitespace", "literal"):
                rest, after = steps[after].text, after + 1
            if rest:
                yield opener, (rest, after)
