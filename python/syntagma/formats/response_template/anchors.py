"""Translates the regular expressions of a template's anchors to texts with named groups."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

__all__ = ["NamedGroup", "Untranslatable", "anchor_texts"]

_MAX_TEXTS = 16
_MAX_DEPTH = 8
_WHITESPACE = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_QUANTIFIERS = ("*?", "+?", "??", "*", "+", "?")


class NamedGroup(msgspec.Struct, frozen=True):
    """A named group; it matches any text, and the same text each time that it occurs."""

    name: str


_Text: TypeAlias = tuple["str | NamedGroup", ...]


class Untranslatable(ValueError):
    """The expression has more than alternatives of texts with named groups and runs of whitespace."""


def anchor_texts(expression: str) -> list[tuple[str | NamedGroup, ...]]:
    """The texts that `expression` matches, in its order; a run of whitespace becomes one line break.

    Raises:
        Untranslatable: it uses another construct; the message says which and where.
    """
    reader = _ExpressionReader(expression)
    texts = reader.alternatives(0)
    if reader.at < len(expression):
        raise Untranslatable(f"an unmatched closing bracket at {reader.at}")
    return texts


class _ExpressionReader:
    def __init__(self, expression: str) -> None:
        self._source = expression
        self.at = 0

    def alternatives(self, depth: int) -> list[_Text]:
        """The texts up to the closing bracket or the end."""
        if depth > _MAX_DEPTH:
            raise Untranslatable(f"brackets nest more than {_MAX_DEPTH} deep")
        found: list[_Text] = []
        current: list[_Text] = [()]
        while self.at < len(self._source) and self._source[self.at] != ")":
            if self._source[self.at] == "|":
                self.at += 1
                found += current
                current = [()]
            else:
                further = self._repeated(self._atom(depth))
                current = [_joined(head, tail) for head in current for tail in further]
                if len(current) > _MAX_TEXTS:
                    raise Untranslatable(f"it matches more than {_MAX_TEXTS} texts")
        return [*found, *current]

    def _atom(self, depth: int) -> list[_Text]:
        start = self.at
        character = self._source[start]
        self.at += 1
        if character == "(":
            return self._group(depth, start)
        if character == "\\":
            return [(self._escape(start),)]
        if character == "[":
            return [(self._class(start),)]
        if character in ".^$*+?{":
            raise Untranslatable(f"{character!r} at {start}")
        return [(character,)]

    def _group(self, depth: int, start: int) -> list[_Text]:
        if self._source.startswith("?P=", self.at):
            name = self._source[self.at + 3 :].partition(")")[0]
            self._skip_group(start)
            return [(NamedGroup(name),)]
        if self._source.startswith("?P<", self.at) or self._source.startswith("?<", self.at):
            name = self._source[self.at :].partition("<")[2].partition(">")[0]
            if not name.isidentifier():
                raise Untranslatable(f"a look-behind at {start}")
            self._skip_group(start)
            return [(NamedGroup(name),)]
        if self._source.startswith("?:", self.at):
            self.at += 2
        elif self._source.startswith("?", self.at):
            raise Untranslatable(f"{self._source[start : start + 3]!r} at {start}")
        inner = self.alternatives(depth + 1)
        if self.at == len(self._source):
            raise Untranslatable(f"the bracket at {start} is not closed")
        self.at += 1
        return inner

    def _skip_group(self, start: int) -> None:
        """Move past the bracket that closes the group; the pattern inside a named group is not translated."""
        depth, in_class = 1, False
        while self.at < len(self._source):
            character = self._source[self.at]
            self.at += 2 if character == "\\" else 1
            if in_class:
                in_class = character != "]"
            elif character == "[":
                in_class = True
            elif character in "()":
                depth += 1 if character == "(" else -1
                if depth == 0:
                    return
        raise Untranslatable(f"the bracket at {start} is not closed")

    def _escape(self, start: int) -> str:
        character = self._source[self.at : self.at + 1]
        self.at += 1
        if character == "s":
            return "\n"
        if character in _WHITESPACE:
            return _WHITESPACE[character]
        if not character or character.isalnum():
            raise Untranslatable(f"'\\{character}' at {start}")
        return character

    def _class(self, start: int) -> str:
        """A class of whitespace becomes a line break; other classes outside a named group cannot be written."""
        end = self._source.find("]", self.at)
        inside = self._source[self.at : end] if end >= 0 else ""
        plain = inside
        for letter in (*_WHITESPACE, "s"):
            plain = plain.replace(f"\\{letter}", "")
        if not inside or plain.strip():
            raise Untranslatable(f"a class at {start}")
        self.at = end + 1
        return "\n"

    def _repeated(self, texts: list[_Text]) -> list[_Text]:
        mark = next((mark for mark in _QUANTIFIERS if self._source.startswith(mark, self.at)), "")
        if not mark and self._source.startswith("{", self.at):
            raise Untranslatable(f"'{{' at {self.at}")
        if not mark:
            return texts
        at = self.at
        self.at += len(mark)
        if all(len(text) == 1 and isinstance(text[0], str) and text[0].isspace() for text in texts):
            return texts[:1]
        if mark[0] == "?":
            return [*texts, ()]
        raise Untranslatable(f"{mark!r} at {at}")


def _joined(head: _Text, tail: _Text) -> _Text:
    if head and tail and isinstance(head[-1], str) and isinstance(tail[0], str):
        return (*head[:-1], head[-1] + tail[0], *tail[1:])
    return (*head, *tail)
