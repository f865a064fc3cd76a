"""One completion of Harmony, damaged as models damage it, behind every door: all read the same message."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from syntagma import formats
from syntagma.compat.harmony import HarmonyEncoding, load_harmony_encoding
from syntagma.conversion import convert
from syntagma.messages import Message as ChatMessage
from syntagma.openchatml import StreamReader, Transcript, harmony, parse, to_openai
from syntagma.openchatml.transcript import names_tool
from tests.openchatml.damage import draw

Said = tuple[str, str, list[tuple[str, str, bool]], bool]
FORMAT = formats.get("harmony")
TOOL = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}
RUNS = ("", "", [("f", "{}", True)], False)
UNSURE = ("", "", [("f", '{"a":1}', False)], True)
THINKS = "<|channel|>analysis<|message|>r<|end|>"
CALL = " to=functions.f <|constrain|>json<|message|>{}<|call|>"


def said(messages: Sequence[ChatMessage]) -> Said:
    """What the messages of one turn say. Whitespace around the answer's parts is left out."""
    calls = [(call.name, call.arguments, call.complete) for one in messages for call in one.tool_calls]
    content = "".join(str(one.content or "").strip() for one in messages if one.role == "assistant")
    # What somebody else says is none of the answer.
    hidden = [one.reasoning_content or ("" if one.role == "assistant" else str(one.content)) for one in messages]
    return content, "".join(hidden), calls, any(one.incomplete for one in messages)


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def by_format(text: str, size: int) -> Said:
    parser = FORMAT.parser(id_seed="")
    for piece in pieces(text, size):
        parser.feed(piece)
    parser.finish()
    return said([parser.message])


def by_reader(text: str, size: int) -> Said:
    return said([harmony.to_chat(harmony.parse_completion(pieces(text, size)).messages)])


def by_lenient_transcript(text: str, size: int) -> Said:
    reader = StreamReader(strict=False, profile="harmony", role="assistant")
    for piece in pieces(text, size):
        reader.feed(piece)
    reader.finish()
    return said([harmony.to_chat(reader.transcript.messages)])


def by_conversion(text: str, size: int) -> Said:  # noqa: ARG001  # it takes whole texts only
    read = harmony.from_harmony(text, role="assistant").messages
    made = [ChatMessage.from_openai(one) for one in to_openai(read, of_harmony=True)[0]]
    content, reasoning, calls, _ = said(made)
    return content, reasoning, calls, harmony.to_chat(read).incomplete


DOORS: list[Callable[[str, int], Said]] = [by_format, by_reader, by_lenient_transcript, by_conversion]


def encoding() -> HarmonyEncoding:
    return load_harmony_encoding(
        encode_text=lambda text: list(text.encode()),
        decode_bytes=lambda token: bytes([token]),
        special={f"<|{name}|>": 300 + number for number, name in enumerate(harmony.HARMONY_TOKENS)},
    )


@pytest.mark.parametrize("damages", [1, 2, 3])
def test_every_door_reads_a_damaged_completion_alike(damages: int) -> None:
    source = random.Random(damages)
    tokens = encoding()
    for _ in range(150):
        text = draw(source, damages=damages).text
        wanted = by_reader(text, len(text) or 1)
        for door in DOORS:
            for size in (len(text) or 1, 1, 3):
                assert door(text, size) == wanted, (door.__name__, size, text)
        shown = tokens.parse_messages_from_completion_tokens(tokens.encode(text, allowed_special="all"), "assistant")
        read = [(one.author.role, one.channel, one.recipient, one.content[0].text) for one in shown]
        wanted = []
        for one in harmony.parse_completion(text).messages:
            is_guess = one.recovered and one.lacks is None and names_tool(one.recipient)
            # Who uses this door runs what has a recipient.
            place = ("analysis", None) if is_guess else (one.channel, one.recipient)
            wanted.append((one.role, *place, one.body))
        assert read == wanted, text


