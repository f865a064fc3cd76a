"""`Grammar` under xgrammar's name, implemented with `syntagma.Grammar`."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec

from syntagma import _engine, grammars
from syntagma.compat.xgrammar.arguments import checked, integer, wrong_type
from syntagma.compat.xgrammar.exception import DeserializeFormatError, InvalidJSONError
from syntagma.compat.xgrammar.schemas import schema_text
from syntagma.compat.xgrammar.serialization import read, write
from syntagma.compat.xgrammar.structural_tag import FORMATS, StructuralTag, StructuralTagItem
from syntagma.compat.xgrammar.support import errors, refuse, tag_errors
from syntagma.compat.xgrammar.tokenizer_info import TokenizerInfo
from syntagma.errors import SyntagmaError
from syntagma.formats.styles import styled
from syntagma.limits import Limits

__all__ = [
    "Grammar",
    "SchemaOptions",
    "StructuralTagItem",
    "grammar_of",
    "grammar_of_schema",
    "structural_tag_value",
]


Own: TypeAlias = grammars.Grammar
_INDENTED = (",", ": ")


class SchemaOptions(NamedTuple):
    """The options for a schema; `Grammar.from_json_schema` explains each."""

    any_whitespace: bool
    indent: int | None
    separators: tuple[str, str] | None
    strict_mode: bool
    max_whitespace_cnt: int | None
    any_order: bool


class Grammar:
    """A grammar. The static methods make it."""

    _inner: grammars.Grammar

    @classmethod
    def _of(cls, inner: grammars.Grammar) -> Grammar:
        grammar = cls.__new__(cls)
        grammar._inner = inner
        return grammar

    @property
    def syntagma(self) -> grammars.Grammar:
        """The library's own grammar."""
        return self._inner

    def _names(self) -> list[str]:
        """The texts by which the grammar names tokens."""
        return self._inner._inner.symbol_texts()

    def __str__(self) -> str:
        """The grammar as `from_ebnf` reads it, or as the library's own EBNF where that cannot express it."""
        try:
            return self._inner.to_gbnf().for_xgrammar()
        except SyntagmaError:
            return self._inner.to_ebnf()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grammar) and self._inner == other._inner

    def __hash__(self) -> int:
        return hash(self._inner)

    @staticmethod
    @checked
    def from_ebnf(ebnf_string: str, *, root_rule_name: str = "root") -> Grammar:
        """Read a grammar in xgrammar's grammar language.

        Raises:
            RuntimeError: a grammar that cannot be read.
        """
        with errors():
            return Grammar._of(grammars.Grammar.from_xgrammar(ebnf_string, root_rule_name))

    @staticmethod
    @checked
    def from_json_schema(
        schema: Any,
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        print_converted_ebnf: bool = False,
        any_order: bool = False,
    ) -> Grammar:
        """The JSON documents that a schema allows.

        What cannot be enforced is always in the report of the library's grammar (`syntagma.Grammar.report`).

        Args:
            schema: JSON text, a dictionary or a pydantic model.
            any_whitespace: allow whitespace between JSON tokens; False: only that of `indent` and `separators`.
            indent: spaces for each level, as in `json.dumps`.
            separators: comma and colon with their whitespace; None: `(",", ": ")` with an indent, else `(", ", ": ")`.
            strict_mode: objects have only the properties they declare, and tuples no further items.
            max_whitespace_cnt: the most whitespace characters in a row; None: the library's limit of 64.
            print_converted_ebnf: print the grammar.
            any_order: allow properties in any order; required ones must still come, and none may come twice.

        Raises:
            RuntimeError: a schema that is refused.
            WrongTypeError, WrongValueError: not a schema, or an option that is not valid.
            NotImplementedError: an indent together with other separators.
        """
        options = SchemaOptions(any_whitespace, indent, separators, strict_mode, max_whitespace_cnt, any_order)
        return _printed(grammar_of_schema(schema, options), print_converted_ebnf)

    @staticmethod
    @checked
    def from_regex(regex_string: str, *, print_converted_ebnf: bool = False) -> Grammar:
        """The texts that a regular expression (ECMA-262) matches as a whole.

        Raises:
            RuntimeError: a pattern that is not valid, or not regular.
        """
        with errors():
            inner = grammars.Grammar(_engine.Grammar.from_regex(regex_string, Limits(), True))
        return _printed(Grammar._of(inner), print_converted_ebnf)

    @staticmethod
    @checked
    def from_lark(
        lark_string: str,
        *,
        tokenizer_info: TokenizerInfo | None = None,  # noqa: ARG004  # tokens are looked up when it is compiled
        named_grammars: Mapping[str, Grammar | str] | None = None,
    ) -> Grammar:
        """Read a grammar in Lark.

        Args:
            lark_string: the source.
            tokenizer_info: accepted but unused: tokens are looked up when it is compiled.
            named_grammars: grammars, or Lark texts of such, for which `@name` stands in the source.

        Raises:
            RuntimeError: a grammar that cannot be read.
            WrongTypeError: a named grammar that is neither a grammar nor Lark text.
        """
        with errors():
            named = {name: _named_grammar(name, one) for name, one in (named_grammars or {}).items()}
            return Grammar._of(grammars.Grammar.from_lark(lark_string, grammars=named))

    @staticmethod
    def from_structural_tag(*args: Any, **kwargs: Any) -> Grammar:
        """Read a structural tag: `(structural_tag)`, or the older `(tags, triggers)`.

        Raises:
            InvalidJSONError, InvalidStructuralTagError: a tag that is not valid.
            WrongTypeError: arguments of the wrong type.
            NotImplementedError: a format, or an option of one, that is not supported.
        """
        value = structural_tag_value(args, kwargs)
        with tag_errors(value, FORMATS):
            return Grammar._of(grammars.Grammar.from_structural_tag(value, styles=styled))

    @staticmethod
    def builtin_json_grammar() -> Grammar:
        """Any JSON object or array."""
        with errors():
            return Grammar._of(grammars.Grammar.from_json_schema({"type": ["object", "array"]}))

    @staticmethod
    def concat(*grammars: Grammar | Own) -> Grammar:
        """One grammar after another; grammars of the library are accepted, too.

        Raises:
            WrongTypeError: something else.
        """
        return _joined("concat", grammars)

    @staticmethod
    def union(*grammars: Grammar | Own) -> Grammar:
        """Any one of the grammars; grammars of the library are accepted, too.

        Raises:
            WrongTypeError: something else.
        """
        return _joined("union", grammars)

    def serialize_json(self) -> str:
        """The grammar as JSON text."""
        return write("Grammar", grammar=base64.b64encode(self._inner.to_bytes()).decode())

    @staticmethod
    def deserialize_json(json_string: str) -> Grammar:
        """Read what `serialize_json` wrote.

        Raises:
            WrongTypeError: not a string.
            InvalidJSONError, DeserializeFormatError, DeserializeVersionError: not the text of a grammar.
        """
        (given,) = read(json_string, "Grammar", "grammar")
        try:
            return Grammar._of(grammars.Grammar.from_bytes(base64.b64decode(given, validate=True)))
        except (SyntagmaError, ValueError, TypeError) as error:
            raise DeserializeFormatError(f"the text does not contain a grammar: {error}") from error


