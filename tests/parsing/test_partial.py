"""Values while their text arrives: what `StreamParser.partial` says, and where it finds a schema broken."""

from __future__ import annotations

import json
import random
import sys
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

import syntagma as sg
from syntagma.json_pointer import pointer_of
from syntagma.parsing import OpenText
from syntagma.parsing.partial_value import ValueReader
from tests.formats.cases import TOOLS, load
from tests.formats.messages import JSON

CASES = [pytest.param(one.fmt, one.case, id=one.id) for one in load() if one.case.calls]
TOOL = {
    "name": "trip",
    "parameters": {
        "type": "object",
        "properties": {
            "place": {"type": "string", "maxLength": 9},
            "days": {"type": "integer", "maximum": 9},
            "stops": {"type": "array", "items": {"enum": ["Pisa", "Siena"]}},
        },
        "required": ["place"],
        "additionalProperties": False,
    },
}
FORMAT = sg.formats.get("hermes")


def plain(value: Any) -> Any:
    """A value with its open strings as strings; a copy."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else str(value) if is_open(value) else value


def is_open(value: Any) -> bool:
    return isinstance(value, OpenText)


def opened(value: Any) -> list[str]:
    """The pointers of open strings."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [""] if is_open(value) else [pointer_of(step) + rest for step, one in members for rest in opened(one)]


def grows(before: Any, after: Any) -> bool:
    """Whether a later value continues an earlier one: members are added, and only open strings change."""
    if is_open(before):
        return isinstance(plain(after), str) and plain(after).startswith(str(before))
    if isinstance(before, dict):
        return isinstance(after, dict) and all(key in after and grows(one, after[key]) for key, one in before.items())
    if isinstance(before, list):
        return isinstance(after, list) and len(before) <= len(after) and all(map(grows, before, after))
    return bool(before == after)


def call_of(arguments: str) -> str:
    return f'<tool_call>{{"name": "trip", "arguments": {arguments}}}</tool_call>'