@pytest.mark.parametrize(
    ("text", "wanted", "recovered", "runs"),
    [
        (f"{THINKS}<|channel|>commentary{CALL}", ("", "r", [("f", "{}", True)], False), True, True),
        (f"{THINKS}commentary{CALL}", ("", "r", [("f", "{}", True)], False), True, True),
        (f"{THINKS}assistant<|channel|>commentary{CALL}", ("", "r", [("f", "{}", True)], False), True, True),
        (f"<|start|>assistantcommentary{CALL}", RUNS, True, True),
        (f"<|start|><|start|>assistant<|channel|>commentary{CALL}", RUNS, True, True),
        ("<|start|>assistantassistant<|channel|>final<|message|>x", ("x", "", [], False), True, False),
        ("<|start|>assistantfinal<|message|>x", ("x", "", [], False), True, False),
        ("assistant<|channel|>final<|message|>x", ("x", "", [], False), False, False),
        ("<|start|>assistantanalysis<|message|>x", ("", "x", [], True), True, False),
        ("<|start|>assistant ––commentary<|channel|>final<|message|>x", ("x", "", [], False), True, False),
        ("<|channel|>final<|channel|>final<|message|>x<|return|>", ("x", "", [], False), False, False),
        (f"<|channel|>commentary<|channel|>commentary to=functions.f{CALL}", RUNS, False, True),
        ("<|channel|>final<|constrain|>json<|constrain|>json<|message|>1<|end|>", ("1", "", [], False), False, False),
        ('<|channel|>commentary to=functions.f{"a":1}<|call|>', UNSURE, True, False),
        ('<|channel|>commentary to=functions.f json{"a":1}<|call|>', UNSURE, True, False),
        ("<|channel|>commentary to=functions.g" + CALL, ("", "{}", [], False), True, False),
        ("<|channel|>analysis<|channel|>final<|message|>x<|end|>", ("", "x", [], False), True, False),
        ("<|start|>assistantanalysis<|channel|>final<|message|>x<|end|>", ("", "x", [], False), True, False),
    ],
)  # fmt: skip
def test_a_header_is_read_from_what_it_holds(text: str, wanted: Said, recovered: bool, runs: bool) -> None:
    result = harmony.parse_completion(text)
    assert (result.messages[-1].recovered, bool(result.dispatch)) == (recovered, runs)
    for door in DOORS:
        for size in (len(text), 1, 2, 5):
            assert door(text, size) == wanted, (door.__name__, size)
    told = {problem.code for problem in result.errors} - {"E-STREAM-TRUNCATED"}
    assert bool(told) == ("functions.g" in text or ("analysis" in text and "final" in text))


def test_a_call_without_its_message_token_runs_where_its_tool_is_declared_and_its_schema_holds() -> None:
    for arguments, holds in (('{"a":1}', True), ('{"a":"1"}', False), ('{"a":1', False), ('{"a":1} b', False)):
        text = f"<|channel|>commentary to=functions.f <|constrain|>json{arguments}<|call|>"
        assert not harmony.parse_completion(text).dispatch
        for tools, complete in (([TOOL], holds), ([{**TOOL, "name": "g"}], False), (None, False)):
            (call,) = FORMAT.parse(text, tools).tool_calls
            assert (call.name, call.arguments, call.complete) == ("f", arguments, complete)


def test_text_that_begins_without_a_start_token_is_no_document_header() -> None:
    for text in (f"commentary{CALL}", f"<|channel|>commentary{CALL}", f"assistant<|channel|>commentary{CALL}"):
        (message,) = parse(text, strict=False, profile="harmony").messages
        assert (message.recipient, message.body, message.may_run) == ("functions.f", "{}", True)
    header = "version: 2.2\nmodel: m\n<|start|>user<|message|>a<|end|>"
    assert parse(header, strict=False, profile="harmony").header == parse(header).header


def test_a_conversion_holds_no_call_that_was_guessed() -> None:
    user = "<|start|>user<|message|>q<|end|><|start|>assistant"
    document = convert(f"{user}<|channel|>commentary to=functions.g{CALL}", "openai", source="harmony").document
    assert document["messages"][-1] == {"role": "assistant", "content": "", "reasoning_content": "{}"}
    unmarked = '<|channel|>commentary to=functions.f <|constrain|>json{"a":1}<|call|>'
    document = convert(user + unmarked, "openai", source="harmony").document
    (call,) = document["messages"][-1]["tool_calls"]
    assert (call["function"], call["complete"]) == ({"name": "f", "arguments": '{"a":1}'}, False)


def test_transcripts_keep_what_the_reader_leaves_out() -> None:
    text = "<|start|>user<|message|>a<|return|> w1q<|channel|>w2q<|start|>user w3q<|message|>b<|end|>w4q"
    transcript: Transcript = parse(text, strict=False, profile="harmony")
    assert [message.body for message in transcript.messages] == ["a", "b", "w4q"]
    assert transcript.messages[1].header_raw == "user w3q<|message|>"
    assert next(problem.text for problem in transcript.errors) == "w1q<|channel|>w2q"
