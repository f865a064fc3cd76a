"""Values that nobody should hand in: every door answers with an error of the library, or takes them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.errors import SyntagmaError
from syntagma.limits import Limits
from syntagma.openchatml import (
    DocumentHeader,
    Message,
    Multiplexer,
    Problem,
    ResponseStream,
    StreamReader,
    Transcript,
    from_json,
    from_openai,
    harmony,
    parse,
    render,
    render_message,
    to_json,
    to_openai,
    validate,
    visible,
)


class Endless(list[Any]):
    """A list that nobody should print."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002
        printer.text("an endless list")


DEEP = Endless()
for _ in range(20_000):
    DEEP = Endless([DEEP])
LOOP = Endless()
LOOP.append(LOOP)

TEXTS = [
    "",
    "a",
    "a b",
    "functions.f",
    "f",
    "python",
    "a\x01",
    "a<",
    "\ud800",
    "<|end|>",
    "{}",
    "[1]",
    "{",
    '{"a": NaN}',
]
TEXTS += [
    "user",
    "assistant",
    "tool",
    "system",
    "final",
    "analysis",
    "commentary",
    "json",
    "call",
    "end",
    "stop",
    "1",
    "2",
]
TEXTS += ["<|start_reason|>", "[" * 20_000, "9" * 5_000, "preamble"]
ODD = st.sampled_from([None, True, False, 0, 5, -1, 10**400, 1.5, math.nan, [], {}, [1], DEEP, LOOP, b"x", object()])
VALUES = st.sampled_from(TEXTS) | ODD
ROOM = msgspec.structs.replace(Limits(), openchatml_message_header_chars=100_000)
"""what is written has room for the longest of the texts in a header"""
ROLES = st.sampled_from(["system", "developer", "user", "assistant", "assistant", "tool", "functions.f"]) | VALUES


