"""The schema of an array of calls, to which a model is constrained if a call is required."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from syntagma.compat.sglang.protocol import ToolChoice, as_mapping, as_tools
from syntagma.messages import Tool
from syntagma.request import ResolvedToolChoice, read_choice

__all__ = ["get_json_schema_constraint", "read_tool_choice", "schema_of_choice"]

_SCHEMAS = (
    *("items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"),
    *("contains", "propertyNames", "not", "if", "then", "else", "contentSchema"),
)
"""keywords whose value is a schema"""
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
"""keywords whose value is a list of schemas"""
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
"""keywords whose value is an object with a schema under each name"""


def get_json_schema_constraint(
    tools: Sequence[Any] | None, tool_choice: ToolChoice | str | Mapping[str, Any], parallel_tool_calls: bool = True
) -> dict[str, Any] | None:
    """The JSON Schema of an array with at least one call, each an object with `name` and `parameters`.

    References inside the parameters of a tool are changed to point to their place in the array's schema.

    Args:
        tools: the request's tools.
        tool_choice: `required`, a tool's name, a `ToolChoice`, or OpenAI's dictionaries; one call of a named tool.
        parallel_tool_calls: whether several calls are allowed.

    Returns:
        The schema; None if no call is required.

    Raises:
        RequestError: `E-REQUEST-TOOL-CHOICE`, a choice that cannot be read, or of a tool that is not there.
    """
    return schema_of_choice(read_tool_choice(tool_choice, as_tools(tools) or ()), parallel_tool_calls)


def read_tool_choice(tool_choice: ToolChoice | str | Mapping[str, Any], tools: tuple[Tool, ...]) -> ResolvedToolChoice:
    """Resolve a tool choice given in any form.

    Raises:
        RequestError: `E-REQUEST-TOOL-CHOICE`, a choice that cannot be read, or of a tool that is not there.
    """
    return read_choice(cast("Any", as_mapping(tool_choice)), tools)


def schema_of_choice(choice: ResolvedToolChoice, parallel_tool_calls: bool) -> dict[str, Any] | None:
    """The schema of an array of calls, or None if no call is required."""
    if not choice.forced:
        return None
    allowed = [tool for _, tool in choice.tools or ()]
    calls = [_call(tool, f"#/items/anyOf/{at}/properties/parameters") for at, tool in enumerate(allowed)]
    schema: dict[str, Any] = {"type": "array", "minItems": 1, "items": {"anyOf": calls}}
    if choice.mode == "named" or not parallel_tool_calls:
        schema["maxItems"] = 1
    return schema


def _call(tool: Tool, place: str) -> dict[str, Any]:
    parameters = _placed(tool.parameters, place) if tool.parameters else {"type": "object"}
    return {
        "type": "object",
        "properties": {"name": {"type": "string", "enum": [tool.name]}, "parameters": parameters},
        "required": ["name", "parameters"],
        "additionalProperties": False,
    }


def _placed(schema: Mapping[str, Any], place: str) -> Any:
    """A schema whose references begin at `place`. A part with its own `$id` refers to itself and stays unchanged."""
    root: list[Any] = [schema]
    work: list[tuple[Any, Any]] = [(root, 0)]
    while work:
        holder, key = work.pop()
        value = holder[key]
        if not isinstance(value, Mapping) or "$id" in value:
            continue
        copy = holder[key] = dict(value)
        for keyword in ("$ref", "$dynamicRef"):
            reference = copy.get(keyword)
            if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
                copy[keyword] = place + reference[1:]
        work.extend(_inner(copy))
    return root[0]


def _inner(schema: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """The places of the schemas directly inside a schema; their containers are copied first."""
    for keyword in _SCHEMAS:
        if isinstance(schema.get(keyword), Mapping):
            yield schema, keyword
    for keyword in _LISTS:
        if isinstance(schema.get(keyword), list):
            yield from _copied(schema, keyword, list(schema[keyword]), range(len(schema[keyword])))
    for keyword in _NAMED:
        if isinstance(schema.get(keyword), Mapping):
            yield from _copied(schema, keyword, dict(schema[keyword]), schema[keyword])


def _copied(schema: dict[str, Any], keyword: str, copy: Any, keys: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    schema[keyword] = copy
    for key in keys:
        yield copy, key
