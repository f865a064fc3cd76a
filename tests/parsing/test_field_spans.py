"""Where the fields of a message stand in its raw text, over all formats."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import syntagma as sg
from syntagma.json_pointer import follow, pointer_of, steps_of
from syntagma.parsing import FieldSpan, field_spans
from tests.formats.written import sayable

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer"},
                    "exact": {"type": "boolean"},
                    "spot": {"type": "object", "properties": {"lat": {"type": "number"}, "names": {"type": "array"}}},
                },
            },
        },
    }
]
WORDS = st.text("abcdefgh 東é", min_size=1, max_size=12).map(lambda text: "zq" + text.strip())
ARGUMENTS = st.fixed_dictionaries(
    {"city": WORDS},
    optional={
        "days": st.integers(-99, 99),
        "exact": st.booleans(),
        "spot": st.fixed_dictionaries({"lat": st.integers(1, 9).map(lambda n: n + 0.5)}),
    },
)


ALONE = {"llama3"}
"""formats whose calls are the whole turn: no content stands beside them"""


def message_of(name: str, arguments: dict[str, Any]) -> sg.Message:
    """A message with all parts that the format can write together."""
    call = {"id": "abc123def", "type": "function", "function": {"name": "get_weather", "arguments": arguments}}
    whole = {"role": "assistant", "content": "Well.", "reasoning_content": "Hm?", "tool_calls": [call]}
    if name in ALONE:
        whole["content"] = None
    return sayable(sg.formats.get(name), sg.Message.from_openai(whole))


def read(name: str, raw: str, size: int) -> tuple[sg.Message, list[FieldSpan]]:
    parser = sg.formats.get(name).parser(TOOLS, id_seed="")
    events = [event for at in range(0, len(raw), size) for event in parser.feed(raw[at : at + size])]
    events += parser.finish("stop")
    assert parser.position == len(raw)
    return parser.message, field_spans(parser.raw, events)


def leaves(value: Any, pointer: str) -> dict[str, Any]:
    if isinstance(value, dict) and value:
        return {at: one for key, part in value.items() for at, one in leaves(part, pointer + pointer_of(key)).items()}
    return {pointer: value}


@pytest.mark.parametrize("name", sg.formats.names())
@settings(max_examples=12)
@given(arguments=ARGUMENTS, size=st.sampled_from([1, 2, 5]))
def test_every_value_stands_in_the_span_of_its_field(name: str, arguments: dict[str, Any], size: int) -> None:
    given = message_of(name, arguments)
    raw = sg.formats.get(name).write(given, TOOLS)
    message, spans = read(name, raw, size)
    assert [message.content, message.reasoning_content] == [given.content, given.reasoning_content]
    assert len(message.tool_calls) == len(given.tool_calls)
    assert [span.start for span in spans[1:]] == [span.end for span in spans[:-1]], "spans leave no gaps"
    assert spans[0].start == 0
    assert spans[-1].end == len(raw)
    texts: dict[str, str] = {}
    for span in spans:
        if span.is_value:
            texts[span.pointer] = texts.get(span.pointer, "") + raw[span.start : span.end]
    # An opener that the prompt ended with stands in the content, and not in the text.
    parts = {"content": message.content and "Well.", "reasoning_content": message.reasoning_content}
    wanted: dict[str, Any] = {pointer_of(key): value for key, value in parts.items() if value}
    for index, call in enumerate(message.tool_calls):
        wanted[pointer_of("tool_calls", index, "name")] = call.name
        wanted |= leaves(json.loads(call.arguments), pointer_of("tool_calls", index, "arguments"))
    assert set(texts) == set(wanted)
    for pointer, value in wanted.items():
        spelled = value if isinstance(value, str) else json.dumps(value)
        # Words such as True are spelled as the format does.
        assert spelled.lower() in texts[pointer].lower(), pointer
        rest = texts[pointer].lower().replace(spelled.lower(), "", 1)
        # What is left is what closes the value: no text of another field.
        others = [str(one) for at, one in wanted.items() if at != pointer and isinstance(one, str)]
        assert not any(other.lower() in rest for other in others), (pointer, rest)


SCALARS = st.text(max_size=6) | st.integers() | st.none()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60)
@given(arguments=st.dictionaries(st.text(max_size=6), VALUES, max_size=4), size=st.integers(1, 9))
def test_json_arguments_have_the_pointers_of_their_values(arguments: dict[str, Any], size: int) -> None:
    text = json.dumps(arguments)
    raw = f'<tool_call>\n{{"name": "f", "arguments": {text}}}\n</tool_call>'
    parser = sg.formats.get("qwen25").parser(None, id_seed="")
    events = [event for at in range(0, len(raw), size) for event in parser.feed(raw[at : at + size])]
    spans = field_spans(raw, [*events, *parser.finish()])
    found = {span.pointer: raw[span.start : span.end] for span in spans if span.is_value}
    for pointer, spelled in found.items():
        if pointer.startswith("/tool_calls/0/arguments"):
            document = {"tool_calls": [{"arguments": arguments}]}
            assert json.loads(spelled) == follow(document, pointer), pointer
    assert found["/tool_calls/0/name"] == "f"
    assert len(found) - 1 == count(arguments)


def count(value: Any) -> int:
    """Strings, numbers and words in a value."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 1 if parts is None else sum(map(count, parts))


def test_json_content_has_fields_where_it_was_asked_for() -> None:
    parser = sg.formats.get("hermes").parser([], response_format={"type": "json_object"})
    raw = '{"verdict": "guilty", "years": [3, 12]}'
    events = [event for char in raw for event in parser.feed(char)] + parser.finish()
    assert parser.reads_json
    spans = field_spans(raw, events, json_content=True)
    values = {span.pointer: raw[span.start : span.end] for span in spans if span.is_value}
    assert values == {"/content/verdict": '"guilty"', "/content/years/0": "3", "/content/years/1": "12"}
    assert {span.pointer for span in field_spans(raw, events)} == {"/content"}
    assert steps_of("/content/years/1") == ["content", "years", "1"]
