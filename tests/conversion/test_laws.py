"""Laws of conversions: there and back is the same where nothing is lost, and nothing is lost without a word."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import syntagma as sg
from syntagma.conversion import FORMS, convert, detect, read, write
from syntagma.json_pointer import follow

EXAMPLES = 80
_MARK = re.compile(r"mark\d+")
JSON_FORMS = ("anthropic", "hf", "openai", "responses")
WORDS = st.text("abcdefgh", min_size=1, max_size=5)
TEXTS = st.one_of(WORDS, st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8))
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS)
OBJECTS = st.dictionaries(TEXTS, st.one_of(SCALARS, st.lists(SCALARS, max_size=2)), max_size=3)
ARGUMENTS = st.one_of(
    OBJECTS.map(json.dumps), TEXTS, st.sampled_from(['{"a": 1', '{"a":1,"a":2}', '{"a": 1e400}', "[1]"])
)
PARTS = st.one_of(
    TEXTS.map(lambda text: {"type": "text", "text": text}),
    WORDS.map(lambda word: {"type": "image_url", "image_url": {"url": f"https://example.org/{word}.png"}}),
    st.just({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}),
    st.just({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}),
    st.just({"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA", "filename": "a.pdf"}}),
    WORDS.map(lambda word: {"type": "refusal", "refusal": word}),
)
CONTENTS = st.one_of(TEXTS, st.lists(PARTS, min_size=2, max_size=3))
SCHEMAS = st.just({"type": "object", "properties": {"a": {"type": "integer"}}})


@st.composite
def tools(draw: st.DrawFn) -> list[sg.Tool] | None:
    if draw(st.booleans()):
        return None
    names = draw(st.lists(WORDS, unique=True, max_size=3))
    made: list[Any] = []
    for name in names:
        if draw(st.integers(0, 3)) == 0:
            shape = {"type": "grammar", "grammar": {"syntax": "regex", "definition": draw(WORDS)}}
            made.append({"type": "custom", "custom": {"name": name, "format": draw(st.sampled_from([shape, None]))}})
        else:
            function = {"name": name, "description": draw(st.one_of(st.none(), TEXTS)), "strict": draw(st.booleans())}
            made.append(
                {"type": "function", "function": function | {"parameters": draw(st.one_of(st.none(), SCHEMAS))}}
            )
    return [sg.Tool.from_openai(tool) for tool in made]


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[sg.Message], list[sg.Tool] | None]:
    """Messages in which each reply follows its call, as conversations are."""
    declared = draw(tools())
    names = st.one_of(WORDS, st.sampled_from([tool.name for tool in declared])) if declared else WORDS
    ids = (f"call_{number}x" for number in itertools.count())
    made: list[sg.Message] = []
    for role in draw(st.lists(st.sampled_from(["system", "developer", "user", "assistant", "assistant"]), max_size=5)):
        name = draw(st.one_of(st.none(), st.none(), WORDS))
        if role != "assistant":
            made.append(sg.Message(role=role, content=draw(CONTENTS), name=name))
            continue
        calls = tuple(
            sg.ToolCall(
                id=draw(st.sampled_from([next(ids)] * 4 + [""])),
                name=draw(names),
                arguments=draw(ARGUMENTS),
                complete=draw(st.integers(0, 5)) > 0,
            )
            for _ in range(draw(st.integers(0, 2)))
        )
        content = draw(st.one_of(st.none(), CONTENTS)) if calls else draw(CONTENTS)
        reasoning = draw(st.one_of(st.none(), TEXTS))
        incomplete = draw(st.integers(0, 5)) == 0
        made.append(
            sg.Message(content=content, reasoning_content=reasoning, tool_calls=calls, incomplete=incomplete, name=name)
        )
        made += [sg.Message(role="tool", content=draw(CONTENTS), tool_call_id=call.id or None) for call in calls]
    return made, declared


def said(messages: Any) -> list[sg.Message]:
    """Messages with what is a spelling in one spelling: white space and escapes of arguments."""
    plain = []
    for message in messages:
        calls = []
        for call in message.tool_calls:
            try:
                pairs = json.loads(call.arguments, object_pairs_hook=list, parse_float=float)
                calls.append(replace(call, arguments=json.dumps(pairs)))
            except ValueError:
                calls.append(call)
        incomplete = message.incomplete and all(call.complete for call in calls)
        plain.append(replace(message, tool_calls=tuple(calls), incomplete=incomplete))
    return plain


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(conversations())
def test_what_is_written_without_a_loss_reads_back_equal(
    form: str, given: tuple[list[sg.Message], list[sg.Tool] | None]
) -> None:
    messages, declared = given
    try:
        written = write(messages, form, tools=declared)
    except sg.openchatml.OpenChatMLError:
        return  # the form cannot say it at all
    if written.losses:
        return
    back = read(written.document, form)
    assert back.losses == ()
    assert said(back.messages) == said(messages)
    if declared:
        assert [msg.name for msg in back.tools or ()] == [tool.name for tool in declared]
        assert [tool.to_openai() for tool in back.tools or ()] == [tool.to_openai() for tool in declared]
        assert [tool.input is None for tool in back.tools or ()] == [tool.input is None for tool in declared]


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(conversations())
def test_a_form_is_told_by_its_signs(form: str, given: tuple[list[sg.Message], list[sg.Tool] | None]) -> None:
    messages, declared = given
    try:
        written = write(messages, form, tools=declared)
    except sg.openchatml.OpenChatMLError:
        return
    if not messages:
        return
    found = read(written.document)
    named = read(written.document, form)
    if found.form != form:
        # Messages without a sign say the same in either form.
        assert said(found.messages) == said(named.messages)
        assert detect(written.document) == found.form


def leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{pointer}/{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, f"{pointer}/{index}")
    else:
        yield pointer, value


class Marks:
    """Texts that are all different, so that each can be looked for."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1000)

    def __call__(self) -> str:
        return f"mark{next(self._numbers)}"


