"""The tables of states: nothing in them is unreachable, and the parser says what it reads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import syntagma as sg
from syntagma.parsing import INLINE, MESSAGES, State, Transitions

TABLES = [pytest.param(INLINE, id="inline"), pytest.param(MESSAGES, id="messages")]


def reachable(table: Transitions) -> set[State]:
    found: set[State] = set()
    todo = list(table.starts)
    while todo:
        state = todo.pop()
        if state not in found:
            found.add(state)
            todo += [row.target for row in table.rows if row.source is state]
    return found


@pytest.mark.parametrize("table", TABLES)
def test_every_state_of_a_table_is_reachable(table: Transitions) -> None:
    named = {state for row in table.rows for state in (row.source, row.target)}
    assert reachable(table) == named
    assert all(row.when.endswith(".") for row in table.rows)


def test_every_state_is_in_a_table() -> None:
    named = {state for table in (INLINE, MESSAGES) for row in table.rows for state in (row.source, row.target)}
    assert named == set(State)


def test_a_transition_stands_once() -> None:
    for table in (INLINE, MESSAGES):
        pairs = [(row.source, row.target) for row in table.rows]
        assert len(pairs) == len(set(pairs))


def states(parser: sg.StreamParser, text: str) -> Iterator[str]:
    """What the parser says that it reads, whenever that changes."""
    last = parser.state
    yield last
    for char in text:
        parser.feed(char)
        if parser.state != last:
            last = parser.state
            yield last
    parser.finish()
    yield parser.state


def test_the_parser_says_what_it_reads() -> None:
    text = '<think>a</think>b<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    parser = sg.formats.get("qwen25", reasoning="qwen3").parser(reasoning="closed")
    assert list(states(parser, text)) == ["content", "reasoning", "content", "call", "end"]


def test_the_parser_says_what_it_reads_of_messages() -> None:
    text = "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>x"
    parser = sg.formats.get("gpt-oss").parser()
    assert list(states(parser, text)) == ["content", "reasoning", "content", "end", "end"]


def test_the_finish_reason_is_known_at_the_end() -> None:
    parser = sg.StreamParser(sg.formats.get("qwen3"))
    parser.feed("a")
    assert parser.finish_reason is None
    parser.finish("length")
    assert parser.finish_reason == "length"


def test_looking_at_the_message_changes_nothing() -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {"a": "' + "word " * 20 + '"}}\n</tool_call>'
    quiet, watched = (sg.formats.get("qwen25").parser(id_seed="") for _ in range(2))
    for at in range(0, len(text), 3):
        assert quiet.feed(text[at : at + 3]) == watched.feed(text[at : at + 3])
        ends = [call.span[1] for call in watched.message.tool_calls if call.span is not None]
        assert ends in ([], [min(at + 3, text.index("}}") + 1)])
        assert watched.message == watched.message
    assert quiet.finish() == watched.finish()
    assert quiet.message == watched.message
