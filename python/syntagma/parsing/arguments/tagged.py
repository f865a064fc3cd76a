"""Arguments that are written one by one, each with its key and its raw value."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from syntagma.parsing.arguments.json_machine import JsonMachine
from syntagma.parsing.arguments.json_string import json_text
from syntagma.parsing.arguments.literal_machine import LiteralMachine
from syntagma.parsing.arguments.source import ArgumentSource, OpenString
from syntagma.parsing.arguments.typed_values import allowed_types, any_json, to_json
from syntagma.parsing.arguments.unescaper import Unescaper
from syntagma.parsing.call_patterns import Block, CallPattern, Form, Op
from syntagma.parsing.text.scanner import Scanner
from syntagma.parsing.text.text_buffer import TextBuffer
from syntagma.parsing.text.window import Window

__all__ = ["HeaderReader", "TaggedArguments"]

_STRING = frozenset(("string",))


class HeaderReader(Protocol):
    """Reads what stands before a value.

    Attributes:
        status: `more` text is needed; `commit`: the header was read; `no match`: the text is none.
        pos: absolute position of the next character to read.
        key: the argument's key, once read.
        wire: the type of the value as it is written, once read.
    """

    status: Literal["more", "commit", "no match"]
    pos: int
    key: str | None
    wire: str | None

    def run(self, window: Window) -> None:
        """Read what the window has after `pos`."""
        ...


class TaggedArguments(ArgumentSource):
    """Reads values and what is between them; starts after the opener of the first value.

    A string streams as it comes; any other value must be whole to be typed.

    Args:
        window: the text, which also knows what is a token.
        pattern: the call's pattern.
        open_header: makes a reader of the header of a further argument that begins at an absolute position.
        key: the key of the first argument, whose header was read.
        wire: the type of its value as it is written.

    Attributes:
        done: the literal after the arguments was found (it is not read).
        bad: the next character fits neither an argument nor the end.
    """

    __slots__ = (
        *("_allowed", "_buffered", "_closers", "_escapes", "_form", "_header", "_json", "_open_header", "_open_string"),
        *("_opened", "_properties", "_raw", "_scanner", "_schema", "_separated", "_unread", "_value", "_window"),
        *("bad", "done"),
    )

    def __init__(
        self,
        window: Window,
        pattern: CallPattern,
        open_header: Callable[[int], HeaderReader],
        *,
        key: str,
        wire: str | None,
    ) -> None:
        form = pattern.form
        assert form.value is not None
        self._window = window
        self._form: Form = form
        self._open_header = open_header
        self._closers: tuple[Op, ...] = (pattern.closer[0], *pattern.ends)
        self._value: Block = form.value
        self._scanner = Scanner(form.value_closers)
        self._open_string = OpenString(self._scanner.markers.firsts, json_text)
        self._schema: Any = None
        self._properties: Mapping[str, Any] = {}
        self._header: HeaderReader | None = None
        self._opened = False
        self._separated = False
        self._buffered = TextBuffer()
        self._json: JsonMachine | LiteralMachine | None = None
        self._unread = ""
        self._escapes: Unescaper | None = None
        self._allowed: frozenset[str] | None = None
        self._raw: tuple[str, str | None] | None = (key, wire)
        self.done = False
        self.bad = False

    def declare(self, schema: Mapping[str, Any] | None) -> None:
        """See `ArgumentSource`."""
        properties = schema.get("properties") if schema is not None else None
        self._schema = schema
        self._properties = properties if isinstance(properties, Mapping) else {}

    @property
    def open_string(self) -> OpenString | None:
        """See `ArgumentSource`."""
        is_plain = self._allowed == _STRING and self._raw is None and self._escapes is None
        return self._open_string if is_plain else None

    def feed(self, text: str, pos: int, end: int) -> tuple[int, str]:
        """See `ArgumentSource`."""
        out: list[str] = []
        # One fragment at a time, so that its span does not depend on what came in the same chunk.
        while not (self.done or self.bad or out):
            before = (pos, self._raw, self._allowed)
            if self._raw is not None:
                pos = self._begin(text, pos, end, out)
            elif self._allowed is not None:
                pos = self._read_value(text, pos, end, out)
            else:
                pos = self._between(text, pos, end, out)
            if before == (pos, self._raw, self._allowed):
                break
        return pos, "".join(out)

    def finish(self, rest: str) -> str:
        """See `ArgumentSource`."""
        if self._escapes is not None:
            rest = self._escapes.feed(rest) + self._escapes.finish()
        return json_text(rest) if self._allowed == _STRING else ""

    def _begin(self, text: str, pos: int, end: int, out: list[str]) -> int:
        """A value begins: its key, and what types it may have."""
        assert self._raw is not None
        edge = self._value.after_opener
        if text.startswith(edge, pos, end):
            pos += len(edge)
        elif self._window.cut_at(pos, edge):
            return pos
        (key, wire), self._raw = self._raw, None
        out.append((", " if self._opened else "{") + json.dumps(key, ensure_ascii=False) + ": ")
        self._opened = True
        self._allowed = self._types(key, wire)
        self._json = None if "string" in self._allowed else self._structure()
        self._unread = ""
        self._escapes = Unescaper() if "values" in self._form.escape else None
        if self._allowed == _STRING:
            out.append('"')
        return pos

    def _structure(self) -> JsonMachine | LiteralMachine:
        notation = self._form.notation
        return JsonMachine() if notation.is_json else LiteralMachine(notation)

    def _types(self, key: str, wire: str | None) -> frozenset[str]:
        if wire is not None:
            kind = self._form.types.get(wire, self._form.types.get("*", "string"))
            return _STRING if kind == "string" else frozenset()
        if key in self._properties:
            return allowed_types(self._properties[key], self._schema)
        return _STRING if self._form.values == "text" else frozenset()

    def _read_value(self, text: str, pos: int, end: int, out: list[str]) -> int:
        """The value up to its own closer; an empty set of types means JSON, if it parses."""
        piece = text[:end] if end < len(text) else text
        while True:
            at, closer = self._scanner.search(piece, pos, final=False)
            if at > pos:
                self._pass(text[pos:at], out)
            pos = at
            # A closer inside a string of a JSON value does not close the value.
            quoted = (self._json is not None and self._json.in_string) or (
                self._escapes is not None and self._escapes.raw
            )
            if closer is None or (
                not quoted and self._window.are_markers(at + len(closer) - len(self._value.closer), self._value.pieces)
            ):
                break
            self._pass(text[at : at + 1], out)
            pos = at + 1
        if closer is None:
            return at
        if self._escapes is not None:
            rest, self._escapes = self._escapes.finish(), None
            self._pass(rest, out)
        if self._allowed == _STRING:
            out.append('"')
        else:
            value = self._buffered.take()
            notation = self._form.notation
            out.append(to_json(value, self._allowed, notation) if self._allowed else any_json(value, notation))
        self._allowed = None
        self._separated = False
        return at + len(closer)

    def _pass(self, text: str, out: list[str]) -> None:
        if self._escapes is not None:
            text = self._escapes.feed(text)
        if self._allowed == _STRING:
            out.append(json_text(text))
        elif text:
            self._buffered.write(text)
            if self._json is not None and not (self._json.done or self._json.bad):
                text = self._unread + text
                after, _ = self._json.feed(text, 0, len(text))
                self._unread = text[after:]

    def _between(self, text: str, pos: int, end: int, out: list[str]) -> int:
        """After a value: whitespace, a separator, the next argument, or the end of the arguments."""
        if self._header is not None:
            return self._next(pos)
        at = min(self._window.after_whitespace(pos), end)
        if at == end:
            return at
        separator, argument = self._form.argument_separator, self._form.argument
        assert argument is not None
        if any(text.startswith(op.text, at) and self._window.are_markers(at, op.pieces) for op in self._closers):
            self.done = True
            out.append("}")
            return at
        if separator and not self._separated and text.startswith(separator, at):
            self._separated = True
            return at + len(separator)
        first = argument.first
        if text.startswith(first, at):
            self._header = self._open_header(self._window.base + at)
            return self._next(at)
        wanted = (*(op.text for op in self._closers), "" if self._separated else separator, first)
        self.bad = not any(one and self._window.cut_at(at, one) for one in wanted)
        return at

    def _next(self, pos: int) -> int:
        """The header of the next argument, which is read as a whole."""
        header = self._header
        assert header is not None
        header.run(self._window)
        if header.status == "no match":
            self.bad = True
        elif header.status == "commit":
            self._raw = (header.key or "", header.wire)
            self._header = None
            return header.pos - self._window.base
        return pos