EXTRA = st.sampled_from([[], ["odd"], ["odd", "cache_control"]])


def with_extra(draw: st.DrawFn, marks: Marks, **data: Any) -> dict[str, Any]:
    return data | {name: {"inner": marks()} for name in draw(EXTRA)}


def openai_document(draw: st.DrawFn, marks: Marks) -> Any:
    def part() -> dict[str, Any]:
        return draw(
            st.sampled_from(
                [
                    with_extra(draw, marks, type="text", text=marks()),
                    with_extra(draw, marks, type="image_url", image_url={"url": marks(), "detail": marks()}),
                    with_extra(draw, marks, type="refusal", refusal=marks()),
                    with_extra(draw, marks, type="hologram", hologram=marks()),
                ]
            )
        )

    def content() -> Any:
        return draw(st.sampled_from([marks(), [part() for _ in range(draw(st.integers(1, 3)))]]))

    messages: list[Any] = []
    for role in draw(st.lists(st.sampled_from(["system", "developer", "user", "assistant", "critic"]), max_size=4)):
        message = with_extra(draw, marks, role=role, content=content())
        if draw(st.booleans()):
            message["name"] = marks()
        messages.append(message)
        if role != "assistant":
            continue
        message |= {draw(st.sampled_from(["reasoning", "reasoning_content"])): marks()} if draw(st.booleans()) else {}
        message |= {"refusal": marks()} if draw(st.booleans()) else {}
        if draw(st.booleans()):
            function = {"name": marks(), "arguments": json.dumps({marks(): marks()})}
            if draw(st.booleans()):
                call = with_extra(draw, marks, id=marks(), type="function", function=function)
            else:
                custom = {"name": marks(), "input": marks()}
                call = with_extra(draw, marks, id=marks(), type="custom", custom=custom)
            message["tool_calls"] = [call]
            messages.append(with_extra(draw, marks, role="tool", tool_call_id=call["id"], content=content()))
    function = with_extra(draw, marks, name=marks(), description=marks(), parameters={"type": "object"})
    return with_extra(draw, marks, model=marks(), messages=messages, tools=[{"type": "function", "function": function}])


