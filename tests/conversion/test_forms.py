"""Conversions of single documents: what each form has of its own, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest

import syntagma as sg
from syntagma.conversion import FORMS, Loss, convert, detect, read, write

IMAGE = "data:image/png;base64,AAAA"
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Oslo"}'}}
CHAT: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [{"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": IMAGE}}],
        },
        {"role": "assistant", "content": None, "reasoning_content": "Look it up.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
        {"role": "assistant", "content": "It rains."},
    ],
    "tools": [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}],
}


def test_anthropic_messages_hold_blocks() -> None:
    done = convert(CHAT, "anthropic")
    assert done.losses == ()
    assert done.document == {
        "system": "Be brief.",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "See"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Look it up.", "signature": ""},
                    {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Oslo"}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "rain"}]},
            {"role": "assistant", "content": "It rains."},
        ],
        "tools": [{"name": "weather", "input_schema": {"type": "object"}}],
    }


def test_responses_are_items() -> None:
    done = convert(CHAT, "responses")
    assert done.losses == ()
    assert done.document["instructions"] == "Be brief."
    kinds = [item["type"] for item in done.document["input"]]
    assert kinds == ["message", "reasoning", "function_call", "function_call_output", "message"]
    assert done.document["input"][0]["content"][1] == {"type": "input_image", "image_url": IMAGE}
    assert done.document["tools"] == [{"type": "function", "name": "weather", "parameters": {"type": "object"}}]


def test_chat_templates_take_arguments_as_objects_and_names_of_replies() -> None:
    messages = convert(CHAT, "hf").document["messages"]
    assert messages[2]["tool_calls"][0]["function"]["arguments"] == {"city": "Oslo"}
    assert messages[3] == {"role": "tool", "content": "rain", "tool_call_id": "c1", "name": "weather"}
    assert messages[1]["content"][1] == {"type": "image", "url": IMAGE}


@pytest.mark.parametrize("form", ["harmony", "openchatml"])
def test_transcripts_hold_text(form: str) -> None:
    done = convert(CHAT, form)
    assert isinstance(done.document, str)
    assert "<|channel|>analysis<|message|>Look it up.<|end|>" in done.document
    assert '{"city":"Oslo"}<|call|>' in done.document
    lost = {loss.pointer for loss in done.losses}
    assert {"/messages/1/content/1", "/tools"} <= lost
    assert detect(done.document) == form
    back = convert(done.document, "openai")
    said = [message for message in back.document["messages"] if message["role"] == "assistant"]
    assert [message.get("reasoning_content") for message in said] == ["Look it up.", None]


def test_tools_stand_in_the_developers_message_of_harmony() -> None:
    document = convert(CHAT, "harmony").document
    assert "<|start|>developer<|message|># Tools\n\n## functions\n\nnamespace functions {" in document
    instructed = {"messages": [{"role": "developer", "content": "Be brief."}], "tools": CHAT["tools"]}
    assert "<|message|># Instructions\n\nBe brief.\n\n# Tools" in convert(instructed, "harmony").document


def test_a_preamble_of_harmony_is_content() -> None:
    text = "<|start|>assistant<|channel|>commentary<|message|>I look.<|end|>"
    text += "<|start|>assistant to=functions.f<|channel|>commentary <|constrain|>json<|message|>{}<|call|>"
    (message,) = read(text).messages
    assert detect(text) == "harmony"
    assert (message.content, message.tool_calls[0].name) == ("I look.", "f")


SIGNS: list[tuple[Any, str]] = [
    ([{"role": "user", "content": "a"}], "openai"),
    ({"role": "user", "content": "a"}, "openai"),
    ({"messages": [{"role": "assistant", "content": None, "tool_calls": [CALL]}]}, "openai"),
    ({"system": "a", "messages": []}, "anthropic"),
    ({"role": "assistant", "content": [{"type": "thinking", "thinking": "a"}]}, "anthropic"),
    ({"input": "a"}, "responses"),
    ({"object": "response", "output": []}, "responses"),
    ([{"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}], "responses"),
    ([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}], "hf"),
    ([{"role": "user", "content": [{"type": "image"}]}], "hf"),
    ("<|start|>user<|message|>a<|end|>\n", "openchatml"),
    ("<|start|>functions.f to=assistant<|channel|>commentary<|message|>a<|end|>", "harmony"),
    ("<|start|>assistant<|channel|>commentary<|message|>a<|end|><|start|>user<|message|>b<|end|>", "harmony"),
    ({"text": "<|start|>user<|message|>a<|end|>"}, "openchatml"),
]


@pytest.mark.parametrize(("document", "form"), SIGNS)
def test_a_form_is_known_by_what_only_it_has(document: Any, form: str) -> None:
    assert detect(document) == form
    assert read(document).form == form


def test_what_is_of_no_form_is_refused() -> None:
    with pytest.raises(sg.ArgumentError) as told:
        read("Hello.")
    assert told.value.code == "E-CONVERT-FORM"
    with pytest.raises(sg.ArgumentError) as told:
        read([{"role": 3}])
    assert (told.value.code, told.value.pointer) == ("E-CONVERT-FORM", "/0/role")
    with pytest.raises(sg.ArgumentError) as told:
        convert([], "morse")
    assert "anthropic" in (told.value.hint or "")


CUT_CALL = {"id": "1", "function": {"name": "f", "arguments": "{"}}
OLDER_CALL = {"name": "f", "arguments": "{}"}
THOUGHT = {"type": "thinking", "thinking": "a", "signature": "s"}

LOSSES: list[tuple[Any, str, str]] = [
    ({"messages": [], "model": "m"}, "openai", "/model"),
    ([{"role": "user", "content": "a", "name": "Ann"}], "anthropic", "/0/name"),
    ([{"role": "user", "content": "a"}, {"role": "system", "content": "b"}], "anthropic", "/1/role"),
    ([{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}], "responses", "/1"),
    ([{"role": "assistant", "tool_calls": [CUT_CALL]}], "anthropic", "/0/tool_calls/0"),
    ([{"role": "assistant", "tool_calls": [{"function": OLDER_CALL}]}], "openai", "/0/tool_calls/0"),
    ([{"role": "assistant", "function_call": OLDER_CALL}], "openai", "/0/function_call"),
    ([{"role": "assistant", "content": [THOUGHT]}], "openai", "/0/content/0/signature"),
    ({"input": [{"type": "reasoning", "encrypted_content": "x"}]}, "openai", "/input/0/encrypted_content"),
    ({"input": [{"type": "web_search_call"}]}, "openai", "/input/0"),
    ([{"role": "user", "content": "a", "name": "a b"}], "openchatml", "/0/name"),
]


@pytest.mark.parametrize(("document", "target", "pointer"), LOSSES)
def test_a_loss_says_its_place(document: Any, target: str, pointer: str) -> None:
    assert pointer in [loss.pointer for loss in convert(document, target).losses]


def test_custom_tools_stay_such_between_openai_forms() -> None:
    tool = {"type": "custom", "custom": {"name": "shell", "description": "Runs a line."}}
    call = {"id": "c1", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
    document = {"messages": [{"role": "assistant", "content": None, "tool_calls": [call]}], "tools": [tool]}
    there = convert(document, "responses")
    assert there.losses == ()
    item = {"type": "custom_tool_call", "call_id": "c1", "name": "shell", "input": "ls"}
    assert there.document["input"] == [item]
    assert convert(there.document, "openai").document == document


def test_messages_are_written_and_read() -> None:
    messages = [sg.Message(role="user", content="Hello")]
    for form in FORMS:
        written = write(messages, form, tools=[])
        assert written.losses == ()
        assert read(written.document, form).messages == tuple(messages)
    assert str(Loss("/a", "name", "there is none")) == "/a: name: there is none"
