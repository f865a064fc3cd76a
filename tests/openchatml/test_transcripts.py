from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import syntagma as sg
from syntagma.errors import LimitError
from syntagma.limits import Limits
from syntagma.openchatml import (
    BodyDelta,
    DocumentHeader,
    Message,
    OpenChatMLError,
    StreamReader,
    parse,
    render,
    shared_capabilities,
    show,
    validate,
    visible,
)
from syntagma.openchatml.tokens import MAX_TOKEN_CHARS

CASES = tomllib.loads(
    (Path(__file__).parents[2] / "conformance" / "openchatml" / "transcripts.toml").read_text(encoding="utf-8")
)["case"]


def bodies(text: str, size: int, **options: Any) -> tuple[list[tuple[str, str]], list[tuple[str, int]], list[str]]:
    reader = StreamReader(**options)
    events = [event for at in range(0, len(text), size) for event in reader.feed(text[at : at + size])]
    events += reader.finish()
    deltas: dict[int, str] = {}
    for event in events:
        if isinstance(event, BodyDelta):
            deltas[event.index] = deltas.get(event.index, "") + event.text
    errors = [(problem.code, problem.place.offset) for problem in reader.errors if problem.place is not None]
    reported = [deltas.get(index, "") for index in range(len(reader.messages))]
    return [(message.role, message.body) for message in reader.messages], errors, reported


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_cases(case: dict[str, Any]) -> None:
    text = case["text"]
    if "error" not in case:
        transcript = parse(text)
        assert len(transcript.messages) == len(case["messages"])
        for message, wanted in zip(transcript.messages, case["messages"], strict=True):
            assert {name: getattr(message, name) for name in wanted} == wanted
        assert [m.body for m in parse(render(transcript)).messages] == [m.body for m in transcript.messages]
    else:
        with pytest.raises(OpenChatMLError) as raised:
            parse(text)
        assert [raised.value.code, raised.value.offset] == case["error"]
        assert [message.body for message in parse(text, strict=False).messages] == case["lenient"]
    for strict in (True, False):
        whole = bodies(text, len(text), strict=strict)
        assert whole[2] == [body for _, body in whole[0]]
        for size in (1, 2, 3, 7):
            assert bodies(text, size, strict=strict) == whole


def test_the_reader_holds_back_less_than_one_token() -> None:
    text = "<|start|>assistant<|channel|>final<|message|>" + "a<b<|c <<|en <|endlitera" * 20
    reader = StreamReader()
    shown = 0
    for at, character in enumerate(text):
        shown += sum(len(event.text) for event in reader.feed(character) if isinstance(event, BodyDelta))
        body = max(0, at + 1 - text.index("a<b"))
        assert body - shown < MAX_TOKEN_CHARS


def test_errors_say_where() -> None:
    with pytest.raises(OpenChatMLError) as raised:
        parse("<|start|>user<|message|>a\nb<|end|>\n  what\n")
    error = raised.value
    assert (error.code, error.line, error.column, error.offset) == ("E-PARSE-HEADER", 3, 3, 37)


def test_headers_are_bounded() -> None:
    for text in ("---\nversion: 2.2\nx: " + "a" * 100_000, "<|start|>user name=" + "a" * 100_000):
        for size in (len(text), 1000):
            reader = StreamReader()
            pieces = [text[at : at + size] for at in range(0, len(text), size)]
            with pytest.raises(LimitError, match="E-LIMIT-OPENCHATML-HEADER"):
                list(map(reader.feed, pieces))
            assert reader.feed("more") == []
    deep = "---\nversion: 2.2\nx: " + "[" * 40 + "]" * 40 + "\n---\n"
    with pytest.raises(OpenChatMLError, match="deeper"):
        parse(deep)
    assert parse(deep, limits=Limits(openchatml_header_depth=64)).header is not None


