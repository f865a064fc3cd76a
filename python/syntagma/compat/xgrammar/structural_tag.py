"""The formats of structural tags as classes, by xgrammar's names, without pydantic.

They hold what they are given, and become plain data by `model_dump`; `docs/reference/structural-tag.md` says what each
means, and a format is checked when a grammar is made of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self, TypeAlias

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


class _Model:
    """What all of them can do."""

    def model_dump(self) -> dict[str, Any]:
        """Plain data."""
        return {one.name: _plain(getattr(self, one.name)) for one in fields(self)}  # type: ignore[arg-type]

    def model_dump_json(self, *, indent: int | None = None) -> str:
        """JSON text."""
        return json.dumps(self.model_dump(), indent=indent, separators=None if indent else (",", ":"))

    @classmethod
    def model_validate(cls, obj: Mapping[str, Any]) -> Self:
        """From plain data; what is not known is left out.

        Raises:
            ValueError: not an object, a field is missing, or a format is not known.
        """
        if isinstance(obj, cls):
            return obj
        if not isinstance(obj, Mapping):
            raise ValueError(f"{cls.__name__} is made of an object, not {type(obj).__name__}")
        known = {one.name for one in fields(cls)}  # type: ignore[arg-type]
        values = {name: _typed(name, value) for name, value in obj.items() if name in known}
        try:
            return cls(**values)
        except TypeError as error:
            raise ValueError(f"{cls.__name__}: {error}") from error

    @classmethod
    def model_validate_json(cls, json_data: str | bytes) -> Self:
        """From JSON text.

        Raises:
            ValueError: no JSON, or as `model_validate`.
        """
        return cls.model_validate(json.loads(json_data))


def _plain(value: Any) -> Any:
    if isinstance(value, _Model):
        return value.model_dump()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _typed(name: str, value: Any) -> Any:
    """A field's value with formats as classes; schemas stay what they are."""
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


@dataclass(kw_only=True)
class ConstStringFormat(_Model):
    """Exactly this text."""

    type: str = "const_string"
    value: str


@dataclass(kw_only=True)
class JSONSchemaFormat(_Model):
    """JSON by a schema."""

    type: str = "json_schema"
    json_schema: bool | dict[str, Any]
    style: str = "json"
    any_order: bool = False
    max_whitespace_cnt: int | None = None
    excludes: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class QwenXMLParameterFormat(_Model):
    """An older name of a style of `JSONSchemaFormat`."""

    type: str = "qwen_xml_parameter"
    json_schema: bool | dict[str, Any]


@dataclass(kw_only=True)
class AnyTextFormat(_Model):
    """Free text."""

    type: str = "any_text"
    excludes: list[str] = field(default_factory=list)
    max_tokens: int | None = None
    max_chars: int | None = None


@dataclass(kw_only=True)
class TokenFormat(_Model):
    """One token."""

    type: str = "token"
    token: int | str


@dataclass(kw_only=True)
class ExcludeTokenFormat(_Model):
    """Any token but these."""

    type: str = "exclude_token"
    exclude_tokens: list[int | str] = field(default_factory=list)


@dataclass(kw_only=True)
class AnyTokensFormat(_Model):
    """Any number of tokens but these."""

    type: str = "any_tokens"
    exclude_tokens: list[int | str] = field(default_factory=list)
    max_tokens: int | None = None


@dataclass(kw_only=True)
class GrammarFormat(_Model):
    """By a grammar."""

    type: str = "grammar"
    grammar: str


@dataclass(kw_only=True)
class RegexFormat(_Model):
    """By a regular expression."""

    type: str = "regex"
    pattern: str


@dataclass(kw_only=True)
class SequenceFormat(_Model):
    """One after another."""

    type: str = "sequence"
    elements: list[Format]


@dataclass(kw_only=True)
class OrFormat(_Model):
    """Any one."""

    type: str = "or"
    elements: list[Format]


@dataclass(kw_only=True)
class TagFormat(_Model):
    """A begin, a content and an end."""

    type: str = "tag"
    begin: str | TokenFormat
    content: Format
    end: str | list[str] | TokenFormat


@dataclass(kw_only=True)
class TriggeredTagsFormat(_Model):
    """Free text and tags."""

    type: str = "triggered_tags"
    triggers: list[str]
    tags: list[TagFormat]
    at_least_one: bool = False
    stop_after_first: bool = False
    excludes: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class TokenTriggeredTagsFormat(_Model):
    """Tokens and tags."""

    type: str = "token_triggered_tags"
    trigger_tokens: list[int | str]
    tags: list[TagFormat]
    exclude_tokens: list[int | str] = field(default_factory=list)
    at_least_one: bool = False
    stop_after_first: bool = False


@dataclass(kw_only=True)
class TagsWithSeparatorFormat(_Model):
    """Tags and nothing else."""

    type: str = "tags_with_separator"
    tags: list[TagFormat]
    separator: str
    at_least_one: bool = False
    stop_after_first: bool = False


@dataclass(kw_only=True)
class OptionalFormat(_Model):
    """Once or not at all."""

    type: str = "optional"
    content: Format


@dataclass(kw_only=True)
class PlusFormat(_Model):
    """Once or more often."""

    type: str = "plus"
    content: Format


@dataclass(kw_only=True)
class StarFormat(_Model):
    """Any number of times."""

    type: str = "star"
    content: Format


@dataclass(kw_only=True)
class RepeatFormat(_Model):
    """Between `min` and `max` times; -1 is no bound."""

    type: str = "repeat"
    min: int
    max: int
    content: Format


@dataclass(kw_only=True)
class DispatchFormat(_Model):
    """Free text; behind a text of `rules`, its format."""

    type: str = "dispatch"
    rules: list[tuple[str, Format]]
    loop: bool = True
    excludes: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class TokenDispatchFormat(_Model):
    """Free tokens; behind a token of `rules`, its format."""

    type: str = "token_dispatch"
    rules: list[tuple[int | str, Format]]
    loop: bool = True
    exclude_tokens: list[int | str] = field(default_factory=list)


Format: TypeAlias = _Model
"""any of the formats"""

FORMATS: dict[str, type[_Model]] = {
    str(kind.__dataclass_fields__["type"].default): kind
    for kind in (
        *(ConstStringFormat, JSONSchemaFormat, QwenXMLParameterFormat, AnyTextFormat, TokenFormat, ExcludeTokenFormat),
        *(AnyTokensFormat, GrammarFormat, RegexFormat, SequenceFormat, OrFormat, TagFormat, TriggeredTagsFormat),
        *(TokenTriggeredTagsFormat, TagsWithSeparatorFormat, OptionalFormat, PlusFormat, StarFormat, RepeatFormat),
        *(DispatchFormat, TokenDispatchFormat),
    )
}


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
        """The older form as a structural tag."""
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
            ValueError: no structural tag.
        """
        if isinstance(json_str, str):
            return StructuralTag.model_validate_json(json_str)
        if isinstance(json_str, dict):
            return StructuralTag.model_validate(json_str)
        raise ValueError("a structural tag is JSON text or an object")
