"""The messages with which a format is certified. The probes use none of their words."""

from __future__ import annotations

from typing import Any

import msgspec

from syntagma.analysis.render.conversation import SampleCall, SampleTurn
from syntagma.json_types import json_type_of

__all__ = ["Case", "case_tools", "roundtrip_cases", "with_types"]

_REASONING = "The guest wants tea, so I look at the clock first."
_CONTENT = "Tea is served at noon."
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
_LONG_NAME = "look_for_every_kind_of_tea_that_this_house_has_served_since_1887"
_OTHER_SCRIPT = "löffel_茶"
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
        "rows": "list",
    },
    "set_table": {"seats": "integer", "cloth": "string"},
    "ring_bell": {},
    "shelf.look_up": {"label": "string"},
    "pour-out": {"label": "string"},
    "WarmCup": {"label": "string"},
    _LONG_NAME: {"label": "string", _LONG_NAME.upper(): "string"},
    _OTHER_SCRIPT: {"label": "string", "höhe": "integer"},
}
_UNION_TOOL = "mix_blend"
_UNIONS: dict[str, list[str]] = {
    "name_or_none": ["string", "null"],
    "name_or_names": ["string", "array"],
    "count_or_none": ["integer", "null"],
    "share_or_flag": ["number", "boolean"],
    "list_or_object": ["array", "object"],
    "name_or_count": ["string", "integer"],
}


class Case(msgspec.Struct, frozen=True):
    """A message: its stable `name`, its `turn`, and the JSON types of the argument values that it tests.

    `unions`: whether it calls the tool whose arguments have several types each. That tool is declared only if it is
    called, since templates that print types know few of them.
    """

    name: str
    turn: SampleTurn
    kinds: tuple[str, ...] = ()
    unions: bool = False

    @property
    def basic(self) -> bool:
        """Whether it represents its shape: it tests no values, and has at most two calls."""
        return not self.kinds and len(self.turn.calls) <= 2


def case_tools(*, unions: bool = False) -> list[dict[str, Any]]:
    """The tools that the messages call, as OpenAI's dictionaries; `unions`: with the tool for unions."""
    if unions:
        properties = {
            key: {"anyOf": [{"type": kind} for kind in kinds], "description": "A value."}
            for key, kinds in _UNIONS.items()
        }
        return [_tool(_UNION_TOOL, properties)]
    return [_tool(name, {key: _schema(kind) for key, kind in types.items()}) for name, types in _TOOL_TYPES.items()]


