"""Translates a response template to a format."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from syntagma.errors import FormatError
from syntagma.format_schema import (
    ContentSpec,
    Envelope,
    FormatSpec,
    Notation,
    Pattern,
    ReasoningSpec,
    ToolsSpec,
)
from syntagma.formats.response_template.anchors import NamedGroup, Untranslatable, anchor_texts
from syntagma.formats.response_template.not_carried import NotCarried
from syntagma.formats.response_template.template_check import check_template
from syntagma.json_pointer import pointer_of
from syntagma.parsing import StreamParser

__all__ = ["read_response_template"]

_REASONING_FIELDS = ("thinking", "reasoning_content", "reasoning")
_PARTS = {**dict.fromkeys(_REASONING_FIELDS, "reasoning"), "content": "content", "tool_calls": "tools"}
_MAX_PAIRS = 16
_MAX_DEPTH = 16
_AFTER_A_CALL = re.compile(r"\(\?:\(\?<=(?:\\.|[^()\\])+\)((?:\\.|[^()\\])+)\)\?")
"""the pattern of a separator between calls: an optional text after a closer"""
_Anchor = tuple["str | NamedGroup", ...]


def read_response_template(template: Mapping[str, Any]) -> tuple[FormatSpec, tuple[NotCarried, ...]]:
    """The format that a template describes, and what is lost in the translation.

    Raises:
        FormatError: `E-FORMAT-RESPONSE-TEMPLATE`, it is not a template of version 1; with the pointer.
    """
    check_template(template)
    return _Translation(template).result()


class _Translation:
    def __init__(self, template: Mapping[str, Any]) -> None:
        self._template = template
        self._lost: list[NotCarried] = []

    def result(self) -> tuple[FormatSpec, tuple[NotCarried, ...]]:
        parts: dict[str, Any] = {}
        for name, field in self._template["fields"].items():
            pointer = pointer_of("fields", name)
            part = _PARTS.get(name)
            if part is None or part in parts:
                self._lose(pointer, "a format has reasoning, content and calls, each once")
                continue
            try:
                value = getattr(self, f"_{part}")(field, pointer)
                parts[part] = value if value is None else _checked(part, value)
            except Untranslatable as error:
                self._lose(pointer, f"an expression that is more than a text with groups: {error}")
            except FormatError as error:
                self._lose(pointer, f"a format cannot express it: {error.message}")
        if self._template.get("defaults", {}).keys() - {"role"}:
            self._lose("/defaults", "a message begins empty")
        return FormatSpec(anchor=self._anchor(), **parts), tuple(self._lost)

    def _lose(self, pointer: str, reason: str) -> None:
        self._lost.append(NotCarried(pointer, reason))

    def _anchor(self) -> str | None:
        anchor = self._template.get("start_anchor")
        if isinstance(anchor, str):
            return anchor
        if isinstance(anchor, list):
            if len(anchor) > 1:
                self._lose("/start_anchor", f"one anchor is kept: {anchor[0]!r}")
            return str(anchor[0])
        pointer = "/start_anchor_pattern"
        try:
            texts = anchor_texts(self._template.get("start_anchor_pattern", ""))
        except Untranslatable as error:
            self._lose(pointer, str(error))
            return None
        if len(texts) > 1:
            self._lose(pointer, "one anchor is kept")
        return "".join(part for part in texts[0] if isinstance(part, str)) or None

    def _reasoning(self, field: Mapping[str, Any], pointer: str) -> ReasoningSpec | None:
        if field.get("content", "text") != "text":
            self._lose(f"{pointer}/content", "reasoning is text")
        if field.get("repeats") and field.get("join") != "":
            self._lose(f"{pointer}/join", "further reasoning follows without a separator")
        self._text_field(field, pointer)
        blocks = [
            f"{_plain(opener)}{{reasoning}}{_plain(closer)}"
            for opener, closer in self._anchors(field, pointer)
            if closer or opener
        ]
        if not blocks:
            self._lose(pointer, "reasoning without any marker cannot be distinguished from the answer")
            return None
        return ReasoningSpec(block=_patterns(blocks, ("reasoning",)), repeat=bool(field.get("repeats")))

    def _content(self, field: Mapping[str, Any], pointer: str) -> ContentSpec | None:
        if field.get("content", "text") != "text":
            self._lose(f"{pointer}/content", "the answer is text")
        self._text_field(field, pointer)
        pairs = self._anchors(field, pointer)
        blocks = [f"{_plain(opener)}{{content}}{_plain(closer)}" for opener, closer in pairs if opener and closer]
        if blocks:
            return ContentSpec(block=_patterns(blocks, ("content",)))
        drop = tuple(dict.fromkeys(text.lstrip() for pair in pairs for text in map(_plain, pair) if text))
        return ContentSpec(drop=drop) if drop else None

    def _text_field(self, field: Mapping[str, Any], pointer: str) -> None:
        if dict(field.get("content_args") or {}).get("strip", True):
            self._lose(f"{pointer}/content_args", "text keeps the whitespace at its ends")
        if field.get("transform") not in (None, "{content}"):
            self._lose(f"{pointer}/transform", "text is passed on as it is")
        self._common(field, pointer)

    def _common(self, field: Mapping[str, Any], pointer: str) -> None:
        if not field.get("optional", True):
            self._lose(f"{pointer}/optional", "a message may lack anything")

    def _anchors(self, field: Mapping[str, Any], pointer: str) -> list[tuple[_Anchor, _Anchor]]:
        """Pairs of each opener with each closer."""
        openers, closers = _texts(field, "open"), _texts(field, "close")
        pairs = [(opener, closer) for opener in openers for closer in closers]
        if len(pairs) > _MAX_PAIRS:
            self._lose(pointer, f"of {len(pairs)} pairs of markers the first {_MAX_PAIRS} are kept")
        return pairs[:_MAX_PAIRS]

    def _tools(self, field: Mapping[str, Any], pointer: str) -> ToolsSpec | None:
        self._common(field, pointer)
        parser = field.get("content", "text")
        paths = _Paths(field.get("transform"))
        for path in paths.other:
            self._lose(f"{pointer}/transform{path}", "a call has a name, an id and arguments")
        options = dict(field.get("content_args") or {})
        field, separator = _separated(field)
        section, pairs = _section(field, self._template["fields"].get("content") or {})
        section |= separator
        pairs = pairs or self._anchors(field, pointer)
        if parser == "json":
            return msgspec.structs.replace(self._json_calls(field, pointer, paths, pairs, options), **section)
        if parser not in ("xml-inline", "kv-lines"):
            self._lose(f"{pointer}/content", "the arguments of a call are an object")
            return None
        further = self._arguments(parser, options, f"{pointer}/content_args")
        if paths.arguments != ("content",):
            raise Untranslatable("arguments that are a part of the content")
        calls = [_around(opener, "{arguments}", closer, paths.groups) for opener, closer in pairs]
        return ToolsSpec(call=_patterns(calls), **further, **section)

    def _json_calls(
        self,
        field: Mapping[str, Any],
        pointer: str,
        paths: _Paths,
        pairs: list[tuple[_Anchor, _Anchor]],
        options: dict[str, Any],
    ) -> ToolsSpec:
        notation = self._notation(options, f"{pointer}/content_args")
        if field.get("transform_each"):
            envelope = paths.envelope(skip=0)
            sections = [f"{_plain(opener)}[{{calls}}]{_plain(closer)}" for opener, closer in pairs]
            return ToolsSpec(
                section=_patterns(sections, ("calls",)),
                separator=", ",
                call=(Pattern("{envelope}"),),
                envelope=(Envelope(envelope),),
                literals=notation,
            )
        if paths.arguments == ("content",):
            calls = [_around(opener, "{arguments}", closer, paths.groups) for opener, closer in pairs]
            return ToolsSpec(call=_patterns(calls), literals=notation)
        calls = [_around(opener, "{envelope}", closer, paths.groups) for opener, closer in pairs]
        return ToolsSpec(call=_patterns(calls), envelope=(Envelope(paths.envelope(skip=1)),), literals=notation)

    def _notation(self, options: dict[str, Any], pointer: str) -> Notation:
        if options.pop("allow_non_json", False):
            self._lose(f"{pointer}/allow_non_json", "arguments that are not an object are not a call")
        quotes: list[str] = []
        for pair in options.pop("string_delims", []):
            if pair[0] == pair[1]:
                quotes.append(pair[0])
            else:
                self._lose(f"{pointer}/string_delims", "a string ends with the delimiter that it begins with")
        bare = bool(options.pop("unquoted_keys", False))
        return Notation(quotes=tuple(dict.fromkeys((*quotes, *(() if quotes else ('"',))))), bare_keys=bare)

    def _arguments(self, parser: str, options: dict[str, Any], pointer: str) -> dict[str, Any]:
        """The keys of `[tools]` for arguments that are written separately."""
        inner = options.get("value_parser") or {}
        kind = inner.get("name", "text") if inner else "raw"
        if kind not in ("raw", "text", "json"):
            self._lose(f"{pointer}/value_parser", "values are text or JSON, and typed by the tools' schemas")
        if options.get("merge_duplicates"):
            self._lose(f"{pointer}/merge_duplicates", "a key occurs once; the last one counts")
        further: dict[str, Any] = {"values": "json"} if kind == "json" else {}
        if parser == "kv-lines":
            pair = f"{{key}}{options.get('kv_sep', ':')} {{value}}"
            separator = options.get("line_sep", "\n")
            if further and not separator.strip(" \t"):  # JSON at whose end only a space stands
                further = {"values": "literal"}
            return {"argument": (Pattern(pair),), "argument_separator": separator, **further}
        texts = anchor_texts(options.get("tag_pattern", ""))
        patterns = ["".join(part if isinstance(part, str) else f"{{{part.name}}}" for part in text) for text in texts]
        return {"argument": _patterns(patterns, ("key", "value")), **further}


class _Paths:
    """The paths from which a transform takes a call's name, id and arguments.

    Attributes:
        arguments: path of the arguments.
        groups: named group of the opener → the placeholder that it becomes.
        other: pointers inside the transform to values that are none of these.
    """

    def __init__(self, transform: Any) -> None:
        self._paths: dict[str, tuple[str, ...]] = {}
        self.other: list[str] = []
        if transform is None:
            transform = {"name": "{content.name}", "arguments": "{content.arguments}"}
        for path, value in _leaves(transform, ()):
            role = path[-1] if path else ""
            placeholder = value[1:-1].split(".") if isinstance(value, str) and value[:1] == "{" else None
            if role in ("name", "arguments", "id") and placeholder and role not in self._paths:
                self._paths[role] = tuple(placeholder)
            elif path != ("type",):
                self.other.append(pointer_of(*path))
        self.arguments = self._paths.get("arguments", ())
        if not self.arguments:
            raise Untranslatable("a transform that does not use the arguments")
        self.groups = {path[0]: role for role, path in self._paths.items() if len(path) == 1 and role != "arguments"}

    def envelope(self, *, skip: int) -> str:
        """The envelope as JSON text with placeholders; the first `skip` steps of each path are not keys of it."""
        root: dict[str, Any] = {}
        for role, path in self._paths.items():
            if len(path) <= skip:
                continue
            inner = root
            for step in path[skip:-1]:
                inner = inner.setdefault(step, {})
            inner[path[-1]] = f"{{{role}}}"
        return json.dumps(root, ensure_ascii=False).replace('"{arguments}"', "{arguments}")


def _leaves(value: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping) and len(path) < _MAX_DEPTH:
        return [leaf for key, inner in value.items() for leaf in _leaves(inner, (*path, str(key)))]
    return [(path, value)]


def _texts(field: Mapping[str, Any], side: str) -> list[_Anchor]:
    """The texts of an opener or a closer; one empty text if there is none."""
    literal = field.get(side)
    if literal is not None:
        return [(text,) for text in ([literal] if isinstance(literal, str) else literal)]
    expression = field.get(f"{side}_pattern")
    return [()] if expression is None else list(anchor_texts(expression))


def _separated(field: Mapping[str, Any]) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """The field without the separator between calls, and that separator as a key of `[tools]`."""
    between = _AFTER_A_CALL.match(field.get("open_pattern") or "")
    if between is None:
        return field, {}
    rest = {**field, "open_pattern": field["open_pattern"][between.end() :]}
    return rest, {"separator": _plain(anchor_texts(between[1])[0])}


def _section(
    field: Mapping[str, Any], content: Mapping[str, Any]
) -> tuple[dict[str, Any], list[tuple[_Anchor, _Anchor]]]:
    """The section around calls, as keys of `[tools]`, and the call's own opener and closer.

    A field has a section if its first opener is a longer version of its second one. The section's closer is the rest of
    a longer closer, or one of the content's closers that stand after whitespace.
    """
    openers, closers = _texts(field, "open"), _texts(field, "close")
    if len(openers) != 2 or field.get("transform_each"):
        return {}, []
    long_open, opener = openers
    before = _without(long_open[0], opener[0], str.removesuffix) if long_open[1:] == opener[1:] else None
    if before and len(closers) == 2:
        long_close, closer = closers
        after = _without(long_close[-1], closer[-1], str.removeprefix) if long_close[:-1] == closer[:-1] else None
    else:
        closer, after = closers[0], next(iter(_after_calls(content)), None) if len(closers) == 1 else None
    if not before or not after:
        return {}, []
    return {"section": _patterns([f"{before}{{calls}}{after}", "{calls}"], ("calls",))}, [(opener, closer)]


def _after_calls(content: Mapping[str, Any]) -> list[str]:
    """Closers of the content that stand after whitespace."""
    return [text for text in map(_plain, _texts(content, "close")) if text[:1].isspace()]


def _without(long: str | NamedGroup, short: str | NamedGroup, cut: Callable[[str, str], str]) -> str | None:
    if not isinstance(long, str) or not isinstance(short, str) or cut(long, short) == long:
        return None
    return cut(long, short)


def _plain(anchor: _Anchor) -> str:
    if any(isinstance(part, NamedGroup) for part in anchor):
        raise Untranslatable("a named group next to text")
    return "".join(part for part in anchor if isinstance(part, str))


def _around(opener: _Anchor, placeholder: str, closer: _Anchor, groups: Mapping[str, str]) -> str:
    """The pattern of a call. A name or id that the transform takes from elsewhere occurs here a second time."""
    texts = []
    for part in (*opener, placeholder, *closer):
        if isinstance(part, str):
            texts.append(part)
        elif part.name in groups or part.name in ("name", "id"):
            texts.append(f"{{{groups.get(part.name, part.name)}}}")
        else:
            raise Untranslatable(f"the group {part.name!r}, which is not used")
    return "".join(texts)


def _patterns(texts: Sequence[str], placeholders: tuple[str, ...] = ()) -> tuple[Pattern, ...]:
    """Patterns of texts without duplicates; with `placeholders`, each must have exactly these."""
    found = tuple(Pattern(text) for text in dict.fromkeys(texts))
    for pattern in found:
        if placeholders and set(pattern.placeholders) != set(placeholders):
            raise Untranslatable(f"{pattern.text!r} has other groups than {', '.join(placeholders)}")
    return found


def _checked(part: str, value: Any) -> Any:
    """The part, if it is valid and the parser can read it.

    Raises:
        FormatError: it is not valid, or cannot be read; with the reason.
    """
    StreamParser(FormatSpec(**{part: value}))
    return value
