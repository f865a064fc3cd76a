"""What a template has a place for: parts of content that are no text, and tools without members that it asks for."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from syntagma.codec.samples import SAMPLES
from syntagma.errors import ArgumentError, LimitError, TemplateError
from syntagma.json_types import json_type_of

__all__ = ["Places"]

_MEMBERS: Final[Mapping[str, Any]] = {"description": "", "parameters": {"type": "object", "properties": {}}}
"""what stands in place of a missing member of a function"""
_ENTRIES: Final[Mapping[str, str]] = {"array": "items", "object": "additionalProperties"}
"""by type, the keyword that says what is in a value"""
_MAX_KNOWN: Final = 1_000
"""tools whose gaps are remembered"""
_MEDIA: Final[Mapping[str, str]] = {
    "image_url": "image",
    "input_image": "image",
    "input_audio": "audio",
    "audio_url": "audio",
    "video_url": "video",
    "file": "file",
    "image": "image",
    "audio": "audio",
    "video": "video",
}
"""types of parts that are no text, with the type that templates know instead"""
_TEXT: Final = "qxzvjkwhq"
_DATA: Final = "zqxjvkwzh"


class Places:
    """Finds out, once each, what a template has a place for.

    Args:
        render: renders a conversation with declared tools.
    """

    def __init__(self, render: Callable[[list[dict[str, Any]], list[dict[str, Any]]], str]) -> None:
        self._render = render
        self._fills: dict[bytes, tuple[str, ...]] = {}
        self._places: dict[str, str | None] = {}

    def placed(self, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The conversation with parts that are no text in the form for which the template has a place.

        Raises:
            ArgumentError: `E-MESSAGE-PART`, it has no place for a part.
        """
        made = []
        for at, message in enumerate(messages):
            if isinstance(message.get("content"), list):
                parts = enumerate(message["content"])
                content = [self._placed(part, f"/messages/{at}/content/{number}") for number, part in parts]
                made.append({**message, "content": content})
            else:
                made.append(message)
        return made

    def _placed(self, part: Any, pointer: str) -> Any:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if not isinstance(kind, str) or kind not in _MEDIA:
            return part
        if kind not in self._places:
            self._places[kind] = next((form for form in (kind, _MEDIA[kind]) if self._has_place(form, kind)), None)
        place = self._places[kind]
        if place is None:
            raise ArgumentError(
                "E-MESSAGE-PART",
                f"the template has no place for a part of type {kind!r}",
                hint="leave the part out; a model that reads it is told so by its template",
                pointer=pointer,
            )
        return {**part, "type": place}

    def _has_place(self, form: str, kind: str) -> bool:
        """Whether the template writes something for a part of this type, and not what the part holds."""
        part = {"type": form, kind: {"url": _DATA, "data": _DATA, "file_data": _DATA, "format": "wav"}}
        texts = []
        for more in ([], [part]):
            content = [{"type": "text", "text": _TEXT}, *more]
            try:
                texts.append(str(self._render([{"role": "user", "content": content}], [])))
            except TemplateError:
                return False
        without, shown = texts
        return _TEXT in shown and _DATA not in shown and len("".join(shown.split())) > len("".join(without.split()))

    def filled(self, tool: dict[str, Any]) -> dict[str, Any]:
        """The tool with members that it lacks, if the template fails or loses the tool without them."""
        gaps = _gaps(tool["function"])
        if not gaps:
            return tool
        key = msgspec.json.encode({**tool["function"], "name": ""}, enc_hook=str)
        if key not in self._fills:
            if len(self._fills) >= _MAX_KNOWN:
                self._fills.clear()
            self._fills[key] = self._fill_for(tool, gaps)
        return _with(tool, self._fills[key])

    def _fill_for(self, tool: dict[str, Any], gaps: tuple[str, ...]) -> tuple[str, ...]:
        """The fewest gaps to be filled so that the template shows the tool; none if nothing helps."""
        named = {**tool, "function": {**tool["function"], "name": _DATA}}
        asked = SAMPLES["texts"].messages[:1]
        for count in range(len(gaps) + 1):
            for fill in itertools.combinations(gaps, count):
                try:
                    if _DATA in self._render(asked, [_with(named, fill)]):
                        return fill
                except (TemplateError, LimitError):
                    continue
        return ()


def _gaps(function: Mapping[str, Any]) -> tuple[str, ...]:
    """What a function lacks that templates ask for.

    `description` and `parameters` are its members, `properties` one of its parameters; `descriptions`, `types` and
    `entries` (of lists and objects) are those of its properties.
    """
    gaps = [name for name in _MEMBERS if name not in function]
    parameters = function.get("parameters")
    if isinstance(parameters, Mapping):
        if not isinstance(parameters.get("properties"), Mapping):
            gaps.append("properties")
        for kind, member in (("descriptions", "description"), ("types", "type")):
            if any(not isinstance(one.get(member), str) for one in _properties(parameters)):
                gaps.append(kind)
        if any(_lacks_entries(one) for one in _properties(parameters)):
            gaps.append("entries")
    return tuple(gaps)


def _lacks_entries(schema: Mapping[str, Any]) -> bool:
    """Whether a schema of an object or a list does not say what is in it."""
    kind = schema.get("type")
    return isinstance(kind, str) and kind in _ENTRIES and not isinstance(schema.get(_ENTRIES[kind]), Mapping)


def _properties(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schemas of all properties, at any depth; those of items, too."""
    stack: list[Any] = [schema]
    while stack:
        one = stack.pop()
        inner = [*_mapping(one.get("properties")).values(), one.get("items")]
        found = [schema for schema in inner if isinstance(schema, Mapping)]
        yield from found
        stack += found


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _with(tool: dict[str, Any], fill: tuple[str, ...]) -> dict[str, Any]:
    """The tool with these gaps filled."""
    if not fill:
        return tool
    function = {**tool["function"], **{name: value for name, value in _MEMBERS.items() if name in fill}}
    parameters = function.get("parameters")
    if isinstance(parameters, Mapping):
        if "properties" in fill:
            parameters = {"type": "object", **parameters, "properties": {}}
        function["parameters"] = _schema_with(parameters, fill)
    return {**tool, "function": function}


def _schema_with(schema: Mapping[str, Any], fill: tuple[str, ...]) -> dict[str, Any]:
    """The schema with descriptions and types of its properties, at any depth."""
    changed = dict(schema)
    if isinstance(schema.get("properties"), Mapping):
        changed["properties"] = {key: _property_with(one, fill) for key, one in schema["properties"].items()}
    if isinstance(schema.get("items"), Mapping):
        changed["items"] = _property_with(schema["items"], fill)
    return changed


def _property_with(schema: Any, fill: tuple[str, ...]) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    changed = _schema_with(schema, fill)
    if "descriptions" in fill and not isinstance(schema.get("description"), str):
        changed["description"] = ""
    if "types" in fill and not isinstance(schema.get("type"), str):
        changed["type"] = _type_of(schema)
    if "entries" in fill and _lacks_entries(changed):
        changed[_ENTRIES[changed["type"]]] = {"type": "string"}
    return changed


def _type_of(schema: Mapping[str, Any]) -> str:
    """The first type that a schema allows beside null; `string` if it names none."""
    given = schema.get("type")
    types = list(given) if isinstance(given, list) else []
    for keyword in ("anyOf", "oneOf", "allOf"):
        types += [one.get("type") for one in schema.get(keyword) or () if isinstance(one, Mapping)]
    types += [json_type_of(one) for one in schema.get("enum") or ()]
    return next((one for one in types if isinstance(one, str) and one != "null"), "string")
