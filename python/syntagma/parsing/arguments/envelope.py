"""Reads the object that holds a call's name and arguments: keys in any order, unknown keys skipped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from syntagma.format_schema import Envelope, EnvelopeNode, EnvelopePlaceholder, Members
from syntagma.json_types import WHITESPACE
from syntagma.parsing.arguments.buffered import BufferedArguments
from syntagma.parsing.arguments.encoded import EncodedArguments
from syntagma.parsing.arguments.json_machine import JsonMachine
from syntagma.parsing.arguments.json_string import StringReader
from syntagma.parsing.arguments.json_syntax import (
    CLOSE,
    COLON,
    KEY_OR_END,
    KEY_STRING,
    MEMBER_ENDED,
    NEXT,
    OPEN_OBJECT,
    VALUE,
)
from syntagma.parsing.arguments.source import ArgumentSource
from syntagma.parsing.text.text_buffer import TextBuffer

__all__ = ["EnvelopeReader"]

Status: TypeAlias = Literal["more", "commit", "bad", "end"]

_START = -1
"""the state before the object's brace; the others are those of the table"""
_BEGIN = {"{": OPEN_OBJECT}


class EnvelopeReader:
    """Reads one envelope, with all alternatives of the format at once. Arguments are an object of the notation.

    Args:
        envelopes: the alternatives.
        outer_name: the tool's name, if it stands before the envelope.
        open_object: makes the source of arguments that are an object.
        repair: whether slips in arguments are repaired.

    Attributes:
        name: the tool's name, once read.
        id: the call's id, once read.
        source: the source of the arguments, from the commit point on.
        buffered: arguments that came before the name, once they are complete.
        buffered_chars: the number of their code points read so far.
        repairs: the repairs in them, as sentences.
        status: `more` text is needed; `commit`: the position is the beginning of the arguments (or after the name, if
            they came first); `bad`: the next character fits no envelope; `end`: the object is closed.
    """

    __slots__ = (
        *("_awaits_name", "_buffering", "_encoded", "_nodes", "_open_object", "_outer_name", "_parts", "_repair"),
        *("_reading", "_skipped", "_stack", "_state", "_string", "_text", "buffered", "buffered_chars", "id"),
        *("name", "repairs", "source", "status"),
    )

    def __init__(
        self,
        envelopes: tuple[Envelope, ...],
        outer_name: str | None,
        open_object: Callable[[], ArgumentSource],
        *,
        repair: bool,
    ) -> None:
        self._open_object = open_object
        self._repair = repair
        self.repairs: list[str] = []
        self._stack: list[tuple[Members, ...]] = []
        self._nodes: tuple[EnvelopeNode, ...] = tuple(envelope.root for envelope in envelopes)
        self._outer_name = outer_name
        self._awaits_name = any("name" in envelope.pattern.placeholders for envelope in envelopes)
        self._state = _START
        self._skipped: JsonMachine | None = None
        self._buffering: ArgumentSource | None = None
        self._encoded: EncodedArguments | None = None
        self._parts = TextBuffer()
        self._string: StringReader | None = None
        self._reading = ""
        self._text: list[str] = []
        self.buffered: str | None = None
        self.buffered_chars = 0
        self.name: str | None = None
        self.id: str | None = None
        self.source: ArgumentSource | None = None
        self.status: Status = "more"

    @property
    def begun(self) -> bool:
        """Whether the opening brace was read."""
        return self._state != _START

    def resume(self) -> None:
        """Go on after the arguments."""
        self._state = MEMBER_ENDED
        self.status = "more"

    def run(self, text: str, pos: int, end: int) -> int:
        """Read `text[pos:end]` until the status changes or the text ends; returns the new position."""
        while pos < end and self.status == "more":
            if self._string is not None:
                after = self._read_string(text, pos, end)
                if after == pos and self.status == "more":
                    break
                pos = after
            elif self._encoded is not None:
                after = self._begin_encoded(self._encoded, text, pos, end)
                if after == pos and self._encoded is not None:
                    break
                pos = after
            elif self._buffering is not None:
                after = self._buffer(self._buffering, text, pos, end)
                if after == pos and self._buffering is not None:
                    break
                pos = after
            elif self._skipped is not None:
                pos, _ = self._skipped.feed(text, pos, end)
                if self._skipped.bad:
                    self.status = "bad"
                elif self._skipped.done:
                    self._skipped, self._state = None, MEMBER_ENDED
            elif text[pos] in WHITESPACE:
                pos += 1
            elif self._state == VALUE:
                pos = self._value(text, pos)
            else:
                pos += self._structure(text[pos])
        return pos

    def _structure(self, char: str) -> bool:
        """Read one character between strings and values; returns whether it fits."""
        step = (NEXT[self._state] if self._state != _START else _BEGIN).get(char)
        if step is None:
            self.status = "bad"
            return False
        if step == OPEN_OBJECT:
            self._push()
        elif step == KEY_STRING:
            self._begin_string("key")
        elif step == CLOSE:
            self._stack.pop()
            self._state = MEMBER_ENDED
            if not self._stack:
                self.status = "end"
        else:
            self._state = step
        return True

    def _push(self) -> None:
        """Begin an object, and keep the alternatives that have one here."""
        self._stack.append(tuple(node for node in self._nodes if isinstance(node, Members)))
        self._state = KEY_OR_END

    def _begin_string(self, what: str) -> None:
        self._string, self._reading, self._text = StringReader(), what, []

    def _read_string(self, text: str, pos: int, end: int) -> int:
        assert self._string is not None
        pos, piece = self._string.piece(text, pos, end)
        self._text.append(piece)
        if self._string.bad:
            self.status = "bad"
        elif self._string.done:
            self._string = None
            read = "".join(self._text)
            if self._reading == "key":
                self._resolve(read)
                self._state = COLON
            else:
                self._state = MEMBER_ENDED
                if self._reading == "id":
                    self.id = self.id or read
                elif self.name is None:
                    self._named(read)
        return pos

    def _named(self, name: str) -> None:
        """Take the name; arguments that came before it are now certain."""
        self.name = name
        if not name:
            self.status = "bad"
        elif self.buffered is not None:
            self.source = BufferedArguments(self.buffered, self.repairs)
            self.status = "commit"

    def _resolve(self, key: str) -> None:
        """Find the meaning of this key's value in the envelopes; if it has none, the value is skipped."""
        known = [node for frame in self._stack[-1] for inner, node in frame.items if inner == key]
        if not known and self.name is None:
            items = [item for frame in self._stack[-1] for item in frame.items]
            known = [node for inner, node in items if isinstance(inner, EnvelopePlaceholder)]
            if known:
                self._named(key)
        self._nodes = tuple(known)

    def _value(self, text: str, pos: int) -> int:
        """Begin a value: the arguments, a name, an id, an inner object, or something to skip."""
        char = text[pos]
        placeholders = {node.name for node in self._nodes if isinstance(node, EnvelopePlaceholder)}
        if "arguments" in placeholders and self.buffered is None and self.source is None and char in '{"':
            if char == '"':
                self._encoded = EncodedArguments(repair=self._repair)
                return pos + 1
            return self._arguments(self._open_object(), pos)
        if "arguments" in placeholders and char != "n":
            self.status = "bad"
        elif "name" in placeholders:
            if char == '"':
                self._begin_string("name")
                return pos + 1
            self.status = "bad"
        elif "id" in placeholders and char == '"':
            self._begin_string("id")
            return pos + 1
        elif char == "{" and any(isinstance(node, Members) for node in self._nodes):
            self._push()
            return pos + 1
        else:
            self._skipped = JsonMachine()
        return pos

    def _begin_encoded(self, encoded: EncodedArguments, text: str, pos: int, end: int) -> int:
        pos = encoded.begin(text, pos, end)
        if encoded.bad:
            self.status = "bad"
        elif encoded.begun:
            self._encoded = None
            return self._arguments(encoded, pos)
        return pos

    def _arguments(self, source: ArgumentSource, pos: int) -> int:
        """Begin the arguments: commit the call if its name is known; else buffer them."""
        known = self.name is not None or (self._outer_name is not None and not self._awaits_name)
        if known:
            self.source = source
            self.status = "commit"
        else:
            self._buffering, self._parts = source, TextBuffer()
            if source.done:
                self._all_buffered("{}")
        return pos

    def _buffer(self, source: ArgumentSource, text: str, pos: int, end: int) -> int:
        """Read arguments whose call has no name yet."""
        after, fragment = source.feed(text, pos, end)
        self.buffered_chars += after - pos
        self._parts.write(fragment)
        repair = source.take_repair()
        if repair is not None:
            self.repairs.append(repair)
            return self._buffer(source, text, after, end)
        if source.bad:
            self.status = "bad"
        elif source.done:
            self._all_buffered(self._parts.take())
        return after

    def _all_buffered(self, text: str) -> None:
        self.buffered = text
        self._buffering = None
        self._state = MEMBER_ENDED
