"""Every conversation renders on every template, and what a template takes as it is stays as it is."""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
import zlib
from pathlib import Path
from typing import Any

import pytest

from syntagma.analysis import Capabilities, analyze
from syntagma.codec import ChatCodec
from syntagma.errors import ArgumentError, SyntagmaError, TemplateError
from syntagma.templates import ChatTemplate
from tests.codec.conversations import CONVERSATIONS, TOOLS, Conversation, disordered, missing
from tests.codec.drawn import drawn_conversation
from tests.codec.plain import FORMAT, NOW, plain_render

FOLDER = Path(__file__).parents[2] / "conformance" / "templates"
FILES = {path.stem: path for path in FOLDER.rglob("*.jinja")}
DEMANDING = sorted(path.stem for path in (FOLDER / "demanding").glob("*.jinja"))
OTHERS = sorted(FILES.keys() - {*DEMANDING})
WITH_IMAGES = {"corner-quotes", "parts-only"}
WRITTEN_TWICE = {"nested-envelope", "string-arguments-named", "dollar-calls"}
"""templates whose arguments are JSON inside of JSON, or with escapes of their own"""


def template(name: str) -> ChatTemplate:
    return ChatTemplate(FILES[name].read_text(encoding="utf-8"), eos_token="</s>")


@functools.cache
def codec(name: str, *, named: bool) -> ChatCodec:
    made = template(name)
    if named:
        return ChatCodec.from_format(FORMAT, made)
    return ChatCodec.from_template(made, analyze(made, certify=False, candidates="derived"))


def _check(name: str, kind: str, *, named: bool) -> None:
    conversation = CONVERSATIONS[kind]
    made = codec(name, named=named)
    if kind == "image" and name not in WITH_IMAGES:
        with pytest.raises(ArgumentError) as caught:
            made.render(conversation.messages, now=NOW)
        assert (caught.value.code, caught.value.pointer) == ("E-MESSAGE-PART", "/messages/0/content/1")
        return
    exact = name not in WRITTEN_TWICE or kind != "quotes and tags"
    prompt = _law(name, conversation, named=named, exact=exact)
    if made.capabilities.tools and (kind == "tools" or kind.startswith("tool w")):
        assert all(tool["function"]["name"] in prompt for tool in conversation.tools or ())


def _law(name: str, conversation: Conversation, *, named: bool, exact: bool = True) -> str:
    """The prompt, which shows each text in order, and is the plain render if that does."""
    made = codec(name, named=named)
    prompt = str(made.render(conversation.messages, tools=conversation.tools, now=NOW))
    if exact:
        assert missing(conversation, prompt) == []
        assert disordered(conversation, prompt) == []
    given = plain_render(template(name), Capabilities() if named else made.capabilities, conversation)
    if given is not None and not missing(conversation, given) and not disordered(conversation, given):
        # A format alone does not say where reasoning goes, and texts do not tell whether an image is shown.
        thinks = any("reasoning_content" in one for one in conversation.messages)
        assert prompt == given or (named and thinks) or conversation is CONVERSATIONS["image"]
    return prompt


@pytest.mark.parametrize("kind", CONVERSATIONS)
@pytest.mark.parametrize("name", DEMANDING)
@pytest.mark.parametrize("named", [False, True], ids=["analysed", "named"])
def test_each_demanding_template_shows_each_text(name: str, kind: str, named: bool) -> None:
    _check(name, kind, named=named)


@pytest.mark.some(16)
@pytest.mark.parametrize("name", OTHERS)
def test_each_other_template_shows_each_text(name: str) -> None:
    for kind, named in itertools.product(CONVERSATIONS, (False, True)):
        _check(name, kind, named=named)


@pytest.mark.parametrize("name", DEMANDING)
def test_each_demanding_template_shows_any_conversation(name: str) -> None:
    for seed in range(60):
        _law(name, drawn_conversation(seed), named=seed % 2 == 0)


@pytest.mark.some(8)
@pytest.mark.parametrize("name", OTHERS)
def test_each_other_template_shows_any_conversation(name: str) -> None:
    for seed in range(10):
        _law(name, drawn_conversation(zlib.crc32(name.encode()) + seed), named=seed % 2 == 0)


NEEDED = {
    "alternating": {"developer-as-system", "turns-joined", "parts-joined"},
    "described-tools": {"parts-joined"},
    "first-system": {"systems-first", "developer-as-system"},
    "known-roles": {"systems-first", "developer-as-system"},
    "named-results": {"results-named"},
    "needs-question": {"system-to-user", "blank-for-empty"},
    "no-calls": {"calls-as-text", "results-to-user"},
    "no-system": {"system-to-user", "turns-joined", "turns-filled"},
    "one-call": {"calls-apart", "content-before-call"},
    "one-text": {"content-before-call"},
    "parts-only": {"probed-inputs"},
    "quiet-calls": {"turns-joined", "content-before-call"},
}


@pytest.mark.parametrize("name", NEEDED)
def test_capabilities_list_the_steps_that_a_template_needs(name: str) -> None:
    found = codec(name, named=True).capabilities
    assert NEEDED[name] <= {*found.steps}
    assert found.losses == ()


def test_what_is_done_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    fresh = ChatCodec.from_format(FORMAT, template("known-roles"))
    with caplog.at_level(logging.INFO, "syntagma.codec"):
        for _ in range(3):
            fresh.render(CONVERSATIONS["developer"].messages)
    assert [record.getMessage() for record in caplog.records] == [
        "for this template, messages of role `developer` are of role `system` (step developer-as-system)"
    ]


