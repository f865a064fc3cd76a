"""Finds the value that each character of a JSON text belongs to, as the text arrives."""

from __future__ import annotations

import json
from typing import NamedTuple

from syntagma.json_pointer import pointer_of

__all__ = ["JsonPlaces", "Run"]


class Run(NamedTuple):
    """Consecutive characters with one pointer.

    Attributes:
        size: their number.
        pointer: JSON pointer of the value.
        is_value: whether they are the text of a string, number or word; if not, they are syntax of an object or array:
            brackets, commas, keys and whitespace.
    """

    size: int
    pointer: str
    is_value: bool


class _Open:
    """An open object or array; the step to its current member is known once the key is complete."""

    __slots__ = ("is_object", "pointer", "step")

    def __init__(self, pointer: str, *, is_object: bool) -> None:
        self.pointer = pointer
        self.is_object = is_object
        self.step: str | int | None = None if is_object else 0


class JsonPlaces:
    """Follows one JSON text. Invalid text is not refused: it belongs to the open value.

    Args:
        pointer: the pointer of the whole text.

    Attributes:
        pointer: JSON pointer of the value, object or array that the next character belongs to.
        in_string: whether a string is open.
        in_key: whether it is a key.
    """

    def __init__(self, pointer: str = "") -> None:
        self.pointer = pointer
        self.in_string = False
        self.in_key = False
        self._root = pointer
        self._open: list[_Open] = []
        self._escaped = False
        self._in_word = False
        self._key: list[str] = []
        self._awaits_key = False

    def feed(self, text: str) -> list[Run]:
        """The runs of more text, with neighbours of one pointer joined."""
        runs: list[Run] = []
        for char in text:
            pointer, is_value = self._place(char)
            if runs and runs[-1][1:] == (pointer, is_value):
                runs[-1] = Run(runs[-1].size + 1, pointer, is_value)
            else:
                runs.append(Run(1, pointer, is_value))
        return runs

    def _place(self, char: str) -> tuple[str, bool]:
        if self.in_string:
            return self._inside_string(char)
        if char in ' \t\r\n,:{}[]"':
            self._in_word = False
        else:
            self._in_word = True
            self.pointer = self._member()
            return self.pointer, True
        if char == '"':
            self.in_string, self.in_key = True, self._awaits_key
            if not self.in_key:
                self.pointer = self._member()
            return self.pointer, not self.in_key
        if char in "{[":
            self.pointer = self._member()
            self._open.append(_Open(self.pointer, is_object=char == "{"))
            self._awaits_key = char == "{"
            return self.pointer, False
        self.pointer = self._open[-1].pointer if self._open else self._root
        here = self.pointer
        if char == "," and self._open:
            innermost = self._open[-1]
            self._awaits_key = innermost.is_object
            innermost.step = None if innermost.is_object else int(innermost.step or 0) + 1
        elif char in "}]" and self._open:
            self._open.pop()
            self._awaits_key = False
            self.pointer = self._open[-1].pointer if self._open else self._root
        return here, False

    def _inside_string(self, char: str) -> tuple[str, bool]:
        place = self.pointer, not self.in_key
        if self._escaped:
            self._escaped = False
        elif char == "\\":
            self._escaped = True
        elif char == '"':
            if self.in_key:
                self._awaits_key = False
                self._open[-1].step = _spelled("".join(self._key))
                self._key.clear()
            else:
                self.pointer = self._open[-1].pointer if self._open else self._root
            self.in_string = self.in_key = False
            return place
        if self.in_key:
            self._key.append(char)
        return place

    def _member(self) -> str:
        """The pointer of the value that is open or begins here."""
        if not self._open:
            return self._root
        innermost = self._open[-1]
        return innermost.pointer if innermost.step is None else innermost.pointer + pointer_of(innermost.step)


def _spelled(key: str) -> str:
    """A key with its escapes decoded."""
    try:
        return str(json.loads(f'"{key}"', strict=False))
    except ValueError:
        return key
