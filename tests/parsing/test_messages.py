"""Turns of messages with headers, however mangled: nothing is lost, and cutting changes nothing."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.events import ContentDelta, Malformed, ReasoningDelta, ToolCallDelta
from syntagma.format_schema import FormatSpec, read_toml
from syntagma.limits import Limits
from syntagma.parsing import StreamParser

from .conftest import chunkings, joined, read

CASES = Path(__file__).parents[2] / "conformance" / "parsing" / "messages.toml"
SPECS = [read_toml(text) for text in tomllib.loads(CASES.read_text(encoding="utf-8"))["formats"].values()]
PIECES = [
    *("<begin>", "<begin>writer", "<begin>me", "<kind>", "<kind>draft", "<kind>answer", "<kind>remark", "<kind>text"),
    *("<kind>call", " to=tide", " to=you", " to=me", " id=7", "<as>json", "<body>", "<end>", "<stop>", "<<all\n"),
    *("<<tide\n", "\n", " ", "word", "é", "{}", '{"a": "', '"}', '{"name": "f", "arguments": {}}', "<use tide>"),
    *("</use>", "<arg a>", "</arg>", "<pad>", "<"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(SPECS), TEXTS)
def test_every_word_is_somewhere(spec: FormatSpec, pieces: list[str]) -> None:
    text = "".join(pieces)
    parser = StreamParser(spec, id_seed="")
    events = [*parser.feed(text), *parser.finish()]
    covered = set[int]()
    for event in events:
        if isinstance(event, ContentDelta | ReasoningDelta):
            assert text[slice(*event.span)] == event.text
        if isinstance(event, ContentDelta | ReasoningDelta | ToolCallDelta | Malformed):
            covered.update(range(*event.span))
    at = 0
    for piece in pieces:
        assert piece != "word" or covered.issuperset(range(at, at + len(piece)))
        at += len(piece)
    for call in parser.message.tool_calls:
        assert not call.complete or isinstance(json.loads(call.arguments), dict)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(SPECS), TEXTS.map("".join))
def test_cutting_changes_nothing(spec: FormatSpec, text: str) -> None:
    whole, _ = read(lambda: StreamParser(spec, id_seed=""), [text])
    for chunks in chunkings(text, two_way=False):
        events, _ = read(lambda: StreamParser(spec, id_seed=""), chunks)
        assert joined(events) == joined(whole)


def test_a_long_text_without_a_header_is_released() -> None:
    parser = StreamParser(SPECS[0], id_seed="", limits=Limits(parser_header_chars=100))
    text = "Long. " * 40
    events = [event for at in range(0, len(text), 7) for event in parser.feed(text[at : at + 7])]
    assert sum(len(event.text) for event in events if isinstance(event, ContentDelta)) > len(text) - 10
    parser.feed("<begin>writer<kind>draft<body>Hm.<end>")
    parser.finish()
    assert parser.message.content == text
    assert parser.message.reasoning_content == "Hm."
    assert "E-LIMIT-HEADER" in [diagnostic.code for diagnostic in parser.message.diagnostics]
