"""Values that are literals, between markers or signs of any kind: read in every chunking, held, and written."""

from __future__ import annotations

import json

import pytest

import syntagma as sg
from syntagma.testing import byte_vocabulary

SCHEMA = {
    "type": "object",
    "properties": {
        "port": {"type": "string"},
        "seats": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
}
TOOLS = [{"name": "sail", "parameters": SCHEMA}]
SHAPES = {
    "between tags": (
        """call = '<do name="{name}">{arguments}</do>'\nargument = '<v name="{key}">{value}</v>'""",
        """<do name="sail"><v name="port">"Os</v>lo </do>"</v><v name="seats">3</v><v name="tags">["a"]</v></do>""",
    ),
    "with a sign after each": (
        "call = '!do {name} {arguments}!done'\nargument = '{key}:={value}; '",
        """!do sail port:="Os</v>lo </do>"; seats:=3; tags:=["a"]; !done""",
    ),
    "in the tag": (
        "call = '<do {name}>{arguments}</do>'\nargument = '<{key}={value}>'",
        """<do sail><port="Os</v>lo </do>"><seats=3><tags=["a"]></do>""",
    ),
    "with a sign before each": (
        "call = '(do {name}{arguments})'\nargument = ' :{key}= {value}'",
        """(do sail :port= "Os</v>lo </do>" :seats= 3 :tags= ["a"])""",
    ),
    "with nothing but space between": (
        "call = '(do {name}{arguments})'\nargument = ' :{key} {value}'",
        """(do sail :port "Os</v>lo </do>" :seats 3 :tags ["a"])""",
    ),
    "with a separator": (
        "call = '<do {name}>{arguments}</do>'\nargument = '@{key}={value}'\nargument_separator = ' | '",
        """<do sail>@port="Os</v>lo </do>" | @seats=3 | @tags=["a"]</do>""",
    ),
}


def _format(shape: str) -> sg.ChatFormat:
    return sg.ChatFormat.from_toml("[tools]\nvalues = 'literal'\n" + SHAPES[shape][0])


@pytest.mark.parametrize("shape", SHAPES)
def test_they_are_read_in_every_chunking(shape: str) -> None:
    fmt, text = _format(shape), SHAPES[shape][1]
    pieces = [[text[:at], text[at:]] for at in range(len(text))]
    for chunks in (list(text), *pieces):
        parser = fmt.parser(TOOLS)
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
        (call,) = parser.message.tool_calls
        assert json.loads(call.arguments) == {"port": "Os</v>lo </do>", "seats": 3, "tags": ["a"]}
        assert call.complete
        assert not parser.message.content


@pytest.mark.parametrize("shape", SHAPES)
def test_they_are_held_and_written(shape: str) -> None:
    fmt, text = _format(shape), SHAPES[shape][1]
    assert fmt.write(fmt.parse(text, TOOLS), TOOLS) == text
    grammar = fmt.grammar(TOOLS, tool_choice="required")
    assert grammar.accepts(text)
    assert not grammar.accepts(text.replace("3", '"3"'))
    assert not grammar.accepts(text.replace('["a"]', '["a"'))
    compiled = sg.GrammarCompiler(byte_vocabulary(["<|eos|>"])).compile(grammar)
    assert sg.GrammarMatcher(compiled).accept_bytes(text.encode())
