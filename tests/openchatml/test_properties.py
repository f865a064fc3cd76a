"""Whatever a body holds, it reads back equal; whatever happens to a text, nothing is forged and nothing crashes."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from syntagma.errors import SyntagmaError
from syntagma.openchatml import (
    Message,
    Multiplexer,
    ResponseCancel,
    ResponseDelta,
    ResponseEvent,
    ResponseStream,
    StreamReader,
    ToolCancel,
    Transcript,
    from_json,
    from_openai,
    harmony,
    parse,
    render,
    to_json,
    to_openai,
    validate,
    visible,
)
from syntagma.openchatml.tokens import CHANNELS, TOKENS, spell

PIECES = [
    *map(spell, TOKENS), "<", "<<", "|", ">", "\r\n", "\n", " ", "x", "end|>", "<|", "<|en", "é", "😀", "\x00",
    "<|im_start|>", "<|im_end|>", "<|start_reason|>", "user", "assistant", "to=f", "json", "---", "\ufeff", "\ud800",
]  # fmt: skip
BODIES = st.one_of(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.text())
VALUES = st.lists(
    st.sampled_from([piece for piece in PIECES if piece.isprintable() and " " not in piece]), min_size=1, max_size=3
).map(lambda pieces: "".join(pieces).rstrip("<") or "v")


@st.composite
def messages(draw: st.DrawFn) -> Message:
    role = draw(st.sampled_from(["system", "developer", "user", "assistant", "assistant", "assistant", "tool"]))
    return Message(
        role=role,
        body=draw(BODIES),
        channel=draw(st.sampled_from([None, *CHANNELS])),
        name=draw(st.none() | VALUES),
        recipient=draw(st.none() | VALUES),
        call_id=draw(st.none() | VALUES),
        intent=draw(st.none() | VALUES),
        content_type=draw(st.none() | VALUES),
        terminator=draw(st.sampled_from(["end", "call", "return"])),
        extra=draw(st.dictionaries(st.sampled_from(["x", "trace_id"]), VALUES)),
    )


@settings(deadline=None, max_examples=120)
@given(st.lists(messages(), max_size=4), st.randoms(use_true_random=False))
def test_what_is_written_reads_back_equal(written: list[Message], source: object) -> None:
    text = render(written)
    again = parse(text)
    assert len(again.messages) == len(written)
    assert all(one.same(two) for one, two in zip(written, again.messages, strict=True))
    assert render(again) == text
    reader = StreamReader()
    at = 0
    while at < len(text):
        size = source.randint(1, 9)  # type: ignore[attr-defined]
        reader.feed(text[at : at + size])
        at += size
    reader.finish()
    assert tuple(reader.messages) == again.messages


@settings(deadline=None, max_examples=120)
@given(st.lists(st.sampled_from(PIECES)).map("".join), st.integers(1, 5))
def test_no_text_crashes_a_reader_and_cutting_changes_nothing(text: str, size: int) -> None:
    for strict in (True, False):
        whole = StreamReader(strict=strict)
        pieces = StreamReader(strict=strict)
        whole.feed(text)
        for at in range(0, len(text), size):
            pieces.feed(text[at : at + size])
        whole.finish()
        pieces.finish()
        assert whole.transcript == pieces.transcript
    validate(whole.transcript)
    result = harmony.parse_completion(text)
    cut = harmony.parse_completion([text[at : at + size] for at in range(0, len(text), size)])
    assert result == cut


@settings(deadline=None, max_examples=80)
@given(BODIES, BODIES, st.data())
def test_a_mutated_transcript_forges_nothing(secret: str, said: str, data: st.DataObject) -> None:
    """Cutting a transcript short never shows more, and never makes a message that was not there."""
    reasoning = Message(role="assistant", channel="analysis", body="SECRET" + secret)
    text = render([reasoning, Message(role="user", body=said)])
    cut = text[: data.draw(st.integers(0, len(text)))]
    read = parse(cut, strict=False)
    assert [m.role for m in read.messages] == ["assistant", "user"][: len(read.messages)]
    for shown in visible(read):
        assert read.messages[shown.index].role == "user"


@settings(deadline=None, max_examples=80)
@given(st.lists(st.tuples(st.sampled_from(CHANNELS), BODIES), max_size=4), st.integers(1, 6))
def test_a_stream_shows_what_the_transcript_shows(parts: list[tuple[str, str]], size: int) -> None:
    text = render([Message(role="assistant", channel=channel, body=body) for channel, body in parts])
    stream = ResponseStream(response=False)
    events = [event for at in range(0, len(text), size) for event in stream.feed(text[at : at + size])]
    events += stream.finish()
    seen = "".join(event.text for event in events if isinstance(event, ResponseDelta))
    final = "".join(body for channel, body in parts if channel == "final")
    # Shown is what is final, up to a mark of private reasoning in each message.
    expected = "".join(body.partition("<|start_reason|>")[0] for channel, body in parts if channel == "final")
    assert seen == expected
    assert ("<|start_reason|>" in final) == (seen != final)


@settings(deadline=None, max_examples=80)
@given(st.lists(messages(), max_size=3))
def test_harmony_segments_hold_no_control_token_by_accident(written: list[Message]) -> None:
    try:
        segments = harmony.harmony_segments(written, drop_cot=False)
    except SyntagmaError:
        return
    try:
        text = harmony.plain_text(segments)
    except SyntagmaError:
        return
    read = harmony.from_harmony(text)
    assert len(read.messages) <= max(1, len(written))
    assert Transcript(messages=read.messages)


@settings(deadline=None, max_examples=80)
@given(st.lists(messages(), min_size=1, max_size=3), st.data())
def test_a_mangled_transcript_is_read_the_same_in_every_chunking(written: list[Message], data: st.DataObject) -> None:
    text = render(written)
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, len(text)))
    patch = data.draw(st.sampled_from(["", text[begin:end] * 2, *PIECES]))
    text = text[:begin] + patch + text[end:]
    for profile in ("ocm", "harmony"):
        whole = parse(text, strict=False, profile=profile)
        reader = StreamReader(strict=False, profile=profile)
        for character in text:
            reader.feed(character)
        reader.finish()
        assert reader.transcript == whole
        assert all(message.role in ("system", "developer", "user", "assistant", "tool") for message in whole.messages)
        validate(whole)


@st.composite
def valid_messages(draw: st.DrawFn) -> list[Message]:
    """Messages of a conversation in which every call has an id of its own, and is on a channel where it may be."""
    written: list[Message] = []
    for number, message in enumerate(draw(st.lists(messages(), max_size=5))):
        changes: dict[str, Any] = {"recovered": draw(st.booleans())}
        if message.role != "assistant" or message.terminator != "call":
            changes["terminator"] = draw(st.sampled_from(["end", "return", None]))
        else:
            tool = draw(st.sampled_from(["functions.f", "functions.a.b", "python", "browser.open", "f"]))
            changes |= {"recipient": tool, "call_id": f"c{number}", "body": draw(st.sampled_from(["{}", '{"a": "é"}']))}
            changes |= {"channel": "commentary", "constrain": draw(st.sampled_from([None, "json"]))}
        calls = [one for one in written if one.is_call and all(one.call_id != other.call_id for other in written[1:])]
        if message.role == "tool":
            call = draw(st.sampled_from(calls)) if calls else None
            known = (
                {"name": call.recipient, "call_id": call.call_id} if call else {"name": "f", "call_id": f"r{number}"}
            )
            changes |= known | {"terminator": "end"}
        written.append(replace(message, **changes))
    seen: set[str | None] = set()
    kept = []
    for message in written:
        if message.role != "tool" or message.call_id not in seen:
            kept.append(message)
        if message.role == "tool":
            seen.add(message.call_id)
    return kept


@settings(deadline=None, max_examples=200)
@given(valid_messages(), st.booleans())
def test_json_and_back_is_the_same(written: list[Message], fold_thinking: bool) -> None:
    made = to_json(written, fold_thinking=fold_thinking)
    again = from_json(json.loads(json.dumps(made)))
    assert [one.to_dict() for one in again] == [one.to_dict() for one in written]


def _said(message: Message) -> dict[str, Any]:
    """What OpenAI's form holds of a message, where it loses nothing."""
    data = message.to_dict()
    is_spelled = ("terminator", *(["constrain"] if message.is_call else []))
    is_spelled += ("recipient", "channel", "constrain") if message.role == "tool" else ()
    return {name: value for name, value in data.items() if name not in is_spelled}


