"""Random messages come back; random junk is neither lost nor raised about, however it is cut."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.events import ContentDelta, ReasoningDelta
from syntagma.format_schema import read_toml
from syntagma.parsing import StreamParser

from .conftest import chunkings, joined, read

SPEC = read_toml(
    """
[reasoning]
block = "<thought>\\n{reasoning}\\n</thought>\\n\\n"
interrupt = ["<call>"]
[content]
drop = ["<pad>"]
[tools]
section = ["{calls}", "<calls>[{calls}]</calls>"]
call = ["<call>\\n{envelope}\\n</call>", "<use {name}>{arguments}</use>", "{envelope}"]
separator = "\\n"
envelope = ['{"name": "{name}", "arguments": {arguments}}', '{"id": "{id}", "{name}": {arguments}}']
"""
)
PIECES = st.sampled_from(
    [
        *("<thought>", "</thought>", "<call>", "</call>", "<calls>", "</calls>", "<use ", ">", "</use>", "<pad>", "<"),
        *("\n", " ", "\n\n", "a", "é", "😀", "{", "}", "[", "]", ",", ":", '"', "\\", "0", "-", "tru", "null"),
        *(
            '{"name": "f"',
            '{"name": "f", "arguments": {"a": 1}}',
            '"arguments"',
            '{"g": {}}',
            '"{\\"a\\": 1}"',
            '"id": "1"',
        ),
    ]
)
JUNK = st.lists(PIECES, max_size=12).map("".join)
PLAIN = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="<[{"), min_size=1)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
CALLS = st.lists(
    st.tuples(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.dictionaries(st.text(), VALUES, max_size=3)), max_size=3
)


def write(
    reasoning: str | None, content: str | None, calls: list[tuple[str, dict[str, Any]]], *, ascii_only: bool
) -> str:
    text = "" if reasoning is None else f"<thought>\n{reasoning}\n</thought>\n\n"
    text += content or ""
    written = [json.dumps({"name": name, "arguments": arguments}, ensure_ascii=ascii_only) for name, arguments in calls]
    return text + "\n".join(f"<call>\n{call}\n</call>" for call in written)


@settings(max_examples=120, deadline=None)
@given(st.none() | PLAIN, st.none() | PLAIN, CALLS, st.booleans())
def test_messages_come_back(
    reasoning: str | None, content: str | None, calls: list[tuple[str, dict[str, Any]]], ascii_only: bool
) -> None:
    text = write(reasoning, content, calls, ascii_only=ascii_only).encode("utf-8", "replace").decode()
    _, parser = read(lambda: StreamParser(SPEC), [text])
    message = parser.message
    assert message.reasoning_content == reasoning
    assert message.content == (None if calls and content is not None and content.isspace() else content)
    assert [call.name for call in message.tool_calls] == [name for name, _ in calls]
    for call, (_, arguments) in zip(message.tool_calls, calls, strict=True):
        assert call.complete
        assert f'"arguments": {call.arguments}}}' in text
        if ascii_only or "?" not in text:
            assert json.loads(call.arguments) == arguments
    assert message.diagnostics == ()


@settings(max_examples=150, deadline=None)
@given(JUNK)
def test_junk_is_read_alike_in_any_chunking(text: str) -> None:
    whole, parser = read(lambda: StreamParser(SPEC, id_seed=""), [text])
    assert parser.raw == text
    position = 0
    for event in whole:
        if isinstance(event, ContentDelta | ReasoningDelta):
            assert event.span[0] >= position
            assert text[slice(*event.span)] == event.text
            position = event.span[1]
    for call in parser.message.tool_calls:
        if call.complete:
            assert isinstance(json.loads(call.arguments), dict)
    for chunks in chunkings(text, two_way=False):
        events, _ = read(lambda: StreamParser(SPEC, id_seed=""), chunks)
        assert joined(events) == joined(whole)


@settings(max_examples=150, deadline=None)
@given(JUNK)
def test_nothing_is_lost_where_nothing_is_recognised(text: str) -> None:
    text = text.replace("<thought>", "<though>").replace("<pad>", "<pa>").replace("</thought>", "</though>")
    _, parser = read(lambda: StreamParser(SPEC), [text])
    if not parser.message.tool_calls:
        assert (parser.message.content or "") == text