@given(JSON, st.booleans(), st.sampled_from([None, 1]), st.randoms(use_true_random=False))
def test_a_value_grows_to_what_json_reads(
    value: Any, ascii_only: bool, indent: int | None, cuts: random.Random
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    reader, at, before = ValueReader(), 0, None
    while at < len(text):
        end = at + cuts.choice((1, 1, 2, 7, 100))
        reader.write(text[at:end])
        at = end
        if opened(reader.value):
            assert opened(reader.value) == [reader.pointer]
        assert before is None or grows(before, reader.value)
        before = plain(reader.value) if isinstance(reader.value, dict | list) and not opened(reader.value) else None
    reader.write("\n")
    assert reader.complete
    assert reader.value == value


@given(JSON, st.lists(st.tuples(st.integers(0, 40), st.sampled_from([*'{}[]",:\\u0d8x1-.etf ', ""])), max_size=3))
def test_text_that_is_no_json_ends_a_value_and_raises_nothing(value: Any, slips: list[tuple[int, str]]) -> None:
    text = json.dumps(value)
    for at, slip in slips:
        text = text[:at] + slip + text[at + 1 :]
    whole, slow = ValueReader(), ValueReader()
    whole.write(text)
    for char in text:
        slow.write(char)
    assert (plain(whole.value), whole.pointer, whole.complete) == (plain(slow.value), slow.pointer, slow.complete)
    whole.write(" ")
    try:
        expected = json.loads(text, parse_constant=float.__new__)
    except (ValueError, TypeError):
        return
    assert whole.complete
    assert whole.value == expected


@pytest.mark.parametrize(("fmt", "case"), CASES)
def test_every_format_has_its_arguments_as_they_come(fmt: Any, case: Any) -> None:
    options = {"prompt": case.prompt, "template_kwargs": case.template_kwargs, "id_seed": ""}
    parser, alone = fmt.parser(TOOLS, **options), fmt.parser(TOOLS, **options)
    before: dict[int, Any] = {}
    for char in case.raw:
        parser.feed(char)
        alone.feed(char)
        for index in range(len(parser.message.tool_calls)):
            partial = parser.partial(index)
            assert partial is not None
            assert partial is parser.partial(index)
            now = partial.value
            assert before.get(index) is None or grows(before[index], now)
            assert opened(now) in ([], [partial.pointer])
            before[index] = {} if opened(now) else plain(now)
    parser.finish()
    alone.finish()
    assert parser.message == alone.message
    for index, call in enumerate(parser.message.tool_calls):
        partial = parser.partial(index)
        assert partial is not None
        if call.complete:
            assert partial.complete
            assert partial.value == json.loads(call.arguments)


def test_open_strings_are_marked_and_the_object_grows() -> None:
    parser = FORMAT.parser([TOOL])
    assert parser.partial(0) is None
    parser.feed('<tool_call>{"name": "trip", "arguments": {"days": 3, "place": "Ro')
    partial = parser.partial(0)
    assert partial is not None
    arguments = partial.value
    assert json.dumps(arguments, default=str) == '{"days": 3, "place": "Ro"}'
    assert opened(arguments) == [partial.pointer] == ["/place"]
    parser.feed('me", "stops": ["Pisa", "Si')
    assert plain(arguments) == {"days": 3, "place": "Rome", "stops": ["Pisa", "Si"]}
    assert opened(arguments) == [partial.pointer] == ["/stops/1"]
    assert not partial.complete
    for index in (-1, 1, None):
        assert parser.partial(index) is None


def test_a_string_shows_no_half_of_a_character() -> None:
    reader = ValueReader()
    for char, shown in zip('"a\\ud83d\\ude00\\n', ["", *["a"] * 12, "a😀", "a😀", "a😀\n"], strict=True):
        reader.write(char)
        assert str(reader.value) == shown
    reader.write('"')
    assert reader.value == "a😀\n"


@pytest.mark.parametrize(
    ("arguments", "offset", "pointer"),
    [
        ('{"place": "Rome", "days": 30}', 27, "/days"),
        ('{"days": "three"}', 9, "/days"),
        ('{"place": "somewhere else"}', 20, "/place"),
        ('{"stops": ["Pisa", "Rome"]}', 20, "/stops/1"),
        ('{"place": "Rome", "when": 1}', 19, ""),
        ('{"days": 3}', 10, ""),
    ],
)
def test_the_field_that_broke_is_told_with_the_character_that_breaks_it(
    arguments: str, offset: int, pointer: str
) -> None:
    text = call_of(arguments)
    parser = FORMAT.parser([TOOL])
    problem = None
    for char in text:
        parser.feed(char)
        partial = parser.partial(0)
        problem = problem or (partial and partial.problem)
        written = parser.message.tool_calls[0].arguments if parser.message.tool_calls else ""
        assert (problem is not None) == (len(written) > offset)
    assert problem is not None
    assert (problem.offset, problem.pointer) == (offset, pointer)
    assert problem.message
    late = FORMAT.parser([TOOL])
    late.feed(text)
    partial = late.partial(0)
    assert partial is not None
    assert partial.problem == problem


def test_what_fits_has_no_problem_in_any_order_and_with_any_whitespace() -> None:
    for arguments in ('{"stops":["Pisa"],"place":"Rome"}', "{\n" + " " * 300 + '"days" : 3 , "place": "Ñ"}'):
        parser = FORMAT.parser([TOOL])
        for char in call_of(arguments):
            parser.feed(char)
            partial = parser.partial(0)
            assert partial is None or partial.problem is None


def test_a_call_without_a_schema_must_be_json() -> None:
    parser = FORMAT.parser()
    parser.feed(call_of('{"a": [1, {"b": "c"}]}'))
    partial = parser.partial(0)
    assert partial is not None
    assert (partial.value, partial.problem) == ({"a": [1, {"b": "c"}]}, None)


def test_an_answer_is_a_value_if_it_was_asked_for() -> None:
    parser = FORMAT.parser([], response_format=TOOL["parameters"])
    assert parser.partial() is None
    parser.feed('{"place": "Ro')
    partial = parser.partial()
    assert partial is not None
    assert (plain(partial.value), partial.pointer, partial.problem) == ({"place": "Ro"}, "/place", None)
    parser.feed('me", "days": 12}')
    assert partial.value == {"place": "Rome", "days": 12}
    assert partial.problem is not None
    assert partial.problem.pointer == "/days"
    free = FORMAT.parser()
    free.feed("Some text.")
    assert free.partial() is None
    prose = FORMAT.parser([], response_format={"type": "json_object"})
    prose.feed("Here it is: {}")
    partial = prose.partial()
    assert partial is not None
    assert partial.value is None
    assert partial.problem is not None
    assert (partial.problem.offset, partial.complete) == (0, False)


@pytest.mark.parametrize("member", ['"k%d": "some words", ', '"k%d": [{"x": 1.5}], '])
def test_twice_the_text_takes_twice_the_steps(member: str) -> None:
    def steps(number: int) -> int:
        arguments = "{" + "".join(member % at for at in range(number)) + '"long": "' + "word " * number + '"}'
        text = call_of(arguments)
        parser = FORMAT.parser([{"name": "trip", "parameters": {"type": "object"}}])
        count = 0

        def seen(frame: Any, event: str, found: Any) -> None:
            nonlocal count
            del frame
            count += len(found) if isinstance(found, str | list | dict) and event == "return" else 1

        sys.setprofile(seen)
        try:
            for at in range(0, len(text), 5):
                parser.feed(text[at : at + 5])
                partial = parser.partial(0)
                if partial is not None:
                    assert partial.problem is None
        finally:
            sys.setprofile(None)
        return count

    steps(10)
    assert steps(800) < 2.2 * steps(400)
