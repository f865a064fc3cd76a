"""Where calls begin: triggers, and the grammar from a trigger on."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from syntagma import formats
from syntagma.codec import ChatCodec, Turn
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolCall
from syntagma.templates import ChatTemplate
from tests.constraints.walks import accepts, hints, line_ends, matcher, walk
from tests.formats.cases import TOOLS
from tests.formats.every import CALLING, FORMATS

TEMPLATE = ChatTemplate("{% for m in messages %}{{ m.content }}{% endfor %}")
NOTE = ToolCall(id="", name="save_note", arguments='{"text": "a\\n\\"b\\" é", "tags": ["x", ""]}')
CLOCK = ToolCall(id="", name="clock", arguments="{}")
LACKING = ToolCall(id="", name="weather", arguments='{"days": 1}')


def turn(fmt: ChatFormat, **asked: Any) -> Turn:
    options: dict[str, Any] = {"tools": TOOLS, **asked}
    return ChatCodec.from_format(fmt, TEMPLATE).prepare([{"role": "user", "content": "Hello"}], **options)


def from_trigger(fmt: ChatFormat, *calls: ToolCall) -> str:
    """What the format writes for the calls, from their trigger on."""
    # Where a line break ends a value, none holds one.
    lines = fmt.spec.tools is not None and "\n" in line_ends(fmt.spec.tools)
    written = (msgspec.structs.replace(call, arguments=call.arguments.replace("\\n", "")) for call in calls)
    text = fmt.write(Message(tool_calls=tuple(written) if lines else calls), TOOLS)
    return text[min(text.index(trigger) for trigger in fmt.triggers if trigger in text) :]


TRIGGERED = [name for name in CALLING if FORMATS[name].triggers]


@pytest.mark.every_format
@pytest.mark.parametrize("name", TRIGGERED)
def test_triggers_have_no_whitespace_at_their_edges(name: str) -> None:
    spec = FORMATS[name].spec
    fields = spec.messages.fields if spec.messages is not None else ()
    for trigger in FORMATS[name].triggers:
        assert trigger == trigger.strip() or trigger.startswith(tuple(field for field in fields if field[0].isspace()))
        assert trigger == trigger.rstrip()


@pytest.mark.every_format
@pytest.mark.parametrize("name", TRIGGERED)
def test_the_call_grammar_begins_with_each_trigger(name: str) -> None:
    grammar = turn(FORMATS[name]).call_grammar
    assert grammar is not None
    for trigger in FORMATS[name].triggers:
        assert matcher(grammar).accept_bytes(trigger.encode()), trigger


@pytest.mark.parametrize("reasoning", ["auto", "open"])
@pytest.mark.every_format
@pytest.mark.parametrize("name", TRIGGERED)
def test_what_is_written_is_accepted_from_its_trigger_on(name: str, reasoning: str) -> None:
    fmt = FORMATS[name]
    grammar = turn(fmt, reasoning=reasoning).call_grammar
    assert grammar is not None
    one, two = from_trigger(fmt, NOTE), from_trigger(fmt, CLOCK, NOTE)
    assert accepts(grammar, one)
    assert accepts(grammar, two)
    assert not accepts(grammar, "")
    assert not accepts(grammar, from_trigger(fmt, LACKING))
    single = turn(fmt, reasoning=reasoning, parallel_tool_calls=False).call_grammar
    assert single is not None
    assert accepts(single, one)
    assert not accepts(single, two)


@pytest.mark.every_format
@pytest.mark.parametrize("name", TRIGGERED)
def test_what_may_be_written_from_a_trigger_on_reads_as_calls(name: str) -> None:
    fmt = FORMATS[name]
    grammar = turn(fmt).call_grammar
    assert grammar is not None
    rng = random.Random(name)
    read = 0
    for _ in range(40):
        text = walk(grammar, rng, hints(fmt))
        if text is None:
            continue
        read += 1
        assert text.startswith(fmt.triggers), text
        message = fmt.parse(text, TOOLS, reasoning="closed" if fmt.spec.reasoning is not None else "auto")
        assert message.tool_calls, text
        assert all(call.complete for call in message.tool_calls), text
        assert not message.diagnostics, text
    assert read > 4


def test_there_is_a_call_grammar_where_calls_are_constrained() -> None:
    fmt = FORMATS["wrapped"]
    assert turn(fmt, tools=None).call_grammar is None
    assert turn(fmt, tools=[]).call_grammar is None
    assert turn(fmt, tool_choice="none").call_grammar is None
    assert turn(fmt, enforce="off").call_grammar is None
    assert turn(fmt, tool_choice="required").call_grammar is not None
    named = turn(fmt, tool_choice="clock").call_grammar
    assert named is not None
    assert accepts(named, from_trigger(fmt, CLOCK))
    assert not accepts(named, from_trigger(fmt, CLOCK, CLOCK))
    assert not accepts(named, from_trigger(fmt, NOTE))
    plain = formats.get(next(name for name in formats.names() if name not in CALLING))
    assert plain.triggers == ()
    assert turn(plain).call_grammar is None


def test_whitespace_before_a_trigger_is_no_part_of_the_call_grammar() -> None:
    fmt = ChatFormat.from_toml('[tools]\nsection = "\\n<s>\\n{calls}</s>"\ncall = "<c>{name}{arguments}</c>"\n')
    assert fmt.triggers == ("<s>",)
    grammar = turn(fmt).call_grammar
    assert grammar is not None
    assert accepts(grammar, "<s>\n<c>clock{}</c></s>")
    assert accepts(grammar, "<s>\n<c>clock{}</c></s> Done.")
    assert not accepts(grammar, "\n<s>\n<c>clock{}</c></s>")
    assert not accepts(grammar, "<s>\n<c>clock{}</c></s><s>")
