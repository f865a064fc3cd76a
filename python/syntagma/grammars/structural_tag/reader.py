"""Reading structural tags.

`read_structural_tag` knows both forms: `{"type": "structural_tag", "format": …}`, and the older one with `structures`
and `triggers`. What it does not know, formats and options alike, it refuses by name, with a JSON pointer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import msgspec

from syntagma.errors import GrammarError
from syntagma.grammars.dialects import XGRAMMAR, Notation, read_first
from syntagma.grammars.json_schema import Order
from syntagma.grammars.pointer_prefix import HasPointers, with_pointer_prefix
from syntagma.grammars.structural_tag.fields import Fields, Token, as_token, invalid, limit_error, unsupported
from syntagma.limits import Limits

__all__ = ["StyledSchema", "Styles", "read_structural_tag"]

_MAX_DEPTH = 128
"""formats inside of formats, whatever the limits say, because reading them recurses"""

Ends: TypeAlias = tuple[str, ...]
G = TypeVar("G", bound="TagGrammar")


class TagGrammar(HasPointers, Protocol):
    """A grammar, as far as structural tags need it."""

    def bounded(self, label: str, /, *, tokens: int) -> Self: ...


class GrammarBuilder(Protocol[G]):
    """The class `Grammar`, as far as structural tags need it to build grammars."""

    def literal(self, text: str, /) -> G: ...

    def marker(self, text: str, /) -> G: ...

    def token(self, text: str, /) -> G: ...

    def token_ids(self, *ranges: tuple[int, int]) -> G: ...

    def token_except(self, *tokens: Token) -> G: ...

    def text(self, *, without: Sequence[str], closer: str | None) -> G: ...

    def union(self, *grammars: G) -> G: ...

    def concat(self, *grammars: G) -> G: ...

    def repeat(self, grammar: G, min: int = ..., max: int | None = ..., /, *, separator: G | None = ...) -> G: ...

    def labelled(self, label: str, grammar: G, /) -> G: ...

    def from_ebnf(self, text: str, /, *, limits: Limits) -> G: ...

    def from_text(self, text: str, /, dialect: Notation, *, limits: Limits) -> G: ...

    def from_regex(self, pattern: str, /, *, limits: Limits) -> G: ...

    def from_json_schema(
        self,
        schema: dict[str, Any] | bool | str,
        /,
        *,
        order: Order,
        whitespace_pattern: str | None,
        limits: Limits,
    ) -> G: ...


class StyledSchema(NamedTuple):
    """A schema that is to be written in a style.

    Attributes:
        style: the name of the style.
        schema: the schema.
        any_order: whether members may stand in any order.
        most_whitespace: the most whitespace characters in a row; None: as the limits say.
        excludes: texts that may stand in no string and no key.
        limits: bounds on the schema.
    """

    style: str
    schema: Any
    any_order: bool
    most_whitespace: int | None
    excludes: tuple[str, ...]
    limits: Limits


Styles: TypeAlias = Callable[[StyledSchema], G]
"""Writes a schema in a style; raises LookupError if there is no such style."""


def read_structural_tag(
    tag: Mapping[str, Any] | str, grammar: GrammarBuilder[G], limits: Limits, styles: Styles[G] | None = None
) -> G:
    """The grammar of a structural tag. See `Grammar.from_structural_tag`.

    Args:
        tag: the tag, or its JSON text.
        grammar: the class that builds the grammar.
        limits: bounds on the tag.
        styles: writes schemas in styles other than JSON.
    """
    text = tag if isinstance(tag, str) else _dumps(tag)
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limits.grammar_bytes:
        raise limit_error("E-LIMIT-GRAMMAR-BYTES", "grammar_bytes", size, limits.grammar_bytes, "")
    value = _loads(text) if isinstance(tag, str) else tag
    reader = _Reader(grammar, limits, styles)
    if not isinstance(value, Mapping):
        raise invalid("a structural tag is an object", "")
    kind = value.get("type")
    inner = value.get("structural_tag")
    if kind == "structural_tag" and isinstance(inner, str | Mapping):
        return read_structural_tag(inner, grammar, limits, styles)
    if "structures" in value:
        return reader.older(value)
    start = _Position("", (), (), 0)
    if kind not in (None, "structural_tag"):
        # A format stands for itself.
        return reader.format(value, start)
    if "format" not in value:
        raise invalid("a structural tag has a format", "", hint='the older form has "structures" and "triggers"')
    return reader.format(value["format"], start.inside("format", down=0))


class _Position(msgspec.Struct, frozen=True):
    """Where a format stands.

    Attributes:
        pointer: its JSON pointer.
        ends: the texts that end the enclosing tag.
        token_ends: the token that ends it.
        depth: formats around it.
        repeats: it may be written more than once.
    """

    pointer: str
    ends: Ends
    token_ends: tuple[Token, ...]
    depth: int
    repeats: bool = False

    def inside(self, place: str, *, down: int = 1, repeats: bool = False) -> _Position:
        """Where a part of it stands."""
        pointer = f"{self.pointer}/{place}"
        return _Position(pointer, self.ends, self.token_ends, self.depth + down, self.repeats or repeats)

    def closed_by(self, ends: Ends, token_ends: tuple[Token, ...]) -> _Position:
        """The same place in a tag that ends so."""
        return _Position(self.pointer, ends, token_ends, self.depth, self.repeats)


class _Kind(msgspec.Struct, frozen=True):
    """How a format is read, and the fields that it may have beside its type."""

    read: Callable[[Fields, _Position], Any]
    fields: tuple[str, ...]


class _Reader(Generic[G]):
    """Reads formats. Free text inside a tag holds none of the texts that end the tag, free tokens not its last one."""

    def __init__(self, grammar: GrammarBuilder[G], limits: Limits, styles: Styles[G] | None) -> None:
        self._grammar = grammar
        self._styles = styles
        self._limits = limits
        self._count = 0
        self._older = False
        once = ("at_least_one", "stop_after_first")
        self._kinds: dict[str, _Kind] = {
            "const_string": _Kind(self._const_string, ("value",)),
            "json_schema": _Kind(
                self._json_schema, ("json_schema", "style", "any_order", "max_whitespace_cnt", "excludes")
            ),
            "qwen_xml_parameter": _Kind(self._old_style, ("json_schema",)),
            "grammar": _Kind(self._source, ("grammar",)),
            "regex": _Kind(self._source, ("pattern",)),
            "any_text": _Kind(self._any_text, ("excludes", "max_tokens", "max_chars")),
            "sequence": _Kind(self._elements, ("elements",)),
            "or": _Kind(self._elements, ("elements",)),
            "optional": _Kind(self._repeated, ("content",)),
            "plus": _Kind(self._repeated, ("content",)),
            "star": _Kind(self._repeated, ("content",)),
            "repeat": _Kind(self._repeated, ("min", "max", "content")),
            "tag": _Kind(self._tag, ("begin", "content", "end")),
            "triggered_tags": _Kind(self._triggered_tags, ("triggers", "tags", "excludes", *once)),
            "tags_with_separator": _Kind(self._tags_with_separator, ("tags", "separator", *once)),
            "dispatch": _Kind(self._dispatch, ("rules", "loop", "excludes")),
            "token": _Kind(self._token, ("token",)),
            "exclude_token": _Kind(self._any_token, ("exclude_tokens",)),
            "any_tokens": _Kind(self._any_tokens, ("exclude_tokens", "max_tokens")),
            "token_triggered_tags": _Kind(
                self._token_triggered_tags, ("trigger_tokens", "tags", "exclude_tokens", *once)
            ),
            "token_dispatch": _Kind(self._token_dispatch, ("rules", "loop", "exclude_tokens")),
        }

    def older(self, value: Mapping[str, Any]) -> G:
        """The form with `structures` and `triggers`: a list of tags, each with a schema."""
        fields = Fields(value, "")
        tags = []
        for at, structure in enumerate(fields.members("structures")):
            if not isinstance(structure, Mapping):
                raise invalid("a structure is an object", f"/structures/{at}")
            content = {"type": "json_schema", "json_schema": structure.get("schema", {})}
            tags.append(
                {"type": "tag", "begin": structure.get("begin"), "content": content, "end": structure.get("end")}
            )
        self._older = True
        whole = {"triggers": fields.value.get("triggers"), "tags": tags}
        return self._triggered(Fields(whole, ""), "structures", _Position("", (), (), 0))

    def format(self, value: Any, here: _Position) -> G:
        """Any format."""
        allowed = min(self._limits.grammar_nesting, _MAX_DEPTH)
        if here.depth >= allowed:
            raise limit_error("E-LIMIT-GRAMMAR-NESTING", "grammar_nesting", here.depth + 1, allowed, here.pointer)
        self._count += 1
        if self._count > (allowed := self._limits.grammar_alternatives):
            raise limit_error(
                "E-LIMIT-GRAMMAR-ALTERNATIVES", "grammar_alternatives", self._count, allowed, here.pointer
            )
        if not isinstance(value, Mapping):
            raise invalid("a format is an object", here.pointer)
        name = value.get("type")
        kind = self._kinds.get(name) if isinstance(name, str) else None
        if kind is None:
            hint = "known are: " + ", ".join(self._kinds)
            raise unsupported(f"unknown format {name!r}", f"{here.pointer}/type", hint=hint)
        fields = Fields(value, here.pointer)
        fields.only(("type", *kind.fields))
        read: G = kind.read(fields, here)
        return read

    def _const_string(self, fields: Fields, _: _Position) -> G:
        text = fields.text("value")
        return self._grammar.marker(text) if text else self._grammar.literal("")

    def _json_schema(self, fields: Fields, _: _Position) -> G:
        style = fields.value.get("style", "json")
        excludes = fields.texts("excludes", optional=True)
        schema = fields.value.get("json_schema")
        # The older form has its schemas directly in the tags.
        place = fields.pointer.removesuffix("/content") + "/schema" if self._older else fields.at("json_schema")
        if not isinstance(schema, (dict | bool | str) if self._older else (dict | bool)):
            raise invalid("a schema is an object, true or false", place)
        order: Order = "any" if fields.flag("any_order") else "declared"
        most = fields.number("max_whitespace_cnt", "characters", least=1)
        if style != "json":
            return self._styled(
                StyledSchema(style, schema, order == "any", most, tuple(excludes), self._limits), fields
            )
        if excludes:
            raise unsupported("texts that no string may hold are not supported", fields.at("excludes"))
        spaces = None if most is None else f"[ \\t\\n\\r]{{0,{min(most, self._limits.json_whitespace)}}}"
        return with_pointer_prefix(
            place,
            lambda: self._grammar.from_json_schema(schema, order=order, whitespace_pattern=spaces, limits=self._limits),
        )

    def _old_style(self, fields: Fields, here: _Position) -> G:
        """A style under its older name, a format of its own."""
        style = str(fields.value["type"]).removesuffix("_parameter")
        return self._json_schema(Fields({**fields.value, "style": style}, fields.pointer), here)

    def _styled(self, wanted: StyledSchema, fields: Fields) -> G:
        """A schema in a style, by the function that was given for it."""
        if not isinstance(wanted.style, str):
            raise invalid("a style is a name", fields.at("style"))
        styles = self._styles
        if styles is None:
            hint = "styles=syntagma.formats.styled knows those of the formats"
            raise unsupported(f"no function is given for the style {wanted.style!r}", fields.at("style"), hint=hint)
        try:
            return with_pointer_prefix(fields.at("json_schema"), lambda: styles(wanted))
        except LookupError:
            raise unsupported(f"the style {wanted.style!r} is not known", fields.at("style")) from None

    def _source(self, fields: Fields, _: _Position) -> G:
        if fields.value["type"] == "regex":
            pattern = fields.text("pattern", empty=False)
            return with_pointer_prefix(
                fields.at("pattern"), lambda: self._grammar.from_regex(pattern, limits=self._limits)
            )
        text = fields.text("grammar", empty=False)

        def read(notation: Notation) -> G:
            return self._grammar.from_text(text, notation, limits=self._limits)

        return with_pointer_prefix(fields.at("grammar"), lambda: read_first(XGRAMMAR, read))

    def _any_text(self, fields: Fields, here: _Position) -> G:
        excludes = fields.texts("excludes", optional=True)
        most, tokens = fields.number("max_chars", "characters"), fields.number("max_tokens", "tokens")
        if most is None:
            text = self._free(excludes, here.ends)
        else:
            without = " | ".join(_quoted(text) for text in (*excludes, *here.ends))
            kept = f" & except!({without})" if without else ""
            source = f'start ::= #"(?s:.)"{{0,{most}}}{kept} ;'
            text = with_pointer_prefix(
                fields.at("max_chars"), lambda: self._grammar.from_ebnf(source, limits=self._limits)
            )
        if tokens is None:
            return text
        if here.repeats:
            raise unsupported(
                "a bound in tokens on text that may come more than once is not supported",
                fields.at("max_tokens"),
                hint="max_chars bounds the characters of each",
            )
        # Parts with one label have one bound: each such text has a label of its own.
        label = f"any_text_{self._count}_{tokens}"
        return self._grammar.labelled(label, text).bounded(label, tokens=tokens)

    def _elements(self, fields: Fields, here: _Position) -> G:
        parts = [self.format(part, here.inside(f"elements/{at}")) for at, part in enumerate(fields.members("elements"))]
        join = self._grammar.concat if fields.value["type"] == "sequence" else self._grammar.union
        return join(*parts)

    def _repeated(self, fields: Fields, here: _Position) -> G:
        kind = fields.value["type"]
        inner = self.format(fields.value.get("content"), here.inside("content", repeats=kind != "optional"))
        bounds: dict[str, tuple[int, int | None]] = {"optional": (0, 1), "plus": (1, None), "star": (0, None)}
        if kind in bounds:
            return self._grammar.repeat(inner, *bounds[kind])
        least, most = fields.value.get("min"), fields.value.get("max")
        whole = [bound for bound in (least, most) if isinstance(bound, int) and not isinstance(bound, bool)]
        if len(whole) < 2 or whole[0] < 0 or (whole[1] != -1 and whole[1] < whole[0]):
            raise invalid("min and max are numbers in order; max -1 means no limit", here.pointer)
        self._check_repetition(max(whole), here.pointer)
        return self._grammar.repeat(inner, whole[0], None if whole[1] == -1 else whole[1])

    def _check_repetition(self, most: int, pointer: str) -> None:
        if most > (allowed := self._limits.regex_repetition):
            raise limit_error("E-LIMIT-REGEX-REPETITION", "regex_repetition", most, allowed, pointer)

    def _tag(self, fields: Fields, here: _Position) -> G:
        begin = self._delimiter(fields.value.get("begin"), fields.at("begin"))
        end = fields.value.get("end")
        closers = list(fields.members("end")) if isinstance(end, list) else [end]
        closing = [
            self._delimiter(closer, fields.at("end") + (f"/{at}" if isinstance(end, list) else ""))
            for at, closer in enumerate(closers)
        ]
        texts = tuple(closer for closer in closers if isinstance(closer, str) and closer)
        if all(closer == "" for closer in closers) and _is_free(fields.value.get("content")):
            raise invalid("nothing ends the free text in the tag", fields.at("end"), hint="give the tag an end")
        tokens = tuple(closer["token"] for closer in closers if isinstance(closer, Mapping))
        content = self.format(fields.value.get("content"), here.inside("content").closed_by(texts, tokens))
        return self._grammar.concat(begin, content, self._grammar.union(*closing))

    def _delimiter(self, value: Any, pointer: str) -> G:
        """The begin or end of a tag: a token, or text that is a special token where the vocabulary has one of it."""
        if isinstance(value, str):
            return self._grammar.marker(value) if value else self._grammar.literal("")
        if isinstance(value, Mapping) and value.get("type", "token") == "token":
            fields = Fields(value, pointer)
            fields.only(("type", "token"))
            return self._one(fields.token("token"))
        raise invalid("what begins or ends a tag is text or a token", pointer)

    def _triggered_tags(self, fields: Fields, here: _Position) -> G:
        return self._triggered(fields, "tags", here)

    def _triggered(self, fields: Fields, tags_at: str, here: _Position) -> G:
        triggers, excludes = fields.texts("triggers"), fields.texts("excludes", optional=True)
        tags = []
        for at, tag in enumerate(fields.members("tags")):
            place = f"{tags_at}/{at}"
            begin = tag.get("begin") if isinstance(tag, Mapping) else None
            if not isinstance(begin, str) or sum(begin.startswith(trigger) for trigger in set(triggers)) != 1:
                raise invalid(
                    "the text that begins the tag does not begin with one trigger alone",
                    f"{here.pointer}/{place}/begin",
                    hint="triggers are: " + ", ".join(triggers),
                )
            read = self._typed_tag(tag, here.inside(place, repeats=not fields.flag("stop_after_first")))
            tags.append((next(trigger for trigger in triggers if begin.startswith(trigger)), read))
        return self._switched(
            self._grammar.union(*(tag for _, tag in tags)),
            self._called(tags, triggers, [*excludes, *here.ends]),
            self._free([*triggers, *excludes], here.ends),
            some=fields.flag("at_least_one"),
            once=fields.flag("stop_after_first"),
        )

    def _dispatch(self, fields: Fields, here: _Position) -> G:
        triggers, choices = [], []
        loop = fields.flag("loop", default=True)
        for at, rule in enumerate(fields.members("rules")):
            trigger, content = _pair(rule, f"{here.pointer}/rules/{at}")
            if not isinstance(trigger, str) or not trigger:
                raise invalid("what a rule begins with is text, and not empty", f"{here.pointer}/rules/{at}/0")
            triggers.append(trigger)
            inner = self.format(content, here.inside(f"rules/{at}/1", repeats=loop))
            choices.append((trigger, self._grammar.concat(self._grammar.marker(trigger), inner)))
        excludes = fields.texts("excludes", optional=True)
        last = self._free([*triggers, *excludes], here.ends)
        every = self._grammar.union(*(choice for _, choice in choices))
        called = self._called(choices, triggers, [*excludes, *here.ends])
        return self._switched(every, called, last, some=False, once=not loop)

    def _called(self, choices: Sequence[tuple[str, G]], triggers: Sequence[str], excludes: Sequence[str]) -> G:
        """Free text, and what begins with one of the triggers, which comes before any other text that may end there."""
        grammar, groups = self._grammar, dict[tuple[str, ...], list[G]]()
        for trigger, choice in choices:
            groups.setdefault(_early(trigger, [*triggers, *excludes]), []).append(choice)
        ways = []
        for early, same in groups.items():
            if early and len(triggers) > 1:
                without = " | ".join(map(_quoted, (*triggers, *excludes)))
                ends = " | ".join(map(_quoted, early))
                source = f"start ::= except!({without}) & ~(any! ({ends})) ;"
                before = grammar.from_ebnf(source, limits=self._limits)
            else:
                closer = triggers[0] if len(triggers) == 1 else None
                before = grammar.text(without=[*triggers, *excludes], closer=closer)
            ways.append(grammar.concat(before, grammar.union(*same)))
        return grammar.union(*ways)

    def _token_triggered_tags(self, fields: Fields, here: _Position) -> G:
        triggers, excludes = fields.tokens("trigger_tokens"), fields.tokens("exclude_tokens", optional=True)
        once = fields.flag("stop_after_first")
        tags = []
        for at, tag in enumerate(fields.members("tags")):
            begin = tag.get("begin") if isinstance(tag, Mapping) else None
            if not isinstance(begin, Mapping) or begin.get("token") not in triggers:
                raise invalid(
                    "the token that begins the tag is not a trigger",
                    f"{here.pointer}/tags/{at}/begin",
                    hint=f"triggers are: {', '.join(map(repr, triggers))}; a number and a text are never the same",
                )
            tags.append(self._typed_tag(tag, here.inside(f"tags/{at}", repeats=not once)))
        free, tag = self._free_tokens([*triggers, *excludes], here), self._grammar.union(*tags)
        called = self._grammar.concat(free, tag)
        return self._switched(tag, called, free, some=fields.flag("at_least_one"), once=once)

    def _token_dispatch(self, fields: Fields, here: _Position) -> G:
        triggers, choices = [], []
        loop = fields.flag("loop", default=True)
        for at, rule in enumerate(fields.members("rules")):
            trigger, content = _pair(rule, f"{here.pointer}/rules/{at}")
            triggers.append(as_token(trigger, f"{here.pointer}/rules/{at}/0"))
            inner = self.format(content, here.inside(f"rules/{at}/1", repeats=loop))
            choices.append(self._grammar.concat(self._one(triggers[-1]), inner))
        free = self._free_tokens([*triggers, *fields.tokens("exclude_tokens", optional=True)], here)
        choice = self._grammar.union(*choices)
        return self._switched(choice, self._grammar.concat(free, choice), free, some=False, once=not loop)

    def _switched(self, tag: G, called: G, last: G, *, some: bool, once: bool) -> G:
        """What is free up to a tag, the tag, and so on; `called` is both, `last` what is free after all of them."""
        grammar = self._grammar
        if some:
            return tag if once else grammar.concat(tag, grammar.repeat(called), last)
        return grammar.union(called, last) if once else grammar.concat(grammar.repeat(called), last)

    def _tags_with_separator(self, fields: Fields, here: _Position) -> G:
        once = fields.flag("stop_after_first")
        tags = [
            self._typed_tag(tag, here.inside(f"tags/{at}", repeats=not once))
            for at, tag in enumerate(fields.members("tags"))
        ]
        text = fields.text("separator")
        separator = self._grammar.marker(text) if text else self._grammar.literal("")
        least = 1 if fields.flag("at_least_one") else 0
        return self._grammar.repeat(self._grammar.union(*tags), least, 1 if once else None, separator=separator)

    def _typed_tag(self, tag: Any, here: _Position) -> G:
        if not isinstance(tag, Mapping) or tag.get("type", "tag") != "tag":
            raise invalid("expected a tag here", here.pointer)
        return self.format({**tag, "type": "tag"}, here.closed_by((), ()))

    def _token(self, fields: Fields, _: _Position) -> G:
        return self._one(fields.token("token"))

    def _one(self, token: Token) -> G:
        return self._grammar.token(token) if isinstance(token, str) else self._grammar.token_ids((token, token))

    def _any_token(self, fields: Fields, here: _Position) -> G:
        return self._grammar.token_except(*fields.tokens("exclude_tokens", optional=True), *here.token_ends)

    def _any_tokens(self, fields: Fields, here: _Position) -> G:
        most = fields.number("max_tokens", "tokens")
        if most is not None:
            self._check_repetition(most, fields.at("max_tokens"))
        return self._free_tokens(fields.tokens("exclude_tokens", optional=True), here, most)

    def _free_tokens(self, excludes: Iterable[Token], here: _Position, most: int | None = None) -> G:
        """Tokens up to the end of the enclosing tag."""
        return self._grammar.repeat(self._grammar.token_except(*excludes, *here.token_ends), 0, most)

    def _free(self, excludes: Iterable[str], ends: Ends) -> G:
        """Text up to the end of the enclosing tag."""
        closer = ends[0] if len(ends) == 1 else None
        return self._grammar.text(without=[*excludes, *ends], closer=closer)


def _pair(rule: Any, pointer: str) -> Sequence[Any]:
    """A rule of a dispatch: what it begins with, and a format."""
    if not isinstance(rule, Sequence) or isinstance(rule, str) or len(rule) != 2:
        raise invalid("a rule is a pair: what it begins with, and a format", pointer)
    return rule


def _is_free(content: Any) -> bool:
    """Whether a format is free text that nothing bounds."""
    if not isinstance(content, Mapping) or content.get("type") not in ("any_text", "triggered_tags"):
        return False
    return (
        not any(content.get(field) for field in ("excludes", "stop_after_first")) and content.get("max_chars") is None
    )


def _early(trigger: str, others: Sequence[str]) -> tuple[str, ...]:
    """The ends of a free text after which another text would be whole before the trigger is, or with it and longer."""
    found = (other[:at] for other in others for at in range(1, len(other)) if trigger.startswith(other[at:]))
    return tuple(dict.fromkeys(found))


def _quoted(text: str) -> str:
    """A text as EBNF writes it."""
    return '"' + "".join(f"\\u{{{ord(character):X}}}" for character in text) + '"'


def _dumps(tag: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(tag), ensure_ascii=False, allow_nan=False)
    except RecursionError as error:
        raise invalid("it contains itself or is nested too deeply", "") from error
    except (TypeError, ValueError) as error:
        raise invalid(f"it is not JSON: {error}", "") from error


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise invalid("it is nested too deeply", "") from error
    except json.JSONDecodeError as error:
        raise GrammarError(
            "E-GRAMMAR-STRUCTURAL-TAG",
            f"the structural tag is not JSON: {error.msg}",
            line=error.lineno,
            column=error.colno,
            offset=error.pos,
        ) from error
