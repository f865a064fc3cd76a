"""Recorded answers: what is recorded reads back, and parsed again it gives the same, however it is cut."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import syntagma as sg
from syntagma.recording import Bundle, Recorder, record, record_turn, replay
from syntagma.recording.replaying import Chunks

NAMED = sg.formats.get("hermes")
FORMAT = sg.formats.get("qwen3").combine(tools=NAMED)
TOOLS = [{"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}]
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Malmö"}}\n</tool_call>'
ANSWER = f"<think>Look it up.</think>I look.\n{CALL}<|im_end|>"
CUTS: tuple[Chunks, ...] = ("as-came", "whole", "each-character")
INFO = sg.testing.byte_vocabulary(["<|im_end|>", "<tool_call>", "</tool_call>"])


def recorded(*chunks: Any, reason: str | None = "stop", **options: Any) -> Bundle:
    recorder = record(FORMAT, TOOLS, **options)
    for chunk in chunks:
        recorder.feed_tokens(chunk, INFO) if isinstance(chunk, list) else recorder.feed(chunk)
    recorder.finish(reason)
    return recorder.bundle()


def pieces(text: str, cuts: list[int]) -> list[str]:
    ends = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    return [text[begin:end] for begin, end in itertools.pairwise(ends)]


TEXTS = st.one_of(
    st.just(ANSWER),
    st.lists(
        st.sampled_from([ANSWER, CALL, "<think>", "</think>", "<tool_call>", '{"name": "weather"', "hi ", "ä"])
    ).map("".join),
)


@settings(max_examples=150, deadline=None)
@given(
    TEXTS,
    st.lists(st.integers(0, 150), max_size=6),
    st.sampled_from(["text", "bytes", "ids"]),
    st.sampled_from([None, "length"]),
)
def test_what_was_recorded_is_parsed_the_same(text: str, cuts: list[int], kind: str, reason: str | None) -> None:
    chunks: list[Any] = pieces(text, cuts)
    if kind == "bytes":
        chunks = [chunk.encode() for chunk in chunks]
    elif kind == "ids":
        chunks = [INFO.encode(chunk) for chunk in chunks]
    bundle = recorded(*chunks, reason=reason)
    back = Bundle.from_json(bundle.to_json())
    assert back == bundle
    for cut in CUTS:
        done = replay(back, chunks=cut)
        assert done.same, done.difference
        assert done.message == bundle.message


def test_a_recorder_reads_as_a_parser_does() -> None:
    parser = FORMAT.parser(TOOLS, id_seed="a")
    recorder = record(FORMAT, TOOLS, id_seed="a")
    assert recorder.feed(ANSWER) == parser.feed(ANSWER)
    assert recorder.state == parser.state
    assert recorder.finish() == parser.finish()
    assert (recorder.message, recorder.raw, recorder.finish_reason) == (parser.message, ANSWER, "tool_calls")
    assert recorder.parser.message.tool_calls[0].arguments == '{"city": "Malmö"}'


def test_a_bundle_holds_what_was_given() -> None:
    bundle = recorded("<think>a", "b</think>c", prompt="user: hi\nassistant: ", tool_choice="none")
    assert [chunk.text for chunk in bundle.chunks] == ["<think>a", "b</think>c"]
    assert 0 <= bundle.chunks[0].seconds <= bundle.chunks[1].seconds
    assert bundle.prompt is not None
    assert bundle.prompt.text.startswith("user")
    assert bundle.request.choice.mode == "none"
    assert record(NAMED).bundle().format.name == "hermes"
    assert len(bundle.format.sha256) == 64
    assert bundle.chat_format() == FORMAT
    assert bundle.versions["syntagma"] == sg.__version__
    assert bundle.finished
    assert bundle.finish_reason == "stop"
    assert recorded(reason=None).finish_reason is None


def test_another_format_reads_otherwise() -> None:
    bundle = recorded(ANSWER)
    done = replay(bundle, fmt=sg.ChatFormat.from_toml('[reasoning]\nblock = "<think>{reasoning}</think>"\n'))
    assert done.difference is not None
    assert done.difference.pointer.startswith("/events/")
    assert done.message.tool_calls == ()
    assert [step.chunk is None for step in done.steps] == [False, True]
    assert done.events == tuple(event for step in done.steps for event in step.events)


def test_a_difference_is_the_first() -> None:
    bundle = recorded("Hello")
    changed = msgspec.structs.replace(bundle, message=msgspec.structs.replace(bundle.message, content="Bye"))
    difference = replay(changed).difference
    assert difference is not None
    assert (difference.pointer, difference.recorded, difference.now) == ("/message/content", "Bye", "Hello")
    shorter = replay(msgspec.structs.replace(bundle, events=bundle.events[:-1])).difference
    assert shorter is not None
    assert (shorter.pointer, shorter.recorded) == ("/events/1", "nothing")


def test_an_answer_that_was_not_finished_stays_open() -> None:
    recorder = record(FORMAT, TOOLS)
    recorder.feed("<think>Let")
    done = replay(recorder.bundle())
    assert done.same
    assert done.message.reasoning_content == "Let"


def test_an_error_is_recorded() -> None:
    recorder = record(FORMAT, TOOLS, strict=True)
    recorder.feed("<tool_call>\n{")
    with pytest.raises(sg.ParseError) as raised:
        recorder.finish()
    bundle = recorder.bundle()
    assert bundle.error == raised.value.code
    assert all(replay(bundle, chunks=cut).same for cut in CUTS)
    difference = replay(msgspec.structs.replace(bundle, error=None)).difference
    assert difference is not None
    assert difference.pointer == "/error"


def test_a_turn_is_recorded_with_its_prompt() -> None:
    template = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant: <think>"
    codec = sg.ChatCodec(FORMAT, sg.ChatTemplate(template))
    recorder = record_turn(codec.prepare([{"role": "user", "content": "hi"}]))
    assert isinstance(recorder, Recorder)
    recorder.feed("Hm.</think>Hello")
    recorder.finish()
    bundle = recorder.bundle()
    assert bundle.prompt is not None
    assert bundle.prompt.text[bundle.prompt.start :] == "\nassistant: <think>"
    assert bundle.message.reasoning_content == "Hm."
    assert replay(Bundle.from_json(bundle.to_json())).same


BAD: list[tuple[bytes, str]] = [
    (b"", "not a bundle"),
    (b"[]", "not a bundle"),
    (b'{"bundle": 1}', "not a bundle"),
    (b'{"bundle": 99}', "version 99"),
    (b"\xff", "not a bundle"),
]


@pytest.mark.parametrize(("data", "said"), BAD)
def test_what_is_no_bundle_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(sg.ArgumentError) as raised:
        Bundle.from_json(data, source="a.json")
    assert (raised.value.code, raised.value.source) == ("E-RECORDING-BUNDLE", "a.json")
    assert said in raised.value.message


def test_a_bundle_that_does_not_hold_together_is_refused() -> None:
    bundle = recorded(INFO.encode("Hello"))
    for broken in (
        msgspec.structs.replace(bundle, tokens={}),
        msgspec.structs.replace(bundle, format=msgspec.structs.replace(bundle.format, toml="a = ")),
    ):
        with pytest.raises(sg.ArgumentError) as raised:
            replay(broken)
        assert raised.value.code == "E-RECORDING-BUNDLE"
    with pytest.raises(sg.ArgumentError):
        replay(bundle, chunks="in-halves")  # type: ignore[arg-type]
