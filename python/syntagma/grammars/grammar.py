"""`Grammar`: what may be written. A thin, typed face over the Rust core."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from syntagma import _engine
from syntagma.answer_types import JsonType
from syntagma.deprecation import deprecated
from syntagma.entry import check_argument, entry, own
from syntagma.errors import ArgumentError, ArgumentTypeError, GrammarError, SyntagmaError
from syntagma.grammars.checking import Check, Match, accepts_text, check_text, match_text
from syntagma.grammars.dialects import (
    NOTATIONS,
    Dialect,
    Notation,
    default_start,
    notation_of_file,
    notation_of_text,
    read_first,
)
from syntagma.grammars.examples import example_texts
from syntagma.grammars.exports import Export, exports_of
from syntagma.grammars.gbnf import Gbnf
from syntagma.grammars.grammar_list import read_grammar_list
from syntagma.grammars.json_schema import (
    Draft,
    Order,
    SchemaOptions,
    Spacing,
    ValueNotation,
    Whitespace,
    schema_options,
    schema_text,
)
from syntagma.grammars.lark_imports import imported_texts
from syntagma.grammars.lru_cache import LruCache
from syntagma.grammars.made import How, Recorded
from syntagma.grammars.report import GrammarWarning, Report
from syntagma.grammars.structural_tag import Schemas, StructuralTag, Styles, read_structural_tag, write_structural_tag
from syntagma.limits import Limits
from syntagma.stopping import check_going_on

__all__ = ["Grammar", "Whitespace"]

_DEFAULT_LIMITS = Limits()
_MAX_BOUND = 2**32 - 1
_Bound: TypeAlias = tuple[str, str, int]
"""A label, what is counted, and how many there may be."""
_SCHEMA_GRAMMARS: LruCache[_engine.Grammar] = LruCache(16 << 20)
"""Grammars of schemas that were read: a server is asked for the same few again and again."""


def _weight(source: str) -> int:
    """Bytes that the grammar of a schema takes, about: the shortest ones some ten KiB."""
    return (16 << 10) + 16 * len(source)


class Grammar:
    """A context-free grammar over bytes, markers and tokens. Immutable; grammars share their parts.

    A *marker* is the special token of exactly its text, if the vocabulary has one; else the bytes of its text, with
    special tokens inside it (of two characters or more, without whitespace at the edges) as these tokens. Text
    never matches a special token.
    """

    __slots__ = ("_bounds", "_inner", "_made", "_schema")

    def __init__(
        self,
        inner: _engine.Grammar,
        schema: str | None = None,
        bounds: Sequence[_Bound] = (),
        made: Recorded = None,
    ) -> None:
        self._inner = inner
        self._schema = schema
        self._bounds = tuple(bounds)
        self._made = made

    @classmethod
    @entry
    def from_ebnf(
        cls,
        text: str,
        start: str = "start",
        *,
        grammars: Mapping[str, Grammar] | None = None,
        limits: Limits | None = None,
    ) -> Grammar:
        """Read a grammar in the library's EBNF (`docs/reference/ebnf.md`).

        Args:
            text: the source.
            start: the start rule.
            grammars: whole grammars by name, which the text may use like rules. Their reports are joined unchanged;
                `placed` gives them a place. Their bounds hold.
            limits: limits for the source.

        Raises:
            GrammarError: `E-GRAMMAR-…`, with line, column, the line and a hint; `E-GRAMMAR-DUPLICATE`: a rule has the
                name of a grammar.
            LimitError: a source that is too large or nested too deeply.
        """
        given = _given(grammars)
        text, start = _text(text, "text"), _text(start, "start")
        check_going_on()
        inner = _engine.Grammar.from_ebnf(text, start, given, limits or _DEFAULT_LIMITS)
        return cls(inner, None, _kept(inner, grammars))

    @classmethod
    @entry
    def from_gbnf(cls, text: str, start: str = "root", *, limits: Limits | None = None) -> Grammar:
        """Read a grammar in GBNF, as llama.cpp does (`docs/reference/gbnf.md`).

        Raises:
            GrammarError: `E-GRAMMAR-…`, with line, column, the line and a hint.
            LimitError: a source that is too large or nested too deeply.
        """
        check_going_on()
        return cls(_engine.Grammar.from_gbnf(_text(text, "text"), _text(start, "start"), limits or _DEFAULT_LIMITS))

    @classmethod
    @entry
    def from_xgrammar(cls, text: str, start: str = "root", *, limits: Limits | None = None) -> Grammar:
        """Read a grammar in xgrammar's grammar language, as xgrammar 0.2 does (`docs/reference/xgrammar.md`).

        Raises:
            GrammarError: `E-GRAMMAR-…` or `E-REGEX-…`, with line, column, the line and a hint.
            LimitError: a source that is too large or nested too deeply.
        """
        check_going_on()
        text, start = _text(text, "text"), _text(start, "start")
        inner, budgets = _engine.Grammar.from_xgrammar(text, start, limits or _DEFAULT_LIMITS)
        return cls(inner, None, [(label, "tokens", most) for label, most in budgets])

    @classmethod
    @entry
    def from_lark(
        cls,
        text: str,
        start: str = "start",
        *,
        grammars: Mapping[str, Grammar] | None = None,
        imports: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> Grammar:
        """Read a grammar in Lark, as llguidance and Lark do (`docs/reference/lark.md`).

        Args:
            text: the source.
            start: the start rule.
            grammars: whole grammars by name, for which `@name` and terminals of `%declare` stand in rules;
                their bounds hold.
            imports: the texts that `%import .name.RULE` reads, by name; `folder.name` for one in a folder. No file is
                opened; `from_file` finds those that lie beside the file.
            limits: limits for the source, with what it imports.

        Raises:
            GrammarError: `E-GRAMMAR-…`, `E-REGEX-…` or `E-SCHEMA-…`, with place and hint.
            LimitError: a source that is too large or nested too deeply.
        """
        given = _given(grammars)
        text, start = _text(text, "text"), _text(start, "start")
        check_going_on()
        files = [(_text(name, "imports"), _text(source, "imports")) for name, source in (imports or {}).items()]
        inner, budgets = _engine.Grammar.from_lark(text, start, given, files, limits or _DEFAULT_LIMITS)
        return cls(inner, None, _kept(inner, grammars, [(label, "tokens", most) for label, most in budgets]))

    @classmethod
    @entry
    def from_structural_tag(
        cls, tag: Mapping[str, Any] | str, *, styles: Styles[Grammar] | None = None, limits: Limits | None = None
    ) -> Grammar:
        """Read a structural tag, given as an object or JSON text (`docs/reference/structural-tag.md`).

        Args:
            tag: the tag.
            styles: writes schemas in styles other than JSON; `syntagma.formats.styled` knows those of the formats.
            limits: bounds on the tag.

        Raises:
            GrammarError: `E-GRAMMAR-STRUCTURAL-TAG`, `E-GRAMMAR-UNSUPPORTED`, or the code of a schema, pattern or
                grammar in it; with the JSON pointer.
            LimitError: a tag that is too large or nested too deeply.
        """
        if not isinstance(tag, str | Mapping):
            raise ArgumentTypeError(
                "E-GRAMMAR-TYPE", f"a structural tag is an object or JSON text, not {type(tag).__name__}"
            )
        return read_structural_tag(tag, cls, limits or _DEFAULT_LIMITS, styles)

    @classmethod
    @entry
    def from_regex(
        cls, pattern: str, *, dialect: Literal["rust", "ecma"] = "rust", limits: Limits | None = None
    ) -> Grammar:
        """Texts that match the whole pattern, over UTF-8.

        Args:
            pattern: The pattern, in Rust's syntax or in ECMA-262's; both may look around.
            dialect: Whose syntax it is.
            limits: Bounds on its size and its repetitions.

        Raises:
            ArgumentError: `E-REGEX-DIALECT`, an unknown dialect.
            GrammarError: `E-REGEX-…`, with column and hint; patterns that are not regular are refused.
            LimitError: a pattern or a repetition that is too large.
        """
        if dialect not in ("rust", "ecma"):
            raise ArgumentError("E-REGEX-DIALECT", f"dialect is {dialect!r}", hint="it is 'rust' or 'ecma'")
        pattern = _text(pattern, "pattern")
        made: Recorded = ("regex", pattern, ()) if dialect == "rust" else None
        check_going_on()
        inner = _engine.Grammar.from_regex(pattern, limits or _DEFAULT_LIMITS, dialect == "ecma")
        return cls(inner, None, (), made)

    @classmethod
    @entry
    def from_json_schema(
        cls,
        schema: dict[str, Any] | type[Any] | JsonType | bool | str,
        *,
        allow_widened: bool = True,
        whitespace: Whitespace | None = None,
        whitespace_pattern: str | None = None,
        separators: tuple[str, str] | None = None,
        indent: int | None = None,
        order: Order = "declared",
        draft: Draft | None = None,
        notation: ValueNotation | None = None,
        resources: Mapping[str, dict[str, Any] | bool | str] | None = None,
        limits: Limits | None = None,
    ) -> Grammar:
        """JSON documents that a schema allows (2020-12 back to draft 4).

        What cannot be enforced is listed in `report`, never dropped silently.

        Args:
            schema: a schema, its JSON text, or a type of Python: a model or an adapter of pydantic, a dataclass, a
                TypedDict, `list[int]`. The objects of a type hold their declared properties only.
            allow_widened: False refuses a schema that cannot be enforced completely.
            whitespace: `flexible`: JSON whitespace, at most `limits.json_whitespace` in a row; `compact`: none; None:
                as the schema's `x-guidance` says (llguidance's options), else flexible.
            whitespace_pattern: a regular expression for the whitespace before each word.
            separators: exactly this comma and this colon, with their whitespace, as `json.dumps` takes them.
            indent: a line for each item, with so many spaces a level (at most 24 levels), as `json.dumps` writes it.
            order: of properties: `declared`, as the schema lists them, or `any`.
            draft: the version of JSON Schema; None: as `$schema` says, else the latest.
            notation: how values are spelled if not as JSON; such text is not checked as JSON.
            resources: schemas, or their JSON texts, that `$ref` may lead to, by URI; their places in reports and errors
                are `URI#/pointer`. Nothing else is ever loaded.
            limits: bounds on the schema, together with its resources.

        Raises:
            ArgumentError: `E-SCHEMA-OPTION`, an unknown option.
            UnsupportedSchema: `E-SCHEMA-…`, with JSON pointers.
            LimitError: a schema that is too large or too deep.
        """
        text = schema_text(schema)
        spacing = Spacing(whitespace, whitespace_pattern, separators, indent)
        options = schema_options(
            spacing, allow_widened=allow_widened, order=order, draft=draft, notation=notation, resources=resources
        )
        bounds = limits or _DEFAULT_LIMITS
        check_going_on()
        inner = _SCHEMA_GRAMMARS.get(
            (text, options, bounds), _weight(text), lambda: _engine.Grammar.from_json_schema(text, options, bounds)
        )
        alone = notation is None and not resources
        return cls(inner, text if alone else None, (), ("schema", (text, options), ()))

    @classmethod
    @entry
    def from_text(
        cls,
        text: str,
        dialect: Dialect = "auto",
        *,
        start: str | None = None,
        styles: Styles[Grammar] | None = None,
        limits: Limits | None = None,
    ) -> Grammar:
        """Read a grammar in any notation.

        Args:
            text: the source.
            dialect: its notation: `ebnf` (KBNF too), `gbnf`, `xgrammar`, `lark`, `regex`, `json_schema`,
                `structural_tag`, `grammar_list` (llguidance's list of grammars); `auto`: detected from the text; never
                `regex`.
            start: the start rule; None: `start`; in GBNF, in xgrammar's language, and in EBNF without a rule `start`,
                `root`.
            styles: see `from_structural_tag`.
            limits: bounds on the source.

        Raises:
            ArgumentError: `E-GRAMMAR-DIALECT`, an unknown dialect, or a text in no known notation.
            GrammarError: as the reader of the notation raises; if several are possible, from the one that understands
                the text best. The hint names another notation of rules that would read the text.
            LimitError: a source that is too large or nested too deeply.
        """
        text = _text(text, "text")
        if dialect == "auto":
            notations = notation_of_text(text)
        elif dialect in NOTATIONS:
            notations = (dialect,)
        else:
            hint = f"it is 'auto' or one of {', '.join(NOTATIONS)}"
            raise ArgumentError("E-GRAMMAR-DIALECT", f"dialect is {dialect!r}", hint=hint)
        return read_first(notations, lambda notation: cls._read(text, notation, start, styles=styles, limits=limits))

    @classmethod
    @entry
    def from_file(
        cls,
        path: str | PathLike[str],
        *,
        start: str | None = None,
        styles: Styles[Grammar] | None = None,
        limits: Limits | None = None,
    ) -> Grammar:
        """Read the grammar in a file, UTF-8; the suffix says in which notation.

        `.ebnf` and `.kbnf`: EBNF; `.gbnf`, `.lark`, `.regex`; `.json`: a JSON Schema, a structural tag or a list of
        grammars; any other: detected as by `from_text`. A byte order mark is skipped. What a grammar in Lark imports is
        read from the folder of the file, and no other.

        Raises:
            ArgumentError: `E-GRAMMAR-DIALECT`, neither suffix nor text show the notation.
            GrammarError: `E-GRAMMAR-READ`, the file cannot be read; else as the reader of the notation raises, with the
                name of the file as `source`.
            LimitError: a source that is too large or nested too deeply.
        """
        try:
            text = Path(path).read_bytes().decode("utf-8-sig", "replace")
        except OSError as error:
            message = f"cannot be read: {error.strerror or error}"
            raise GrammarError("E-GRAMMAR-READ", message, source=str(path)) from None
        try:
            notations = notation_of_file(str(path), text)
            return read_first(
                notations, lambda notation: cls._read(text, notation, start, styles=styles, limits=limits, path=path)
            )
        except SyntagmaError as error:
            error.source = str(path)
            raise

    @classmethod
    def _read(
        cls,
        text: str,
        notation: Notation,
        start: str | None,
        *,
        styles: Styles[Grammar] | None,
        limits: Limits | None,
        path: str | PathLike[str] | None = None,
    ) -> Grammar:
        match notation:
            case "gbnf":
                return cls.from_gbnf(text, start or "root", limits=limits)
            case "xgrammar":
                return cls.from_xgrammar(text, start or "root", limits=limits)
            case "lark":
                bounds = limits or _DEFAULT_LIMITS
                imports = None if path is None else imported_texts(text, Path(path).parent, bounds)
                return cls.from_lark(text, start or "start", imports=imports, limits=bounds)
            case "grammar_list":
                return read_grammar_list(text, cls, start or "start", limits or _DEFAULT_LIMITS)
            case "regex":
                return cls.from_regex(text.removesuffix("\n"), limits=limits)
            case "json_schema":
                return cls.from_json_schema(text, limits=limits)
            case "structural_tag":
                return cls.from_structural_tag(text, styles=styles, limits=limits)
            case "ebnf":
                return cls.from_ebnf(text, start or default_start(text), limits=limits)

    @classmethod
    def json(cls, *, whitespace: Whitespace = "flexible", limits: Limits | None = None) -> Grammar:
        """Any JSON object."""
        return cls.from_json_schema({"type": "object"}, whitespace=whitespace, limits=limits)

    @classmethod
    @entry
    def from_choices(cls, choices: Sequence[str]) -> Grammar:
        """Exactly one of the texts.

        Raises:
            ArgumentError: `E-GRAMMAR-EMPTY`, there are none.
        """
        if isinstance(choices, str) or not choices:
            raise ArgumentError("E-GRAMMAR-EMPTY", "choices is a list of at least one text")
        return cls.union(*(cls.literal(choice) for choice in choices))

    @classmethod
    @entry
    def literal(cls, text: str | bytes) -> Grammar:
        """Exactly this text."""
        if isinstance(text, str):
            return cls(_engine.Grammar.literal(text.encode()), None, (), ("literal", text, ()))
        return cls(_engine.Grammar.literal(text))

    @classmethod
    @entry
    def marker(cls, text: str) -> Grammar:
        """A marker: the special token of exactly this text, if there is one; else its bytes and the tokens inside."""
        return cls(_engine.Grammar.marker(_text(text, "text")), None, (), ("marker", text, ()))

    @classmethod
    @entry
    def token(cls, text: str) -> Grammar:
        """The special token of exactly this text; a vocabulary without it cannot compile the grammar."""
        return cls(_engine.Grammar.token(_text(text, "text")), None, (), ("token", text, ()))

    @classmethod
    def token_ids(cls, *ranges: tuple[int, int]) -> Grammar:
        """Any one token of inclusive ranges of ids; text never matches it.

        Raises:
            ArgumentError: `E-GRAMMAR-TOKENS`, no range, or one out of order or beyond 32 bits.
        """
        if not ranges or any(not 0 <= first <= last < 2**32 for first, last in ranges):
            raise ArgumentError("E-GRAMMAR-TOKENS", "tokens are named by at least one range of ids, in order")
        return cls(_engine.Grammar.token_ids(ranges), None, (), ("token_ids", ranges, ()))

    @classmethod
    @entry
    def token_except(cls, *tokens: int | str) -> Grammar:
        """Any one token except these, each given by its id or its text; text never matches it.

        A vocabulary without a special, added or user-defined token of such a text cannot compile the grammar.

        Raises:
            ArgumentError: `E-GRAMMAR-TOKENS`, a number beyond 32 bits, or an empty text.
        """
        ids, texts = [], []
        for token in tokens:
            if isinstance(token, str) and token:
                texts.append(token)
            elif isinstance(token, int) and not isinstance(token, bool) and 0 <= token < 2**32:
                ids.append((token, token))
            else:
                raise ArgumentError("E-GRAMMAR-TOKENS", f"a token is its number or its text, not {token!r}")
        return cls(_engine.Grammar.token_except(ids, texts), None, (), ("token_except", tokens, ()))

    @classmethod
    @entry
    def text(cls, *, without: Sequence[str] = (), closer: str | None = None) -> Grammar:
        """Any UTF-8 text without any of `without`; if `closer` follows, this is its first occurrence."""
        made: Recorded = ("text", (tuple(without), closer), ())
        return cls(_engine.Grammar.text(list(without), closer), None, (), made)

    @classmethod
    def union(cls, *grammars: Grammar) -> Grammar:
        """Any of the grammars."""
        return cls._of("union", _engine.Grammar.union, grammars)

    @classmethod
    def concat(cls, *grammars: Grammar) -> Grammar:
        """One grammar after another; none is the empty text."""
        return cls._of("concat", _engine.Grammar.concat, grammars)

    @classmethod
    def _of(
        cls, how: How, join: Callable[[list[_engine.Grammar]], _engine.Grammar], grammars: Sequence[Grammar]
    ) -> Grammar:
        parts = tuple(map(own, grammars))
        for place, part in enumerate(parts):
            if not isinstance(part, Grammar):
                check_argument(f"grammars/{place}", part, Grammar)
        if len(parts) == 1:
            return parts[0]
        return cls(
            join([part._inner for part in parts]), None, _smallest(part._bounds for part in parts), (how, None, parts)
        )

    @classmethod
    def repeat(
        cls, grammar: Grammar, min: int = 0, max: int | None = None, *, separator: Grammar | None = None
    ) -> Grammar:
        """The grammar repeated, with an optional separator between.

        Raises:
            ArgumentError: `E-GRAMMAR-REPEAT`, bounds that cannot be met.
        """
        if min < 0 or (max is not None and max < min):
            raise ArgumentError("E-GRAMMAR-REPEAT", f"between {min} and {max} times is impossible")
        grammar, separator = own(grammar), own(separator)
        between = None if separator is None else separator._inner
        parts = (grammar,) if separator is None else (grammar, separator)
        made: Recorded = ("repeat", (min, max), parts)
        return cls(
            _engine.Grammar.repeat(grammar._inner, min, max, between),
            None,
            _smallest(part._bounds for part in parts),
            made,
        )

    @classmethod
    def optional(cls, grammar: Grammar) -> Grammar:
        """The grammar or nothing."""
        return cls.repeat(grammar, 0, 1)

    @classmethod
    @entry
    def labelled(cls, label: str, grammar: Grammar) -> Grammar:
        """The grammar as a part with a label, as `@label(…)` in EBNF; matchers can limit such parts."""
        grammar = own(grammar)
        made: Recorded = ("label", label, (grammar,))
        return cls(_engine.Grammar.labelled(_text(label, "label"), grammar._inner), None, grammar._bounds, made)

    def bounded(self, label: str, *, tokens: int | None = None, bytes: int | None = None) -> Grammar:
        """The same grammar, whose matchers limit parts with this label: tokens in total, or bytes of each.

        Raises:
            ArgumentError: `E-GRAMMAR-BOUND`, not exactly one bound, or one below 0.
        """
        unit, most = ("tokens", tokens) if bytes is None else ("bytes", bytes)
        if most is None or most < 0 or (tokens is not None and bytes is not None):
            raise ArgumentError("E-GRAMMAR-BOUND", "a part is bounded by a number of tokens or by one of bytes")
        others = [bound for bound in self._bounds if bound[0] != label]
        bounds = [*others, (label, unit, min(most, _MAX_BOUND))]
        return Grammar(self._inner, self._schema, bounds, self._made)

    @property
    def bounds(self) -> tuple[_Bound, ...]:
        """The limits that matchers enforce: the label of the part, `tokens` or `bytes`, and the maximum number."""
        return self._bounds

    def inside_json_string(self) -> Grammar:
        """The same texts, escaped as between the quotes of a JSON string; a marker becomes its text.

        Raises:
            GrammarError: `E-GRAMMAR-UNSUPPORTED`, it requires a token, which has no spelling.
        """
        return Grammar(self._inner.inside_json_string())

    def spelled(self, escapes: Mapping[str, str]) -> Grammar:
        """The same texts with an escape for each of these ASCII characters; a marker becomes its text.

        Raises:
            GrammarError: `E-GRAMMAR-ESCAPES`, a spelling could be read in two ways; `E-GRAMMAR-UNSUPPORTED`, a token.
        """
        return Grammar(self._inner.spelled(list(escapes.items())))

    def placed(self, pointer: str) -> Grammar:
        """Deprecated since 0.3: use `with_pointer_prefix`. Version 0.5 may remove it."""
        deprecated("Grammar.placed(pointer)", "with_pointer_prefix(pointer)")
        return self.with_pointer_prefix(pointer)

    def with_pointer_prefix(self, pointer: str) -> Grammar:
        """The same grammar as a part of something larger: the pointers of its report begin with `pointer`."""
        inner = self._inner.placed(_text(pointer, "pointer"))
        return Grammar(inner, self._schema, self._bounds, self._made)

    @property
    def report(self) -> Report:
        """The parts of its schemas that are not enforced."""
        pointers = dict(self._inner.report_pointers())
        return Report("widened" if pointers else "exact", pointers, self._schema)

    @property
    def warnings(self) -> tuple[GrammarWarning, ...]:
        """Warnings about the sources it was read from, in the order of its rules."""
        return tuple(GrammarWarning(**fields) for fields in self._inner.warnings())

    @property
    def rule_count(self) -> int:
        """The number of its own rules, without those of grammars in it."""
        return self._inner.rule_count()

    @entry
    def check(self, text: str, *, limits: Limits | None = None) -> Check:
        """Whether it accepts a text; if not, the place and the reason.

        The text is read as bytes; special tokens that the grammar names by text are read as this text. A line feed at
        the end, as editors add it, is ignored if the grammar does not allow it.

        Raises:
            GrammarError: the grammar does not compile, for instance because it names tokens by their numbers.
            LimitError: it is too large to compile.
        """
        text = _text(text, "text")
        found = check_text(self._inner, text, limits or _DEFAULT_LIMITS)
        if found.accepted:
            return msgspec.structs.replace(found, violations=self._violations(text))
        if self._is_out_of_order(text, limits):
            message = f'{found.message}; all that is wrong is the order of properties: order="any" accepts it'
            return msgspec.structs.replace(found, message=message, out_of_order=True)
        return found

    @entry
    def accepts(self, text: str, *, limits: Limits | None = None) -> bool:
        """Whether it accepts the whole text, read as in `check`; a line feed at the end counts.

        Parts of a schema that are not enforced, as `report` lists them, are not checked.

        Raises:
            GrammarError: the grammar does not compile.
            LimitError: it is too large to compile.
        """
        return accepts_text(self._inner, _text(text, "text"), limits or _DEFAULT_LIMITS)

    @entry
    def examples(self, count: int = 10, *, seed: int = 0, limits: Limits | None = None) -> tuple[str, ...]:
        """Random texts that it accepts, to see what it lets through.

        Each is a random walk that prefers letters, digits and punctuation, closed by the shortest end.

        Args:
            count: how many different texts, at least 1. There are fewer if the grammar has few, or if walks find no
                end.
            seed: another seed gives other texts.
            limits: limits for the grammar.

        Raises:
            ArgumentError: `E-ARGUMENT-VALUE`, `count` is less than 1.
            GrammarError: the grammar does not compile, for instance because it names tokens by their numbers.
            LimitError: it is too large to compile.
        """
        if count < 1:
            raise ArgumentError("E-ARGUMENT-VALUE", f"count must be at least 1, not {count}")
        return example_texts(self._inner, count, seed, limits or _DEFAULT_LIMITS)

    @entry
    def match(self, text: str, *, limits: Limits | None = None) -> Match | None:
        """The positions of the labelled parts of a text; None if the grammar does not accept the whole text.

        Parts are labelled with `@name(…)` in EBNF, with `rule[capture="name"]: …` in Lark. Of several readings, the
        one counts whose first part starts earliest, then is longest; then the next part decides.

        Raises:
            GrammarError: the grammar does not compile, for instance because it names tokens by numbers.
            LimitError: it is too large to compile; `E-LIMIT-STEP`, there are too many readings.
        """
        return match_text(self._inner, _text(text, "text"), limits or _DEFAULT_LIMITS)

    def _is_out_of_order(self, text: str, limits: Limits | None) -> bool:
        """Whether a JSON document that the schema does not allow would be allowed with its properties in any order."""
        match self._made:
            case ("schema", (str() as schema, SchemaOptions(any_order=False, notation=None) as options), ()):
                pass
            case _:
                return False
        try:
            json.loads(text)
            bounds = limits or _DEFAULT_LIMITS
            any_order = msgspec.structs.replace(options, any_order=True)
            return accepts_text(_engine.Grammar.from_json_schema(schema, any_order, bounds), text, bounds)
        except (ValueError, RecursionError, SyntagmaError):
            return False

    def _violations(self, text: str) -> tuple[str, ...]:
        report = self.report
        if report.status == "exact" or report.schema is None:
            return ()
        try:
            return tuple(str(violation) for violation in report.validate(json.loads(text)))
        except ArgumentError as error:
            return (f"not checked: {error.message}",)

    def to_ebnf(self) -> str:
        """The grammar as EBNF text; it reads back as the same language."""
        return self._inner.to_ebnf()

    def to_gbnf(self, token_ids: Mapping[str, int] | None = None) -> Gbnf:
        """The grammar as GBNF; it reads back as the same language.

        Args:
            token_ids: the number of each special token of the vocabulary, by its text: markers that are among them, and
                those inside of other markers, are written by number, all else as text. By default all markers are text.

        Raises:
            GrammarError: `E-GRAMMAR-UNPRINTABLE`, GBNF cannot express it; the message names the part.
        """
        text, markers, names_tokens = self._inner.to_gbnf(None if token_ids is None else _token_ids(token_ids))
        return Gbnf(text, tuple(markers), names_tokens)

    def to_lark(self, token_ids: Mapping[str, int] | None = None) -> str:
        """The grammar as Lark text in the dialect of llguidance, with the start rule `start`; the same language.

        llguidance's lexer takes the longest match of the terminals that are possible, so every terminal here is one
        character.

        Args:
            token_ids: the number of each special token of the vocabulary, by its text: markers that are among them, and
                those inside of other markers, are written by number, all else as text; `{}` writes all as text. By
                default a marker is the special token of its text, which must be of the form `<text>`.

        Raises:
            GrammarError: `E-GRAMMAR-UNPRINTABLE`, Lark cannot express it; the message names the part.
        """
        return self._inner.to_lark(None if token_ids is None else _token_ids(token_ids))

    def exports(
        self, token_ids: Mapping[str, int] | None = None, *, languages: Sequence[str] | None = None
    ) -> dict[str, Export]:
        """The grammar in the languages of other engines, each with the parts that it cannot express.

        Args:
            token_ids: as in `to_lark`.
            languages: the requested ones; None: all.

        Returns:
            For `ebnf` (ours), `gbnf` (llama.cpp), `lark` (llguidance), `xgrammar` (its grammar text), `structural_tag`
            (xgrammar, vLLM, SGLang) and `json_schema` (the schema that the grammar was made from): `exact`, `wider`
            with where, or `no` with why.
        """
        return exports_of(self, token_ids, languages)

    def to_structural_tag(
        self,
        *,
        schemas: Schemas = "json_schema",
        token_ids: Mapping[str, int] | None = None,
        limits: Limits | None = None,
    ) -> StructuralTag:
        """The grammar as a structural tag; it reads back as the same language, or a wider one, and reports where.

        Args:
            schemas: how a JSON Schema is written: `json_schema`, as it is; `text`, as grammar text, which enforces the
                keywords that xgrammar ignores.
            token_ids: the number of each special token of the vocabulary, by its text; grammar text in the tag then
                names them by number.
            limits: bounds on the tag.

        Raises:
            GrammarError: `E-GRAMMAR-UNSUPPORTED`, a structural tag cannot express it; `E-GRAMMAR-UNPRINTABLE`, nor can
                grammar text for a part of it; the message names the part.
            LimitError: `E-LIMIT-GRAMMAR-BYTES`, the tag is larger than any that is read.
        """
        ids = None if token_ids is None else _token_ids(token_ids)
        return write_structural_tag(self, limits or _DEFAULT_LIMITS, schemas=schemas, token_ids=ids)

    def dump_lnf(self, *, limits: Limits | None = None) -> str:
        """The normal form that the engine runs, for people."""
        return self._inner.dump_lnf(limits or _DEFAULT_LIMITS)

    def __copy__(self) -> Grammar:
        return self

    def __deepcopy__(self, _memo: object) -> Grammar:
        return self

    def to_bytes(self) -> bytes:
        """The grammar with its report, warnings and bounds, for another process or another host (`docs/c.md`)."""
        return self._inner.saved(self._schema, self._bounds)

    @classmethod
    @entry
    def from_bytes(cls, data: bytes) -> Grammar:
        """Read a grammar from `to_bytes`, of any host.

        Raises:
            ArgumentError: `E-STATE-FORMAT`, the bytes are no saved grammar, or damaged; `E-STATE-VERSION`, they are of
                another version.
        """
        return cls(*_engine.Grammar.from_saved(data))

    def __getstate__(self) -> bytes:
        return self.to_bytes()

    def __setstate__(self, state: object) -> None:
        """Be the grammar that was pickled.

        Raises:
            ArgumentError: `E-STATE-FORMAT`, the state is no grammar's; `E-STATE-VERSION`, it is another version's.
        """
        match state:
            case bytes():
                self.__init__(*_engine.Grammar.from_saved(state))  # type: ignore[misc]
            case (int(version), *_):
                raise ArgumentError("E-STATE-VERSION", f"a grammar of version {version} cannot be read here")
            case _:
                raise ArgumentError("E-STATE-FORMAT", "this is not a pickled grammar")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grammar) and self._bounds == other._bounds and self._inner == other._inner

    def __hash__(self) -> int:
        return hash(self._inner)

    def __repr__(self) -> str:
        return f"<Grammar {self.report.status}, {self.rule_count} rules>"


def _kept(inner: _engine.Grammar, grammars: Mapping[str, Grammar] | None, own: Sequence[_Bound] = ()) -> list[_Bound]:
    """The bounds of a grammar that was read: its own, and those of given grammars on parts that are in it."""
    given = [grammar._bounds for grammar in (grammars or {}).values()]
    if not any(given):
        return list(own)
    labels = set(inner.labels())
    return [bound for bound in _smallest([own, *given]) if bound[0] in labels]


def _smallest(bounds: Iterable[Sequence[_Bound]]) -> list[_Bound]:
    """All these bounds; of several on one label the smallest."""
    smallest: dict[str, _Bound] = {}
    for bound in sorted(chain.from_iterable(bounds), key=lambda bound: bound[2]):
        smallest.setdefault(bound[0], bound)
    return list(smallest.values())


def _given(grammars: Mapping[str, Grammar] | None) -> list[tuple[str, _engine.Grammar]]:
    """Grammars by name, as the engine takes them."""
    return [(_text(name, "a name"), grammar._inner) for name, grammar in (grammars or {}).items()]


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise ArgumentTypeError("E-GRAMMAR-TYPE", f"{name} must be a string, not {type(value).__name__}")
    return value


def _token_ids(given: object) -> dict[str, int]:
    if not isinstance(given, Mapping):
        raise ArgumentTypeError("E-GRAMMAR-TYPE", f"token_ids maps texts to numbers, {type(given).__name__} does not")
    ids = {}
    for text, number in given.items():
        if not isinstance(text, str) or not isinstance(number, int) or not 0 <= number < 2**32:
            raise ArgumentError("E-GRAMMAR-TOKENS", f"{text!r}: {number!r} is not the text of a token and its number")
        ids[text] = int(number)
    return ids
