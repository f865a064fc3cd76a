"""`Grammar` by xgrammar's name, over `syntagma.Grammar`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from syntagma import _engine, grammars
from syntagma.compat.xgrammar.exception import DeserializeFormatError, InvalidJSONError
from syntagma.compat.xgrammar.schemas import schema_text, strict_schema
from syntagma.compat.xgrammar.serialization import read, write
from syntagma.compat.xgrammar.structural_tag import FORMATS, StructuralTag, StructuralTagItem
from syntagma.compat.xgrammar.support import errors, refuse, tag_errors
from syntagma.compat.xgrammar.tokenizer_info import TokenizerInfo
from syntagma.errors import SyntagmaError
from syntagma.limits import Limits

__all__ = ["Grammar", "SchemaOptions", "StructuralTagItem", "grammar_of_schema", "structural_tag_value"]


_INDENTED = (",", ": ")


class SchemaOptions(NamedTuple):
    """Which documents are meant by a schema; `Grammar.from_json_schema` says what each option means."""

    any_whitespace: bool
    indent: int | None
    separators: tuple[str, str] | None
    strict_mode: bool
    max_whitespace_cnt: int | None
    any_order: bool


class Grammar:
    """A grammar. Made by the static methods."""

    _inner: grammars.Grammar

    @classmethod
    def _of(cls, inner: grammars.Grammar) -> Grammar:
        grammar = cls.__new__(cls)
        grammar._inner = inner
        return grammar

    def __str__(self) -> str:
        """The grammar as GBNF; as the library's own EBNF where GBNF cannot say it."""
        try:
            return self._inner.to_gbnf().text
        except SyntagmaError:
            return self._inner.to_ebnf()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grammar) and self._inner == other._inner

    def __hash__(self) -> int:
        return hash(self._inner)

    @staticmethod
    def from_ebnf(ebnf_string: str, *, root_rule_name: str = "root") -> Grammar:
        """Read a grammar in GBNF.

        Raises:
            RuntimeError: a grammar that cannot be read.
        """
        with errors():
            return Grammar._of(grammars.Grammar.from_gbnf(ebnf_string, start=root_rule_name))

    @staticmethod
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
        """JSON documents by a schema.

        What cannot be enforced is in the report of the library's grammar (`syntagma.Grammar.report`), never silent.

        Args:
            schema: JSON text, a dictionary or a pydantic model.
            any_whitespace: allow whitespace between tokens of JSON; False: only what `indent` and `separators` say.
            indent: spaces a level, as `json.dumps` takes them.
            separators: comma and colon with their whitespace; None: `(",", ": ")` with an indent, else `(", ", ": ")`.
            strict_mode: objects have the properties that they declare and no others; tuples no further items.
            max_whitespace_cnt: whitespace characters in a row; None: the library's own bound of 64.
            print_converted_ebnf: print the grammar.
            any_order: properties in any order; required ones must come and none comes twice all the same.

        Raises:
            RuntimeError: a schema that is refused.
            ValueError: no schema.
            NotImplementedError: an indent with separators of one's own.
        """
        options = SchemaOptions(any_whitespace, indent, separators, strict_mode, max_whitespace_cnt, any_order)
        return _printed(grammar_of_schema(schema, options), print_converted_ebnf)

    @staticmethod
    def from_regex(regex_string: str, *, print_converted_ebnf: bool = False) -> Grammar:
        """Texts that a regular expression (ECMA-262) matches as a whole.

        Raises:
            RuntimeError: a pattern that cannot be read, or is not regular.
        """
        with errors():
            inner = grammars.Grammar(_engine.Grammar.from_regex(regex_string, Limits(), True))
        return _printed(Grammar._of(inner), print_converted_ebnf)

    @staticmethod
    def from_lark(
        lark_string: str,
        *,
        tokenizer_info: TokenizerInfo | None = None,  # noqa: ARG004  # tokens are looked up when it is compiled
        named_grammars: Mapping[str, Grammar | str] | None = None,
    ) -> Grammar:
        """Read a grammar in Lark.

        Raises:
            RuntimeError: a grammar that cannot be read.
            NotImplementedError: `named_grammars`.
        """
        if named_grammars:
            refuse("from_lark(named_grammars)")
        with errors():
            return Grammar._of(grammars.Grammar.from_lark(lark_string))

    @staticmethod
    def from_structural_tag(*args: Any, **kwargs: Any) -> Grammar:
        """Read a structural tag: `(structural_tag)`, or the older `(tags, triggers)`.

        Raises:
            InvalidJSONError, InvalidStructuralTagError: a tag that cannot be read.
            TypeError: other arguments.
            NotImplementedError: a format, or an option of one, that is not offered.
        """
        value = structural_tag_value(args, kwargs)
        with tag_errors(value, FORMATS):
            return Grammar._of(grammars.Grammar.from_structural_tag(value))

    @staticmethod
    def builtin_json_grammar() -> Grammar:
        """Any JSON object or array."""
        with errors():
            return Grammar._of(grammars.Grammar.from_json_schema({"type": ["object", "array"]}))

    @staticmethod
    def concat(*grammars: Grammar) -> Grammar:
        """One after another."""
        return _joined("concat", grammars)

    @staticmethod
    def union(*grammars: Grammar) -> Grammar:
        """Any of them."""
        return _joined("union", grammars)

    def serialize_json(self) -> str:
        """The grammar as JSON text."""
        ebnf = self._inner.to_ebnf()
        # The rule to start from is printed first.
        return write("Grammar", ebnf=ebnf, start=ebnf.partition("::=")[0].strip())

    @staticmethod
    def deserialize_json(json_string: str) -> Grammar:
        """What `serialize_json` wrote.

        Raises:
            InvalidJSONError, DeserializeFormatError, DeserializeVersionError: other text.
        """
        ebnf, start = read(json_string, "Grammar", "ebnf", "start")
        try:
            return Grammar._of(grammars.Grammar.from_ebnf(ebnf, start))
        except SyntagmaError as error:
            raise DeserializeFormatError(f"the text holds no grammar: {error}") from error


