"""The exceptions that the library raises.

::

    SyntagmaError
    ├── ArgumentError           an argument that is never valid (also a ValueError)
    │   └── ArgumentTypeError   an argument of the wrong type (also a TypeError)
    ├── LimitError              an input beyond one of `syntagma.Limits`        E-LIMIT-…
    ├── TemplateError           a chat template that does not load or render    E-TEMPLATE-…
    ├── FormatError             a format file, or a message it cannot write     E-FORMAT-…
    ├── ParseError              bad model text, only with `strict=True`         E-PARSE-…
    ├── GrammarError            a grammar source that cannot be read            E-GRAMMAR-…, E-REGEX-…
    │   └── UnsupportedSchema   a JSON Schema that is refused, with pointers    E-SCHEMA-…
    ├── VocabularyError         a tokenizer that cannot be understood           E-VOCAB-…
    ├── MatcherError            a matcher that failed and stays failed          E-MATCH-…
    ├── BatchError              a file that a batch cannot read or write        E-BATCH-…
    ├── ModelError              a model that cannot be loaded                   E-MODEL-…
    ├── UpstreamError           a remote engine that refuses or fails           E-UPSTREAM-…
    └── RequestError            a request that a server or the CLI refuses      E-REQUEST-…

Bad *model text* does not raise (unless `strict=True`): readers keep text that they cannot read as content, and add a
diagnostic to the message. Every exception has a `code`, a `message`, a place if there is a source (`line`, `column`,
`offset` or `pointer`), and often a `hint` at what to do.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "BatchError",
    "FormatError",
    "GrammarError",
    "LimitError",
    "MatcherError",
    "ModelError",
    "ParseError",
    "RequestError",
    "SyntagmaError",
    "TemplateError",
    "TemplateTestError",
    "UnsupportedSchema",
    "UpstreamError",
    "VocabularyError",
]


class SyntagmaError(Exception):
    """Base of every exception of the library.

    Attributes:
        code: stable identifier, `E-<AREA>-<WHAT>`, for programs; the message may change.
        message: what is wrong, in one sentence.
        hint: what to do about it, or None.
        line: 1-based line in the source, or None.
        column: 1-based column in code points, or None.
        offset: 0-based offset in code points, or None.
        pointer: JSON pointer (RFC 6901) into the offending value, or None.
        source: the name of the source (a file, `<string>`), or None.
        excerpt: the line with a caret under the error, or None.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str | None = None,
        line: int | None = None,
        column: int | None = None,
        offset: int | None = None,
        pointer: str | None = None,
        source: str | None = None,
        excerpt: str | None = None,
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.hint = hint
        self.line = line
        self.column = column
        self.offset = offset
        self.pointer = pointer
        self.source = source
        self.excerpt = excerpt

    @property
    def place(self) -> str | None:
        """The location, as `source:line:column`, `at /json/pointer`, or both; None if there is none."""
        text = ":".join(str(part) for part in (self.source, self.line, self.column) if part is not None)
        if self.pointer is not None:
            text = f"{text} at {self.pointer or '/'}".lstrip()
        return text or None

    def __str__(self) -> str:
        lines = [f"{self.code}: {self.message}" + (f" ({self.place})" if self.place else "")]
        if self.excerpt:
            lines.append(self.excerpt)
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are pickled by process pools and test runners; keyword-only fields need this.
        return (_rebuild, (type(self), self.code, self.message, self.to_dict()))

    def to_dict(self) -> dict[str, Any]:
        """The fields that are set, as plain data for `--json` output and error bodies."""
        names = ("code", "message", "hint", "line", "column", "offset", "pointer", "source", "excerpt")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


def _rebuild(kind: type[SyntagmaError], code: str, message: str, fields: dict[str, Any]) -> SyntagmaError:
    return kind(code, message, **{k: v for k, v in fields.items() if k not in ("code", "message")})


class ArgumentError(SyntagmaError, ValueError):
    """An argument whose value can never be valid."""


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument of the wrong Python type."""


class LimitError(SyntagmaError):
    """An input beyond one of `syntagma.Limits`.

    Attributes:
        limit: the name of the field of `Limits`, or None.
        given: the given value, or None if counting stopped at the limit.
        allowed: the value of the limit, or None.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        limit: str | None = None,
        given: float | None = None,
        allowed: float | None = None,
        **place: Any,
    ) -> None:
        super().__init__(code, message, **place)
        self.limit = limit
        self.given = given
        self.allowed = allowed

    def to_dict(self) -> dict[str, Any]:
        """The fields that are set, with `limit`, `given` and `allowed`."""
        own = {"limit": self.limit, "given": self.given, "allowed": self.allowed}
        return super().to_dict() | {name: value for name, value in own.items() if value is not None}


class TemplateError(SyntagmaError):
    """A chat template that does not load or render."""


class TemplateTestError(SyntagmaError, AssertionError):
    """A template that fails its test (`syntagma.testing.TemplateTester`)."""


class FormatError(SyntagmaError):
    """A format file that cannot be read, or a message that a format cannot write."""


class ParseError(SyntagmaError):
    """Bad model text; raised only by readers with `strict=True`."""


class GrammarError(SyntagmaError):
    """A grammar source (EBNF, regex, …) that cannot be read, or a grammar whose language is empty."""


class UnsupportedSchema(GrammarError):
    """A JSON Schema that is refused.

    Attributes:
        pointers: JSON pointer of each keyword that cannot be enforced → the reason.
    """

    def __init__(self, code: str, message: str, *, pointers: dict[str, str] | None = None, **place: Any) -> None:
        super().__init__(code, message, **place)
        self.pointers = pointers or {}

    def to_dict(self) -> dict[str, Any]:
        """The fields that are set, with `pointers`."""
        return super().to_dict() | ({"pointers": self.pointers} if self.pointers else {})


class VocabularyError(SyntagmaError):
    """A tokenizer whose tokens cannot be interpreted."""


class MatcherError(SyntagmaError):
    """A matcher that failed. It stays unusable."""


class BatchError(SyntagmaError):
    """A file of rows that cannot be read, written or resumed; `line` is the number of the row, if there is one."""


class ModelError(SyntagmaError):
    """A model that cannot be loaded."""


class UpstreamError(SyntagmaError):
    """A running engine that cannot be reached, refuses a request, breaks off, or cannot enforce a constraint.

    Attributes:
        status: the HTTP status of a response with this error.
        again: whether a retry is possible, with another engine or later, because no text was generated yet.
    """

    def __init__(self, code: str, message: str, *, status: int = 502, again: bool = False, **place: Any) -> None:
        super().__init__(code, message, **place)
        self.status = status
        self.again = again


class RequestError(SyntagmaError):
    """A request that cannot be served.

    Attributes:
        status: the HTTP status of the response.
    """

    def __init__(self, code: str, message: str, *, status: int = 400, **place: Any) -> None:
        super().__init__(code, message, **place)
        self.status = status
