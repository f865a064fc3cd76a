"""`uniqueItems` where an item has few values: lists whose items differ as JSON values, and no others."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import syntagma as sg
from tests.grammars.walks import byte_compiler, random_text

_COMPILER = byte_compiler()
_WORDS: list[Any] = [f"w{at}" if at % 3 else f'"{at},' for at in range(40)]
_SCHEMAS: list[dict[str, Any]] = [
    {"items": {"type": ["boolean", "null"]}},
    {"items": {"enum": _WORDS[:7]}, "minItems": 2, "maxItems": 5},
    {"items": {"enum": _WORDS[:14]}},
    {"items": {"enum": _WORDS[:14]}, "minItems": 2},
    {"items": {"enum": _WORDS}, "minItems": 1},
    {"items": {"enum": _WORDS}, "maxItems": 9},
    {"items": {"type": "integer", "minimum": -10, "maximum": 60}},
    {"items": {"enum": [*_WORDS[:12], 1, 1.0, 2.5, None, True, "1", [1], [1.0], {"a": 1, "b": 2}, {"b": 2, "a": 1}]}},
]


def _differ(items: list[Any]) -> bool:
    """Whether no two items are equal as JSON values: a number has no type, true and 1 differ."""

    def plain(value: Any) -> Any:
        match value:
            case bool() | None | str():
                return (type(value), value)
            case list():
                return ("list", tuple(plain(item) for item in value))
            case dict():
                return ("dict", frozenset((name, plain(item)) for name, item in value.items()))
        return ("number", float(value))

    return len({plain(item) for item in items}) == len(items)


def _values(schema: dict[str, Any]) -> list[Any]:
    items = schema["items"]
    if "enum" in items:
        return list(items["enum"])
    return [True, False, None] if "minimum" not in items else list(range(items["minimum"], items["maximum"] + 1))


@pytest.mark.parametrize("schema", _SCHEMAS, ids=lambda schema: json.dumps(schema)[:60])
@pytest.mark.parametrize("whitespace", ["compact", "flexible"])
def test_lists_of_different_items_and_no_others(schema: dict[str, Any], whitespace: str) -> None:
    grammar = sg.Grammar.from_json_schema({"type": "array", "uniqueItems": True, **schema}, whitespace=whitespace)
    assert grammar.report.status == "exact"
    compiled = _COMPILER.compile(grammar)
    rng = random.Random(str(schema))
    values = _values(schema)
    separators = (",", ":") if whitespace == "compact" else (rng.choice([", ", " ,"]), ": ")
    verdicts = set()
    for _ in range(60):
        items = [rng.choice(values) for _ in range(rng.choice([0, 1, 2, 3, 5]))]
        if rng.random() < 0.5:
            items = rng.sample(values, min(len(values), rng.choice([1, 2, 4, 9, 12])))
        sized = schema.get("minItems", 0) <= len(items) <= schema.get("maxItems", 1000)
        text = json.dumps(items, separators=separators)
        verdict = grammar.accepts(text)
        verdicts.add(verdict)
        assert verdict == (sized and _differ(items)), text
    assert verdicts == {True, False}
    for _ in range(20):
        written = json.loads(random_text(compiled, rng))
        assert _differ(written)
        assert schema.get("minItems", 0) <= len(written) <= schema.get("maxItems", 1000)


def test_all_values_can_be_written_and_then_the_list_ends() -> None:
    grammar = sg.Grammar.from_json_schema(
        {"type": "array", "uniqueItems": True, "items": {"enum": _WORDS}}, whitespace="compact"
    )
    matcher = sg.GrammarMatcher(_COMPILER.compile(grammar))
    assert matcher.accept_bytes(json.dumps(_WORDS, separators=(",", ":"))[:-1].encode())
    assert matcher.next_bytes() == b"]"


def test_what_was_written_is_known_after_going_back_and_in_copies() -> None:
    grammar = sg.Grammar.from_json_schema(
        {"type": "array", "uniqueItems": True, "items": {"enum": _WORDS}}, whitespace="compact"
    )
    matcher = sg.GrammarMatcher(_COMPILER.compile(grammar))
    for byte in b'["w1","w2","':
        assert matcher.accept_token(byte)
    fork = matcher.fork()
    assert not fork.accept_bytes(b'w1"')
    assert fork.accept_bytes(b'w10"')
    matcher.rollback(4)
    assert matcher.accept_bytes(b'5","w2')
    assert 0x30 in matcher.next_bytes()
    saved = sg.GrammarMatcher(_COMPILER.compile(grammar))
    assert saved.accept_bytes(b'["w1","w')
    assert not saved.accept_bytes(b'1",')
    assert saved.accept_bytes(b'2"]')
    assert saved.is_accepting()


@pytest.mark.parametrize("count", [3, 15])
def test_more_items_than_values_satisfy_nothing(count: int) -> None:
    schema = {"type": "array", "uniqueItems": True, "minItems": count + 1, "items": {"enum": _WORDS[:count]}}
    with pytest.raises(sg.UnsupportedSchema) as caught:
        sg.Grammar.from_json_schema(schema)
    assert caught.value.code == "E-SCHEMA-UNSATISFIABLE"


@pytest.mark.parametrize(
    "items",
    [{"type": "string"}, {"type": "number"}, {}, {"enum": [f"w{at}" for at in range(200)]}],
)
def test_many_values_are_reported(items: dict[str, Any]) -> None:
    report = sg.Grammar.from_json_schema({"type": "array", "uniqueItems": True, "items": items}).report
    assert set(report.pointers) == {"/uniqueItems"}
