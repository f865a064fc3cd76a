"""Arguments that are written one by one, each with its key and its raw value."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from syntagma.format_schema.facts import Block
from syntagma.parsing.arguments.declared_types import allowed_types
from syntagma.parsing.arguments.json_machine import JsonMachine
from syntagma.parsing.arguments.json_string import json_text
from syntagma.parsing.arguments.literal_machine import LiteralMachine, literal_to_json
from syntagma.parsing.arguments.raw_value import RawValue
from syntagma.parsing.arguments.source import ArgumentSource, OpenString
from syntagma.parsing.arguments.typed_values import any_json, to_json
from syntagma.parsing.arguments.unescaper import Unescaper
from syntagma.parsing.arguments.wrapper import may_wrap, members_of
from syntagma.parsing.call_patterns import CallPattern, Form, UnclosedValues
from syntagma.parsing.literal_runs import LiteralRun, run_at
from syntagma.parsing.repairs import Repair, Repairs
from syntagma.parsing.text.window import Window

__all__ = ["HeaderReader", "TaggedArguments"]

_STRING = frozenset(("string",))
_LEADING_ZEROS = re.compile(r"^([-+]?)0+(?=[0-9])")


class HeaderReader(Protocol):
    """Reads the header of an argument: what stands before its value.

    Attributes:
        status: `more` text is needed; `commit`: the header was read; `no match`: the text is no header.
        pos: absolute position of the next character to read.
        key: the argument's key, once read.
        written_type: the written type of the value, once read.
        slips: what was missing, or written twice, in it.
    """

    status: Literal["more", "commit", "no match"]
    pos: int
    key: str | None
    written_type: str | None
    slips: list[Repair]

    def run(self, window: Window) -> None:
        """Read what the window has after `pos`."""
        ...


class TaggedArguments(ArgumentSource):
    """Reads values and what is between them, from after the opener of the first value.

    A string streams as it comes; any other value must be complete to be typed.

    Args:
        window: the text, which also knows its tokens.
        pattern: the call's pattern.
        read_at: makes a reader of what begins at an absolute position: the header of a further argument, or a call up
            to its first value.
        key: the key of the first argument, whose header was read.
        written_type: the written type of its value.
        repairs: the repairs; None: nothing is repaired.

    Attributes:
        done: whether the literal after the arguments was found (it is not read).
        bad: whether the next character fits neither an argument nor the end.
    """

    __slots__ = (
        *("_after_separator", "_after_value", "_allowed", "_argument", "_block", "_closed_at", "_doubled", "_ends"),
        *("_form", "_header", "_looked_to", "_mending", "_next_value", "_number", "_opened", "_pieces", "_read_at"),
        *("_properties", "_schema", "_separated", "_unclosed", "_value", "_window", "_wrapped"),
        *("_wrapper", "_written", "bad", "done", "withheld"),
    )

    def __init__(
        self,
        window: Window,
        pattern: CallPattern,
        read_at: Callable[[CallPattern, int], HeaderReader],
        *,
        key: str,
        written_type: str | None,
        repairs: Repairs | None = None,
    ) -> None:
        form = pattern.form
        assert form.value is not None
        self._window = window
        self._form: Form = form
        self._read_at = read_at
        self._after_value = pattern.after_value
        self._after_separator = tuple(run for run in pattern.after_value if run.kind != "separator")
        self._pieces = pattern.value_pieces
        self._unclosed = pattern.unclosed if repairs is not None else None
        self._ends = pattern.value_closers if self._unclosed is None else self._unclosed.texts
        self._written: set[str] = set()
        # Absolute positions: up to which the value's own closer was looked for, and where it was found.
        self._looked_to = self._closed_at = 0
        self._doubled = False
        self._number = ""
        self._block: Block = form.value
        assert form.argument is not None
        self._argument = form.argument
        self._mending = repairs
        self._schema: Any = None
        self._properties: Mapping[str, Any] = {}
        self._header: HeaderReader | None = None
        self._opened = False
        self._separated = False
        self._allowed: frozenset[str] = _STRING
        self._value: RawValue | None = None
        self._wrapper: str | None = None  # the key of an argument that may be a wrapper around the others
        self._wrapped = ""
        self.withheld = 0
        self._next_value: tuple[str, str | None] | None = (key, written_type)  # its key and its written type
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
        return self._value.open_string if self._value is not None else None

    def feed(self, text: str, pos: int, end: int) -> tuple[int, str]:
        """See `ArgumentSource`."""
        out: list[str] = []
        start = pos
        # One fragment at a time, so that its span does not depend on the chunks.
        repairs = self._mending.repairs if self._mending is not None else ()
        while not (self.done or self.bad or out or repairs):
            if self._number:
                out.append(self._number)
                self._number = ""
                break
            before = (pos, self._next_value, self._value)
            if self._next_value is not None:
                pos = self._begin(text, pos, end, self._next_value, out)
            elif self._value is not None:
                pos = self._read_value(self._value, text, pos, end, out)
            else:
                pos = self._between(pos, end, out)
            if before == (pos, self._next_value, self._value):
                break
        self.withheld = self.withheld + pos - start if self._wrapper is not None else 0
        return pos, "".join(out)

    def finish(self, rest: str) -> str:
        """See `ArgumentSource`."""
        if self._wrapper is not None:
            out: list[str] = []
            self._name(self._wrapper, out)
            if self._allowed == _STRING and self._value is not None:
                out.append('"' + json_text(self._value.take() + rest))
            elif self._value is None:
                out.append(self._typed(self._wrapped))
            self._wrapper = None
            return "".join(out)
        return self._value.finish(rest) if self._value is not None else ""

    def _begin(self, text: str, pos: int, end: int, begins: tuple[str, str | None], out: list[str]) -> int:
        """Begin a value: pass on its key, and find the types that it may have."""
        edge = self._block.after_opener
        if text.startswith(edge, pos, end):
            pos += len(edge)
        elif self._window.cut_at(pos, edge):
            return pos
        key, written_type = begins
        self._next_value = None
        self._written.add(key)
        self._allowed = self._types(key, written_type)
        if not self._opened and self._mending is not None and may_wrap(key, self._properties):
            self._wrapper = key
        else:
            self._name(key, out)
        is_string = self._allowed == _STRING and self._wrapper is None
        # If only the text after a value ends it, an object or array is complete once its brackets close.
        nests = self._is_open and not self._allowed.isdisjoint(("object", "array"))
        may_be_text = "string" in self._allowed and not nests
        self._value = RawValue(
            self._ends,
            is_string=is_string,
            structure=None if may_be_text else self._structure(),
            unescaper=Unescaper() if "values" in self._form.escape else None,
            end_at=self._end_at,
            whole_brackets=self._is_open,
            whole_strings="string" not in self._allowed,
        )
        if is_string:
            out.append('"')
        return pos

    def _name(self, key: str, out: list[str]) -> None:
        """Pass on a key."""
        out.append((", " if self._opened else "{") + json.dumps(key, ensure_ascii=False) + ": ")
        self._opened = True

    def _structure(self) -> JsonMachine | LiteralMachine:
        notation = self._form.notation
        return JsonMachine() if notation.is_json else LiteralMachine(notation)

    @property
    def _is_open(self) -> bool:
        """Whether values have no marker after them."""
        return not self._block.closer

    def _end_at(self, at: int, closer: str) -> int | None:
        """How much of a closer found at this index belongs to the value's end; see `RawValue`."""
        pieces = self._pieces.get(closer)
        if pieces is not None:
            # Its markers must have the tokens of markers.
            return len(closer) if self._window.are_markers(at, pieces) else -1
        assert self._unclosed is not None
        assert self._mending is not None
        if closer in self._unclosed.ends:
            ends, size = self._ends_call(self._unclosed, at), self._unclosed.ends[closer]
        else:
            ends, size = self._begins_argument(at + 1), self._unclosed.lines[closer]
        if not ends:
            return None if ends is None else -1
        return size if self._mending.tell("unclosed") else None

    def _ends_call(self, unclosed: UnclosedValues, at: int) -> bool | None:
        """Whether the call's closer, found here, ends a value: its own closer does not come before the next call.

        A call that has arguments counts from its first one on, since its opener alone may be text.
        """
        window = self._window
        if window.base + at < self._closed_at:
            return False
        text, final = window.text, window.is_final
        while True:
            start = max(at, self._looked_to - window.base)
            found, what = unclosed.decisive.search(text, start, final=final)
            self._looked_to = window.base + found
            if what is None:
                return True if final else None
            if what == unclosed.own:
                self._closed_at = window.base + found
                return False
            call = self._read_at(unclosed.calls[what], window.base + found)
            call.run(window)
            if call.status == "more" and not final:
                return None
            if call.status == "commit" and not call.slips:
                return True
            self._looked_to += len(what)

    def _begins_argument(self, at: int) -> bool | None:
        """Whether the header of an argument stands here that is declared and not written yet."""
        header = self._read_at(self._argument, self._window.base + at)
        header.run(self._window)
        if header.status == "more":
            return None if not self._window.is_final else False
        key = header.key if header.status == "commit" and not header.slips else None
        return key in self._properties and key not in self._written

    def _types(self, key: str, written_type: str | None) -> frozenset[str]:
        """The types that a value may have; empty: it is JSON if it can be read as such, else a string."""
        if written_type is not None:
            kind = self._form.types.get(written_type, self._form.types.get("*", "string"))
            return _STRING if kind == "string" else frozenset()
        if key in self._properties:
            return allowed_types(self._properties[key], self._schema)
        if self._form.types:
            return frozenset()  # its type is missing
        return _STRING if self._form.values == "text" else frozenset()

    def _read_value(self, value: RawValue, text: str, pos: int, end: int, out: list[str]) -> int:
        pos, ended = value.feed(text, pos, end, out)
        if ended:
            if self._is_open and not value.closer.isspace():
                pos -= len(value.closer)  # a separator, the next argument, or the end of the arguments
            if value.is_string:
                out.append('"')
            elif self._wrapper is not None:
                self._wrapped = value.take()
            else:
                text = value.take()
                self._number = self._without_zeros(text)
                if not self._number:
                    out.append(self._typed(text))
            self._value = None
            self._separated = False
        return pos

    def _without_zeros(self, text: str) -> str:
        """A number that has zeros before it, without them, where the schema takes one; empty: it is something else."""
        bare = text.strip()
        if self._mending is None or not bare.lstrip("+-").startswith("0") or "string" in self._allowed:
            return ""
        number = _LEADING_ZEROS.sub(r"\1", bare)
        typed = to_json(number, self._allowed, self._form.notation) if number != bare and self._allowed else '"'
        if typed.startswith('"'):
            return ""
        self._mending.tell("zeros")
        return typed

    def _typed(self, text: str) -> str:
        """The JSON text of a value."""
        if self._allowed == _STRING:
            return json.dumps(text, ensure_ascii=False)
        return (
            to_json(text, self._allowed, self._form.notation) if self._allowed else any_json(text, self._form.notation)
        )

    def _unwrap(self, at: int, out: list[str], *, alone: bool) -> int:
        """After an argument that may be a wrapper around the arguments: take it off, or pass it on."""
        assert self._wrapper is not None
        assert self._mending is not None
        notation = self._form.notation
        text = self._wrapped if notation.is_json else literal_to_json(self._wrapped, notation) or self._wrapped
        inner = members_of(text, self._schema) if alone else None
        if inner is not None and not self._mending.tell("wrapper"):
            return at
        if inner is not None:
            out.append(inner)
            self.done = True
        else:
            self._name(self._wrapper, out)
            out.append(self._typed(self._wrapped))
        self._wrapper = None
        return at

    def _between(self, pos: int, end: int, out: list[str]) -> int:
        """Read what follows a value: whitespace, a separator, the next argument, or the end of the arguments."""
        if self._header is not None:
            return self._next(pos)
        at = min(self._window.after_whitespace(pos), end)
        if at == end:
            return at
        run, after = run_at(self._window, at, self._after_separator if self._separated else self._after_value)
        if run is not None and self._doubled and self._mending is not None:
            # Reported where the next text that adds something begins: spans must not depend on the chunks.
            if not self._mending.tell("twice"):
                return at
            self._doubled = False
        if self._wrapper is not None and (run is not None or after >= 0):
            return self._unwrap(at, out, alone=run is not None and run.kind == "close")
        if run is None:
            if after >= 0:
                return self._twice(at)
        elif run.kind == "close":
            if self._begins_twice(run, at):
                return self._twice(at)
            self.done = True
            out.append("}")
        elif run.kind == "separator":
            self._separated = True
            return after
        else:
            self._header = self._read_at(self._argument, self._window.base + at)
            return self._next(at)
        return at

    def _begins_twice(self, run: LiteralRun, at: int) -> bool:
        """Whether the end of the arguments, found here, is the beginning of a value's closer, or may be."""
        closer, window = self._block.closer.strip(), self._window
        if self._mending is None or len(closer) <= run.size:
            return False
        return window.text.startswith(closer, at) or (window.cut_at(at, closer) and not window.is_final)

    def _twice(self, at: int) -> int:
        """At something that does not follow a value: whether it is the value's closer again, which is left out."""
        closer = self._block.closer.strip()
        stands = bool(closer) and self._window.text.startswith(closer, at)
        if self._mending is None or not (stands or (self._window.cut_at(at, closer) and not self._window.is_final)):
            self.bad = True
        elif stands:
            self._doubled = True
            return at + len(closer)
        return at

    def _next(self, pos: int) -> int:
        """Read the header of the next argument, once it is complete."""
        header = self._header
        assert header is not None
        header.run(self._window)
        if header.status == "no match":
            self.bad = True
        elif header.status == "commit":
            window = self._window
            if window.cut_at(header.pos - window.base, self._block.after_opener) and not window.is_final:
                return pos  # what the value adds begins with its header, whatever the chunks are
            if self._mending is not None and not all(map(self._mending.tell, header.slips)):
                return pos
            self._next_value = (header.key or "", header.written_type)
            self._header = None
            return header.pos - self._window.base
        return pos
