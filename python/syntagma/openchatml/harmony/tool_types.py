"""Renders tools as Harmony describes them to the model: namespaces of TypeScript-like function types.

The exact text matters, because models were trained on it. It follows recorded renders of openai-harmony 0.0.8.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["namespace_text", "type_text"]

_NAMES = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}
_MAX_DEPTH = 64


def namespace_text(name: str, description: str | None, tools: list[Mapping[str, Any]]) -> str:
    """The text of a namespace with its tools; if it has no tools, only its description."""
    lines = [f"## {name}\n"]
    if not tools:
        return "\n".join([*lines, description]) if description else lines[0].rstrip("\n")
    if description:
        lines += _comment(description)
    lines.append(f"namespace {name} {{\n")
    for tool in tools:
        if tool.get("description"):
            lines += _comment(tool["description"])
        parameters = tool.get("parameters")
        given = "()" if parameters is None else f"(_: {type_text(parameters)})"
        lines.append(f"type {tool['name']} = {given} => any;\n")
    lines.append(f"}} // namespace {name}")
    return "\n".join(lines)


def type_text(schema: Any, indent: str = "", depth: int = 0) -> str:
    """The type that a JSON Schema describes; `any` for schemas that no such type describes."""
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return "any"
    if isinstance(schema.get("oneOf"), list):
        return _variants(schema["oneOf"], indent, depth)
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_NAMES.get(name, "any") for name in kind if isinstance(name, str)) or "any"
    if kind == "object":
        return _object(schema, indent, depth)
    if kind == "array":
        return f"{type_text(schema['items'], indent, depth + 1)}[]" if "items" in schema else "Array<any>"
    if kind == "string" and isinstance(schema.get("enum"), list):
        return " | ".join(f'"{value}"' for value in schema["enum"] if isinstance(value, str)) or "string"
    return _NAMES.get(kind, "any") if isinstance(kind, str) else "any"


def _object(schema: Mapping[str, Any], indent: str, depth: int) -> str:
    lines = [f"{indent}// {schema['description']}"] if schema.get("description") else []
    lines.append("{")
    required = schema.get("required")
    required = required if isinstance(required, list | tuple) else ()
    properties = schema.get("properties")
    for name, part in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(part, Mapping):
            lines += [
                indent + line for line in _property(name if name in required else f"{name}?", part, indent, depth)
            ]
    return "\n".join([*lines, f"{indent}}}"])


def _property(name: str, part: Mapping[str, Any], indent: str, depth: int) -> list[str]:
    """The lines of a property. The lines of a nested type after its first are already indented."""
    lines: list[str] = []
    if part.get("title"):
        lines += [f"// {part['title']}", "//"]
    if part.get("description"):
        lines.append(f"// {part['description']}")
    examples = part.get("examples")
    if isinstance(examples, list) and examples:
        lines += ["// Examples:", *(f"// - {_value(example)}" for example in examples if isinstance(example, str))]
    if isinstance(part.get("oneOf"), list):
        if "default" in part:
            lines.append(f"// default: {_value(part['default'])}")
        return [
            *lines,
            f"{name}:{_variants(part['oneOf'], indent, depth, described=bool(part.get('description')))}",
            ",",
        ]
    written = type_text(part, indent + "    ", depth + 1)
    if part.get("nullable") is True and "null" not in written.split(" | "):
        written += " | null"
    default = ""
    if "default" in part:
        bare = isinstance(part.get("enum"), list) and isinstance(part["default"], str)
        default = f" // default: {part['default'] if bare else _value(part['default'])}"
    return [*lines, f"{name}: {written},{default}"]


def _variants(variants: list[Any], indent: str, depth: int, *, described: bool = False) -> str:
    """The variants, one per line. The first has no comment of its own if the property has one (`described`)."""
    lines = [""]
    for index, variant in enumerate(variants):
        said: list[str] = []
        if isinstance(variant, Mapping):
            if variant.get("description") and not (described and index == 0):
                said.append(str(variant["description"]))
            if "default" in variant:
                said.append(f"default: {_value(variant['default'])}")
        written = type_text(variant, indent + "   ", depth + 1)
        lines.append(f"{indent} | {written}" + (f" // {' '.join(said)}" if said else ""))
    return "\n".join(lines)


def _comment(text: str) -> list[str]:
    return [f"// {line}" for line in text.split("\n")]


def _value(value: Any) -> str:
    # Strings are only quoted, not escaped.
    return f'"{value}"' if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
