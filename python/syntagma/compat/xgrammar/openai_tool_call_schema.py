"""Tools of a request under xgrammar's names, without pydantic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

__all__ = ["BuiltinToolParam", "FunctionDefinition", "FunctionToolParam", "tool_of"]


@dataclass(kw_only=True)
class FunctionDefinition:
    """A function: its name, and the schema of its arguments, if there is one."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


@dataclass(kw_only=True)
class FunctionToolParam:
    """A function as a tool."""

    type: Literal["function"] = "function"
    function: FunctionDefinition

    def declared(self) -> dict[str, Any]:
        """The tool as the library takes it; without a schema that counts, its arguments are any object."""
        unheld = self.function.parameters is None or self.function.strict is False
        parameters = {"type": "object"} if unheld else self.function.parameters
        return {"name": self.function.name, "parameters": parameters}


@dataclass(kw_only=True)
class BuiltinToolParam:
    """A tool of a provider, which the model calls by `name`, or else by `type`."""

    type: str
    name: str | None = None
    parameters: dict[str, Any] | None = None

    def declared(self) -> dict[str, Any]:
        """The tool as the library takes it."""
        return {"name": self.name or self.type, "parameters": self.parameters or {"type": "object"}}


def tool_of(value: Any) -> FunctionToolParam | BuiltinToolParam:
    """A tool that was given as an object of this module, or as plain data.

    Raises:
        ValueError: neither, or a field of the wrong type.
    """
    if isinstance(value, FunctionToolParam | BuiltinToolParam):
        return value
    given = value.model_dump() if hasattr(value, "model_dump") else value
    if not isinstance(given, Mapping):
        raise ValueError("a tool is an object with a type")
    kind: type[Any] = FunctionToolParam if given.get("type", "function") == "function" else BuiltinToolParam
    try:
        tool: FunctionToolParam | BuiltinToolParam = msgspec.convert(given, kind, from_attributes=True)
    except msgspec.ValidationError as error:
        raise ValueError(f"this is no tool: {error}") from error
    return tool