def objects(keys: list[str], values: st.SearchStrategy[Any], role: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects with some of these keys."""
    return st.builds(
        lambda role, data: {"role": role, **data},
        role,
        st.dictionaries(st.sampled_from(keys), values, max_size=5),
    )


CALLS = objects(["id", "recipient", "content_type", "arguments"], VALUES, ROLES)
FUNCTIONS = st.dictionaries(st.sampled_from(["name", "arguments"]), VALUES, max_size=2)
OPENAI_CALLS = st.dictionaries(st.sampled_from(["id", "type"]), VALUES, max_size=2).flatmap(
    lambda call: (FUNCTIONS | VALUES).map(lambda function: {**call, "function": function})
)
JSON_KEYS = ["channel", "content", "thinking", "name", "call_id", "recipient", "intent", "content_type", "constrain"]
JSON_KEYS += ["terminator", "attributes", "recovered", "incomplete", "tool_call", "tool_calls", "index"]
OURS = objects(JSON_KEYS, VALUES | CALLS | st.lists(OPENAI_CALLS, max_size=2), ROLES) | VALUES
OPENAI_KEYS = ["content", "name", "tool_calls", "tool_call_id", "reasoning_content", "reasoning", "refusal", "x"]
THEIRS = objects(OPENAI_KEYS, VALUES | st.lists(OPENAI_CALLS | VALUES, max_size=2), ROLES) | VALUES
HARMONY_KEYS = ["content", "name", "author", "channel", "recipient", "content_type"]
PARTS = objects(["type", "text", "tools", "instructions", "channel_config", "model_identity"], VALUES, ROLES)
HARMONY = objects(HARMONY_KEYS, VALUES | PARTS | st.lists(PARTS | VALUES, max_size=2), ROLES) | VALUES


@settings(deadline=None, max_examples=300)
@given(st.lists(OURS, max_size=3) | VALUES, st.booleans())
def test_json_is_messages_that_can_be_written_or_an_error(given_: Any, end_user: bool) -> None:
    try:
        messages = from_json(given_, end_user=end_user)
    except SyntagmaError:
        return
    complete = [message for message in messages if message.terminator is not None]
    assert len(parse(render(complete), limits=ROOM).messages) == len(complete)
    assert [one.to_dict() for one in from_json(to_json(messages))] == [one.to_dict() for one in messages]
    if end_user:
        assert [shown.text for shown in visible(Transcript(messages=tuple(messages)))] == [one.body for one in messages]


@settings(deadline=None, max_examples=300)
@given(st.lists(THEIRS, max_size=3) | VALUES)
def test_openai_messages_are_messages_that_can_be_written_or_an_error(given_: Any) -> None:
    try:
        messages, _ = from_openai(given_)
    except SyntagmaError:
        return
    assert len(parse(render(messages), limits=ROOM).messages) == len(messages)
    to_openai(messages)


@settings(deadline=None, max_examples=300)
@given(st.lists(HARMONY, max_size=3) | VALUES)
def test_conversations_are_segments_or_an_error(given_: Any) -> None:
    try:
        segments = harmony.render_conversation({"messages": given_})
    except SyntagmaError:
        return
    assert all(kind in ("token", "text") and isinstance(text, str) for kind, text in segments)


FIELDS = [name for name in Message.__struct_fields__ if name not in ("extra", "recovered", "place", "end")]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", [5, b"x", [], {}, True, object], ids=str)
def test_messages_are_made_of_texts(field: str, value: Any) -> None:
    with pytest.raises(SyntagmaError) as caught:
        Message(**{"role": "user", field: value})
    assert caught.value.code == "E-ARGUMENT-TYPE"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Message(role="user", extra=5),
        lambda: Message(role="user", extra={"x": 5}),
        lambda: Message(role="user", extra={5: "x"}),
        lambda: Message(role="user", recovered="no"),
        lambda: DocumentHeader(version=2.2),
        lambda: DocumentHeader(model=5),
        lambda: DocumentHeader(profiles=[]),
        lambda: DocumentHeader(extra={5: 1}),
        lambda: ResponseStream(message_id=5),
        lambda: ResponseStream(response="yes"),
        lambda: ResponseStream().cancel(5),
        lambda: Multiplexer().feed(5, "x"),
        lambda: Multiplexer().cancel("a", 5),
        lambda: StreamReader(limits=5),
        lambda: StreamReader(role=5),
        lambda: harmony.HarmonyReader(limits=5),
        lambda: harmony.render_conversation({"messages": []}, completion=5),
        lambda: visible(Transcript(messages=5)),
        lambda: visible(Transcript(messages=(5,))),
        lambda: render(Transcript(messages=(5,))),
        lambda: render(Transcript(header=5)),
        lambda: validate(Transcript(messages=(Message(role="user"), None))),
        lambda: validate(Transcript(header="2.2")),
    ],
)
def test_wrong_types_are_refused_where_they_are_handed_in(make: Callable[[], Any]) -> None:
    with pytest.raises(SyntagmaError) as caught:
        make()
    assert caught.value.code == "E-ARGUMENT-TYPE"


@pytest.mark.parametrize(
    "ask",
    [
        lambda: parse("", profile="x"),
        lambda: parse("", profile=["ocm"]),
        lambda: render_message(Message(role="user"), profile="x"),
        lambda: from_json([], profile="x"),
        lambda: StreamReader().finish(stop="stop"),
        lambda: StreamReader().finish(stop=["end"]),
        lambda: ResponseStream().finish(stop=5),
        lambda: harmony.HarmonyReader().finish(stop="stop"),
        lambda: harmony.parse_completion("x", stop="stop"),
        lambda: harmony.encode([("token", "<|start|>")], list, {}),
    ],
)
def test_words_that_mean_nothing_are_refused(ask: Callable[[], Any]) -> None:
    with pytest.raises(SyntagmaError) as caught:
        ask()
    assert caught.value.code == "E-ARGUMENT-VALUE"


def test_a_problem_of_any_code_can_be_raised() -> None:
    assert Problem("E-OTHER", "odd").exception().code == "E-OTHER"


@pytest.mark.parametrize("version", ["", "2", "2.2.2", "two", "2.", "02.1", "2.2\n", "9999999.1"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda version: DocumentHeader(version=version).number,
        lambda version: render([], header=DocumentHeader(version=version)),
        lambda version: validate(Transcript(header=DocumentHeader(version=version))),
        lambda version: from_json([], version=version),
        lambda version: parse(f"---\nversion: {json.dumps(version)}\n---\n"),
    ],
    ids=["header", "render", "validate", "from_json", "parse"],
)
def test_versions_are_major_and_minor(ask: Callable[[str], Any], version: str) -> None:
    with pytest.raises(SyntagmaError) as caught:
        ask(version)
    assert caught.value.code == "E-PARSE-HEADER"


@pytest.mark.parametrize(
    "value",
    [
        "[" * 5_000,
        "{a: " * 5_000,
        "9" * 5_000,
        "0x" + "f" * 50_000,
        "0b" + "1" * 50_000,
        "\x00",
        "\ud800",
        "!!python/x 1",
    ],
    ids=lambda value: ascii(value[:9]),
)
def test_document_headers_that_ask_for_too_much(value: str) -> None:
    text = f"---\nversion: 2.2\nx: {value}\n---\n<|start|>user<|message|>a<|end|>"
    with pytest.raises(SyntagmaError):
        render(parse(text))
    read = parse(text, strict=False, limits=Limits())
    assert [message.body for message in read.messages][-1] == "a"
