"""Events as deltas of OpenAI's API: put together again, they are the message."""

from __future__ import annotations

import random
from typing import Any

import pytest

import syntagma as sg
from tests.formats.cases import TOOLS, Loaded, load

CASES = [case for case in load() if case.fmt.spec.tools is not None]


def add(whole: dict[str, Any], delta: dict[str, Any], reasoning_field: str) -> None:
    """Put a delta into a message, as clients do."""
    assert set(delta) <= {"content", "tool_calls", reasoning_field}
    for key in ("content", reasoning_field):
        if key in delta:
            assert delta[key]
            whole[key] = whole.get(key, "") + delta[key]
    for part in delta.get("tool_calls", []):
        calls = whole.setdefault("tool_calls", [])
        if part["index"] == len(calls):
            assert (part["type"], part["function"]["arguments"]) == ("function", "") or part["function"]["arguments"]
            calls.append({"id": part["id"], "name": part["function"]["name"], "arguments": ""})
        else:
            assert part["index"] == len(calls) - 1
            assert set(part) == {"index", "function"}
        calls[part["index"]]["arguments"] += part["function"]["arguments"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
@pytest.mark.parametrize("reasoning_field", ["reasoning_content", "reasoning"])
def test_deltas_add_up_to_the_message(case: Loaded, reasoning_field: str) -> None:
    rng = random.Random(case.id)
    parser = case.fmt.parser(TOOLS, prompt=case.case.prompt, template_kwargs=case.case.template_kwargs)
    whole: dict[str, Any] = {}
    late: dict[int, str] = {}
    rest = case.case.raw
    while rest:
        size = rng.randint(1, 12)
        events = parser.feed(rest[:size])
        rest = rest[size:]
        late |= {one.index: one.id for one in events if isinstance(one, sg.events.ToolCallEnd) and one.id}
        add(whole, sg.events.to_openai(events, reasoning_field=reasoning_field), reasoning_field)
    events = parser.finish()
    late |= {one.index: one.id for one in events if isinstance(one, sg.events.ToolCallEnd) and one.id}
    for event in events:
        add(whole, sg.events.to_openai([event], reasoning_field=reasoning_field), reasoning_field)
    message = parser.message
    assert whole.get("content", "") == (message.content or "")
    assert whole.get(reasoning_field, "") == (message.reasoning_content or "")
    assert [
        (late.get(at, one["id"]), one["name"], one["arguments"]) for at, one in enumerate(whole.get("tool_calls", []))
    ] == [(call.id, call.name, call.arguments) for call in message.tool_calls]
    assert parser.finish_reason in ("stop", "tool_calls")


def test_what_says_nothing_to_a_client_is_empty() -> None:
    end = sg.events.MessageEnd("stop", (0, 0))
    assert sg.events.to_openai([end, sg.events.ToolCallEnd(0, True, (0, 0))]) == {}
    assert sg.events.to_openai([]) == {}


def test_parts_of_two_calls_in_one_step() -> None:
    start, more = sg.events.ToolCallStart, sg.events.ToolCallDelta
    span = (0, 0)
    events = [more(0, "}", span), start(1, "b", "g", span), more(1, "{", span), more(1, "}", span)]
    assert sg.events.to_openai(events) == {
        "tool_calls": [
            {"index": 0, "function": {"arguments": "}"}},
            {"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
        ]
    }