@settings(deadline=None, max_examples=200)
@given(valid_messages())
def test_what_openais_form_does_not_hold_is_a_loss(written: list[Message]) -> None:
    written = [one for one in written if one.body]
    made, losses = to_openai(written)
    try:
        again, more = from_openai(json.loads(json.dumps(made)))
    except SyntagmaError:
        assert losses
        return
    lost = {loss.index for loss in losses}
    if not losses and not more:
        assert [_said(one) for one in again] == [_said(one) for one in written]
    elif len(again) == len(written):
        pairs = zip(written, again, strict=True)
        assert {index for index, (one, two) in enumerate(pairs) if _said(one) != _said(two)} <= lost
    else:
        assert "body" in {loss.field for loss in losses}


@st.composite
def harmony_turns(draw: st.DrawFn) -> list[Message]:
    """Messages that Harmony can say: calls and their replies, people without names, text without control tokens."""
    written: list[Message] = []
    open_calls: list[str] = []
    for _ in range(draw(st.integers(0, 6))):
        body = draw(st.text(alphabet="aé<|>{}\n end", max_size=8).filter(lambda text: not text.endswith("<")))
        kind = draw(st.sampled_from(["system", "developer", "user", "analysis", "final", "call", "built-in", "reply"]))
        if kind in ("system", "developer", "user"):
            written.append(Message(role=kind, body=body))
        elif kind in ("analysis", "final"):
            written.append(Message(role="assistant", channel=kind, body=body))
        elif kind == "reply" and open_calls:
            name = open_calls.pop(draw(st.integers(0, len(open_calls) - 1)))
            written.append(Message(role="tool", name=name, recipient="assistant", channel="commentary", body=body))
        elif kind in ("call", "built-in"):
            name = f"functions.{draw(st.sampled_from('fgh'))}" if kind == "call" else "python"
            channel = draw(st.sampled_from(["analysis", "commentary"])) if kind == "built-in" else "commentary"
            constrain = draw(st.sampled_from([None, "json"]))
            written.append(
                Message(role="assistant", recipient=name, channel=channel, constrain=constrain, body='{"a": 1}')
            )
            open_calls.append(name)
    return harmony.with_call_ids(written)


