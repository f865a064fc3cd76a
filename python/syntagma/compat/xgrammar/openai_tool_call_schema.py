"""Tools of a request under xgrammar's names, without pydantic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

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
    if not isinstance(given, Mapping) or not isinstance(given.get("type", "function"), str):
        raise ValueError("a tool is an object with a type")
    if given.get("type", "function") != "function":
        return BuiltinToolParam(
            type=given["type"], name=_text(given, "name"), parameters=_schema(given.get("parameters"))
        )
    function = given.get("function")
    if isinstance(function, FunctionDefinition):
        return FunctionToolParam(function=function)
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise ValueError("a function has a name: {'type': 'function', 'function': {'name': …}}")
    strict = function.get("strict")
    if strict is not None and not isinstance(strict, bool):
        raise ValueError("strict is a bool")
    return FunctionToolParam(
        function=FunctionDefinition(
            name=function["name"],
            description=_text(function, "description"),
            parameters=_schema(function.get("parameters")),
            strict=strict,
        )
    )


def _text(given: Mapping[str, Any], field: str) -> str | None:
    value = given.get(field)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{field} is text")
    return value


def _schema(value: Any) -> dict[str, Any] | None:
    if value is not None and not isinstance(value, Mapping):
        raise ValueError("parameters are a schema, which is an object")
    return None if value is None else dict(value)
