"""Running numbers of calls: the n-th call has number n, from the turn's or the conversation's first."""

from __future__ import annotations

import re

import pytest

import syntagma as sg
from syntagma.constraints.call_groups import _NUMBERED_CALLS
from tests.constraints.walks import accepts
from tests.formats.cases import SHAPES, TOOLS, shape_of

TURN = shape_of(SHAPES / "numbers.toml")
CONVERSATION = shape_of(SHAPES / "numbered_ids.toml")


def _clocks(fmt: sg.ChatFormat, count: int) -> str:
    call = sg.ToolCall(id="", name="clock", arguments="{}")
    return fmt.write(sg.Message(tool_calls=(call,) * count), TOOLS)


def test_numbers_are_held_to_a_bound() -> None:
    grammar = TURN.grammar(TOOLS)
    text = _clocks(TURN, _NUMBERED_CALLS + 3)
    assert accepts(grammar, text)
    wrong = re.sub(r"\d+", lambda number: str(int(number[0]) + 1), text)
    assert not accepts(grammar, wrong)
    last = f"<call {_NUMBERED_CALLS}>"
    assert not accepts(grammar, text.replace(last, "<call 0>"))
    # After so many calls, a number is any.
    assert accepts(grammar, text.replace(f"<call {_NUMBERED_CALLS + 1}>", "<call 0>"))


@pytest.mark.parametrize("history", [0, 1, 41])
def test_numbers_of_a_conversation_go_on(history: int) -> None:
    grammar = CONVERSATION.grammar(TOOLS, history_calls=history)
    assert accepts(grammar, f"<call>clock#{history}: {{}}</call><call>clock#{history + 1}: {{}}</call>")
    assert not accepts(grammar, f"<call>clock#{history + 1}: {{}}</call>")
    assert accepts(CONVERSATION.grammar(TOOLS), "<call>clock#7: {}</call><call>clock#2: {}</call>")
    # Numbers of a turn do not count what came before.
    assert accepts(TURN.grammar(TOOLS, history_calls=history), _clocks(TURN, 2))


def test_a_turn_knows_the_calls_of_its_conversation() -> None:
    template = sg.ChatTemplate("{% for message in messages %}{{ message.role }}{% endfor %}bot:")
    codec = sg.ChatCodec.from_format(CONVERSATION, template)
    call = {"id": "c", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    messages = [{"role": "user", "content": "Now?"}, {"role": "assistant", "tool_calls": [call, call]}]
    grammar = codec.prepare(messages, tools=TOOLS).grammar
    assert grammar is not None
    assert accepts(grammar, "<call>clock#2: {}</call>")
    assert not accepts(grammar, "<call>clock#0: {}</call>")


def test_what_is_no_number_of_calls() -> None:
    with pytest.raises(sg.ArgumentError) as raised:
        TURN.grammar(TOOLS, history_calls=-1)
    assert raised.value.code == "E-ARGUMENT-VALUE"


def test_numbers_cost_little() -> None:
    tools = [{"name": f"tool_{n}", "parameters": TOOLS[2]["function"]["parameters"]} for n in range(40)]
    plain = CONVERSATION.grammar(tools, tool_choice="required")
    held = CONVERSATION.grammar(tools, tool_choice="required", history_calls=0)
    assert len(held.to_ebnf()) < 4 * len(plain.to_ebnf())
