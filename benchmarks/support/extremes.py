"""Sources that are large, deep or wide, or that ask for much work with few letters; each with a text of theirs."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple


class Extreme(NamedTuple):
    """A source of one kind (`json_schema`, `regex`), and a text that it allows."""

    kind: str
    source: Callable[[], str]
    text: Callable[[], str]


_FACETS: list[tuple[dict[str, Any], Any]] = [
    ({"type": "string", "maxLength": 40}, "a short text"),
    ({"type": "integer", "minimum": 0}, 42),
    ({"enum": ["north", "east", "south"]}, "east"),
    ({"type": "array", "items": {"type": "number"}}, [1, 2.5, -3e2]),
    ({"type": "boolean"}, True),
]


def _word(at: int) -> str:
    source = random.Random(at)
    return "".join(source.choices("abcdefghijklmnoprstuvwz", k=source.randrange(4, 14))) + f"_{at}"


def _schema(schema: dict[str, Any], value: Any) -> Extreme:
    return Extreme("json_schema", lambda: json.dumps(schema), lambda: json.dumps(value))


def _properties(count: int, *, required: bool) -> Extreme:
    names = [_word(at) for at in range(count)]
    facets = [_FACETS[at % len(_FACETS)] for at in range(count)]
    schema = {
        "type": "object",
        "properties": {name: facet for name, (facet, _) in zip(names, facets, strict=True)},
        "required": names if required else [],
        "additionalProperties": False,
    }
    taken = range(0, count, 1 if required else max(1, count // 40))
    return _schema(schema, {names[at]: facets[at][1] for at in taken})


def _tools(count: int) -> Extreme:
    def tool(at: int) -> dict[str, Any]:
        arguments = {_word(at * 8 + i): _FACETS[(at + i) % len(_FACETS)][0] for i in range(5)}
        return {
            "type": "object",
            "properties": {
                "name": {"const": _word(at)},
                "arguments": {"type": "object", "properties": arguments, "additionalProperties": False},
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }

    called = count - 3
    arguments = {_word(called * 8 + i): _FACETS[(called + i) % len(_FACETS)][1] for i in range(5)}
    return _schema({"anyOf": [tool(at) for at in range(count)]}, {"name": _word(called), "arguments": arguments})


def _nested(depth: int) -> Extreme:
    schema: dict[str, Any] = {"type": "null"}
    value: Any = None
    for at in range(depth):
        schema = {"type": "object", "properties": {f"level_{at}": schema}, "additionalProperties": False}
        value = {f"level_{at}": value}
    return _schema(schema, value)


_ITEM = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"], "additionalProperties": False}
_WORDS = [_word(at) for at in range(5_000)]

EXTREMES: dict[str, Extreme] = {
    "enum of 5,000 texts": _schema({"enum": _WORDS}, _WORDS[4_321]),
    "587 properties, all required": _properties(587, required=True),
    "300 optional properties": _properties(300, required=False),
    "5,000 optional properties": _properties(5_000, required=False),
    "500 tools": _tools(500),
    "maxLength: 1,000,000": _schema({"type": "string", "maxLength": 1_000_000}, "the same words again " * 60),
    "maxItems: 10,000": _schema(
        {"type": "array", "items": _ITEM, "maxItems": 10_000}, [{"id": at} for at in range(60)]
    ),
    "minItems and maxItems: 10,000": _schema(
        {"type": "array", "items": {"type": "integer"}, "minItems": 9_000, "maxItems": 10_000}, [7] * 9_000
    ),
    "uniqueItems over texts": _schema(
        {"type": "array", "items": {"type": "string"}, "uniqueItems": True}, [_word(at) for at in range(40)]
    ),
    "20 patternProperties that overlap": _schema(
        {
            "type": "object",
            "patternProperties": {
                f"^.{{0,{at}}}{'abcdefghijklmnopqrst'[at]}": {"maxLength": 10 + at} for at in range(20)
            },
            "additionalProperties": {"type": "string"},
        },
        {f"{word}": word[:10] for word in _WORDS[:12]},
    ),
    "120 objects in each other": _nested(120),
    "2,000 branches": _schema({"anyOf": [{"const": [at, _word(at)]} for at in range(2_000)]}, [1_234, _word(1_234)]),
    "one of 500 words": Extreme("regex", lambda: "|".join(_WORDS[:500]), lambda: _WORDS[432]),
    "(a+)+b": Extreme("regex", lambda: "(a+)+b", lambda: "a" * 400 + "b"),
    "(a|aa)*b": Extreme("regex", lambda: "(a|aa)*b", lambda: "a" * 400 + "b"),
    "(.*a){20}": Extreme("regex", lambda: "(?:.*a){20}", lambda: "banana " * 40 + "a"),
    ".*a.{60}": Extreme("regex", lambda: ".*a.{60}", lambda: "banana " * 40 + "a" + "x" * 60),
    "a{0,1000000}": Extreme("regex", lambda: "a{0,1000000}", lambda: "a" * 2_000),
    "((a{0,20}b){0,20}c){0,20}": Extreme(
        "regex", lambda: "(?:(?:a{0,20}b){0,20}c){0,20}", lambda: ("aaab" * 10 + "c") * 10
    ),
    "90 brackets in each other": Extreme("regex", lambda: "(" * 90 + "a" + ")?" * 90, lambda: "a"),
}
