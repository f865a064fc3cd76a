"""Chat messages and tools as plain frozen values, and their OpenAI-shaped dictionaries."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

import msgspec

from syntagma.errors import ArgumentError, ArgumentTypeError
from syntagma.events import Span

__all__ = [
    "Diagnostic",
    "Message",
    "MessageLike",
    "Tool",
    "ToolCall",
    "ToolChoice",
    "ToolInput",
    "ToolLike",
    "refuse_incomplete_calls",
    "tools_from",
    "with_reader",
]

ToolChoice: TypeAlias = str | Mapping[str, Any]
Reader: TypeAlias = "Callable[[Message], tuple[Any, str | None]]"
"""what a message is as a value, and why it is none"""
_MAPPING = (dict, Mapping)
"""the concrete class is first, because a check against the abstract class takes ten times as long"""
_SEQUENCE = (list, tuple, Sequence)


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call.

    Attributes:
        id: the call's id, unique in its conversation.
        name: the tool's name.
        arguments: JSON text of one object; a prefix of one when `complete` is False.
        complete: the arguments are complete.
        span: the call's half-open range in the raw text, in code points; None for calls that were not parsed.
    """

    id: str
    name: str
    arguments: str
    complete: bool = True
    span: Span | None = None

    def parsed_arguments(self) -> dict[str, Any]:
        """The arguments as a dictionary.

        Raises:
            ArgumentError: `E-MESSAGE-ARGUMENTS`, they are not one JSON object, for example if the call is incomplete.
        """
        try:
            value = msgspec.json.decode(self.arguments)
        except msgspec.DecodeError as error:
            raise ArgumentError(
                "E-MESSAGE-ARGUMENTS",
                f"the arguments of {self.name!r} are not JSON: {error}",
                hint="an incomplete call has only a prefix of its arguments; see `complete`",
            ) from error
        if not isinstance(value, dict):
            raise ArgumentError("E-MESSAGE-ARGUMENTS", f"the arguments of {self.name!r} are not a JSON object")
        return value

    @classmethod
    def from_openai(cls, data: Mapping[str, Any]) -> ToolCall:
        """Read `{"id", "type": "function", "function": {"name", "arguments"}}`; arguments may be a dict or a string.

        A call with `"complete": False` is incomplete.

        Raises:
            ArgumentError: `E-MESSAGE-CALL`, a field is missing or has the wrong type.
        """
        function = data.get("function", data) if isinstance(data, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise ArgumentError("E-MESSAGE-CALL", "a tool call needs a function with a name", pointer="/function/name")
        arguments = function.get("arguments", "{}")
        if isinstance(arguments, Mapping):
            arguments = msgspec.json.encode(arguments).decode()
        if not isinstance(arguments, str):
            raise ArgumentError(
                "E-MESSAGE-CALL", "arguments must be JSON text or an object", pointer="/function/arguments"
            )
        complete = data.get("complete") is not False
        return cls(id=str(data.get("id") or ""), name=function["name"], arguments=arguments, complete=complete)

    def to_openai(self) -> dict[str, Any]:
        """The call as OpenAI's `tool_calls` item, arguments as a JSON string.

        An incomplete call has the further field `"complete": False`, which OpenAI's clients pass on or ignore.
        """
        data: dict[str, Any] = {
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments},
        }
        return data if self.complete else {**data, "complete": False}


class Diagnostic(msgspec.Struct, frozen=True):
    """A deviation from the format in a text that was read all the same."""

    code: str
    message: str
    span: Span


