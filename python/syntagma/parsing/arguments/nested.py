"""Arguments that are elements named after their keys, which may hold further elements."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from syntagma.format_schema.names import ELEMENT_ENDS
from syntagma.parsing.arguments.declared_types import allowed_types, inner_schema
from syntagma.parsing.arguments.json_machine import JsonMachine
from syntagma.parsing.arguments.raw_value import RawValue
from syntagma.parsing.arguments.source import ArgumentSource, OpenString
from syntagma.parsing.arguments.typed_values import any_json, to_json
from syntagma.parsing.call_patterns import CallPattern, Nesting
from syntagma.parsing.text.scanner import MarkerSet
from syntagma.parsing.text.window import Window

__all__ = ["NestedArguments"]

_STRING = frozenset(("string",))
_UNDECLARED = frozenset(("string", "object", "array"))
"""the types that an element may have without a schema"""

State: TypeAlias = Literal["between", "opened", "value"]


class _Level:
    """An open element with elements in it; the root is the call itself."""

    __slots__ = ("begun", "closer", "is_array", "schema")

    def __init__(self, closer: str, schema: Any, *, is_array: bool) -> None:
        self.closer = closer
        self.schema = schema
        self.is_array = is_array
        self.begun = False


class NestedArguments(ArgumentSource):
    """Reads elements, from after the opener of the first one.

    A string streams as it comes; any other leaf must be complete to be typed. An element ends at its own closer only.

    Attributes:
        done: whether the literal after the arguments was found (it is not read).
        bad: whether the next character fits neither an element nor the end.
    """

    __slots__ = (
        *("_allowed", "_element", "_form", "_levels", "_schema", "_state", "_value", "_values", "_window"),
        *("bad", "done"),
    )

    def __init__(self, window: Window, pattern: CallPattern, nesting: Nesting, *, key: str) -> None:
        self._window = window
        self._form = nesting
        self._values = pattern.form.values
        self._levels = [_Level("".join(op.text for op in pattern.decisive), None, is_array=False)]
        self._schema: Any = None
        self._element: tuple[str, Any] = (key, None)
        self._allowed: frozenset[str] = _UNDECLARED
        self._value: RawValue | None = None
        self._state: State = "opened"
        self.done = False
        self.bad = False

    def declare(self, schema: Mapping[str, Any] | None) -> None:
        """See `ArgumentSource`."""
        self._schema = schema
        self._levels[0].schema = schema
        self._element = (self._element[0], inner_schema(schema, self._schema, self._element[0]))

    @property
    def open_string(self) -> OpenString | None:
        """See `ArgumentSource`."""
        return self._value.open_string if self._value is not None else None

    def feed(self, text: str, pos: int, end: int) -> tuple[int, str]:
        """See `ArgumentSource`."""
        out: list[str] = []
        # One fragment at a time, so that its span does not depend on the chunks.
        while not (self.done or self.bad or out):
            before = (pos, self._state)
            if self._state == "opened":
                pos = self._begin(text, pos, end, out)
            elif self._value is not None:
                pos = self._leaf(self._value, text, pos, end, out)
            else:
                pos = self._between(text, pos, end, out)
            if before == (pos, self._state):
                break
        return pos, "".join(out)

    def finish(self, rest: str) -> str:
        """See `ArgumentSource`."""
        return self._value.finish(rest) if self._value is not None else ""

    def _closer(self, key: str) -> str:
        return self._form.close + key + self._form.close_end

    def _begin(self, text: str, pos: int, end: int, out: list[str]) -> int:
        """Read what follows an element's opener: a leaf, or the first element inside."""
        key, schema = self._element
        allowed = allowed_types(schema, self._schema) if schema is not None else _UNDECLARED
        if allowed != _STRING:
            at = min(self._window.after_whitespace(pos), end)
            closer, opener = self._closer(key), self._form.open
            ends = text.startswith(closer, at)
            if not ends and self._window.cut_at(at, closer):
                return pos
            if not ends and text.startswith(opener, at):
                inner = self._key(text, at + len(opener), end)
                if inner is None:
                    return pos
                if inner:
                    return self._open(key, schema, inner == self._form.item, at, out)
            elif not ends and self._window.cut_at(at, opener):
                return pos
        edge = self._form.after_opener
        if text.startswith(edge, pos, end):
            pos += len(edge)
        elif self._window.cut_at(pos, edge):
            return pos
        self._name(key, out)
        self._allowed = allowed
        self._value = RawValue(
            MarkerSet((self._closer(key), self._form.before_closer + self._closer(key))),
            is_string=allowed == _STRING,
            structure=None if "string" in allowed else JsonMachine(),
        )
        self._state = "value"
        if allowed == _STRING:
            out.append('"')
        return pos

    def _key(self, text: str, at: int, end: int) -> str | None:
        """The key of an element at this index; empty: there is no element; None: more text is needed."""
        stop = at
        while stop < end and text[stop] not in ELEMENT_ENDS and not text[stop].isspace():
            stop += 1
        opener_end = self._form.open_end
        found = text.find(opener_end, at, min(end, stop + len(opener_end)))
        stop = found if found >= 0 else stop
        if stop == end:
            return None
        if text.startswith(opener_end, stop):
            return text[at:stop]
        return None if self._window.cut_at(stop, opener_end) else ""

    def _open(self, key: str, schema: Any, is_array: bool, at: int, out: list[str]) -> int:
        self._name(key, out)
        out.append("[" if is_array else "{")
        self._levels.append(_Level(self._closer(key), schema, is_array=is_array))
        self._state = "between"
        return at

    def _name(self, key: str, out: list[str]) -> None:
        """Append what stands before a value in JSON: a comma and its key."""
        level = self._levels[-1]
        if len(self._levels) == 1 and not level.begun:
            out.append("{")
        out.append(", " if level.begun else "")
        level.begun = True
        if not level.is_array:
            out.append(json.dumps(key, ensure_ascii=False) + ": ")

    def _leaf(self, value: RawValue, text: str, pos: int, end: int, out: list[str]) -> int:
        """Read the text of an element without elements in it."""
        pos, ended = value.feed(text, pos, end, out)
        if ended:
            out.append('"' if value.is_string else self._typed(value.take()))
            self._value = None
            self._state = "between"
        return pos

    def _typed(self, text: str) -> str:
        """The JSON text of a value that may be something else than a string."""
        if not text.strip() and "string" not in self._allowed and self._allowed & {"object", "array"}:
            return "{}" if "object" in self._allowed else "[]"
        if self._allowed == _UNDECLARED:
            return any_json(text) if self._values == "json" else json.dumps(text, ensure_ascii=False)
        return to_json(text, self._allowed)

    def _between(self, text: str, pos: int, end: int, out: list[str]) -> int:
        """Read what follows an element: the next one, or the end of the element around it."""
        at = min(self._window.after_whitespace(pos), end)
        if at == end:
            return at
        level, opener = self._levels[-1], self._form.open
        if text.startswith(level.closer, at):
            if len(self._levels) == 1:
                self.done = True
                out.append("}")
                return at
            self._levels.pop()
            out.append("]" if level.is_array else "}")
            return at + len(level.closer)
        if self._window.cut_at(at, level.closer):
            return at
        if not text.startswith(opener, at):
            self.bad = not self._window.cut_at(at, opener)
            return at
        key = self._key(text, at + len(opener), end)
        if key is None:
            return at
        if not key:
            self.bad = True
            return at
        self._element = (key, inner_schema(level.schema, self._schema, None if level.is_array else key))
        self._state = "opened"
        return at + len(opener) + len(key) + len(self._form.open_end)