@pytest.mark.parametrize(
    "begin",
    [
        "---\nversion: 2.2\nx: ",
        "---\nversion: 2.2\n<|end: <|end",
        "version: 2.2\nx: ",
        "<|start|>user name=",
        "<|start|>king name=<|",
        "<|start|>assistant<|channel|>final x=",
        "<|start|>user<|message|>hi<|end|><|start|>assistant<|literal|>",
        "<|im_start|>user name=",
        "<|im_start|>user\nhi<|im_end|><|im_start|>king ",
    ],
)
def test_lenient_reading_takes_headers_that_are_too_long(begin: str) -> None:
    limits = Limits(openchatml_header_bytes=100, openchatml_message_header_chars=100)
    for end, count in (("", 1), ("<|message|>b<|end|>", 1), ("b<|start|>user<|message|>c<|end|>", 2)):
        text = begin + "a" * 200 + end
        readings = []
        for size in (len(text), 1, 7):
            reader = StreamReader(strict=False, limits=limits)
            reported = 0
            for at in range(0, len(text), size):
                events = reader.feed(text[at : at + size])
                reported += sum(len(event.text) for event in events if isinstance(event, BodyDelta))
                if at + size < len(begin) + 200:
                    # What is not yet reported is held; "hi" and its message came before.
                    assert at + size - reported <= 100 + MAX_TOKEN_CHARS + begin.find("<|start|>assistant", 1) + 50
            reader.finish()
            readings.append(reader.transcript)
        assert readings[1:] == readings[:-1]
        recovered = [message for message in readings[0].messages if message.recovered]
        assert [(one.role, one.channel) for one in recovered] == [("tool", "analysis")]
        assert "a" * 200 in recovered[0].body
        assert "E-PARSE-HEADER" in [problem.code for problem in readings[0].errors]
        assert not any(one.index == readings[0].messages.index(recovered[0]) for one in visible(readings[0]))
        if "im_start" not in begin:
            assert len(readings[0].messages) == count + ("hi<" in begin)


def test_document_headers_read_back_equal() -> None:
    header = DocumentHeader(
        model="a: b",
        generation_settings={"temperature": 0.5, "stop": ["---", "yes", "1e3", "2020-01-01"], "n": None},
        extra={"note": "<|start|>user\n---\n<|message|>", "é": True},
    )
    text = render([Message(role="user", body="hi")], header=header)
    assert parse(text).header == header
    with pytest.raises(OpenChatMLError):
        render([], header=DocumentHeader(version="2"))


def test_what_cannot_be_written_is_refused() -> None:
    for message in (
        Message(role="user", name="two words"),
        Message(role="user", name="a<"),
        Message(role="user", extra={"to": "x"}),
        Message(role="assistant", terminator=None),
        Message(role="assistant", constrain="json", body="{"),
    ):
        with pytest.raises(OpenChatMLError):
            render([message])


def test_validation_names_requirements() -> None:
    text = (
        "<|start|>assistant to=functions.f<|channel|>final<|message|>[]<|call|>"
        "<|start|>functions.f call_id=9<|message|>x<|end|>"
        "<|start|>user<|message|>a<|return|>"
    )
    checked = validate(parse(text), require_header=True)
    assert not checked.valid
    assert [problem.requirement for problem in checked.errors] == ["R-001", "R-060", "R-070", "R-123", "R-061"]
    assert [problem.requirement for problem in checked.warnings] == ["R-025", "R-017"]


def test_hidden_channels_never_show() -> None:
    roles = ("system", "developer", "user", "assistant", "tool")
    for role in roles:
        for channel in (None, "analysis", "commentary", "final"):
            for recipient in (None, "functions.f"):
                for intent in (None, "preamble", "status"):
                    for terminator in ("end", "call", "return"):
                        message = Message(
                            role=role,
                            channel=channel,
                            recipient=recipient,
                            intent=intent,
                            terminator=terminator,
                            name="functions.f",
                            body="secret",
                        )
                        seen = visible(parse(render([message])))
                        speaks = role in ("user", "assistant") and recipient is None
                        open_channel = channel in (None, "final") or (
                            channel == "commentary" and intent == "preamble" and role == "assistant"
                        )
                        allowed = speaks and open_channel and not (role == "assistant" and terminator == "call")
                        assert bool(seen) == allowed


def test_private_reasoning_in_an_answer_is_refused() -> None:
    transcript = parse("<|start|>assistant<|message|>a <|start_reason|> b<|end|>")
    with pytest.raises(OpenChatMLError, match="E-PERM-VISIBILITY"):
        show(transcript, 0)
    assert show(transcript, 0, debug=True) == "a <|start_reason|> b"


def test_capabilities() -> None:
    ours = {"roles": ["user", "functions.*"], "channels": ["final"], "only": ["x"]}
    theirs = {"roles": ["functions.a", "user", "system"], "channels": ["analysis"]}
    assert shared_capabilities(ours, theirs) == {"roles": ["user", "functions.a"], "channels": []}


def test_it_is_an_attribute_of_the_package() -> None:
    assert sg.openchatml.parse("<|start|>user<|message|>a<|end|>").messages[0].body == "a"
    with pytest.raises(AttributeError):
        _ = sg.nothing  # type: ignore[attr-defined]
