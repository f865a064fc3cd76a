"""Texts that follow from a grammar in ABNF (RFC 5234; strings are case-sensitive), each with its derivation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

__all__ = ["Grammar", "Node"]

_TOKEN = re.compile(
    r"""\s*(?:(?P<name>[A-Za-z][A-Za-z0-9-]*)|"(?P<text>[^"]*)"|%x(?P<low>[0-9A-F]+)(?:-(?P<high>[0-9A-F]+))?"""
    r"""|(?P<repeat>\d*\*\d*)|(?P<sign>[/()\[\]]))"""
)
_MOST = 4
"""repetitions, where the grammar sets no bound"""


@dataclass
class Node:
    """A part of a text that a rule made; `parts` are its own text and the parts that further rules made."""

    rule: str
    parts: list[Node | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def find(self, *rules: str) -> Iterator[Node]:
        """The outermost parts that these rules made, in their order."""
        for part in self.parts:
            if isinstance(part, Node):
                if part.rule in rules:
                    yield part
                else:
                    yield from part.find(*rules)


class Grammar:
    """The rules of a file."""

    def __init__(self, path: Path) -> None:
        source = re.sub(r";.*", "", path.read_text(encoding="utf-8"))
        pieces = re.split(r"(?m)^([A-Za-z][A-Za-z0-9-]*)\s*=", source)
        self._rules = {name: _Reader(body).whole() for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}

    def derivations(self, rule: str) -> st.SearchStrategy[Node]:
        """Everything that follows from a rule."""

        @st.composite
        def made(draw: st.DrawFn) -> Node:
            return self._derive(draw, rule)

        return made()

    def _derive(self, draw: st.DrawFn, rule: str) -> Node:
        node = Node(rule)
        self._add(draw, self._rules[rule], node)
        return node

    def _add(self, draw: st.DrawFn, item: tuple[Any, ...], node: Node) -> None:
        kind, *values = item
        if kind == "or":
            self._add(draw, draw(st.sampled_from(values)), node)
        elif kind == "all":
            for value in values:
                self._add(draw, value, node)
        elif kind == "repeat":
            low, high, inner = values
            for _ in range(draw(st.integers(low, high))):
                self._add(draw, inner, node)
        elif kind == "name":
            node.parts.append(self._derive(draw, values[0]))
        elif kind == "text":
            node.parts.append(values[0])
        else:
            node.parts.append(chr(draw(st.integers(values[0], values[1]))))


class _Reader:
    """One rule being read."""

    def __init__(self, text: str) -> None:
        self._tokens = [match for match in _TOKEN.finditer(text) if match.group().strip()]
        self._at = 0

    def whole(self) -> tuple[Any, ...]:
        found = self._choice()
        assert self._at == len(self._tokens)
        return found

    def _sign(self) -> str | None:
        return self._tokens[self._at]["sign"] if self._at < len(self._tokens) else ""

    def _choice(self) -> tuple[Any, ...]:
        ways = [self._sequence()]
        while self._sign() == "/":
            self._at += 1
            ways.append(self._sequence())
        return ways[0] if len(ways) == 1 else ("or", *ways)

    def _sequence(self) -> tuple[Any, ...]:
        items = []
        while self._sign() not in ("", "/", ")", "]"):
            items.append(self._item())
        return ("all", *items)

    def _item(self) -> tuple[Any, ...]:
        token = self._tokens[self._at]
        self._at += 1
        if token["repeat"]:
            low, _, high = token["repeat"].partition("*")
            return ("repeat", int(low or 0), int(high or max(_MOST, int(low or 0))), self._item())
        if token["sign"]:
            inner = self._choice()
            self._at += 1
            return ("repeat", 0, 1, inner) if token["sign"] == "[" else inner
        if token["name"]:
            return ("name", token["name"])
        if token["text"] is not None:
            return ("text", token["text"])
        low = int(token["low"], 16)
        return ("range", low, int(token["high"], 16) if token["high"] else low)
