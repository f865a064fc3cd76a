"""The formats of structural tags as classes under xgrammar's names, without pydantic.

They store what they are given, and `model_dump` turns them into plain data. `docs/reference/structural-tag.md` explains
each format. A format is checked when a grammar is made from it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self, dataclass_transform

from syntagma.compat.xgrammar.arguments import wrong_type
from syntagma.compat.xgrammar.schemas import schema_text

__all__ = [
    "AnyTextFormat",
    "AnyTokensFormat",
    "ConstStringFormat",
    "DispatchFormat",
    "ExcludeTokenFormat",
    "Format",
    "GrammarFormat",
    "JSONSchemaFormat",
    "OptionalFormat",
    "OrFormat",
    "PlusFormat",
    "QwenXMLParameterFormat",
    "RegexFormat",
    "RepeatFormat",
    "SequenceFormat",
    "StarFormat",
    "StructuralTag",
    "StructuralTagItem",
    "TagFormat",
    "TagsWithSeparatorFormat",
    "TokenDispatchFormat",
    "TokenFormat",
    "TokenTriggeredTagsFormat",
    "TriggeredTagsFormat",
]


@dataclass
class _Model:
    """What structural tags and formats have in common: plain data and JSON text, both ways."""

    def model_dump(self) -> dict[str, Any]:
        """Plain data."""
        return {one.name: _plain(getattr(self, one.name)) for one in fields(self)}

    def model_dump_json(self, *, indent: int | None = None) -> str:
        """JSON text."""
        return json.dumps(self.model_dump(), indent=indent, separators=None if indent else (",", ":"))

    @classmethod
    def model_validate(cls, obj: Mapping[str, Any]) -> Self:
        """Make it from plain data; unknown fields are ignored.

        Raises:
            WrongTypeError: not an object.
            ValueError: a field is missing, or a format is unknown.
        """
        if isinstance(obj, cls):
            return obj
        if not isinstance(obj, Mapping):
            raise wrong_type(cls.__name__, "an object", obj)
        known = {one.name for one in fields(cls)}
        values = {name: _typed(name, value) for name, value in obj.items() if name in known}
        try:
            return cls(**values)
        except TypeError as error:
            raise ValueError(f"{cls.__name__}: {error}") from error

    @classmethod
    def model_validate_json(cls, json_data: str | bytes) -> Self:
        """Make it from JSON text.

        Raises:
            ValueError: not JSON, or as `model_validate`.
        """
        return cls.model_validate(json.loads(json_data))


def _plain(value: Any) -> Any:
    if isinstance(value, _Model):
        return value.model_dump()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _typed(name: str, value: Any) -> Any:
    """A field's value with formats as classes; schemas are kept as they are."""
    if name == "json_schema":
        return value
    if isinstance(value, list | tuple):
        return [_typed(name, item) for item in value]
    if isinstance(value, Mapping):
        kind = FORMATS.get(str(value.get("type")))
        if kind is None:
            raise ValueError(f"there is no format of type {value.get('type')!r}")
        return kind.model_validate(value)
    return value


FORMATS: dict[str, type[Format]] = {}
"""the formats by their `type`"""


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
@dataclass(kw_only=True)
class Format(_Model):
    """The base class of the formats. A subclass declares its fields, and its `type` as a class argument."""

    type: str = ""

    def __init_subclass__(cls, *, type: str) -> None:
        cls.type = type
        cls.__annotations__ = {"type": "str", **inspect.get_annotations(cls)}
        dataclass(kw_only=True)(cls)
        FORMATS[type] = cls


class ConstStringFormat(Format, type="const_string"):
    """Exactly this text."""

    value: str


class JSONSchemaFormat(Format, type="json_schema"):
    """JSON that a schema allows."""

    json_schema: bool | dict[str, Any]
    style: str = "json"
    any_order: bool = False
    max_whitespace_cnt: int | None = None
    excludes: list[str] = field(default_factory=list)


class QwenXMLParameterFormat(Format, type="qwen_xml_parameter"):
    """The older name of a style of `JSONSchemaFormat`."""

    json_schema: bool | dict[str, Any]


class AnyTextFormat(Format, type="any_text"):
    """Free text."""

    excludes: list[str] = field(default_factory=list)
    max_tokens: int | None = None
    max_chars: int | None = None


