"""What `reasoning=` and `template_kwargs=` say of the start of a turn, parser and grammar understand alike."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolCall
from syntagma.templates import Prompt
from tests.constraints.walks import accepts, hints, unexpected, walk
from tests.formats.cases import TOOLS
from tests.formats.every import FORMATS

REASONING = [name for name, fmt in FORMATS.items() if fmt.spec.reasoning is not None]


def _options(fmt: ChatFormat) -> Iterator[dict[str, Any]]:
    """Everything that may be said of the start without a prompt."""
    assert fmt.spec.reasoning is not None
    states = ["open", "closed", "off"] if fmt.spec.messages is None else ["closed", "off"]
    yield from ({"reasoning": state} for state in states)
    for variable, values in fmt.spec.reasoning.switch.items():
        for value in values:
            yield {"template_kwargs": {variable: _given(value)}}
            yield {"template_kwargs": {variable: _given(value)}, "reasoning": "off"}


def _given(value: str) -> Any:
    """The value of a template variable that a file writes as this text."""
    try:
        return json.loads(value)
    except ValueError:
        return value


@pytest.mark.every_format
@pytest.mark.parametrize("name", REASONING)
def test_parser_and_grammar_begin_in_the_same_state(name: str) -> None:
    fmt = FORMATS[name]
    reasoning = fmt.spec.reasoning
    assert reasoning is not None
    rng = random.Random(name)
    for asked in _options(fmt):
        options = {**asked, "tool_choice": "none"}
        state = fmt.start_state(**options)
        assert fmt.parser(**options).start_state == state
        grammar = fmt.grammar(**options)
        tried = [*hints(fmt), *[block.closer for block in reasoning.block] * 6]
        for _ in range(4):
            text = walk(grammar, rng, tried, steps=30)
            if text is None:
                continue
            parser = fmt.parser(**options)
            events = [*parser.feed(text), *parser.finish()]
            message = parser.message
            assert not unexpected(fmt, events), (options, text)
            assert reasoning.to == "content" or not message.incomplete, (options, text)
            if reasoning.to == "reasoning" and state.reasoning == "done":
                assert not message.reasoning_content, (options, text)


@pytest.mark.every_format
@pytest.mark.parametrize("name", REASONING)
def test_reasoning_that_is_off_is_not_written(name: str) -> None:
    fmt = FORMATS[name]
    reasoning = fmt.spec.reasoning
    assert reasoning is not None
    block = reasoning.block[0]
    said: list[dict[str, Any]] = [{"reasoning": "off"}]
    for variable, values in reasoning.switch.items():
        said += [{"template_kwargs": {variable: _given(value)}} for value, state in values.items() if state == "off"]
    for options in said:
        assert fmt.start_state(**options).reasoning == "done"
        if block.opener.strip():
            assert not accepts(fmt.grammar(**options), f"{block.opener}Hm.{block.closer}")


def test_the_block_that_a_variable_opens_is_the_one_that_is_closed() -> None:
    fmt = ChatFormat.from_toml(
        '[reasoning]\nblock = ["<a>{reasoning}</a>", "<b>{reasoning}</b>"]\nstart = "open"\n'
        'switch.effort = { high = "<a>", low = "<b>" }\n'
    )
    for effort, closer, other in (("high", "</a>", "</b>"), ("low", "</b>", "</a>")):
        options: dict[str, Any] = {"template_kwargs": {"effort": effort}}
        grammar = fmt.grammar(**options)
        assert accepts(grammar, f"Hm.{closer}Yes.")
        assert not accepts(grammar, f"Hm.{other}Yes.")
        message = fmt.parse(f"Hm.{closer}Yes.", **options)
        assert (message.reasoning_content, message.content) == ("Hm.", "Yes.")
    unknown = fmt.grammar(reasoning="open")
    assert accepts(unknown, "Hm.</a>Yes.")
    assert accepts(unknown, "Hm.</b>Yes.")


HEADED = [name for name, fmt in FORMATS.items() if fmt.spec.messages is not None]


@pytest.mark.every_format
@pytest.mark.parametrize("name", HEADED)
def test_a_prompt_that_ends_inside_a_header_is_gone_on_with(name: str) -> None:
    fmt = FORMATS[name]
    assert fmt.spec.messages is not None
    call = ToolCall(id="", name="clock", arguments="{}")
    messages = [Message(content="Yes."), Message(tool_calls=(call,)), Message(content="Yes.", tool_calls=(call, call))]
    if fmt.spec.reasoning is not None:
        messages.append(Message(content="Yes.", reasoning_content="So."))
    held = 0
    for message in messages:
        text = fmt.write(message, TOOLS)
        header = text[: text.index(fmt.spec.messages.body)].partition("clock")[0]
        for place in range(1, len(header) + 1):
            prompt = Prompt("user: hi\n" + "".join(fmt.spec.messages.start[:1]) + text[:place], 9)
            read = fmt.parse(text[place:], TOOLS, prompt=prompt)
            if read.diagnostics or read.content != message.content:
                continue
            held += 1
            grammar = fmt.grammar(TOOLS, prompt=prompt)
            assert accepts(grammar, text[place:]), (text[:place], text[place:])
            assert not accepts(grammar, text), text[:place]
    assert held > 3
