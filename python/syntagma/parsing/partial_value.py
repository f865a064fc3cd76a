"""A JSON value while its text arrives: what is there so far, and whether its schema still allows it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from syntagma.json_pointer import pointer_of
from syntagma.json_types import WHITESPACE, refuse_constant
from syntagma.parsing.text.text_buffer import TextBuffer

if TYPE_CHECKING:
    from syntagma.decoding import GrammarMatcher
    from syntagma.grammars import Grammar

__all__ = ["FieldProblem", "OpenText", "PartialValue", "ValueReader"]

_STOP = re.compile(r'["\\]')
_WORD = re.compile(r"[-+.0-9A-Za-z]*")
_HALF = re.compile("[\ud800-\udbff]")
_NOTHING: Any = object()


class OpenText:
    """A string that is not complete. `str()` gives its text so far, without an escape that is cut."""

    __slots__ = ("_text", "write")

    def __init__(self) -> None:
        self._text = TextBuffer()
        self.write: Callable[[str], None] = self._text.write

    def __str__(self) -> str:
        whole = self.whole()
        return whole[:-1] if "\ud800" <= whole[-1:] <= "\udbff" else whole

    def __repr__(self) -> str:
        return f"OpenText({str(self)!r})"

    def whole(self) -> str:
        """The text, in which two escapes may make one character."""
        text = self._text.value()
        if _HALF.search(text) is None:
            return text
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


class FieldProblem(msgspec.Struct, frozen=True, kw_only=True):
    """Where a JSON text departs from its schema.

    Attributes:
        pointer: JSON pointer of the field, in the value; empty: the value itself.
        message: what is wrong, in a sentence.
        offset: offset in the JSON text, in code points.
    """

    pointer: str
    message: str
    offset: int


class PartialValue:
    """What a JSON text has said so far. It is one object for the whole text, and grows with it.

    Args:
        reader: reads the text.
        schema: the JSON Schema of the value; None: there is none.
    """

    def __init__(self, reader: ValueReader, schema: Any) -> None:
        self._reader = reader
        self._schema = schema
        self._check: _SchemaCheck | None = None

    @property
    def value(self) -> Any:
        """The value so far: objects and arrays with the members that have begun, an `OpenText` where a string is open.

        Numbers and words are there once they are complete; None: nothing is there yet. It is the same value each time,
        which grows, so that reading it costs nothing; copy what you keep. `json.dumps(value, default=str)` is JSON.
        """
        return None if self._reader.value is _NOTHING else self._reader.value

    @property
    def complete(self) -> bool:
        """Whether the value is complete."""
        return self._reader.complete

    @property
    def pointer(self) -> str:
        """JSON pointer of the value, object or array that the next character belongs to; empty: the value itself."""
        return self._reader.pointer

    @property
    def problem(self) -> FieldProblem | None:
        """The first field that can no longer become what the schema allows; None: there is none.

        It is known with the character that breaks it, in any order of properties. What no grammar holds of a schema
        (`Grammar.report`) is not checked; without a schema, the text must be JSON. The cost is linear in the text.

        Raises:
            UnsupportedSchema, LimitError: as `Grammar.from_json_schema`.
        """
        if self._check is None:
            self._check = _SchemaCheck(True if self._schema is None else self._schema)
        return self._check.problem(self._reader.pieces)


class ValueReader:
    """Reads one JSON text, in any pieces. It stops at the first character that no JSON text has there.

    Attributes:
        value: the value so far, see `PartialValue`.
        complete: whether it is complete.
        pieces: the text.
    """

    def __init__(self) -> None:
        self.value: Any = _NOTHING
        self.complete = False
        self.pieces: list[str] = []
        self._open: list[dict[str, Any] | list[Any]] = []
        self._keys: list[str] = []  # for each open object or array its last key; empty in an array
        self._awaits = "value"  # or `item`, `key`, `member`, `colon`, `comma`, `end`; item and member may be lacking
        self._string: OpenText | None = None
        self._escape = ""  # what was read of an escape
        self._word: TextBuffer | None = None
        self._stopped = False

    @property
    def pointer(self) -> str:
        """See `PartialValue`."""
        steps: list[object] = [
            len(one) - 1 if isinstance(one, list) else key for one, key in zip(self._open, self._keys, strict=True)
        ]
        is_list = bool(self._open) and isinstance(self._open[-1], list)
        if self._open and (self._awaits != "value" or (is_list and self._string is None and self._word is None)):
            steps.pop()
        elif is_list and self._word is not None:
            steps[-1] = len(self._open[-1])
        return pointer_of(*steps)

    def write(self, text: str) -> None:
        """Read a piece."""
        self.pieces.append(text)
        at = 0
        while at < len(text) and not self._stopped:
            if self._string is not None:
                at = self._in_string(self._string, text, at)
            elif self._word is not None:
                at = self._in_word(self._word, text, at)
            else:
                if text[at] not in WHITESPACE:
                    self._stopped = not self._between(text[at])
                at += self._word is None

    def _between(self, char: str) -> bool:
        """Read a character between strings and words; False: it cannot stand there."""
        awaits = self._awaits
        if char == '"' and awaits not in ("colon", "comma", "end"):
            self._string = OpenText()
            if awaits in ("value", "item"):
                self._awaits = "value"
                self._begin(self._string)
        elif char in "{[" and awaits in ("value", "item"):
            opened: dict[str, Any] | list[Any] = {} if char == "{" else []
            self._begin(opened)
            self._open.append(opened)
            self._keys.append("")
            self._awaits = "member" if char == "{" else "item"
        elif char == ":" and awaits == "colon":
            self._awaits = "value"
        elif char == "," and awaits == "comma":
            self._awaits = "key" if isinstance(self._open[-1], dict) else "value"
        elif char in "}]" and self._open and awaits in ("comma", "member" if char == "}" else "item"):
            if isinstance(self._open[-1], dict) is not (char == "}"):
                return False
            self._open.pop()
            self._keys.pop()
            self._ended()
        elif awaits in ("value", "item") and _WORD.match(char).end():  # type: ignore[union-attr]
            self._awaits, self._word = "value", TextBuffer()
        else:
            return False
        return True

    def _in_string(self, string: OpenText, text: str, at: int) -> int:
        if self._escape:
            return self._in_escape(string, text[at], at)
        stop = _STOP.search(text, at)
        end = len(text) if stop is None else stop.start()
        string.write(text[at:end])
        if stop is None:
            return end
        if stop[0] == "\\":
            self._escape = "\\"
            return end + 1
        self._string = None
        if self._awaits == "value":
            self._place(string.whole())
            self._ended()
        else:
            self._keys[-1], self._awaits = string.whole(), "colon"
        return end + 1

    def _in_escape(self, string: OpenText, char: str, at: int) -> int:
        self._escape += char
        if len(self._escape) == (6 if self._escape[1] == "u" else 2):
            try:
                string.write(json.loads(f'"{self._escape}"'))
            except ValueError:
                self._stopped = True
            self._escape = ""
        return at + 1

    def _in_word(self, word: TextBuffer, text: str, at: int) -> int:
        end = _WORD.match(text, at).end()  # type: ignore[union-attr]
        word.write(text[at:end])
        if end < len(text):
            self._word = None
            try:
                value = json.loads(word.value(), parse_constant=refuse_constant)
            except ValueError:
                self._stopped = True
                return end
            self._begin(value)
            self._ended()
        return end

    def _begin(self, value: Any) -> None:
        """Put a new value where one is awaited."""
        if self._open and isinstance(self._open[-1], list):
            self._open[-1].append(value)
        else:
            self._place(value)

    def _place(self, value: Any) -> None:
        """Put a value in the place of the one that began last."""
        if not self._open:
            self.value = value
            return
        innermost = self._open[-1]
        if isinstance(innermost, list):
            innermost[-1] = value
        else:
            innermost[self._keys[-1]] = value

    def _ended(self) -> None:
        self.complete = not self._open
        self._awaits = "comma" if self._open else "end"


class _SchemaCheck:
    """Follows a JSON text through the grammar of its schema."""

    def __init__(self, schema: Any) -> None:
        # Most parsers need neither grammars nor vocabularies.
        from syntagma.decoding import GrammarCompiler, GrammarMatcher
        from syntagma.decoding.byte_vocabulary import byte_vocabulary
        from syntagma.grammars import Grammar

        # Whitespace is the model's affair.
        self._grammar: Grammar = Grammar.from_json_schema(schema, order="any", whitespace_pattern=r"[ \t\n\r]*")
        self._matcher: GrammarMatcher = GrammarMatcher(GrammarCompiler(byte_vocabulary()).compile(self._grammar))
        self._read = 0
        self._offset = 0
        self._found: FieldProblem | None = None

    def problem(self, pieces: list[str]) -> FieldProblem | None:
        """The first problem of a text; `pieces` only ever grows."""
        while self._found is None and self._read < len(pieces):
            piece = pieces[self._read]
            if self._matcher.accept_bytes(piece.encode("utf-8", "replace")):
                self._read += 1
                self._offset += len(piece)
            else:
                before = "".join(pieces[: self._read])
                self._found = self._at_fault(before, piece)
        return self._found

    def _at_fault(self, before: str, piece: str) -> FieldProblem:
        at = 0
        while self._matcher.accept_bytes(piece[at].encode("utf-8", "replace")):
            at += 1
        reader = ValueReader()
        reader.write(before + piece[:at])
        # A number that may end here is none that is wrong: what comes after it is.
        if piece[at] in ",]}" and self._matcher.accept_bytes(b" "):
            reader.write(" ")
        check = self._grammar.check(before + piece[: at + 1])
        return FieldProblem(pointer=reader.pointer, message=check.message or "", offset=self._offset + at)
