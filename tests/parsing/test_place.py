"""Where a parser is in a message, in words."""

from __future__ import annotations

from typing import Any

import pytest

import syntagma as sg

PARAMETERS: dict[str, Any] = {
    "$defs": {"spot": {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]}},
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "spots": {"type": "array", "items": {"$ref": "#/$defs/spot"}},
        "country": {"type": "string"},
    },
    "required": ["city", "country"],
}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}}]
BEGIN = '<tool_call>\n{"name": "get_weather", "arguments": '


@pytest.mark.parametrize(
    ("text", "pointer", "schema", "missing"),
    [
        ('{"city": "Os', "/tool_calls/0/arguments/city", "#/properties/city", ()),
        ('{"city": "Oslo"', "/tool_calls/0/arguments", "#", ("country",)),
        ('{"city": "Oslo", "country": "N"', "/tool_calls/0/arguments", "#", ()),
        ('{"spots": [{"lat": 1}, {', "/tool_calls/0/arguments/spots/1", "#/$defs/spot", ("lat",)),
        ('{"spots": [{"lat": 1', "/tool_calls/0/arguments/spots/0/lat", "#/$defs/spot/properties/lat", ()),
        ('{"other": "x', "/tool_calls/0/arguments/other", None, ()),
    ],
)
def test_arguments(text: str, pointer: str, schema: str | None, missing: tuple[str, ...]) -> None:
    parser = sg.formats.get("qwen25").parser(TOOLS)
    for char in BEGIN + text:
        parser.feed(char)
    place = parser.explain()
    assert (place.pointer, place.schema_pointer, place.missing) == (pointer, schema, missing)
    assert (place.call, place.tool, place.state) == (0, "get_weather", "call")
    assert place.in_string == text.endswith(("Os", "x"))


def test_words() -> None:
    parser = sg.formats.get("hermes").parser(TOOLS)
    assert str(parser.explain()) == "in the answer"
    parser.feed("Well")
    assert parser.explain().pointer == "/content"
    parser.feed(BEGIN + '{"city": "Os')
    expected = "inside the string value of arguments.city of call 1 to get_weather, JSON Schema #/properties/city"
    assert str(parser.explain()) == expected
    parser.feed('lo"')
    assert str(parser.explain()).endswith("required and not written yet: country")
    parser.feed(', "country": "N"}}\n</tool_call>')
    parser.finish()
    assert str(parser.explain()) == "after the turn"