def grammar_of(value: object, name: str = "grammar") -> Grammar:
    """A grammar that was given as one of this package or of the library.

    Raises:
        WrongTypeError: something else.
    """
    if isinstance(value, Grammar):
        return value
    if isinstance(value, grammars.Grammar):
        return Grammar._of(value)
    raise wrong_type(name, "Grammar", value)


def _named_grammar(name: str, value: object) -> Own:
    if isinstance(value, str):
        return grammars.Grammar.from_lark(value)
    return grammar_of(value, f"named_grammars/{name}")._inner


def grammar_of_schema(schema: Any, options: SchemaOptions) -> Grammar:
    """As `Grammar.from_json_schema`, with the options as one value.

    Raises:
        RuntimeError, ValueError, NotImplementedError: as for `Grammar.from_json_schema`.
    """
    any_whitespace, indent, separators, strict_mode, max_whitespace_cnt, any_order = options
    if not any_whitespace and indent is not None and tuple(separators or _INDENTED) != _INDENTED:
        refuse("from_json_schema(indent, separators)")
    text = schema_text(schema)
    if max_whitespace_cnt is not None:
        max_whitespace_cnt = integer("max_whitespace_cnt", max_whitespace_cnt, 1)
    limits = Limits() if max_whitespace_cnt is None else Limits(json_whitespace=max_whitespace_cnt)
    with errors():
        inner = grammars.Grammar.from_json_schema(
            _engine.strict_schema(text, limits) if strict_mode else text,
            separators=None if any_whitespace or indent is not None else separators or (", ", ": "),
            indent=None if any_whitespace else indent,
            order="any" if any_order else "declared",
            limits=limits,
        )
    return Grammar._of(inner)


def _joined(how: str, parts: tuple[Grammar | Own, ...]) -> Grammar:
    join = grammars.Grammar.concat if how == "concat" else grammars.Grammar.union
    with errors():
        return Grammar._of(join(*(grammar_of(part, f"grammars/{place}")._inner for place, part in enumerate(parts))))


def _printed(grammar: Grammar, wanted: bool) -> Grammar:
    if wanted:
        print(grammar)  # noqa: T201  # what the argument asks for
    return grammar


def structural_tag_value(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The structural tag that the arguments of a call describe, as plain data.

    Raises:
        InvalidJSONError: text that is not JSON.
        WrongTypeError: arguments of the wrong type.
    """
    if len(args) == 2 and all(isinstance(arg, list) for arg in args):
        return StructuralTag.from_legacy_structural_tag(*args).model_dump()
    if not args and {"tags", "triggers"} <= kwargs.keys():
        return StructuralTag.from_legacy_structural_tag(kwargs["tags"], kwargs["triggers"]).model_dump()
    tag = args[0] if len(args) == 1 else kwargs.get("structural_tag") if not args else None
    if isinstance(tag, str):
        try:
            tag = msgspec.json.decode(tag)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise InvalidJSONError(f"the structural tag is not JSON: {error}") from error
        if not isinstance(tag, dict):
            tag = {"format": tag}
    if isinstance(tag, dict):
        return tag
    if tag is not None and hasattr(tag, "model_dump"):
        return dict(tag.model_dump())
    raise wrong_type("structural_tag", "an object, JSON text or a StructuralTag, or give tags and triggers", tag)
