"""The classes of conversations of openai-harmony: their `with_…` methods set a field and return the same object.

They are mutable, like that library's, because code written for it may ignore the returned object.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from enum import StrEnum
from typing import Any, Self

from syntagma.compat.harmony.errors import not_offered

__all__ = [
    "Author",
    "ChannelConfig",
    "Content",
    "Conversation",
    "DeveloperContent",
    "Message",
    "ReasoningEffort",
    "Role",
    "SystemContent",
    "TextContent",
    "ToolDescription",
    "ToolNamespaceConfig",
]


class Role(StrEnum):
    """The role of a message's author."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    DEVELOPER = "developer"
    TOOL = "tool"


class ReasoningEffort(StrEnum):
    """How much a model should reason."""

    LOW = "Low"
    MEDIUM = "Medium"
    HIGH = "High"


@dataclass
class _Plain:
    """The base class of the data classes."""

    def model_dump(self, *, exclude_none: bool = False) -> dict[str, Any]:
        """The fields as plain data."""
        data = asdict(self)
        return _without_none(data) if exclude_none else data

    def _set(self, **values: Any) -> Self:
        """Set fields and return the object."""
        for name, value in values.items():
            setattr(self, name, value)
        return self

    @classmethod
    def model_validate(cls, _value: Any) -> Self:
        """Not offered."""
        not_offered("Message.model_validate")

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """Not offered."""
        not_offered("Message.model_json_schema")


@dataclass
class Author(_Plain):
    """The author of a message: a role, and for tools a name."""

    role: Role
    name: str | None = None

    def __post_init__(self) -> None:
        self.role = Role(self.role)

    @classmethod
    def new(cls, role: Role, name: str) -> Author:
        """An author with a name."""
        return cls(role=role, name=name)


@dataclass
class Content(_Plain):
    """A part of a message."""

    def to_dict(self) -> dict[str, Any]:
        """The part in the library's JSON form."""
        raise NotImplementedError


@dataclass
class TextContent(Content):
    """Text."""

    text: str

    def to_dict(self) -> dict[str, Any]:
        """The part in the library's JSON form."""
        return {"type": "text", "text": self.text}


@dataclass
class ToolDescription(_Plain):
    """A tool: name, description, and a JSON Schema of its parameters."""

    name: str
    description: str
    parameters: dict[str, Any] | None = None

    @classmethod
    def new(cls, name: str, description: str, parameters: dict[str, Any] | None = None) -> ToolDescription:
        """A tool."""
        return cls(name=name, description=description, parameters=parameters)


@dataclass
class ChannelConfig(_Plain):
    """The valid channels, and whether each message must name one."""

    valid_channels: list[str]
    channel_required: bool

    @classmethod
    def require_channels(cls, channels: list[str]) -> ChannelConfig:
        """A configuration in which each message must name one of these channels."""
        return cls(valid_channels=channels, channel_required=True)


@dataclass
class ToolNamespaceConfig(_Plain):
    """The tools of one namespace."""

    name: str
    description: str | None = None
    tools: list[ToolDescription] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tools = [_made(ToolDescription, tool) for tool in self.tools]

    @staticmethod
    def browser() -> ToolNamespaceConfig:
        """Not offered."""
        not_offered("ToolNamespaceConfig.browser")

    @staticmethod
    def python() -> ToolNamespaceConfig:
        """Not offered."""
        not_offered("ToolNamespaceConfig.python")


def _all_channels() -> ChannelConfig:
    return ChannelConfig.require_channels(["analysis", "commentary", "final"])


class _WithTools(Content):
    """Content that declares tools by namespace. Each subclass defines the field `tools`."""

    tools: dict[str, ToolNamespaceConfig] | None

    def with_tools(self, ns_config: ToolNamespaceConfig) -> Self:
        """Add a namespace, or replace the one of the same name."""
        return self._set(tools={**(self.tools or {}), ns_config.name: ns_config})

    def _dict(self, kind: str) -> dict[str, Any]:
        return self.model_dump(exclude_none=True) | {"type": kind}

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> Self:
        """The content from the library's JSON form."""
        known = {one.name for one in fields(cls)}
        return cls(**{key: value for key, value in raw.items() if key in known})


