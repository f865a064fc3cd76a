"""The parts of a request that the parsers read, and the structural tag that they make.

Wherever tools are accepted, they may be these classes, OpenAI's dictionaries, `sg.Tool`, or any object with
`model_dump()`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import msgspec

from syntagma.compat.sglang.models import Model
from syntagma.messages import Tool as PlainTool
from syntagma.messages import ToolLike, tools_from

__all__ = [
    "Function",
    "LegacyStructuralTagResponseFormat",
    "StructuresResponseFormat",
    "Tool",
    "ToolChoice",
    "ToolChoiceFuncName",
    "as_mapping",
    "as_tools",
]


class Function(Model):
    """A function that a model may call.

    Attributes:
        name: its name.
        description: what it does.
        parameters: the JSON Schema of its arguments; None: it has no arguments.
        strict: always constrain the arguments to the schema.
    """

    name: str | None = None
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool = False


class Tool(Model):
    """A tool of a request; the function may be given as a dictionary.

    Attributes:
        function: the function.
        type: always `function`.
    """

    function: Function
    type: str = "function"

    def __post_init__(self) -> None:
        if isinstance(self.function, Mapping):
            self.function = Function(**self.function)


class ToolChoiceFuncName(Model):
    """The function of a `ToolChoice`.

    Attributes:
        name: its name.
    """

    name: str | None = None


class ToolChoice(Model):
    """A choice of one tool; the function may be given as a dictionary.

    Attributes:
        function: the tool that must be called.
        type: always `function`.
    """

    function: ToolChoiceFuncName
    type: Literal["function"] = "function"

    def __post_init__(self) -> None:
        if isinstance(self.function, Mapping):
            self.function = ToolChoiceFuncName(**self.function)


class StructuresResponseFormat(Model):
    """One structure of a structural tag: `begin`, JSON by `schema`, `end`.

    Attributes:
        begin: the text before the JSON.
        schema: its JSON Schema; None: any JSON.
        end: the text after it.
    """

    begin: str
    schema: dict[str, Any] | None = None
    end: str = ""

    @property
    def schema_(self) -> dict[str, Any] | None:
        """The schema, under the name that the field has in pydantic models, where `schema` is a method."""
        return self.schema


class LegacyStructuralTagResponseFormat(Model):
    """A structural tag in its older form: free text, and a structure after each trigger.

    `sg.Grammar.from_structural_tag(tag.model_dump())` is its grammar.

    Attributes:
        type: always `structural_tag`.
        structures: the structures; each begins with one of the triggers.
        triggers: the texts after which a structure must follow.
    """

    type: Literal["structural_tag"] = "structural_tag"
    structures: list[StructuresResponseFormat] = msgspec.field(default_factory=list)
    triggers: list[str] = msgspec.field(default_factory=list)


def as_tools(tools: Sequence[Any] | None) -> tuple[PlainTool, ...] | None:
    """The tools of a request, given in any form; None stays None.

    Raises:
        ArgumentError: `E-TOOL-…`, see `syntagma.messages.tools_from`.
    """
    if tools is None or isinstance(tools, str | bytes) or not isinstance(tools, Sequence):
        return tools_from(cast("Sequence[ToolLike] | None", tools))
    return tools_from([as_mapping(tool) for tool in tools])


def as_mapping(value: Any) -> ToolLike:
    """The result of `model_dump()`, or the value itself if it has no such method."""
    if isinstance(value, PlainTool | Mapping) or not callable(dump := getattr(value, "model_dump", None)):
        return cast("ToolLike", value)
    return cast("ToolLike", dump())
