"""Canonical writing: what is written reads back, what cannot be written is refused with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from syntagma import formats
from syntagma.errors import ArgumentError, FormatError
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolCall
from tests.formats.cases import TOOLS
from tests.formats.messages import MESSAGES
from tests.formats.written import sayable

NAMES = formats.names()


def _meaning(message: Message) -> tuple[str, str, list[tuple[str, Any]]]:
    return (
        message.content or "",
        message.reasoning_content or "",
        [(call.name, json.loads(call.arguments)) for call in message.tool_calls],
    )


@pytest.mark.every_format
@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_reads_back(name: str) -> None:
    fmt, written = formats.get(name), 0

    @settings(max_examples=30, deadline=None)
    @given(message=MESSAGES)
    def check(message: Message) -> None:
        nonlocal written
        message = sayable(fmt, message)
        try:
            text = fmt.write(message, TOOLS)
        except FormatError as error:
            refused = (error.code, bool(error.pointer))
        else:
            refused = None
            written += 1
        assert refused in (None, ("E-FORMAT-UNWRITABLE", True))
        assert refused or _meaning(fmt.parse(text, TOOLS)) == _meaning(message)

    check()
    assert written, "no message is written"


def test_what_the_prompt_has_opened_is_not_written() -> None:
    """Reasoning that stays in the content begins with an opener of the prompt, which is read without its whitespace."""
    fmt = ChatFormat.from_toml('[reasoning]\nblock = "<t> {reasoning} </t>"\nstart = "open"\nto = "content"\n')
    assert fmt.parse("Hm. </t>So.").content == "<t>Hm. </t>So."
    assert fmt.write(Message(content="<t>Hm. </t>So.")) == "Hm. </t>So."


def test_plain_messages_are_writable_in_every_format() -> None:
    """Refusing is for what cannot be said; calls, text and reasoning without markers can."""
    for name in NAMES:
        fmt = formats.get(name)
        call = ToolCall(id="", name="weather", arguments='{"place": "a <b> [c] {d}"}')
        if fmt.spec.tools is not None:
            fmt.write(Message(tool_calls=(call, call)), TOOLS)
        if fmt.spec.reasoning is not None and fmt.spec.reasoning.to == "content":
            assert fmt.write(Message(content="<think>Well.</think>Yes."), TOOLS) == "Well.</think>Yes."
            continue
        if fmt.spec.reasoning is not None:
            fmt.write(Message(content="Yes.", reasoning_content="Well."), TOOLS)
        fmt.write(Message(content="Yes. 1 < 2."), TOOLS)


FORMAT = ChatFormat.from_toml(
    '[reasoning]\nblock = "<t>\\n{reasoning}\\n</t>\\n"\n'
    '[tools]\ncall = "<c>{envelope}</c>"\nenvelope = \'{"n": "{name}", "id": "{id}", "a": {arguments}}\'\n'
)


@pytest.mark.parametrize(
    ("message", "pointer"),
    [
        (Message(content="<t>\nnot thoughts\n</t>"), "/content"),
        (Message(content="a", reasoning_content="<c>b</t>c"), "/reasoning_content"),
        (Message(content="a", reasoning_content="b</t>c"), "/reasoning_content"),
        (Message(content='<c>{"n": "clock", "id": "1", "a": {}}</c>'), "/content"),
        (Message(content=[{"type": "text", "text": "a"}]), "/content"),
        (Message(tool_calls=(ToolCall(id="1", name="clock", arguments="[1]"),)), "/tool_calls/0/function/arguments"),
        (
            Message(tool_calls=(ToolCall(id="1", name="clock", arguments='{"a": 1'),)),
            "/tool_calls/0/function/arguments",
        ),
    ],
)
def test_what_would_not_read_back_is_refused(message: Message, pointer: str) -> None:
    with pytest.raises(FormatError) as caught:
        FORMAT.write(message, TOOLS)
    assert (caught.value.code, caught.value.pointer) == ("E-FORMAT-UNWRITABLE", pointer)


LINES = ChatFormat.from_toml(
    '[reasoning]\nblock = "<t>{reasoning}</t>"\n'
    '[tools]\nsection = "<s>\\n{calls}</s>"\ncall = "tool: {name}\\n{arguments}end\\n"\n'
    'argument = "{key}: {value}\\n"\n'
)


@pytest.mark.parametrize("content", [None, "", "Well."])
@pytest.mark.parametrize("reasoning", [None, "Hm."])
@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("value", ["a\nb", "a\nend\nb", "a\nend\n</s>b", "a\nend\ntool: clock"])
def test_the_field_is_named_that_cannot_be_written(
    value: str, at: int, reasoning: str | None, content: str | None
) -> None:
    """What its text does to the other fields, written or not, is not their fault."""
    values = [value if n == at else "a" for n in range(3)]
    calls = tuple(ToolCall(id="", name="clock", arguments=json.dumps({"place": one})) for one in values)
    message = Message(content=content, reasoning_content=reasoning, tool_calls=calls)
    with pytest.raises(FormatError) as caught:
        LINES.write(message)
    assert (caught.value.code, caught.value.pointer) == (
        "E-FORMAT-UNWRITABLE",
        f"/tool_calls/{at}/function/arguments",
    )


def test_a_message_may_be_a_dictionary() -> None:
    message = Message(content="Yes.", tool_calls=(ToolCall(id="1", name="clock", arguments='{"a": 1}'),))
    assert FORMAT.write(message.to_openai()) == FORMAT.write(message)
    with pytest.raises(ArgumentError) as caught:
        FORMAT.write({"content": "Yes."})
    assert (caught.value.code, caught.value.pointer) == ("E-MESSAGE-ROLE", "/role")


def test_whitespace_and_escapes_become_canonical_and_numbers_stay() -> None:
    text = '{"b":1.50e+3 ,"a":[ 12345678901234567890123,true , null],"s":"\\u00e9\\/\\ud800\\n"}'
    call = ToolCall(id="x", name="clock", arguments=text)
    written = FORMAT.write(Message(tool_calls=(call,)))
    assert written == (
        '<c>{"n": "clock", "id": "x", "a": {"b": 1.50e+3, "a": [12345678901234567890123, true, null], '
        '"s": "é/\\ud800\\n"}}</c>'
    )


def test_ids_are_written_and_read() -> None:
    message = Message(tool_calls=(ToolCall(id="q-7", name="clock", arguments="{}"),))
    read = FORMAT.parse(FORMAT.write(message, TOOLS), TOOLS)
    assert read.tool_calls[0].id == "q-7"


def test_a_format_without_a_part_refuses_it() -> None:
    bare = ChatFormat.from_toml("")
    assert bare.write(Message(content="a")) == "a"
    for message, pointer in (
        (Message(reasoning_content="a"), "/reasoning_content"),
        (Message(tool_calls=(ToolCall(id="", name="clock", arguments="{}"),)), "/tool_calls"),
    ):
        with pytest.raises(FormatError) as caught:
            bare.write(message)
        assert caught.value.pointer == pointer


def test_open_reasoning_is_closed_even_if_it_is_empty() -> None:
    fmt = ChatFormat.from_toml('[reasoning]\nblock = "<t>{reasoning}</t>"\nstart = "open"\n')
    assert fmt.write(Message(content="a")) == "</t>a"
    assert fmt.write(Message(content="a", reasoning_content="b")) == "b</t>a"


def test_a_wrapper_is_written_around_the_answer() -> None:
    fmt = ChatFormat.from_toml(
        '[reasoning]\nblock = "<t>{reasoning}</t>"\n[content]\nblock = "<a>{content}</a>"\nwhen = "reasoning"\n'
    )
    assert fmt.write(Message(content="x")) == "x"
    assert fmt.write(Message(content="x", reasoning_content="y")) == "<t>y</t><a>x</a>"
