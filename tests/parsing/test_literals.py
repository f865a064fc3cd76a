"""Values in notations that are not JSON, and XML escapes, in every chunking."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.format_schema import Notation, read_toml
from syntagma.format_schema.xml_escapes import xml_escaped
from syntagma.formats.notation import in_notation
from syntagma.parsing import StreamParser
from syntagma.parsing.arguments.literal_machine import LiteralMachine, literal_to_json
from syntagma.parsing.arguments.unescaper import Unescaper

PYTHON = Notation(quotes=("'", '"'), true=("True", "true"), false=("False", "false"), null=("None", "null"))
MARKED = Notation(quotes=("<q>",), bare_keys=True)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("notation", [PYTHON, MARKED])
@settings(max_examples=100, deadline=None)
@given(value=VALUES, cut=st.integers(0, 60))
def test_what_is_written_in_a_notation_reads_back(notation: Notation, value: Any, cut: int) -> None:
    text = in_notation(json.dumps(value, ensure_ascii=False), notation)
    if "<q>" in json.dumps(value):
        return
    found = literal_to_json(text, notation)
    assert found is not None, text
    assert json.loads(found) == value
    machine = LiteralMachine(notation)
    parts, rest = [], ""
    for chunk in (text[:cut], text[cut:]):
        rest += chunk
        part = "more"
        while part:
            after, part = machine.feed(rest, 0, len(rest))
            parts.append(part)
            rest = rest[after:]
    assert "".join(parts) + machine.end_of_text(rest) == found


@pytest.mark.parametrize(
    "text", ["{1: 2}", "inf", "nan", "f(1)", "0x1", "1_0", "b'x'", "{'a'}", "01", "[1,,2]", "None,"]
)
def test_what_has_no_json_is_no_value(text: str) -> None:
    assert literal_to_json(text, PYTHON) is None


def test_escapes_and_numbers() -> None:
    assert json.loads(literal_to_json(r"'\d \x41 \u00e9 \ud83d\ude00 \' \n'", PYTHON) or "") == "\\d A é 😀 ' \n"
    assert literal_to_json("[.5, 1., +3, -1e5, (1, 2,)]", PYTHON) == "[0.5, 1.0, 3, -1e5, [1, 2]]"


@given(text=st.text(alphabet="a&<>;\"'![]CDAT#39ltmp", max_size=30), cut=st.integers(0, 30))
def test_escapes_read_back_however_they_are_cut(text: str, cut: int) -> None:
    for attribute in (True, False):
        spelled = xml_escaped(text, attribute=attribute)
        reader = Unescaper()
        assert reader.feed(spelled[:cut]) + reader.feed(spelled[cut:]) + reader.finish() == text


def test_a_closer_inside_a_string_of_json_does_not_end_the_value() -> None:
    spec = read_toml('[tools]\ncall = "<c>{name}{arguments}</c>"\nargument = "<k>{key}</k><v>{value}</v>"\n')
    parameters = {"type": "object", "properties": {"a": {"type": "array"}, "b": {"type": "string"}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    text = '<c>f<k>a</k><v>["x</v>y", 1]</v><k>b</k><v>["x</v></c>'
    for chunks in ([text], list(text)):
        parser = StreamParser(spec, tools)
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
        [call] = parser.message.tool_calls
        assert json.loads(call.arguments) == {"a": ["x</v>y", 1], "b": '["x'}


@pytest.mark.parametrize("quotes", ['"<q>", "\\""', '"\'"', '"\\"\\"\\"", "\'"'])
@pytest.mark.parametrize("bare", ["true", "false"])
@pytest.mark.parametrize("key", ["<q>b<q>c", "<q>b<q>", "'b'", '"b"', "'b'c", '""b"', "b", "<b", "b c", "'b"])
def test_what_follows_a_value_does_not_depend_on_the_cut(quotes: str, bare: str, key: str) -> None:
    spec = read_toml(
        f'[tools]\ncall = "<c>{{name}}{{arguments}}</c>"\nliterals = {{ quotes = [{quotes}], bare_keys = {bare} }}'
    )
    quote = spec.tools.literals.quotes[0] if spec.tools is not None else ""
    first = "a" if bare == "true" else f"{quote}a{quote}"
    for text in (f"<c>f{{{first}: 12, {key}: 1}}</c>", f"<c>f{{{first}: {quote}x{quote}, {key} : 1}}</c>"):
        messages = []
        for at in range(len(text)):
            parser = StreamParser(spec, id_seed="s")
            for chunk in (text[:at], text[at:]) if at else text:
                parser.feed(chunk)
            parser.finish()
            messages.append(parser.message)
        assert all(one == messages[0] for one in messages), text
