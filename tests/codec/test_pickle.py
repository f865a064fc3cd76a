"""Formats, codecs' turns and prompts cross process borders, and mean the same there."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import syntagma as sg

SOURCE = (
    "{% for message in messages %}<{{ message.role }}>{{ message.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
FORMAT = (
    '[reasoning]\nblock = "<think>{reasoning}</think>"\n'
    '[tools]\ncall = "<call>{envelope}</call>"\nenvelope = \'{"name": "{name}", "arguments": {arguments}}\'\n'
)
TOOL = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}},
}
RAW = '<think>So.</think><call>{"name": "look", "arguments": {"n": 3}}</call>'


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tools": [TOOL], "tool_choice": "required"},
        {"tools": [TOOL], "enforce": "parameters", "parallel_tool_calls": False, "id_seed": "s"},
        {"tools": [sg.Tool(name="look", strict=True)], "policies": sg.Policies(unknown_tool="content")},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "integer"}}}},
        {"budgets": sg.Budgets(reasoning_tokens=5), "reasoning": "open", "limits": sg.Limits(tools=3)},
    ],
)
def test_a_turn_means_the_same_in_another_process(options: dict[str, Any]) -> None:
    codec = sg.ChatCodec.from_format(sg.ChatFormat.from_toml(FORMAT), sg.ChatTemplate(SOURCE))
    turn = codec.prepare([{"role": "user", "content": "Look."}], **{"id_seed": "seed", **options})
    back = pickle.loads(pickle.dumps(turn))
    assert (back.prompt, back.prompt.start, back.format) == (turn.prompt, turn.prompt.start, turn.format)
    assert (back.grammar is None) == (turn.grammar is None)
    if turn.grammar is not None:
        assert back.grammar.to_ebnf() == turn.grammar.to_ebnf()
    events = []
    for one in (turn, back):
        parser = one.parser()
        events.append([*parser.feed(RAW), *parser.finish()])
    assert events[0] == events[1]


def test_a_turn_whose_grammar_was_built_still_pickles() -> None:
    codec = sg.ChatCodec.from_format(sg.ChatFormat.from_toml(FORMAT), sg.ChatTemplate(SOURCE))
    turn = codec.prepare([{"role": "user", "content": "Look."}], tools=[TOOL], tool_choice="required")
    assert turn.grammar is not None
    back = pickle.loads(pickle.dumps(turn))
    assert back.grammar.to_ebnf() == turn.grammar.to_ebnf()
