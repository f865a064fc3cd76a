"""Structural tags: output as a tree of formats, in the words that other engines use for it.

`read_structural_tag` knows both forms: `{"type": "structural_tag", "format": …}`, and the older one with `structures`
and `triggers`. What it does not know it refuses by name, with a JSON pointer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeAlias, TypeGuard, TypeVar

import msgspec

from syntagma.errors import GrammarError, LimitError
from syntagma.grammars.json_schema import Order
from syntagma.grammars.pointer_prefix import HasPointers, with_pointer_prefix
from syntagma.limits import Limits

__all__ = ["read_structural_tag"]

_MAX_DEPTH = 128
"""formats inside of formats, whatever the limits say, because reading them recurses"""

_TOKEN_LEVEL = ("any_tokens", "token_triggered_tags", "token_dispatch")
_TEXTS = "texts, none of them empty"
_LAST_ID = 2**32 - 1

Ends: TypeAlias = tuple[str, ...]
G = TypeVar("G", bound=HasPointers)


class GrammarBuilder(Protocol[G]):
    """The class `Grammar`, as far as structural tags need it to build grammars."""

    def literal(self, text: str, /) -> G: ...

    def marker(self, text: str, /) -> G: ...

    def token(self, text: str, /) -> G: ...

    def token_ids(self, *ranges: tuple[int, int]) -> G: ...

    def text(self, *, without: Sequence[str], closer: str | None) -> G: ...

    def union(self, *grammars: G) -> G: ...

    def concat(self, *grammars: G) -> G: ...

    def repeat(self, grammar: G, min: int = ..., max: int | None = ..., /, *, separator: G | None = ...) -> G: ...

    def from_ebnf(self, text: str, /, *, limits: Limits) -> G: ...

    def from_gbnf(self, text: str, /, *, limits: Limits) -> G: ...

    def from_regex(self, pattern: str, /, *, limits: Limits) -> G: ...

    def from_json_schema(self, schema: dict[str, Any] | bool, /, *, order: Order, limits: Limits) -> G: ...


def read_structural_tag(tag: Mapping[str, Any] | str, grammar: GrammarBuilder[G], limits: Limits) -> G:
    """The grammar of a structural tag. See `Grammar.from_structural_tag`.

    Args:
        tag: the tag, or its JSON text.
        grammar: the class that builds the grammar.
        limits: bounds on the tag.
    """
    text = tag if isinstance(tag, str) else _dumps(tag)
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limits.grammar_bytes:
        raise _limit("E-LIMIT-GRAMMAR-BYTES", "grammar_bytes", size, limits.grammar_bytes, "")
    value = _loads(text) if isinstance(tag, str) else tag
    reader = _Reader(grammar, limits)
    if not isinstance(value, Mapping):
        raise _invalid("a structural tag is an object", "")
    kind = value.get("type")
    inner = value.get("structural_tag")
    if kind == "structural_tag" and isinstance(inner, str | Mapping):
        return read_structural_tag(inner, grammar, limits)
    if "structures" in value:
        return reader.older(value)
    if kind not in (None, "structural_tag"):
        # A format stands for itself.
        return reader.format(value, "", (), 0)
    if "format" not in value:
        raise _invalid("a structural tag has a format", "", hint='the older form has "structures" and "triggers"')
    return reader.format(value["format"], "/format", (), 0)


class _Position(msgspec.Struct, frozen=True):
    """Where a format stands: its JSON pointer, the texts that end the enclosing tag, and its depth in formats."""

    pointer: str
    ends: Ends
    depth: int


class _Reader(Generic[G]):
    """Reads formats. Free text inside a tag holds none of the texts that end the tag."""

    def __init__(self, grammar: GrammarBuilder[G], limits: Limits) -> None:
        self._grammar = grammar
        self._limits = limits
        self._count = 0
        self._older = False
        self._kinds: dict[str, Callable[[Mapping[str, Any], _Position], G]] = {
            "const_string": self._const_string,
            "json_schema": self._json_schema,
            "grammar": self._source,
            "regex": self._source,
            "any_text": self._any_text,
            "sequence": self._elements,
            "or": self._elements,
            "optional": self._repeated,
            "plus": self._repeated,
            "star": self._repeated,
            "repeat": self._repeated,
            "tag": self._tag,
            "triggered_tags": self._triggered_tags,
            "tags_with_separator": self._tags_with_separator,
            "dispatch": self._dispatch,
            "token": self._token,
            "exclude_token": self._exclude_token,
        }

    def older(self, value: Mapping[str, Any]) -> G:
        """The form with `structures` and `triggers`: a list of tags, each with a schema."""
        tags = []
        for at, structure in enumerate(_list(value, "structures", "")):
            place = f"/structures/{at}"
            if not isinstance(structure, Mapping):
                raise _invalid("a structure is an object", place)
            schema = structure.get("schema", {})
            content = {"type": "json_schema", "json_schema": schema}
            tags.append(
                {"type": "tag", "begin": structure.get("begin"), "content": content, "end": structure.get("end")}
            )
        triggers = _texts(value, "triggers", "")
        self._older = True
        return self._triggered({"triggers": triggers, "tags": tags}, "/structures", _Position("", (), 0))

    def format(self, value: Any, pointer: str, ends: Ends, depth: int) -> G:
        """Any format."""
        allowed = min(self._limits.grammar_nesting, _MAX_DEPTH)
        if depth >= allowed:
            raise _limit("E-LIMIT-GRAMMAR-NESTING", "grammar_nesting", depth + 1, allowed, pointer)
        self._count += 1
        if self._count > (allowed := self._limits.grammar_alternatives):
            raise _limit("E-LIMIT-GRAMMAR-ALTERNATIVES", "grammar_alternatives", self._count, allowed, pointer)
        if not isinstance(value, Mapping):
            raise _invalid("a format is an object", pointer)
        kind = value.get("type")
        read = self._kinds.get(kind) if isinstance(kind, str) else None
        if read is not None:
            return read(value, _Position(pointer, ends, depth))
        if kind in _TOKEN_LEVEL:
            raise _unsupported(
                f"the format {kind} is not supported", f"{pointer}/type", hint="use any_text or triggered_tags"
            )
        raise _unsupported(f"unknown format {kind!r}", f"{pointer}/type", hint="known are: " + ", ".join(self._kinds))

    def _const_string(self, value: Mapping[str, Any], here: _Position) -> G:
        return self._grammar.literal(_text(value, "value", here.pointer))

    def _json_schema(self, value: Mapping[str, Any], here: _Position) -> G:
        if value.get("style", "json") != "json":
            raise _unsupported(f"the style {value['style']!r} is not supported", f"{here.pointer}/style")
        schema = value.get("json_schema")
        place = f"{here.pointer}/json_schema"
        if self._older:
            # This form has its schemas directly in the tags.
            place = here.pointer.removesuffix("/content") + "/schema"
        if not isinstance(schema, dict | bool):
            raise _invalid("a schema is an object, true or false", place)
        order: Order = "any" if value.get("any_order") else "declared"
        return with_pointer_prefix(
            place, lambda: self._grammar.from_json_schema(schema, order=order, limits=self._limits)
        )

    def _source(self, value: Mapping[str, Any], here: _Position) -> G:
        if value["type"] == "regex":
            pattern = _text(value, "pattern", here.pointer)
            return with_pointer_prefix(
                f"{here.pointer}/pattern", lambda: self._grammar.from_regex(pattern, limits=self._limits)
            )
        text = _text(value, "grammar", here.pointer)
        return with_pointer_prefix(
            f"{here.pointer}/grammar", lambda: self._grammar.from_gbnf(text, limits=self._limits)
        )

    def _any_text(self, value: Mapping[str, Any], here: _Position) -> G:
        if value.get("max_tokens") is not None:
            raise _unsupported(
                "a bound in tokens is not supported",
                f"{here.pointer}/max_tokens",
                hint="max_chars bounds the characters",
            )
        excludes = _texts(value, "excludes", here.pointer, optional=True)
        most = value.get("max_chars")
        if most is None:
            return self._free(excludes, here.ends)
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise _invalid("max_chars is a number of characters", f"{here.pointer}/max_chars")
        without = " | ".join(_quoted(text) for text in (*excludes, *here.ends))
        kept = f" & except!({without})" if without else ""
        text = f'start ::= #"(?s:.)"{{0,{most}}}{kept} ;'
        return with_pointer_prefix(
            f"{here.pointer}/max_chars", lambda: self._grammar.from_ebnf(text, limits=self._limits)
        )

    def _elements(self, value: Mapping[str, Any], here: _Position) -> G:
        elements = _list(value, "elements", here.pointer)
        parts = [
            self.format(part, f"{here.pointer}/elements/{at}", here.ends, here.depth + 1)
            for at, part in enumerate(elements)
        ]
        if value["type"] == "sequence":
            return self._grammar.concat(*parts)
        if not parts:
            raise _invalid("a choice has at least one element", f"{here.pointer}/elements")
        return self._grammar.union(*parts)

    def _repeated(self, value: Mapping[str, Any], here: _Position) -> G:
        inner = self.format(value.get("content"), f"{here.pointer}/content", here.ends, here.depth + 1)
        bounds: dict[str, tuple[int, int | None]] = {"optional": (0, 1), "plus": (1, None), "star": (0, None)}
        if value["type"] in bounds:
            return self._grammar.repeat(inner, *bounds[value["type"]])
        least, most = value.get("min"), value.get("max")
        whole = [bound for bound in (least, most) if isinstance(bound, int) and not isinstance(bound, bool)]
        if len(whole) < 2 or whole[0] < 0 or (whole[1] != -1 and whole[1] < whole[0]):
            raise _invalid("min and max are numbers in order; max -1 is no bound", here.pointer)
        if max(whole) > (allowed := self._limits.regex_repetition):
            raise _limit("E-LIMIT-REGEX-REPETITION", "regex_repetition", max(whole), allowed, here.pointer)
        return self._grammar.repeat(inner, whole[0], None if whole[1] == -1 else whole[1])

    def _tag(self, value: Mapping[str, Any], here: _Position) -> G:
        begin = self._delimiter(value.get("begin"), f"{here.pointer}/begin")
        end = value.get("end")
        closers = end if isinstance(end, list) and end else [end]
        closing = [
            self._delimiter(closer, f"{here.pointer}/end" + (f"/{at}" if isinstance(end, list) else ""))
            for at, closer in enumerate(closers)
        ]
        own = tuple(closer for closer in closers if isinstance(closer, str) and closer)
        content = self.format(value.get("content"), f"{here.pointer}/content", own, here.depth + 1)
        return self._grammar.concat(begin, content, self._grammar.union(*closing))

    def _delimiter(self, value: Any, pointer: str) -> G:
        """The begin or end of a tag: a token, or text that is a special token where the vocabulary has one of it."""
        if isinstance(value, str):
            return self._grammar.marker(value) if value else self._grammar.literal("")
        if isinstance(value, Mapping) and value.get("type") == "token":
            return self._token(value, _Position(pointer, (), 0))
        raise _invalid("what begins or ends a tag is text or a token", pointer)

    def _triggered_tags(self, value: Mapping[str, Any], here: _Position) -> G:
        return self._triggered(value, f"{here.pointer}/tags", here)

    def _triggered(self, value: Mapping[str, Any], tags_at: str, here: _Position) -> G:
        triggers = _texts(value, "triggers", here.pointer)
        excludes = _texts(value, "excludes", here.pointer, optional=True)
        listed = _list(value, "tags", here.pointer)
        if not triggers or not listed:
            raise _invalid("there are no triggers or no tags", here.pointer)
        tags = []
        for at, tag in enumerate(listed):
            begin = tag.get("begin") if isinstance(tag, Mapping) else None
            if not isinstance(begin, str) or not begin.startswith(tuple(triggers)):
                raise _invalid(
                    "the text that begins the tag begins with no trigger",
                    f"{tags_at}/{at}/begin",
                    hint="triggers are: " + ", ".join(triggers),
                )
            tags.append(self._typed_tag(tag, f"{tags_at}/{at}", here.depth))
        return self._switched(self._grammar.union(*tags), triggers, excludes, here.ends, value)

    def _dispatch(self, value: Mapping[str, Any], here: _Position) -> G:
        triggers, choices = [], []
        for at, rule in enumerate(_list(value, "rules", here.pointer)):
            place = f"{here.pointer}/rules/{at}"
            pair = rule if isinstance(rule, Sequence) and not isinstance(rule, str) and len(rule) == 2 else None
            if pair is None or not isinstance(pair[0], str) or not pair[0]:
                raise _invalid("a rule is a text and a format", place)
            triggers.append(pair[0])
            content = self.format(pair[1], f"{place}/1", here.ends, here.depth + 1)
            choices.append(self._grammar.concat(self._grammar.marker(pair[0]), content))
        if not choices:
            raise _invalid("there are no rules", f"{here.pointer}/rules")
        excludes = _texts(value, "excludes", here.pointer, optional=True)
        once = {"stop_after_first": not value.get("loop", True)}
        return self._switched(self._grammar.union(*choices), triggers, excludes, here.ends, once)

    def _switched(
        self, tag: G, triggers: Sequence[str], excludes: Sequence[str], ends: Ends, flags: Mapping[str, Any]
    ) -> G:
        """Free text up to a trigger, a tag, and so on."""
        grammar = self._grammar
        last = self._free([*triggers, *excludes], ends)
        between = grammar.text(
            without=[*triggers, *excludes, *ends], closer=triggers[0] if len(triggers) == 1 else None
        )
        once = bool(flags.get("stop_after_first"))
        if flags.get("at_least_one"):
            return tag if once else grammar.concat(tag, grammar.repeat(grammar.concat(between, tag)), last)
        if once:
            return grammar.union(grammar.concat(between, tag), last)
        return grammar.concat(grammar.repeat(grammar.concat(between, tag)), last)

    def _tags_with_separator(self, value: Mapping[str, Any], here: _Position) -> G:
        listed = _list(value, "tags", here.pointer)
        if not listed:
            raise _invalid("there are no tags", f"{here.pointer}/tags")
        tags = [self._typed_tag(tag, f"{here.pointer}/tags/{at}", here.depth) for at, tag in enumerate(listed)]
        separator = self._grammar.literal(_text(value, "separator", here.pointer))
        most = 1 if value.get("stop_after_first") else None
        least = 1 if value.get("at_least_one") else 0
        return self._grammar.repeat(self._grammar.union(*tags), least, most, separator=separator)

    def _typed_tag(self, tag: Any, pointer: str, depth: int) -> G:
        if not isinstance(tag, Mapping) or tag.get("type", "tag") != "tag":
            raise _invalid("a tag is wanted here", pointer)
        return self.format({**tag, "type": "tag"}, pointer, (), depth + 1)

    def _token(self, value: Mapping[str, Any], here: _Position) -> G:
        token = value.get("token")
        if isinstance(token, str) and token:
            return self._grammar.token(token)
        if _is_id(token):
            return self._grammar.token_ids((token, token))
        raise _invalid("a token is its text or its number", f"{here.pointer}/token")

    def _exclude_token(self, value: Mapping[str, Any], here: _Position) -> G:
        place = f"{here.pointer}/exclude_tokens"
        excluded = value.get("exclude_tokens", [])
        if not isinstance(excluded, list) or not all(isinstance(token, int | str) for token in excluded):
            raise _invalid("excluded tokens are a list of numbers", place)
        if not all(_is_id(token) for token in excluded):
            raise _unsupported("excluding a token by its text is not supported", place, hint="give its number")
        ranges, begin = [], 0
        for token in sorted(excluded):
            if token > begin:
                ranges.append((begin, token - 1))
            begin = max(begin, token + 1)
        if begin <= _LAST_ID:
            ranges.append((begin, _LAST_ID))
        return self._grammar.token_ids(*ranges)

    def _free(self, excludes: Iterable[str], ends: Ends) -> G:
        """Text up to the end of the enclosing tag."""
        closer = ends[0] if len(ends) == 1 else None
        return self._grammar.text(without=[*excludes, *ends], closer=closer)


def _is_id(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LAST_ID


def _list(value: Mapping[str, Any], field: str, pointer: str) -> Sequence[Any]:
    listed = value.get(field)
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise _invalid(f"{field} is a list", f"{pointer}/{field}")
    return listed


def _texts(value: Mapping[str, Any], field: str, pointer: str, *, optional: bool = False) -> list[str]:
    if optional and value.get(field) is None:
        return []
    listed = _list(value, field, pointer)
    for at, text in enumerate(listed):
        if not isinstance(text, str) or not text:
            raise _invalid(f"{field} are {_TEXTS}", f"{pointer}/{field}/{at}")
    return list(listed)


def _text(value: Mapping[str, Any], field: str, pointer: str) -> str:
    text = value.get(field)
    if not isinstance(text, str):
        raise _invalid(f"{field} is text", f"{pointer}/{field}")
    return text


def _quoted(text: str) -> str:
    """A text as EBNF writes it."""
    return '"' + "".join(f"\\u{{{ord(character):X}}}" for character in text) + '"'


def _dumps(tag: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(tag), ensure_ascii=False, allow_nan=False)
    except RecursionError as error:
        raise _invalid("it contains itself or is nested too deeply", "") from error
    except (TypeError, ValueError) as error:
        raise _invalid(f"it is no JSON: {error}", "") from error


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise _invalid("it is nested too deeply", "") from error
    except json.JSONDecodeError as error:
        raise GrammarError(
            "E-GRAMMAR-STRUCTURAL-TAG",
            f"the structural tag is no JSON: {error.msg}",
            line=error.lineno,
            column=error.colno,
            offset=error.pos,
        ) from error


def _invalid(message: str, pointer: str, hint: str | None = None) -> GrammarError:
    return GrammarError("E-GRAMMAR-STRUCTURAL-TAG", message, pointer=pointer, hint=hint)


def _unsupported(message: str, pointer: str, hint: str | None = None) -> GrammarError:
    return GrammarError("E-GRAMMAR-UNSUPPORTED", message, pointer=pointer, hint=hint)


def _limit(code: str, limit: str, given: int, allowed: int, pointer: str) -> LimitError:
    return LimitError(
        code,
        f"{limit} allows {allowed}, the structural tag has {given} or more",
        limit=limit,
        given=given,
        allowed=allowed,
        pointer=pointer,
        hint=f"simplify the input or raise Limits.{limit}",
    )
