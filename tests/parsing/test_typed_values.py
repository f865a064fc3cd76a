"""Raw values are typed by the schema of their tool."""

from __future__ import annotations

import json
from typing import Any

import pytest

from syntagma.format_schema import read_toml
from syntagma.parsing import StreamParser

SPEC = read_toml(
    """
[tools]
call = "<call>{name}{arguments}</call>"
argument = "<key>{key}</key><value>{value}</value>"
"""
)


def typed(schema: Any, text: str, definitions: Any = None) -> str:
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"v": schema}, "$defs": definitions or {}}}
    parser = StreamParser(SPEC, [tool])
    for char in f"<call>f<key>v</key><value>{text}</value></call>":
        parser.feed(char)
    parser.finish()
    [call] = parser.message.tool_calls
    assert call.complete
    json.loads(call.arguments)
    return call.arguments.removeprefix('{"v": ').removesuffix("}")


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        ({"type": "string"}, "12", '"12"'),
        ({"type": "string"}, "null", '"null"'),
        ({"type": "integer"}, " 12\n", "12"),
        ({"type": "integer"}, "12.5", '"12.5"'),
        ({"type": "integer"}, "2.0", "2.0"),
        ({"type": "number"}, "1.50e+3", "1.50e+3"),
        ({"type": "number"}, "NaN", '"NaN"'),
        ({"type": "number"}, "0x1f", '"0x1f"'),
        ({"type": "boolean"}, "True", "true"),
        ({"type": "boolean"}, "yes", '"yes"'),
        ({"type": ["integer", "null"]}, "null", "null"),
        ({"type": "integer"}, "null", '"null"'),
        ({"type": "array"}, "[1, 2]", "[1, 2]"),
        ({"type": "array"}, '{"a": 1}', '"{\\"a\\": 1}"'),
        ({"type": "object"}, "{broken", '"{broken"'),
        ({"anyOf": [{"type": "string"}, {"type": "object"}]}, '{"a": 1}', '{"a": 1}'),
        ({"anyOf": [{"type": "string"}, {"type": "object"}]}, "a", '"a"'),
        ({"type": ["string", "integer"]}, "42", '"42"'),
        ({"enum": [1, 2]}, "2", "2"),
        ({"enum": ["1", "2"]}, "2", '"2"'),
        ({"const": True}, "true", "true"),
        ({"$ref": "#/$defs/count"}, "7", "7"),
        ({"$ref": "#/$defs/missing"}, "7", '"7"'),
        ({"$ref": "#/$defs/loop"}, "7", '"7"'),
        ({"type": "array"}, "[" * 300 + "]" * 300, '"' + "[" * 300 + "]" * 300 + '"'),
    ],
)
def test_values_by_schema(schema: Any, text: str, expected: str) -> None:
    definitions = {"count": {"type": "integer"}, "loop": {"$ref": "#/$defs/loop"}}
    assert typed(schema, text, definitions) == expected


def test_undeclared_arguments_are_strings() -> None:
    parser = StreamParser(SPEC, [{"name": "f"}])
    parser.feed("<call>f<key>a</key><value>1</value></call>")
    parser.finish()
    assert parser.message.tool_calls[0].arguments == '{"a": "1"}'