def anthropic_document(draw: st.DrawFn, marks: Marks) -> Any:
    def block() -> dict[str, Any]:
        source = draw(
            st.sampled_from(
                [
                    {"type": "url", "url": marks()},
                    {"type": "base64", "media_type": "image/png", "data": marks()},
                    {"type": "file", "file_id": marks()},
                ]
            )
        )
        return draw(
            st.sampled_from(
                [
                    with_extra(draw, marks, type="text", text=marks()),
                    with_extra(draw, marks, type="image", source=source),
                    with_extra(draw, marks, type="document", source=source, title=marks()),
                    with_extra(draw, marks, type="hologram", hologram=marks()),
                ]
            )
        )

    messages: list[Any] = []
    call_ids: list[str] = []
    for role in draw(st.lists(st.sampled_from(["user", "assistant"]), max_size=4)):
        blocks = [block() for _ in range(draw(st.integers(1, 2)))]
        if role == "assistant":
            blocks.insert(0, with_extra(draw, marks, type="thinking", thinking=marks(), signature=marks()))
            call_ids = [marks()]
            call = {"type": "tool_use", "id": call_ids[0], "name": marks(), "input": {marks(): marks()}}
            blocks.append(with_extra(draw, marks, **call))
            blocks += [block()] if draw(st.booleans()) else []
        elif call_ids:
            result = {"type": "tool_result", "tool_use_id": call_ids.pop(), "content": [block()], "is_error": True}
            blocks.insert(draw(st.integers(0, len(blocks))), with_extra(draw, marks, **result))
        messages.append(with_extra(draw, marks, role=role, content=draw(st.sampled_from([blocks, marks()]))))
    tool = with_extra(draw, marks, name=marks(), description=marks(), input_schema={"type": "object"})
    system = draw(st.sampled_from([marks(), [with_extra(draw, marks, type="text", text=marks())]]))
    return with_extra(draw, marks, model=marks(), system=system, messages=messages, tools=[tool])


def responses_document(draw: st.DrawFn, marks: Marks) -> Any:
    items: list[Any] = []
    kinds = ["user", "assistant", "reasoning", "call", "custom", "odd"]
    for kind in draw(st.lists(st.sampled_from(kinds), max_size=5)):
        call_id = marks()
        item: dict[str, Any] = {"id": marks()}
        match kind:
            case "user":
                image = with_extra(draw, marks, type="input_image", image_url=marks(), detail=marks())
                item |= {"role": "user", "content": [with_extra(draw, marks, type="input_text", text=marks()), image]}
            case "assistant":
                text = with_extra(draw, marks, type="output_text", text=marks(), annotations=[marks()])
                status = draw(st.sampled_from(["completed", "incomplete"]))
                item |= {"type": "message", "role": "assistant", "status": status, "content": [text]}
            case "reasoning":
                said = [{"type": "reasoning_text", "text": marks()}] if draw(st.booleans()) else []
                summary = [{"type": "summary_text", "text": marks()}]
                item |= {"type": "reasoning", "content": said, "summary": summary, "encrypted_content": marks()}
            case "call":
                item |= {
                    "type": "function_call",
                    "call_id": call_id,
                    "name": marks(),
                    "arguments": f'{{"a": "{marks()}"}}',
                }
            case "custom":
                item |= {"type": "custom_tool_call", "call_id": call_id, "name": marks(), "input": marks()}
            case _:
                item |= {"type": "web_search_call", "action": {"query": marks()}}
        items.append(with_extra(draw, marks, **item))
        if kind in ("call", "custom"):
            items.append({"type": "function_call_output", "call_id": call_id, "output": marks()})
    tool = with_extra(draw, marks, type="function", name=marks(), parameters={"type": "object"})
    return with_extra(draw, marks, instructions=marks(), input=items, tools=[tool])


MAKERS = {"openai": openai_document, "hf": openai_document} | {
    "anthropic": anthropic_document,
    "responses": responses_document,
}


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, Any]:
    source = draw(st.sampled_from(JSON_FORMS))
    return source, MAKERS[source](draw, Marks())


@pytest.mark.parametrize("target", FORMS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(documents())
def test_every_member_is_in_the_output_or_named_in_a_loss(target: str, given: tuple[str, Any]) -> None:
    source, document = given
    try:
        done = convert(document, target, source=source)
    except sg.openchatml.OpenChatMLError:
        return
    output = done.document if isinstance(done.document, str) else json.dumps(done.document)
    lost = [loss.pointer for loss in done.losses]
    for pointer in lost:
        follow(document, pointer)
    assert "" not in lost
    for pointer, value in leaves(document):
        for word in _MARK.findall(value if isinstance(value, str) else ""):
            named = any(pointer == place or pointer.startswith(f"{place}/") for place in lost)
            assert word in output or named, (pointer, value, done)


@pytest.mark.parametrize("target", FORMS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(documents())
def test_there_and_back_is_the_same_where_nothing_is_lost(target: str, given: tuple[str, Any]) -> None:
    source, document = given
    plain = convert(document, source, source=source).document
    try:
        there = convert(plain, target, source=source)
    except sg.openchatml.OpenChatMLError:
        return
    if there.losses:
        return
    back = convert(there.document, source, source=target)
    if not back.losses:
        assert said(read(back.document, source).messages) == said(read(plain, source).messages)
        assert convert(back.document, source, source=source).document == back.document