class TokenFormat(Format, type="token"):
    """One token."""

    token: int | str


class ExcludeTokenFormat(Format, type="exclude_token"):
    """Any token but these."""

    exclude_tokens: list[int | str] = field(default_factory=list)


class AnyTokensFormat(Format, type="any_tokens"):
    """Any number of tokens but these."""

    exclude_tokens: list[int | str] = field(default_factory=list)
    max_tokens: int | None = None


class GrammarFormat(Format, type="grammar"):
    """Text that a grammar allows."""

    grammar: str


class RegexFormat(Format, type="regex"):
    """Text that a regular expression matches."""

    pattern: str


class SequenceFormat(Format, type="sequence"):
    """One format after another."""

    elements: list[Format]


class OrFormat(Format, type="or"):
    """Any one of several formats."""

    elements: list[Format]


class TagFormat(Format, type="tag"):
    """A begin, a content and an end."""

    begin: str | TokenFormat
    content: Format
    end: str | list[str] | TokenFormat


class TriggeredTagsFormat(Format, type="triggered_tags"):
    """Free text and tags."""

    triggers: list[str]
    tags: list[TagFormat]
    at_least_one: bool = False
    stop_after_first: bool = False
    excludes: list[str] = field(default_factory=list)


class TokenTriggeredTagsFormat(Format, type="token_triggered_tags"):
    """Tokens and tags."""

    trigger_tokens: list[int | str]
    tags: list[TagFormat]
    exclude_tokens: list[int | str] = field(default_factory=list)
    at_least_one: bool = False
    stop_after_first: bool = False


class TagsWithSeparatorFormat(Format, type="tags_with_separator"):
    """Tags and nothing else."""

    tags: list[TagFormat]
    separator: str
    at_least_one: bool = False
    stop_after_first: bool = False


class OptionalFormat(Format, type="optional"):
    """Once or not at all."""

    content: Format


class PlusFormat(Format, type="plus"):
    """Once or more often."""

    content: Format


class StarFormat(Format, type="star"):
    """Any number of times."""

    content: Format


class RepeatFormat(Format, type="repeat"):
    """Between `min` and `max` times; -1 is no bound."""

    min: int
    max: int
    content: Format


class DispatchFormat(Format, type="dispatch"):
    """Free text; after a text of `rules`, its format."""

    rules: list[tuple[str, Format]]
    loop: bool = True
    excludes: list[str] = field(default_factory=list)


class TokenDispatchFormat(Format, type="token_dispatch"):
    """Free tokens; after a token of `rules`, its format."""

    rules: list[tuple[int | str, Format]]
    loop: bool = True
    exclude_tokens: list[int | str] = field(default_factory=list)


@dataclass(init=False)
class StructuralTagItem:
    """A tag of the older form: a begin, a schema and an end."""

    begin: str
    schema_: Any
    end: str

    def __init__(self, *, begin: str, schema: Any, end: str) -> None:
        self.begin = begin
        self.schema_ = schema
        self.end = end


@dataclass(kw_only=True)
class StructuralTag(_Model):
    """A structural tag: a format."""

    type: str = "structural_tag"
    format: Format

    @staticmethod
    def from_legacy_structural_tag(tags: list[StructuralTagItem], triggers: list[str]) -> StructuralTag:
        """The older form as a structural tag.

        Raises:
            WrongTypeError: tags of another type, or a schema that is none.
        """
        for place, tag in enumerate(tags):
            if not isinstance(tag, StructuralTagItem):
                raise wrong_type(f"tags/{place}", "StructuralTagItem", tag)
        return StructuralTag(
            format=TriggeredTagsFormat(
                triggers=list(triggers),
                tags=[
                    TagFormat(
                        begin=tag.begin,
                        content=JSONSchemaFormat(json_schema=json.loads(schema_text(tag.schema_))),
                        end=tag.end,
                    )
                    for tag in tags
                ],
            )
        )

    @staticmethod
    def from_json(json_str: str | dict[str, Any]) -> StructuralTag:
        """From JSON text or an object.

        Raises:
            WrongTypeError, ValueError: no structural tag.
        """
        if isinstance(json_str, str):
            return StructuralTag.model_validate_json(json_str)
        if isinstance(json_str, dict):
            return StructuralTag.model_validate(json_str)
        raise wrong_type("json_str", "JSON text or an object", json_str)