@dataclass
class SystemContent(_WithTools):
    """The content of a system message. The defaults are those with which models were trained."""

    model_identity: str | None = "You are ChatGPT, a large language model trained by OpenAI."
    reasoning_effort: ReasoningEffort | None = ReasoningEffort.MEDIUM
    conversation_start_date: str | None = None
    knowledge_cutoff: str | None = "2024-06"
    channel_config: ChannelConfig | None = field(default_factory=_all_channels)
    tools: dict[str, ToolNamespaceConfig] | None = None

    def __post_init__(self) -> None:
        if self.reasoning_effort is not None:
            self.reasoning_effort = ReasoningEffort(self.reasoning_effort)
        if self.channel_config is not None:
            self.channel_config = _made(ChannelConfig, self.channel_config)
        self.tools = _spaces(self.tools)

    @classmethod
    def new(cls) -> SystemContent:
        """A system message with the defaults."""
        return cls()

    def with_model_identity(self, model_identity: str) -> SystemContent:
        """Set the identity of the model."""
        return self._set(model_identity=model_identity)

    def with_reasoning_effort(self, reasoning_effort: ReasoningEffort) -> SystemContent:
        """Set the reasoning effort."""
        return self._set(reasoning_effort=reasoning_effort)

    def with_conversation_start_date(self, conversation_start_date: str) -> SystemContent:
        """Set the current date."""
        return self._set(conversation_start_date=conversation_start_date)

    def with_knowledge_cutoff(self, knowledge_cutoff: str) -> SystemContent:
        """Set the knowledge cutoff."""
        return self._set(knowledge_cutoff=knowledge_cutoff)

    def with_channel_config(self, channel_config: ChannelConfig) -> SystemContent:
        """Set the channels."""
        return self._set(channel_config=channel_config)

    def with_required_channels(self, channels: list[str]) -> SystemContent:
        """Require each message to name one of these channels."""
        return self._set(channel_config=ChannelConfig.require_channels(channels))

    def with_browser_tool(self) -> SystemContent:
        """Not offered."""
        not_offered("SystemContent.with_browser_tool")

    def with_python_tool(self) -> SystemContent:
        """Not offered."""
        not_offered("SystemContent.with_python_tool")

    def to_dict(self) -> dict[str, Any]:
        """The part in the library's JSON form."""
        return self._dict("system_content")


@dataclass
class DeveloperContent(_WithTools):
    """The content of a developer message."""

    instructions: str | None = None
    tools: dict[str, ToolNamespaceConfig] | None = None

    def __post_init__(self) -> None:
        self.tools = _spaces(self.tools)

    @classmethod
    def new(cls) -> DeveloperContent:
        """Empty content."""
        return cls()

    def with_instructions(self, instructions: str) -> DeveloperContent:
        """Set the instructions."""
        return self._set(instructions=instructions)

    def with_function_tools(self, tools: Sequence[ToolDescription]) -> DeveloperContent:
        """Add the developer's functions."""
        return self.with_tools(ToolNamespaceConfig(name="functions", description=None, tools=list(tools)))

    def to_dict(self) -> dict[str, Any]:
        """The part in the library's JSON form."""
        return self._dict("developer_content")


