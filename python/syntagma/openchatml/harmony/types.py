"""Tools as Harmony describes them to the model: namespaces of TypeScript-like function types.

The exact text is what models were trained on; the facts about it come from openai-harmony 0.0.8's recorded renders.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["namespace_text", "type_text"]

_NAMES = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}
_DEEPEST = 64


def namespace_text(name: str, description: str | None, tools: list[Mapping[str, Any]]) -> str:
    """A namespace with its tools; one without tools is only described."""
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


def type_text(schema: Any, depth: int = 0) -> str:
    """The type that a JSON Schema describes; what has no such type is `any`."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return "any"
    if isinstance(schema.get("oneOf"), list):
        return _variants(schema["oneOf"], depth)
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_NAMES.get(name, "any") for name in kind if isinstance(name, str)) or "any"
    if kind == "object":
        return _object(schema, depth)
    if kind == "array":
        return f"{type_text(schema['items'], depth + 1)}[]" if "items" in schema else "Array<any>"
    if kind == "string" and isinstance(schema.get("enum"), list):
        return " | ".join(f'"{value}"' for value in schema["enum"] if isinstance(value, str)) or "string"
    return _NAMES.get(kind, "any") if isinstance(kind, str) else "any"


def _object(schema: Mapping[str, Any], depth: int) -> str:
    lines = _comment(schema["description"]) if schema.get("description") else []
    lines.append("{")
    required = schema.get("required") or ()
    properties = schema.get("properties")
    for name, part in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(part, Mapping):
            lines += _property(name if name in required else f"{name}?", part, depth)
    return "\n".join([*lines, "}"])


def _property(name: str, part: Mapping[str, Any], depth: int) -> list[str]:
    lines: list[str] = []
    if part.get("title"):
        lines += [f"// {part['title']}", "//"]
    if part.get("description"):
        lines += _comment(part["description"])
    examples = part.get("examples")
    if isinstance(examples, list) and examples:
        lines += ["// Examples:", *(f"// - {_value(example)}" for example in examples)]
    if isinstance(part.get("oneOf"), list):
        if "default" in part:
            lines.append(f"// default: {_value(part['default'])}")
        return [*lines, f"{name}:{_variants(part['oneOf'], depth)}", ","]
    written = type_text({key: value for key, value in part.items() if key != "description"}, depth + 1)
    if part.get("nullable") is True and "null" not in written.split(" | "):
        written += " | null"
    default = ""
    if "default" in part:
        bare = isinstance(part.get("enum"), list) and isinstance(part["default"], str)
        default = f" // default: {part['default'] if bare else _value(part['default'])}"
    return [*lines, f"{name}: {written},{default}"]


def _variants(variants: list[Any], depth: int) -> str:
    lines = [""]
    for variant in variants:
        said: list[str] = []
        shown = variant
        if isinstance(variant, Mapping):
            shown = {key: value for key, value in variant.items() if key != "description"}
            if variant.get("description"):
                said.append(" ".join(str(variant["description"]).split("\n")))
            if "default" in variant:
                said.append(f"default: {_value(variant['default'])}")
        lines.append(f" | {type_text(shown, depth + 1)}" + (f" // {' '.join(said)}" if said else ""))
    return "\n".join(lines)


def _comment(text: str) -> list[str]:
    return [f"// {line}" for line in text.split("\n")]


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