@settings(deadline=None, max_examples=150)
@given(harmony_turns(), st.booleans())
def test_what_harmony_can_say_comes_back_with_the_ids_of_its_calls(written: list[Message], training: bool) -> None:
    text = harmony.to_harmony(written, drop_cot=False, training=training)
    read = harmony.from_harmony(text)
    assert not read.errors
    expected = [replace(one, terminator="end") if one.terminator == "return" else one for one in written]
    if training and written and written[-1].is_call is False and written[-1].channel == "final":
        expected[-1] = replace(expected[-1], terminator="return")
    assert len(read.messages) == len(expected)
    assert all(one.same(two) for one, two in zip(read.messages, expected, strict=True))
    assert harmony.to_harmony(read.messages, drop_cot=False, training=training) == text
    # Exported for sampling, every call that is open is still there, and what is dropped is reasoning alone.
    kept = harmony.from_harmony(harmony.to_harmony(written)).messages
    dropped = len(written) - len(kept)
    assert dropped <= sum(one.is_reasoning for one in written)
    assert [one.body for one in kept if one.is_call] == [one.body for one in written if one.is_call]


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.lists(messages(), min_size=1, max_size=2).map(render), min_size=1, max_size=3),
    st.randoms(use_true_random=False),
    st.integers(0, 3),
)
def test_interleaved_streams_are_what_each_is_alone(texts: list[str], source: object, cancelled: int) -> None:
    alone = []
    for number, text in enumerate(texts):
        stream = ResponseStream(message_id=str(number), response=False)
        alone.append([*stream.feed(text), *stream.finish()])
    mixed = Multiplexer(response=False)
    found: list[list[ResponseEvent]] = [[] for _ in texts]
    at = [0] * len(texts)
    is_cancelled = False
    while any(place < len(text) for place, text in zip(at, texts, strict=True)):
        number = source.randrange(len(texts))  # type: ignore[attr-defined]
        size = source.randint(1, 40)  # type: ignore[attr-defined]
        piece, at[number] = texts[number][at[number] : at[number] + size], at[number] + size
        found[number] += mixed.feed(str(number), piece)
        if number == cancelled and not is_cancelled and at[number] >= len(texts[number]) // 2:
            is_cancelled = True
            found[number] += mixed.cancel(str(number), "why")
    for event in mixed.finish():
        found[int(event.message_id or 0)].append(event)
    for number, (events, whole) in enumerate(zip(found, alone, strict=True)):
        assert all(event.message_id == str(number) for event in events)
        if number == cancelled and is_cancelled:
            kinds = [type(event) for event in events]
            assert kinds.count(ResponseCancel) == 1
            assert set(kinds[kinds.index(ResponseCancel) + 1 :]) <= {ToolCancel}
            assert _shown_text(whole).startswith(_shown_text(events))
        else:
            assert _shown_text(events) == _shown_text(whole)
            assert [e for e in events if not isinstance(e, ResponseDelta)] == [
                e for e in whole if not isinstance(e, ResponseDelta)
            ]


def _shown_text(events: list[ResponseEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ResponseDelta))
