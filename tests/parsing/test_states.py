"""The tables of states: nothing in them is unreachable, and the parser says what it reads."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import pytest

import syntagma as sg
from syntagma.parsing import INLINE, MESSAGES, State, Transitions
from syntagma.parsing.inline_turn import InlineTurnReader
from syntagma.parsing.message_turn import MessageTurnReader
from syntagma.parsing.states import Outcome
from syntagma.parsing.turn_reader import TurnReader
from tests.formats.cases import TOOLS, load
from tests.formats.format_draws import TOOLS as DRAWN_TOOLS
from tests.formats.format_draws import Draw, DrawMessages, damaged
from tests.formats.format_laws import loaded

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
        pairs = [(row.source, row.outcome) for row in table.rows]
        assert len(pairs) == len(set(pairs))


OBJECTS = """
[tools]
section = "<s>[{calls}]</s>"
separator = ", "
call = "{envelope}"
envelope = '{"name": "{name}", "arguments": {arguments}}'
"""
NAMED_INSIDE = """
[messages]
start = "<begin>me"
fields = ["<to>"]
body = "<body>"
end = ["<end>", "<stop>"]
otherwise = "{otherwise}"

[content]
block = "<to>you<body>{content}<stop>"

[reasoning]
block = "<to>self<body>{reasoning}<end>"

[tools]
call = "<to>tool<body>{envelope}<call><end>"
envelope = '{"name": "{name}", "arguments": {arguments}}'
"""
ANSWER = "<to>you<body>a<end>"
CALL = '<to>tool<body>{"name": "f", "arguments": {}}'
RARE = {
    OBJECTS: ('<s>[{"a": 1}]</s>',),
    **dict.fromkeys(
        [NAMED_INSIDE.replace("{otherwise}", kind) for kind in ("content", "reasoning")],
        (
            "<to>tool<body>x<end>",
            CALL,
            CALL + "<call>x<end>",
            "<to>you<body>a<end>" + "word " * 20,
            "<to>you<body>a<end><end>",
        ),
    ),
}
"""formats, and texts whose reading takes rare transitions"""


class Recorded(dict[str, State]):
    """The transitions from one state, which notes those that are looked up."""

    def __init__(self, state: State, following: Mapping[Outcome, State], taken: set[tuple[State, str]]) -> None:
        super().__init__(following)
        self.state, self.taken = state, taken

    def __getitem__(self, outcome: str) -> State:
        self.taken.add((self.state, outcome))
        return super().__getitem__(outcome)


def recorded(reader: type[TurnReader], monkeypatch: pytest.MonkeyPatch) -> set[tuple[State, str]]:
    """The transitions that readers of this kind take from now on: the state, and what was read in it."""
    taken: set[tuple[State, str]] = set()
    kept = {state: Recorded(state, following, taken) for state, following in reader.FOLLOWING.items()}
    monkeypatch.setattr(reader, "FOLLOWING", kept)
    return taken


def texts() -> Iterator[tuple[sg.ChatFormat, str]]:
    """Texts of all named formats, of the shapes of our own, of formats drawn at random, and some rare ones."""
    for toml, rare in RARE.items():
        fmt = sg.ChatFormat.from_toml(toml)
        yield from ((fmt, text) for text in rare)
    for one in load():
        yield one.fmt, one.case.raw
    for seed in range(60):
        fmt = loaded(Draw(random.Random(seed)).toml())
        if isinstance(fmt, sg.ChatFormat):
            rng = random.Random(seed)
            draw = DrawMessages(fmt, rng)
            for message in (draw.plain(), draw.message()):
                with suppress(sg.FormatError):
                    text = fmt.write(message, DRAWN_TOOLS)
                    yield fmt, text
                    yield fmt, damaged(text, rng)


OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"reasoning": "open"},
    {"policies": sg.Policies(unknown_tool="content")},
    {"policies": sg.Policies(malformed="drop", interrupt="now"), "limits": sg.Limits(parser_header_chars=40)},
)


@pytest.mark.parametrize(
    ("table", "reader"), [(INLINE, InlineTurnReader), (MESSAGES, MessageTurnReader)], ids=["inline", "messages"]
)
def test_every_row_is_taken_and_no_other(
    table: Transitions, reader: type[TurnReader], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = recorded(reader, monkeypatch)
    for fmt, text in texts():
        for options in OPTIONS if (fmt.spec.messages is None) is (table is INLINE) else ():
            for end, reason in ((len(text), None), (len(text) * 2 // 3, None), (len(text) * 2 // 3, "length")):
                parser = fmt.parser(TOOLS, **options)
                parser.feed(text[:end])
                parser.finish(reason)
    assert taken == {(row.source, row.outcome) for row in table.rows}


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
        # The quote at the end of a chunk waits for what follows it.
        assert ends in ([], [min(at + 3 - (text[at + 2 : at + 4] == '"}'), text.index("}}") + 1)])
        assert watched.message == watched.message
    assert quiet.finish() == watched.finish()
    assert quiet.message == watched.message
