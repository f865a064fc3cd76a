"""JSON Schemas with documents: those of the data folder, or a few of our own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from support.vocabularies import ENGINE_DATA, SHIPPED, Vocabulary


class Case(NamedTuple):
    """A schema as JSON text with its name, and valid documents as tokens."""

    name: str
    schema: str
    documents: list[list[int]]


def cases(vocabulary: Vocabulary, every: int = 1) -> Iterator[Case]:
    """The schemas with at least one valid document; `every` n-th of them only."""
    if vocabulary.name == SHIPPED:
        for schema, documents in OWN:
            texts = [json.dumps(document, ensure_ascii=False).encode() for document in documents]
            yield Case(schema["title"], json.dumps(schema), [vocabulary.greedy(text) for text in texts])
        return
    path = ENGINE_DATA / "tokens" / f"schemas.{vocabulary.name}.msgpack"
    tokens = msgspec.msgpack.decode(path.read_bytes())
    with (ENGINE_DATA / "schemas.jsonl").open(encoding="utf-8") as lines:
        for at, line in enumerate(lines):
            case = json.loads(line)
            pairs = zip(case["tests"], tokens[case["id"]], strict=True)
            valid = [document for test, document in pairs if test["valid"]]
            if at % every == 0:
                yield Case(case["id"], json.dumps(case["schema"], ensure_ascii=False), valid)


_ORDER: dict[str, Any] = {
    "title": "order",
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string", "maxLength": 40},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}, "gift": {"type": "boolean"}},
                "required": ["sku", "count"],
                "additionalProperties": False,
            },
        },
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["id", "name", "items"],
    "additionalProperties": False,
}
_ORDERS = [
    {
        "id": 7,
        "name": 'Łódź – a "quoted" name',
        "tags": ["red", "blue"],
        "items": [{"sku": f"A-{i}", "count": i, "gift": i % 2 == 0} for i in range(8)],
        "note": None,
    },
    {"id": -40, "name": "", "items": [], "note": "line one\nline two"},
]
_TREE: dict[str, Any] = {
    "title": "tree",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "label": {"type": "string", "pattern": "^[a-z]{1,12}$"},
                "weight": {"type": "number", "minimum": 0},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 20},
            },
            "required": ["label"],
            "additionalProperties": False,
        }
    },
    "$ref": "#/$defs/node",
}
_TREES = [
    {"label": "root", "weight": 1.5, "children": [{"label": c, "children": [{"label": c * 3}]} for c in "abcdef"]},
    {"label": "leaf", "weight": 0},
]
_EVENT: dict[str, Any] = {
    "title": "event",
    "type": "object",
    "properties": {
        "kind": {"enum": ["opened", "closed", "renamed"]},
        "at": {"type": "string", "format": "date-time"},
        "by": {"type": "string", "format": "email"},
    },
    "required": ["kind", "at"],
    "additionalProperties": {"type": ["string", "integer"]},
}
_EVENTS = [
    {"kind": "renamed", "at": "2026-02-03T04:05:06Z", "by": "ada@example.org", "old": "first name", "count": 3},
    {"kind": "opened", "at": "2026-02-03T04:05:06.789+01:00"},
]
OWN: list[tuple[dict[str, Any], list[Any]]] = [(_ORDER, _ORDERS), (_TREE, _TREES), (_EVENT, _EVENTS)]