def grammar_of_schema(schema: Any, options: SchemaOptions) -> Grammar:
    """As `Grammar.from_json_schema`, with the options as one value.

    Raises:
        RuntimeError, ValueError, NotImplementedError: as there.
    """
    any_whitespace, indent, separators, strict_mode, max_whitespace_cnt, any_order = options
    if not any_whitespace and indent is not None and tuple(separators or _INDENTED) != _INDENTED:
        refuse("from_json_schema(indent, separators)")
    text = schema_text(schema)
    if max_whitespace_cnt is not None and max_whitespace_cnt < 1:
        raise RuntimeError(f"max_whitespace_cnt is positive, not {max_whitespace_cnt}")
    limits = Limits() if max_whitespace_cnt is None else Limits(json_whitespace=max_whitespace_cnt)
    with errors():
        inner = grammars.Grammar.from_json_schema(
            strict_schema(text) if strict_mode else text,
            separators=None if any_whitespace or indent is not None else separators or (", ", ": "),
            indent=None if any_whitespace else indent,
            order="any" if any_order else "declared",
            limits=limits,
        )
    return Grammar._of(inner)


def _joined(how: str, parts: tuple[Grammar, ...]) -> Grammar:
    join = grammars.Grammar.concat if how == "concat" else grammars.Grammar.union
    with errors():
        return Grammar._of(join(*(part._inner for part in parts)))


def _printed(grammar: Grammar, wanted: bool) -> Grammar:
    if wanted:
        print(grammar)  # noqa: T201  # what the argument asks for
    return grammar


def structural_tag_value(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The structural tag that a call means, as plain data.

    Raises:
        InvalidJSONError: text that is no JSON.
        TypeError: other arguments.
    """
    if len(args) == 2 and all(isinstance(arg, list) for arg in args):
        return StructuralTag.from_legacy_structural_tag(*args).model_dump()
    if not args and {"tags", "triggers"} <= kwargs.keys():
        return StructuralTag.from_legacy_structural_tag(kwargs["tags"], kwargs["triggers"]).model_dump()
    tag = args[0] if len(args) == 1 else kwargs.get("structural_tag") if not args else None
    if isinstance(tag, str):
        try:
            tag = msgspec.json.decode(tag)
        except (msgspec.DecodeError, RecursionError) as error:
            raise InvalidJSONError(f"the structural tag is no JSON: {error}") from error
        if not isinstance(tag, dict):
            tag = {"format": tag}
    if isinstance(tag, dict):
        return tag
    if tag is not None and hasattr(tag, "model_dump"):
        return dict(tag.model_dump())
    raise TypeError("a structural tag is an object, JSON text or a StructuralTag; or give tags and triggers")
