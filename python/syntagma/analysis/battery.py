"""The messages with which a format is certified; none of their words is used by the probes."""

from __future__ import annotations

from typing import Any

import msgspec

from syntagma.analysis.conversations import Call, Turn
from syntagma.json_types import json_type_of

__all__ = ["Trial", "battery", "tools_of"]

_THOUGHT = "The guest wants tea, so I look at the clock first."
_ANSWER = "Tea is served at noon."
_ALL_TYPES: dict[str, Any] = {
    "label": "green",
    "cups": 3,
    "ratio": 0.75,
    "hot": True,
    "iced": False,
    "milk": None,
    "leaves": ["oolong", "assam"],
    "pot": {"litres": 2, "lid": "round"},
}
_TOOL_TYPES: dict[str, dict[str, Any]] = {
    "brew_tea": {
        "label": "string",
        "cups": "integer",
        "ratio": "number",
        "hot": "boolean",
        "iced": "boolean",
        "milk": "null",
        "leaves": "array",
        "pot": "object",
        "note": "string",
        "title": "string",
    },
    "set_table": {"seats": "integer", "cloth": "string"},
    "ring_bell": {},
    "shelf.look_up": {"label": "string"},
    "pour-out": {"label": "string"},
}


class Trial(msgspec.Struct, frozen=True):
    """A message of the battery: a stable `name`, the `turn`, and the `kinds` of values that it shows."""

    name: str
    turn: Turn
    kinds: tuple[str, ...] = ()

    @property
    def basic(self) -> bool:
        """Whether it stands for its shape: no special values, two calls at most."""
        return not self.kinds and len(self.turn.calls) <= 2


def tools_of() -> list[dict[str, Any]]:
    """The tools that the battery's messages call, as OpenAI's dictionaries."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": "Helps at tea time.",
                "parameters": {
                    "type": "object",
                    "properties": {key: _schema(kind) for key, kind in types.items()},
                    "required": [],
                },
            },
        }
        for name, types in _TOOL_TYPES.items()
    ]


def _schema(kind: str) -> dict[str, Any]:
    if kind == "null":
        # Templates that spell out types know few of them; this one has none to spell.
        return {"enum": [None], "description": "A value."}
    schema: dict[str, Any] = {"type": kind, "description": "A value."}
    if kind == "array":
        schema["items"] = {"type": "string"}
    if kind == "object":
        schema["additionalProperties"] = True
    return schema


def battery(id_form: str, markers: tuple[str, ...] = ()) -> list[Trial]:
    """All messages.

    Args:
        id_form: how call ids are made, as `Capabilities.call_id_form` says.
        markers: markers of the format, to stand inside of string arguments.
    """

    def call(name: str, arguments: dict[str, Any], index: int = 0) -> Call:
        word = f"Qx{index}Vt7Lm"
        identity = id_form.replace("{word}", f"{word:0<9}").replace("{name}", name).replace("{index}", str(index))
        return Call(name, arguments, identity)

    brew = call("brew_tea", {"label": "green", "cups": 3})
    table = call("set_table", {"seats": 4, "cloth": "linen"}, 1)
    bell = call("ring_bell", {}, 2)
    trials = [
        Trial("content", Turn(content=_ANSWER)),
        Trial("content short", Turn(content="Ok")),
        Trial("content unicode", Turn(content="Grüße — 茶 und 🫖, naïve façade")),
        Trial("content json", Turn(content='{"kettle": [1, 2], "full": true}')),
        Trial("content brackets", Turn(content="If a < b then x[1] = {y} & z > 0.")),
        Trial("content lines", Turn(content="First line.\n\n  - second\n\tthird")),
        Trial("thoughts content", Turn(reasoning=_THOUGHT, content=_ANSWER)),
        Trial("thoughts short", Turn(reasoning="Hm.", content="Yes")),
        Trial("thoughts lines", Turn(reasoning="One.\n\nTwo: a < b, {x}.", content=_ANSWER)),
    ]
    for count, calls in ((1, (brew,)), (2, (brew, table)), (3, (brew, table, bell))):
        trials += [
            Trial(f"calls {count}", Turn(calls=calls)),
            Trial(f"content calls {count}", Turn(content=_ANSWER, calls=calls)),
            Trial(f"thoughts calls {count}", Turn(reasoning=_THOUGHT, calls=calls)),
            Trial(f"thoughts content calls {count}", Turn(reasoning=_THOUGHT, content=_ANSWER, calls=calls)),
        ]
    trials += [
        Trial("no arguments", Turn(calls=(call("ring_bell", {}),))),
        Trial("no arguments, then some", Turn(calls=(call("ring_bell", {}), table))),
        Trial("same call twice", Turn(calls=(brew, call("brew_tea", {"label": "green", "cups": 3}, 1)))),
        Trial("dotted name", Turn(calls=(call("shelf.look_up", {"label": "mint"}),))),
        Trial("dashed name", Turn(calls=(call("pour-out", {"label": "mint"}),))),
        Trial("all types", Turn(calls=(call("brew_tea", _ALL_TYPES),)), tuple(map(json_type_of, _ALL_TYPES.values()))),
    ]
    trials += [
        Trial(
            f"type {json_type_of(value)} {key}", Turn(calls=(call("brew_tea", {key: value}),)), (json_type_of(value),)
        )
        for key, value in _ALL_TYPES.items()
    ]
    texts = {
        "empty": {"label": "", "note": "x"},
        "numeric": {"label": "12", "note": "0.5"},
        "words of JSON": {"label": "true", "note": "null"},
        "newlines": {"label": "\nfirst\n  second\n", "note": "a\n"},
        "quotes": {"label": 'she said "hi" \\ it\'s', "note": "{'a': \"b\"}"},
        "brackets": {"label": "<b>x</b> & [y] {z}", "note": "a > b"},
        "unicode": {"label": "茶 é 🫖", "note": "x"},
        "blanks": {"label": "  two  ", "note": " "},
        "single blank": {"label": "a b", "note": "c, d=e"},
    }
    trials += [
        Trial(f"string {name}", Turn(calls=(call("brew_tea", values),)), ("string",)) for name, values in texts.items()
    ]
    nothing = call("brew_tea", {"leaves": [], "pot": {}})
    trials.append(Trial("empty list and object", Turn(calls=(nothing,)), ("array", "object")))
    if markers:
        inside = {"label": "see " + " ".join(markers), "note": "x"}
        trials.append(Trial("markers in a string", Turn(calls=(call("brew_tea", inside),)), ("string",)))
    return trials
