"""What there is to say about a grammar: warnings, and how much of a schema it enforces, with a check of the rest."""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec

from syntagma.errors import ArgumentError
from syntagma.json_pointer import pointer_of

__all__ = ["GrammarWarning", "Report", "Violation"]


class GrammarWarning(msgspec.Struct, frozen=True, kw_only=True):
    """A warning about the source of a grammar that could be read.

    Attributes:
        code: `W-GRAMMAR-UNUSED` (a rule that nothing uses), `W-GRAMMAR-CYCLE` (a rule that may stand for itself alone)
            or `W-GRAMMAR-UNPRODUCTIVE` (a rule that can never write anything; in EBNF that is an error).
        message: what the warning is about, in one sentence.
        hint: what to do about it.
        offset: byte offset of the place in its source; None in a schema.
        line: its line, 1-based; None in a schema.
        column: its column in characters, 1-based; None in a schema.
        excerpt: the line with a caret under the place; None in a schema.
        pointer: JSON pointer of the keyword in a schema; None elsewhere.
    """

    code: str
    message: str
    hint: str | None
    offset: int | None = None
    line: int | None = None
    column: int | None = None
    excerpt: str | None = None
    pointer: str | None = None

    def __str__(self) -> str:
        hint = "" if self.hint is None else f"\nhint: {self.hint}"
        if self.pointer is not None:
            return f"{self.code}: {self.message} (at {self.pointer}){hint}"
        return f"{self.code}: {self.message} ({self.line}:{self.column})\n{self.excerpt}{hint}"


class Violation(msgspec.Struct, frozen=True):
    """A value that a schema does not allow.

    Attributes:
        path: JSON pointer of the value in the instance.
        keyword: JSON pointer of the keyword in the schema, references followed as the validator walked them.
        message: what is wrong.
    """

    path: str
    keyword: str
    message: str

    def __str__(self) -> str:
        return f"{self.path or '/'}: {self.message} ({self.keyword})"


class Report(msgspec.Struct, frozen=True):
    """How much of a schema a grammar enforces.

    Attributes:
        status: `exact`, or `widened`: the grammar accepts more than the schema at `pointers`.
        pointers: JSON pointer of each keyword that is not enforced → the reason.
        schema: the schema as JSON text; None for a grammar that was not made from one schema alone.
    """

    status: Literal["exact", "widened"]
    pointers: dict[str, str]
    schema: str | None = None

    def validate(self, instance: Any) -> tuple[Violation, ...]:
        """Check finished output for what the grammar does not enforce; empty: it is valid.

        An exact grammar leaves nothing to check. For a widened one the whole schema is checked, with the library
        `jsonschema` (`pip install syntagma[schemas]`).

        Args:
            instance: the value, as `json.loads` gives it.

        Raises:
            ArgumentError: `E-SCHEMA-CHECK`, the grammar was not made from one schema alone, or the library is missing.
        """
        if self.status == "exact":
            return ()
        if self.schema is None:
            raise ArgumentError(
                "E-SCHEMA-CHECK",
                "a grammar that is put together has no schema of its own",
                hint="keep the grammars of its schemas, and ask their reports",
            )
        try:
            import jsonschema
        except ImportError as error:
            raise ArgumentError(
                "E-SCHEMA-CHECK", "checking needs jsonschema", hint="pip install syntagma[schemas]"
            ) from error
        schema = json.loads(self.schema)
        kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        checker = kind(schema, format_checker=kind.FORMAT_CHECKER)
        return tuple(
            Violation(pointer_of(*error.absolute_path), pointer_of(*error.absolute_schema_path), error.message)
            for error in checker.iter_errors(instance)
        )