def test_that_a_cut_call_is_completed_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    fresh = ChatCodec.from_format(FORMAT, template("tags-json"))
    cut = {"id": "a1", "type": "function", "function": {"name": "f", "arguments": '{"a": "x'}}
    messages = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "", "tool_calls": [cut]}]
    with caplog.at_level(logging.INFO, "syntagma.codec"):
        for _ in range(3):
            fresh.render(messages)
    told = [record.getMessage() for record in caplog.records if "cut off" in record.getMessage()]
    assert told == ["the arguments of /messages/1/tool_calls/0 were cut off, and are completed in the prompt"]


def test_what_is_lost_is_told_once_and_listed(caplog: pytest.LogCaptureFixture) -> None:
    fresh = ChatCodec.from_format(FORMAT, ChatTemplate("{% for m in messages %}<{{ m.content[:9] }}>{% endfor %}"))
    with caplog.at_level(logging.WARNING, "syntagma.codec"):
        for _ in range(3):
            fresh.render(CONVERSATIONS["system, user"].messages, tools=TOOLS)
    assert len(caplog.records) == 2
    assert "declared tools" in caplog.text
    assert "/messages/0/content, /messages/1/content" in caplog.text
    assert "texts" in fresh.capabilities.losses


def test_a_refused_conversation_names_the_message() -> None:
    refused = "{% if m.content == 'no' %}{{ raise_exception('no') }}{% endif %}"
    source = "{% for m in messages %}" + refused + "{{ m.content }}{% endfor %}"
    fresh = ChatCodec.from_format(FORMAT, ChatTemplate(source))
    with pytest.raises(TemplateError) as caught:
        fresh.render([{"role": "user", "content": "yes"}, {"role": "assistant", "content": "no"}])
    assert caught.value.pointer == "/messages/1"


@pytest.mark.parametrize("kind", ["input_audio", "file", "video_url", "image_url"])
def test_parts_that_are_no_text_need_a_place(kind: str) -> None:
    part = {"type": kind, kind: {"data": "AAAA", "url": "data:,AAAA", "file_data": "AAAA", "format": "wav"}}
    messages = [{"role": "user", "content": [{"type": "text", "text": "Look."}, part]}]
    shown = codec("parts-only", named=True)
    if kind == "image_url":
        assert shown.render(messages) == "<|user|>Look.<|picture|><|end|><|assistant|>"
    else:
        with pytest.raises(ArgumentError, match="has no place") as caught:
            shown.render(messages)
        assert (caught.value.code, caught.value.pointer) == ("E-MESSAGE-PART", "/messages/0/content/1")
    with pytest.raises(ArgumentError, match="has no place"):
        codec("known-roles", named=True).render(messages)


@pytest.mark.parametrize("name", DEMANDING)
def test_members_of_other_types_never_crash(name: str) -> None:
    odd: list[dict[str, Any]] = [
        {"role": None, "content": {"a": 1}},
        {"role": "user", "content": ["x", {"type": 5}, {"type": "text", "text": 3}]},
        {
            "role": "assistant",
            "content": 3,
            "tool_calls": [{"id": [1], "function": {"name": 3, "arguments": 4}}, None, 5],
        },
        {"role": "tool", "tool_call_id": [2], "content": {"a": 1}},
        {"role": "assistant", "tool_calls": "x", "refusal": 4, "reasoning": {}},
    ]
    for messages in (odd, *([one] for one in odd)):
        with contextlib.suppress(SyntagmaError):
            codec(name, named=True).render(messages, tools=TOOLS)


QUESTION = {"role": "user", "content": "What is left?"}


def _between(made: ChatCodec, *instructions: tuple[str, str]) -> str:
    """What a prompt has between the last instruction and the question, without blanks."""
    messages = [{"role": role, "content": text} for role, text in instructions]
    prompt = str(made.render([*messages, QUESTION], now=NOW))
    last = instructions[-1][1]
    return prompt[prompt.index(last) + len(last) : prompt.index(QUESTION["content"])].strip()


@pytest.mark.parametrize("name", [*DEMANDING, *OTHERS])
def test_instructions_do_not_become_a_question(name: str) -> None:
    """Where a template has a place for one instruction, two are never put into the user's turn."""
    made = codec(name, named=True)
    if _between(made, ("system", "Be brief.")):
        for roles in itertools.product(("system", "developer"), repeat=2):
            assert _between(made, (roles[0], "Be brief."), (roles[1], "Be kind.")), roles


def test_a_template_of_one_instruction_keeps_two_together() -> None:
    """Its first message is an instruction, and other messages that are none of the user's are left out quietly."""
    written = ChatTemplate(
        "{% if messages[0].role in ['system', 'developer'] %}<rules>{{ messages[0].content }}</rules>{% endif %}"
        "{% for m in messages %}{% if m.role in ['user', 'assistant'] %}<{{ m.role }}>{{ m.content }}<end>{% endif %}"
        "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
    )
    made = ChatCodec.from_format(FORMAT, written)
    for roles in itertools.product(("system", "developer"), repeat=2):
        messages = [{"role": role, "content": text} for role, text in zip(roles, ("First.", "Second."), strict=True)]
        prompt = str(made.render([*messages, QUESTION], now=NOW))
        assert prompt == "<rules>First.\n\nSecond.</rules><user>What is left?<end><assistant>"