def with_types(tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same tools with a type in the schema of every argument, for templates that print it."""
    made = []
    for tool in tools:
        function = tool["function"]
        properties = {
            key: {"type": schema["anyOf"][0]["type"] if "anyOf" in schema else "null", **schema}
            for key, schema in function["parameters"]["properties"].items()
        }
        parameters = {**function["parameters"], "properties": properties}
        made.append({**tool, "function": {**function, "parameters": parameters}})
    return made


def _tool(name: str, properties: dict[str, Any]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": []}
    function = {"name": name, "description": "Helps at tea time.", "parameters": parameters}
    return {"type": "function", "function": function}


def _schema(kind: str) -> dict[str, Any]:
    if kind == "null":
        # Templates that print types know few of them; this schema has none to print.
        return {"enum": [None], "description": "A value."}
    if kind == "list":
        return {"type": "array", "items": {}, "description": "A value."}
    schema: dict[str, Any] = {"type": kind, "description": "A value."}
    if kind == "array":
        schema["items"] = {"type": "string"}
    if kind == "object":
        schema["additionalProperties"] = True
    return schema


def roundtrip_cases(id_form: str, markers: tuple[str, ...] = (), words: tuple[str, ...] = ()) -> list[Case]:
    """All messages, in the order in which they are tried.

    Args:
        id_form: the form of call ids, see `Capabilities.call_id_form`.
        markers: markers of the format, for a string argument that quotes them.
        words: plain words with which markers begin, for an answer that contains them.
    """

    def call(name: str, arguments: dict[str, Any], index: int = 0) -> SampleCall:
        word = f"Qx{index}Vt7Lm"
        identity = id_form.replace("{word}", f"{word:0<9}").replace("{name}", name).replace("{index}", str(index))
        return SampleCall(name, arguments, identity)

    brew = call("brew_tea", {"label": "green", "cups": 3})
    table = call("set_table", {"seats": 4, "cloth": "linen"}, 1)
    bell = call("ring_bell", {}, 2)
    cases = [
        Case("content", SampleTurn(content=_CONTENT)),
        Case("content short", SampleTurn(content="Ok")),
        Case("content unicode", SampleTurn(content="Grüße — 茶 und 🫖, naïve façade")),
        Case("content json", SampleTurn(content='{"kettle": [1, 2], "full": true}')),
        Case("content brackets", SampleTurn(content="If a < b then x[1] = {y} & z > 0.")),
        Case("content lines", SampleTurn(content="First line.\n\n  - second\n\tthird")),
        Case("thoughts content", SampleTurn(reasoning=_REASONING, content=_CONTENT)),
        Case("thoughts short", SampleTurn(reasoning="Hm.", content="Yes")),
        Case("thoughts lines", SampleTurn(reasoning="One.\n\nTwo: a < b, {x}.", content=_CONTENT)),
    ]
    for count, calls in ((1, (brew,)), (2, (brew, table)), (3, (brew, table, bell))):
        cases += [
            Case(f"calls {count}", SampleTurn(calls=calls)),
            Case(f"content calls {count}", SampleTurn(content=_CONTENT, calls=calls)),
            Case(f"thoughts calls {count}", SampleTurn(reasoning=_REASONING, calls=calls)),
            Case(f"thoughts content calls {count}", SampleTurn(reasoning=_REASONING, content=_CONTENT, calls=calls)),
        ]
    cases += [
        Case("no arguments", SampleTurn(calls=(call("ring_bell", {}),))),
        Case("no arguments, then some", SampleTurn(calls=(call("ring_bell", {}), table))),
        Case("same call twice", SampleTurn(calls=(brew, call("brew_tea", {"label": "green", "cups": 3}, 1)))),
        Case("dotted name", SampleTurn(calls=(call("shelf.look_up", {"label": "mint"}),))),
        Case("dashed name", SampleTurn(calls=(call("pour-out", {"label": "mint"}),))),
        Case(
            "all types",
            SampleTurn(calls=(call("brew_tea", _ALL_TYPES),)),
            tuple(map(json_type_of, _ALL_TYPES.values())),
        ),
    ]
    cases += [
        Case(
            f"type {json_type_of(value)} {key}",
            SampleTurn(calls=(call("brew_tea", {key: value}),)),
            (json_type_of(value),),
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
    cases += [
        Case(f"string {name}", SampleTurn(calls=(call("brew_tea", values),)), ("string",))
        for name, values in texts.items()
    ]
    nested: dict[str, Any] = {
        "lid": {"round": True, "spare": False, "maker": None},
        "sizes": [[1, [2, []]], [{"litres": 0.5}], "3"],
        "none": {},
        "code": "007",
        "label": "",
    }
    values: dict[str, dict[str, Any]] = {
        "empty list and object": {"leaves": [], "pot": {}},
        "nested": {"pot": nested},
        "deep list": {"rows": [[["oolong"], []], [True, None, 1.5], [{"a": [1]}]]},
        "negative and large": {"cups": -12, "ratio": -0.001, "pot": {"far": 12345678901}},
    }
    cases += [
        Case(
            name, SampleTurn(calls=(call("brew_tea", given),)), tuple({json_type_of(one): 0 for one in given.values()})
        )
        for name, given in values.items()
    ]
    cases += [
        Case("name in mixed case", SampleTurn(calls=(call("WarmCup", {"label": "Mint Tea"}),))),
        Case("long name", SampleTurn(calls=(call(_LONG_NAME, {"label": "x", _LONG_NAME.upper(): "y"}),))),
        Case("other script", SampleTurn(calls=(call(_OTHER_SCRIPT, {"label": "茶", "höhe": 2}),))),
        Case("long string", SampleTurn(calls=(call("brew_tea", {"label": _long("cup")}),)), ("string",)),
        Case("content long", SampleTurn(content=_long("pot"))),
        Case("thoughts long", SampleTurn(reasoning=_long("tray"), content=_CONTENT)),
        Case("content whitespace", SampleTurn(content="\n\n   Tea is ready. \n\n\n")),
        Case("thoughts whitespace", SampleTurn(reasoning="\n\n   Is it hot? \n\n\n", content=_CONTENT)),
    ]
    unions: dict[str, Any] = {
        "name_or_none": ("mint", None),
        "name_or_names": ("mint", ["mint", "sage"]),
        "count_or_none": (3, None),
        "share_or_flag": (0.25, True),
        "list_or_object": ([1], {"a": 1}),
        "name_or_count": ("mint", 12),
    }
    cases += [
        Case(
            f"union {key} {json_type_of(value)}",
            SampleTurn(calls=(call(_UNION_TOOL, {key: value}),)),
            (json_type_of(value),),
            unions=True,
        )
        for key, both in unions.items()
        for value in both
    ]
    if words:
        cases.append(Case("content of words of markers", SampleTurn(content=f"The {' and the '.join(words)} of it.")))
    if markers:
        quoted = "see " + " ".join(markers)
        inside = {"label": quoted, "note": "x"}
        cases.append(Case("markers in a string", SampleTurn(calls=(call("brew_tea", inside),)), ("string",)))
    return cases


def _long(word: str) -> str:
    """A text of some 1,500 code points whose end occurs nowhere else in it."""
    return " ".join(f"The {word} number {number} is warm." for number in range(60)) + f" At last no {word} is left."
