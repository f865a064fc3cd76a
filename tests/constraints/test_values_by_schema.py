"""What the grammar of a schema may write, the parser reads as arguments that are valid under it, in every format."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest

from syntagma.messages import Message, Tool, ToolCall
from tests.constraints.walks import accepts, hints, unexpected, walk
from tests.formats.every import CALLING, FORMATS

NODE = {
    "type": "object",
    "properties": {"v": {"type": "integer"}, "r": {"$ref": "#/$defs/node"}},
    "required": ["v"],
    "additionalProperties": False,
}
RATED = {
    "type": "object",
    "properties": {"n": {"type": "number", "minimum": 0}},
    "required": ["n"],
    "additionalProperties": False,
}
SCHEMAS: dict[str, tuple[Any, list[Any]]] = {
    "null or text": ({"type": ["string", "null"]}, ["a b", None]),
    "a number or text": ({"type": ["string", "integer"]}, ["x"]),
    "some values": ({"enum": ["x", 1, None, True]}, ["x", None]),
    "a list of objects": ({"type": "array", "items": RATED, "maxItems": 3}, [[{"n": 1.5}, {"n": 0}], []]),
    "a bounded number": ({"type": "number", "minimum": -1, "maximum": 1}, [0.25]),
    "an anchored pattern": ({"type": "string", "pattern": "^[a-z]{2,3}$"}, ["ab"]),
    "a pattern anywhere": ({"type": "string", "pattern": "[0-9]{2}|^x$"}, ["x", "a < 12"]),
    "lengths": ({"type": "string", "minLength": 2, "maxLength": 4}, ["<a&>", "é é"]),
    "one value": ({"const": "w"}, ["w"]),
    "a flag": ({"type": "boolean"}, [True]),
    "text or an object": ({"anyOf": [{"type": "string"}, RATED]}, ["text", {"n": 1}]),
    "a list or null": ({"anyOf": [{"type": "array", "items": {"type": "boolean"}}, {"type": "null"}]}, [[True], None]),
    "any members of one type": ({"type": "object", "additionalProperties": {"type": "integer"}}, [{}]),
    "a reference that leads back": ({"$ref": "#/$defs/node"}, [{"v": 1, "r": {"v": 2}}]),
}


def _tool(schema: Any) -> Tool:
    whole = {"type": "object", "properties": {"it": schema}, "required": ["it"], "additionalProperties": False}
    return Tool(name="f", parameters={**whole, "$defs": {"node": NODE}})


@pytest.mark.every_format
@pytest.mark.parametrize("name", CALLING)
def test_what_may_be_written_is_valid(name: str) -> None:
    fmt = FORMATS[name]
    spec = fmt.spec.tools
    assert spec is not None
    closers = []
    if spec.element is not None:
        keys = [key for key in ("it", "n", "v", "r", spec.item) if key]
        closers = [spec.element[2] + key + spec.element[3] for key in keys]
    tried = [*hints(fmt), *closers, "it", "null", "true", '{"n": 1}', '"x"', "12", "ab", "[true]", "x"]
    read = 0
    for what, (schema, _) in SCHEMAS.items():
        tool = _tool(schema)
        grammar = fmt.grammar([tool], tool_choice="required")
        rng = random.Random(f"{name} {what}")
        for _ in range(4):
            text = walk(grammar, rng, tried, steps=60)
            if text is None:
                continue
            read += 1
            parser = fmt.parser([tool], tool_choice="required")
            events = [*parser.feed(text), *parser.finish()]
            assert not unexpected(fmt, events), (what, text)
            assert parser.message.tool_calls, (what, text)
            for call in parser.message.tool_calls:
                assert call.complete, (what, text)
                jsonschema.validate(json.loads(call.arguments), tool.parameters)
    assert read > 5


@pytest.mark.every_format
@pytest.mark.parametrize("name", CALLING)
def test_what_is_valid_is_accepted(name: str) -> None:
    fmt = FORMATS[name]
    for what, (schema, values) in SCHEMAS.items():
        tool = _tool(schema)
        grammar = fmt.grammar([tool], tool_choice="required")
        for value in values:
            call = ToolCall(id="", name="f", arguments=json.dumps({"it": value}))
            text = fmt.write(Message(tool_calls=(call,)), [tool])
            assert accepts(grammar, text), (what, text)
