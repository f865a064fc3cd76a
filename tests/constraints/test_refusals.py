"""What is said of a turn whose call has a wrong argument: what could stand there, in every shipped format."""

from __future__ import annotations

import json

import pytest

from syntagma import formats
from syntagma.formats import ChatFormat
from syntagma.grammars import Check, Grammar
from syntagma.messages import Message, ToolCall

TOOL = {
    "name": "clock",
    "parameters": {
        "type": "object",
        "properties": {
            "zone": {"type": "string", "enum": ["cetus", "utrecht"]},
            "days": {"type": "array", "items": {"type": "string", "enum": ["mensa", "tucana"]}},
        },
        "required": ["zone", "days"],
        "additionalProperties": False,
    },
}
MISSING: tuple[dict[str, object], ...] = ({}, {"zone": "cetus"}, {"days": []})
RIGHT: dict[str, object] = {"zone": "cetus", "days": ["mensa", "tucana"]}
WRONG = {"value": ("cetus", "pavo"), "value in a list": ("tucana", "pavo"), "end of a value": ("cetus", "cetra")}
CALLING = [name for name in formats.names() if formats.get(name).spec.tools is not None]


@pytest.mark.parametrize("name", CALLING)
def test_a_wrong_value_is_refused_with_what_could_stand_there(name: str) -> None:
    fmt = formats.get(name)
    text = _turn(fmt, RIGHT)
    for choice in ("auto", "required"):
        grammar = fmt.grammar([TOOL], tool_choice=choice)
        assert grammar.accepts(text), (choice, text)
        for what, (right, wrong) in WRONG.items():
            wrong_text = text.replace(right, wrong)
            check = grammar.check(wrong_text)
            place = next(at for at, (old, new) in enumerate(zip(text, wrong_text, strict=False)) if old != new)
            assert check.offset == place, (choice, what, check)
            _says_what_could_stand(grammar, wrong_text, check)


@pytest.mark.parametrize("name", CALLING)
def test_so_is_a_call_without_a_required_argument(name: str) -> None:
    fmt = formats.get(name)
    for choice in ("auto", "required"):
        grammar = fmt.grammar([TOOL], tool_choice=choice)
        for some in MISSING:
            text = _turn(fmt, some)
            _says_what_could_stand(grammar, text, grammar.check(text))


def _turn(fmt: ChatFormat, arguments: dict[str, object]) -> str:
    return fmt.write(Message(tool_calls=(ToolCall(id="", name="clock", arguments=json.dumps(arguments)),)), [TOOL])


def _says_what_could_stand(grammar: Grammar, text: str, check: Check) -> None:
    assert check.offset is not None, (text, check)
    assert check.continuation, (text, check)
    assert grammar.accepts(text[: check.offset] + check.continuation), (text, check)
    shown = check.continuation if len(check.continuation) <= 40 else check.continuation[:40] + "…"
    said = f"{text[check.offset]!r} cannot stand here; it could continue with {shown!r}"
    assert check.message == said, (text, check)