class Message(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A chat message.

    Attributes:
        role: `assistant`, `user`, `system`, `developer` or `tool`.
        content: text of the message; a list of content parts is kept unchanged; None if there is none.
        reasoning_content: the reasoning, or None.
        tool_calls: calls in their order.
        incomplete: the text ended inside reasoning or a call, or was cut off by a length limit.
        diagnostics: deviations from the format in the raw text.
        tool_call_id: for role `tool`: the id of the call that it answers.
        name: name of the participant or tool, or None.
    """

    role: str = "assistant"
    content: str | list[Any] | None = None
    reasoning_content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    incomplete: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None

    @property
    def parsed(self) -> Any:
        """The content as what `response_format` asked for: a value of its type, or the JSON value of its schema.

        None: there is none, and `unparsed` says why. A schema is checked as `Grammar.check` does, but for the order of
        properties. It is found out at the first use; only a message that comes from a parser has it, no copy of one.
        """
        return self._read[0]

    @property
    def unparsed(self) -> str | None:
        """Why there is no `parsed`: no JSON was asked for, the answer is cut off or not over, or it does not fit."""
        return self._read[1]

    @functools.cached_property
    def _read(self) -> tuple[Any, str | None]:
        reader: Reader | None = self.__dict__.get("_reader")
        return (None, "no JSON was asked for") if reader is None else reader(self)

    @classmethod
    def from_openai(cls, data: Mapping[str, Any]) -> Message:
        """Read an OpenAI-shaped dictionary. `reasoning` is read like `reasoning_content`.

        Raises:
            ArgumentTypeError: `E-MESSAGE-TYPE`, `data` is not a mapping.
            ArgumentError: `E-MESSAGE-ROLE`, `E-MESSAGE-CONTENT` or `E-MESSAGE-CALL`, a field is missing or has the
                wrong type; `pointer` names it.
        """
        if not isinstance(data, Mapping):
            raise ArgumentTypeError("E-MESSAGE-TYPE", f"a message must be a mapping, not {type(data).__name__}")
        role = data.get("role")
        if not isinstance(role, str) or not role:
            raise ArgumentError("E-MESSAGE-ROLE", "a message needs a role", pointer="/role")
        content = data.get("content")
        if content is not None and not isinstance(content, str | list):
            message = "content must be a string, a list of parts or null"
            raise ArgumentError("E-MESSAGE-CONTENT", message, pointer="/content")
        reasoning = data.get("reasoning_content")
        if reasoning is None:
            reasoning = data.get("reasoning")
        if reasoning is not None and not isinstance(reasoning, str):
            message = "reasoning must be a string or null"
            raise ArgumentError("E-MESSAGE-CONTENT", message, pointer="/reasoning_content")
        calls = data.get("tool_calls") or ()
        if isinstance(calls, str | Mapping) or not isinstance(calls, Iterable):
            raise ArgumentError("E-MESSAGE-CALL", "tool_calls must be a list", pointer="/tool_calls")
        read = []
        for index, call in enumerate(calls):
            try:
                read.append(ToolCall.from_openai(call))
            except ArgumentError as error:
                error.pointer = f"/tool_calls/{index}{error.pointer or ''}"
                raise
        return cls(
            role=role,
            content=content,
            reasoning_content=reasoning,
            tool_calls=tuple(read),
            tool_call_id=data.get("tool_call_id"),
            name=data.get("name"),
        )

    def to_openai(self) -> dict[str, Any]:
        """The message as an OpenAI-shaped dictionary. Optional fields that are None are left out, except `content`."""
        data: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.reasoning_content is not None:
            data["reasoning_content"] = self.reasoning_content
        if self.tool_calls:
            data["tool_calls"] = [call.to_openai() for call in self.tool_calls]
        if self.tool_call_id is not None:
            data["tool_call_id"] = self.tool_call_id
        if self.name is not None:
            data["name"] = self.name
        return data


MessageLike: TypeAlias = Message | Mapping[str, Any]
"""a message, or OpenAI's dictionary of one"""


def with_reader(message: Message, reader: Reader) -> Message:
    """The message, whose `parsed` and `unparsed` are what `reader` gives of it."""
    message.__dict__["_reader"] = reader
    return message


def refuse_incomplete_calls(messages: Iterable[Any]) -> None:
    """Raise if a call in a conversation was cut off, because a prompt must not contain half of its arguments.

    Args:
        messages: `Message` objects or OpenAI dictionaries. Other values are ignored.

    Raises:
        ArgumentError: `E-MESSAGE-INCOMPLETE`, a call is incomplete; `pointer` names it.
    """
    for at, message in enumerate(messages):
        if isinstance(message, Message):
            cut = [not call.complete for call in message.tool_calls]
        else:
            calls = message.get("tool_calls") if isinstance(message, _MAPPING) else None
            cut = [isinstance(call, _MAPPING) and call.get("complete") is False for call in calls or ()]
        if True in cut:
            raise ArgumentError(
                "E-MESSAGE-INCOMPLETE",
                "the message has a call that was cut off",
                hint="remove the call from the message, or let the model write it again",
                pointer=f"/messages/{at}/tool_calls/{cut.index(True)}",
            )


class ToolInput(msgspec.Struct, frozen=True, kw_only=True):
    """The constraint on the input text of a custom tool.

    Attributes:
        syntax: the language of `definition`; `text`: any text is allowed.
        definition: the text of a grammar, or a pattern that the whole text must match.
        pointer: the definition's place in the tool.
    """

    syntax: Literal["text", "lark", "regex"] = "text"
    definition: str = ""
    pointer: str = ""

    KEY: ClassVar[str] = "input"
    """name of the only argument of a custom tool as a function"""


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the model may call: a function, or a custom tool, whose input is a text.

    Attributes:
        name: the tool's name.
        description: the tool's description, for the prompt.
        parameters: JSON Schema of the arguments object; None declares no parameters. In templates and calls, a custom
            tool is a function with one text argument, `input`.
        strict: the grammar always enforces the schema of the arguments, or the constraint on a custom tool's text.
        input: the constraint on the text of a custom tool; None: the tool is a function.
    """

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool = False
    input: ToolInput | None = None

    @classmethod
    def from_openai(cls, data: ToolLike) -> Tool:
        """Read `{"type": "function", "function": {...}}` or the inner dictionary. A `Tool` is returned unchanged.

        Custom tools are `{"type": "custom", "custom": {"name", "description", "format"}}`, or all members in one
        object. The format is `{"type": "text"}` or `{"type": "grammar", "grammar": {"syntax", "definition"}}`; the last
        two may also be members of the format itself.

        Raises:
            ArgumentError: `E-TOOL-INVALID`, a field is missing or has the wrong type; `pointer` names it.
        """
        if isinstance(data, Tool):
            return data
        if isinstance(data, _MAPPING) and data.get("type") == "custom":
            return _custom_tool(data)
        function = data.get("function", data) if isinstance(data, _MAPPING) else None
        if not isinstance(function, _MAPPING):
            raise ArgumentError("E-TOOL-INVALID", "a tool must be an object with a function", pointer="/function")
        name = function.get("name")
        if not isinstance(name, str) or not name:
            raise ArgumentError("E-TOOL-INVALID", "a tool needs a name", pointer="/function/name")
        parameters = function.get("parameters")
        if parameters is not None and not isinstance(parameters, _MAPPING):
            message = "parameters must be a JSON Schema object"
            raise ArgumentError("E-TOOL-INVALID", message, pointer="/function/parameters")
        description = function.get("description")
        if description is not None and not isinstance(description, str):
            raise ArgumentError("E-TOOL-INVALID", "a description must be a string", pointer="/function/description")
        return cls(
            name=name,
            description=description,
            parameters=None if parameters is None else dict(parameters),
            strict=bool(function.get("strict") or False),
        )

    def to_openai(self) -> dict[str, Any]:
        """The tool as an OpenAI `tools` item of type `function`, for templates."""
        function: dict[str, Any] = {"name": self.name}
        if self.description is not None:
            function["description"] = self.description
        if self.parameters is not None:
            function["parameters"] = self.parameters
        if self.strict:
            function["strict"] = True
        return {"type": "function", "function": function}


ToolLike: TypeAlias = Tool | Mapping[str, Any]
_SYNTAXES = ("lark", "regex")
_SYNTAX_NAMES = {"lark": "Lark grammar", "regex": "regular expression"}


def _custom_tool(data: Mapping[str, Any]) -> Tool:
    nested = isinstance(data.get("custom"), _MAPPING)
    inner, place = (data["custom"], "/custom") if nested else (data, "")
    name, description = inner.get("name"), inner.get("description")
    if not isinstance(name, str) or not name:
        raise ArgumentError("E-TOOL-INVALID", "a tool needs a name", pointer=f"{place}/name")
    if description is not None and not isinstance(description, str):
        raise ArgumentError("E-TOOL-INVALID", "a description must be a string", pointer=f"{place}/description")
    given = _tool_input(inner.get("format"), f"{place}/format")
    text: dict[str, Any] = {"type": "string"}
    if given.definition:
        # The prompt tells the model the constraint on its text.
        text["description"] = f"Text by this {_SYNTAX_NAMES[given.syntax]}:\n{given.definition}"
    parameters = {
        "type": "object",
        "properties": {ToolInput.KEY: text},
        "required": [ToolInput.KEY],
        "additionalProperties": False,
    }
    is_held = given.syntax != "text"
    return Tool(name=name, description=description, parameters=parameters, strict=is_held, input=given)


def _tool_input(shape: Any, pointer: str) -> ToolInput:
    if shape is None:
        return ToolInput()
    if not isinstance(shape, _MAPPING) or shape.get("type") not in ("text", "grammar"):
        hint = "use the type 'text' or 'grammar'"
        message = "the format of a custom tool must be an object with a known type"
        raise ArgumentError("E-TOOL-INVALID", message, hint=hint, pointer=pointer)
    if shape["type"] == "text":
        return ToolInput()
    if isinstance(shape.get("grammar"), _MAPPING):
        shape, pointer = shape["grammar"], f"{pointer}/grammar"
    syntax, definition = shape.get("syntax"), shape.get("definition")
    if syntax not in _SYNTAXES:
        hint = f"one of {', '.join(_SYNTAXES)}"
        raise ArgumentError("E-TOOL-INVALID", f"unknown syntax {syntax!r}", hint=hint, pointer=f"{pointer}/syntax")
    if not isinstance(definition, str) or not definition:
        message = "the definition of a grammar must be a text that is not empty"
        raise ArgumentError("E-TOOL-INVALID", message, pointer=f"{pointer}/definition")
    return ToolInput(syntax=syntax, definition=definition, pointer=f"{pointer}/definition")


def tools_from(tools: Sequence[ToolLike] | None) -> tuple[Tool, ...] | None:
    """Read a request's tools. None stays None (undeclared), an empty list stays empty (no tools).

    Raises:
        ArgumentTypeError: `E-TOOL-LIST`, `tools` is not a list.
        ArgumentError: `E-TOOL-INVALID`, a tool is malformed, or `E-TOOL-DUPLICATE`, a name is used twice. The pointer
            begins with the tool's index.
    """
    if tools is None:
        return None
    if isinstance(tools, str | bytes) or not isinstance(tools, _SEQUENCE):
        raise ArgumentTypeError("E-TOOL-LIST", f"tools must be a list, not {type(tools).__name__}")
    read: list[Tool] = []
    names: set[str] = set()
    for index, tool in enumerate(tools):
        try:
            value = Tool.from_openai(tool)
        except ArgumentError as error:
            error.pointer = f"/{index}{error.pointer or ''}"
            raise
        if value.name in names:
            raise ArgumentError(
                "E-TOOL-DUPLICATE", f"two tools have the name {value.name!r}", pointer=f"/{index}/function/name"
            )
        names.add(value.name)
        read.append(value)
    return tuple(read)