@dataclass
class Message(_Plain):
    """A message: author, parts, and the fields of its header."""

    author: Author
    content: list[Content] = field(default_factory=list)
    channel: str | None = None
    recipient: str | None = None
    content_type: str | None = None

    @classmethod
    def from_author_and_content(cls, author: Author, content: str | Content) -> Message:
        """A message of this author."""
        return cls(author=author, content=[_part(content)])

    @classmethod
    def from_role_and_content(cls, role: Role, content: str | Content) -> Message:
        """A message of an author with this role."""
        return cls.from_author_and_content(Author(role=role), content)

    @classmethod
    def from_role_and_contents(cls, role: Role, contents: Sequence[Content]) -> Message:
        """A message of several parts."""
        return cls(author=Author(role=role), content=list(contents))

    def adding_content(self, content: str | Content) -> Message:
        """Add a part."""
        self.content.append(_part(content))
        return self

    def with_author(self, author: Author) -> Message:
        """Set the author."""
        return self._set(author=author)

    def with_channel(self, channel: str) -> Message:
        """Set the channel."""
        return self._set(channel=channel)

    def with_recipient(self, recipient: str) -> Message:
        """Set the recipient."""
        return self._set(recipient=recipient)

    def with_content_type(self, content_type: str) -> Message:
        """Set the content type."""
        return self._set(content_type=content_type)

    def to_dict(self) -> dict[str, Any]:
        """The message in the library's JSON form."""
        data: dict[str, Any] = {
            "role": self.author.role,
            "name": self.author.name,
            "content": [part.to_dict() for part in self.content],
        }
        further = {"channel": self.channel, "recipient": self.recipient, "content_type": self.content_type}
        return data | {key: value for key, value in further.items() if value is not None}

    def to_json(self) -> str:
        """The message as JSON text."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Message:
        """A message from the library's JSON form.

        Raises:
            ValueError: the role or the type of content is unknown.
        """
        raw = data["content"]
        parts = [{"type": "text", "text": raw}] if isinstance(raw, str) else raw
        return cls(
            author=Author(role=Role(data["role"]), name=data.get("name")),
            content=[_content(part) for part in parts],
            channel=data.get("channel"),
            recipient=data.get("recipient"),
            content_type=data.get("content_type"),
        )


@dataclass
class Conversation(_Plain):
    """A list of messages."""

    messages: list[Message] = field(default_factory=list)

    @classmethod
    def from_messages(cls, messages: Sequence[Message]) -> Conversation:
        """A conversation of these messages."""
        return cls(messages=list(messages))

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)

    def to_dict(self) -> dict[str, Any]:
        """The conversation in the library's JSON form."""
        return {"messages": [message.to_dict() for message in self.messages]}

    def to_json(self) -> str:
        """The conversation as JSON text."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, payload: str) -> Conversation:
        """A conversation from JSON text.

        Raises:
            ValueError: a role or a type of content is unknown.
        """
        return cls(messages=[Message.from_dict(message) for message in json.loads(payload)["messages"]])


def _part(content: str | Content) -> Content:
    return TextContent(text=content) if isinstance(content, str) else content


def _content(raw: Mapping[str, Any]) -> Content:
    kind = raw.get("type")
    if kind == "text":
        return TextContent(text=raw["text"])
    if kind == "system_content":
        return SystemContent.from_dict(raw)
    if kind == "developer_content":
        return DeveloperContent.from_dict(raw)
    raise ValueError(f"unknown type of content {kind!r}")


def _made(kind: Any, value: Any) -> Any:
    """An instance of a class; a JSON object is converted to it."""
    if is_dataclass(value):
        return value
    known = {one.name for one in fields(kind)}
    return kind(**{key: inner for key, inner in value.items() if key in known})


def _spaces(tools: Mapping[str, Any] | None) -> dict[str, ToolNamespaceConfig] | None:
    return None if tools is None else {name: _made(ToolNamespaceConfig, space) for name, space in tools.items()}


def _without_none(value: Any) -> Any:
    """The data without null members of objects, at any depth except inside of `parameters`."""
    if isinstance(value, dict):
        return {
            key: inner if key == "parameters" else _without_none(inner)
            for key, inner in value.items()
            if inner is not None
        }
    return [_without_none(inner) for inner in value] if isinstance(value, list) else value
