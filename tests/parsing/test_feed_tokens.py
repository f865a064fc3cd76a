"""Tokens give the events that their text gives, however many come at once."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import syntagma as sg
from syntagma import TokenizerInfo, events
from syntagma.testing import byte_vocabulary
from tests.formats.every import CALLING, FORMATS, SHIPPED

WORDS = [
    b"Lorem",
    b" ipsum",
    b"<b>",
    b" 2 < 3",
    b"\xc5\x81\xc3\xb3",
    b"\xf0\x9f",
    b"\x99\x82",
    b"\n",
    b"{",
    b'"',
    b"\\",
    b"}}",
    b"  ",
]
SPECIAL = [b"<|im_end|>", b"<tool_call>", b"</tool_call>", b"<think>", b"</think>"]
INFO = TokenizerInfo.from_tokens(
    [bytes([byte]) for byte in range(256)] + WORDS + SPECIAL,
    eos_token_ids=[256 + len(WORDS)],
    special_token_ids=range(256 + len(WORDS), 256 + len(WORDS) + len(SPECIAL)),
)
TOOLS = [
    {
        "type": "function",
        "function": {"name": "write", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}},
    }
]
CALL = b'<tool_call>\n{"name": "write", "arguments": {"text": "'


def encoded(data: bytes) -> list[int]:
    """The longest token at each place; special texts are their tokens."""
    ids: list[int] = []
    known = sorted(((text, 256 + at) for at, text in enumerate(WORDS + SPECIAL)), key=lambda one: -len(one[0]))
    while data:
        text, token = next(((text, token) for text, token in known if data.startswith(text)), (data[:1], data[0]))
        ids.append(token)
        data = data[len(text) :]
    return ids


def merged(found: list[Any]) -> list[Any]:
    """The events with neighbouring deltas as one."""
    out: list[Any] = []
    for event in found:
        last = out[-1] if out else None
        if type(event) is type(last) and isinstance(event, events.ContentDelta | events.ReasoningDelta):
            span = (last.span[0], event.span[1])
            out[-1] = type(event)(last.text + event.text, span)
        elif type(event) is type(last) and isinstance(event, events.ToolCallDelta) and event.index == last.index:
            out[-1] = type(event)(last.index, last.arguments + event.arguments, (last.span[0], event.span[1]))
        else:
            out.append(event)
    return out


def text() -> st.SearchStrategy[bytes]:
    plain = st.lists(
        st.sampled_from([b"Lorem", b" ipsum", b"<b>", b" 2 < 3", "Łó".encode(), "🙂".encode(), b"\n", b"  ", b"["])
    )
    inner = plain.map(b"".join)
    argument = inner.map(lambda data: CALL + data.replace(b"\n", b"\\n") + b'"}}\n</tool_call>')
    thought = inner.map(lambda data: b"<think>" + data + b"</think>")
    return st.lists(inner | argument | thought, max_size=4).map(b"".join)


@settings(max_examples=300, deadline=None)
@given(
    data=text(),
    ended=st.booleans(),
    sizes=st.lists(st.integers(1, 5), min_size=1),
    name=st.sampled_from(["qwen25", "qwen3"]),
)
def test_tokens_give_the_events_of_their_text(data: bytes, ended: bool, sizes: list[int], name: str) -> None:
    fmt = sg.formats.get(name)
    whole = fmt.parser(TOOLS, id_seed="")
    told = whole.feed(data.decode())
    if ended:
        told += whole.feed("<|im_end|>", special=True)
    expected = merged(told + whole.finish("stop"))
    ids = encoded(data)
    for step in (1, None):
        parser = fmt.parser(TOOLS, id_seed="")
        found, at, turn = [], 0, 0
        while at < len(ids):
            size = step or sizes[turn % len(sizes)]
            found += parser.feed_tokens(ids[at : at + size], INFO)
            at, turn = at + size, turn + 1
        if ended:
            found += parser.feed_tokens([INFO.eos_token_ids[0]], INFO)
        found += parser.finish("stop")
        assert merged(found) == expected
        assert parser.message == whole.message
        assert parser.raw == data.decode() + ("<|im_end|>" if ended else "")


def test_tokens_and_text_may_take_turns() -> None:
    parser = sg.formats.get("qwen25").parser(TOOLS, id_seed="")
    found = parser.feed("Lorem")
    found += parser.feed_tokens(encoded(b" ipsum") * 3, INFO)
    found += parser.feed(" dolor", special=False)
    found += parser.feed_tokens(encoded("🙂".encode())[:1], INFO)
    found += parser.feed_tokens(encoded("🙂".encode())[1:] + encoded(b"!"), INFO)
    found += parser.feed("<tool_call>", special=False)
    found += parser.finish()
    assert parser.message.content == "Lorem ipsum ipsum ipsum dolor🙂!<tool_call>"
    assert parser.raw == parser.message.content


@pytest.mark.parametrize("wrong", [[10_000], ["a"], [None]])
def test_tokens_that_are_none_are_refused_in_the_middle_of_text(wrong: list[Any]) -> None:
    parser = sg.formats.get("qwen25").parser(TOOLS)
    parser.feed_tokens(encoded(b"Lorem ipsum"), INFO)
    parser.feed_tokens(encoded(b" ipsum"), INFO)
    with pytest.raises(sg.SyntagmaError):
        parser.feed_tokens(wrong, INFO)


@pytest.mark.every_format
@pytest.mark.parametrize("name", [name for name in CALLING if name in SHIPPED])
def test_a_call_in_special_tokens_is_read_as_in_text(name: str) -> None:
    fmt = FORMATS[name]
    tools = [{"name": "look_up", "parameters": {"type": "object", "properties": {"word": {"type": "string"}}}}]
    call = sg.ToolCall(id="call_0", name="look_up", arguments='{"word": "it"}')
    text = fmt.write(sg.Message(tool_calls=(call,)), tools)
    info = byte_vocabulary(fmt.preserved_tokens)
    ids = {info.token_bytes(token): token for token in range(info.vocab_size)}
    pieces = re.findall(
        "|".join([*map(re.escape, sorted(fmt.preserved_tokens, key=len, reverse=True)), "(?s:.)"]), text
    )
    tokens = [piece.encode() for piece in pieces]
    written = [one for token in tokens for one in ([ids[token]] if token in ids else [ids[bytes([b])] for b in token])]
    whole = fmt.parse(text, tools, id_seed="s")
    for size in (1, 3, len(written)):
        parser = fmt.parser(tools, id_seed="s")
        for at in range(0, len(written), size):
            parser.feed_tokens(written[at : at + size], info)
        parser.finish()
        assert parser.message == whole
    assert [one.parsed_arguments() for one in whole.tool_calls] == [{"word": "it"}]
