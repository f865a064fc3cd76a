"""Structural tags drawn at random, some of them with a mistake."""

from __future__ import annotations

import random
from typing import Any

__all__ = ["drawn_tag"]

_TEXTS = [
    "<call>",
    "</call>",
    "find ",
    "open",
    "close",
    "<|tool|>",
    "<added>",
    "a",
    "aba",
    "ba",
    "<f",
    "<f=",
    "x<f",
    "中",
]
_SCHEMAS = [
    True,
    {"type": "integer"},
    {"properties": {"a": {"type": "boolean"}}},
    {"enum": ["a", 1]},
    {"type": "strng"},
]
_PATTERNS = ["[ab]+", "a{2,3}b?", "(", "x|yz", "."]
_GRAMMARS = ['root ::= "a" | "b" root', "root ::= [0-9]{1,3}", "root ::= (", 'root ::= "x" .']
_LEAVES = ["const_string", "json_schema", "regex", "grammar", "any_text"]
_INNER = ["sequence", "or", "optional", "plus", "star", "repeat", "tag", "triggered_tags", "tags_with_separator"]


def drawn_tag(rng: random.Random) -> dict[str, Any]:
    """A tag in one of the forms that are read."""
    inner = _format(rng, rng.randint(1, 4))
    return rng.choice([inner, {"type": "structural_tag", "format": inner}, {"format": inner}])


def _format(rng: random.Random, depth: int) -> dict[str, Any]:
    kind = rng.choice(_LEAVES if depth <= 0 else _LEAVES + 2 * _INNER)
    fields: dict[str, Any] = {"extra": 1} if rng.random() < 0.02 else {}
    match kind:
        case "const_string":
            fields["value"] = rng.choice([*_TEXTS, ""])
        case "json_schema":
            fields["json_schema"] = rng.choice(_SCHEMAS)
            fields |= _some(rng, {"any_order": rng.random() < 0.5, "style": rng.choice(["json", "qwen_xml"])}, 0.1)
        case "regex":
            fields["pattern"] = rng.choice(_PATTERNS)
        case "grammar":
            fields["grammar"] = rng.choice(_GRAMMARS)
        case "any_text":
            fields |= _some(rng, {"excludes": _texts(rng, 0, 2)}, 0.4)
        case "sequence" | "or":
            fields["elements"] = [_format(rng, depth - 1) for _ in range(rng.randint(1, 3))]
        case "tag":
            fields |= _tag(rng, depth)
        case "triggered_tags":
            triggers = _texts(rng, 1, 3)
            begins = [rng.choice(triggers) + rng.choice(["", "=", "x"]) for _ in range(rng.randint(1, 3))]
            tags = [_tag(rng, depth) | {"begin": begin} for begin in begins]
            fields |= {"triggers": triggers, "tags": tags, **_some(rng, {"excludes": _texts(rng, 0, 2)}, 0.3)}
        case "tags_with_separator":
            tags = [_tag(rng, depth) for _ in range(rng.randint(1, 2))]
            fields |= {"tags": tags, "separator": rng.choice([", ", "", "\n", ";"])}
        case _:
            fields["content"] = _format(rng, depth - 1)
    if kind == "repeat":
        fields |= {"min": rng.randint(0, 2), "max": rng.choice([-1, 1, 2, 3])}
    if kind in ("triggered_tags", "tags_with_separator"):
        fields |= _some(rng, {"at_least_one": True, "stop_after_first": True}, 0.4)
    return {"type": kind, **fields}


def _tag(rng: random.Random, depth: int) -> dict[str, Any]:
    end = rng.choice([rng.choice([*_TEXTS, ""]), _texts(rng, 1, 2)])
    tag = {"begin": rng.choice([*_TEXTS, ""]), "content": _format(rng, depth - 1), "end": end}
    return tag | _some(rng, {"type": "tag"}, 0.5)


def _some(rng: random.Random, fields: dict[str, Any], share: float) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if rng.random() < share}


def _texts(rng: random.Random, least: int, most: int) -> list[str]:
    return rng.sample(_TEXTS, rng.randint(least, most))
