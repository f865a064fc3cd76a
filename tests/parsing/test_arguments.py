"""What is passed on of a call's arguments is the beginning of one JSON object, in every notation, wherever it ends."""

from __future__ import annotations

import json
import random

import pytest

from syntagma.format_schema import read_toml
from syntagma.parsing import JsonMachine, StreamParser

from .conftest import chunkings, read

_JSON = (
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    '"a"',
    '"k": ',
    " ",
    "\n",
    "1",
    "-",
    "2.5",
    "true",
    "tru",
    "null",
    "\\",
    "\\u00",
)
_SLIPS = (
    "'",
    "'b'",
    "'k': ",
    "True",
    "Non",
    "NaN",
    "Paris",
    "k: ",
    "(",
    ")",
    ", }",
    "\\x41",
    "\\'",
    "é",
    "\\n",
    "{'a': ",
)
_TEXT = ("x", "<", ">", "&amp;", "&", "</", "<![CDATA[", "]]>", "[1", '{"a": ', "3", "\n")
SCHEMA = {
    "type": "object",
    "properties": {"k": {}, "s": {"type": "string"}, "n": {"type": "integer"}, "o": {"type": "object"}},
}
NOTATIONS = {
    "json": ('call = "<c>{name}<a>{arguments}</c>"', "<c>f<a>{", "</c>", _JSON + _SLIPS),
    "envelope": (
        'call = "<c>{envelope}</c>"\nenvelope = \'{"name": "{name}", "arguments": {arguments}}\'',
        '<c>{"name": "f", "arguments": {',
        "}</c>",
        _JSON + _SLIPS,
    ),
    "encoded": (
        'call = "<c>{envelope}</c>"\nenvelope = \'{"name": "{name}", "arguments": "{arguments}"}\'',
        '<c>{"name": "f", "arguments": "{',
        '"}</c>',
        (*(json.dumps(piece)[1:-1] for piece in _JSON + _SLIPS), '"', "\\", "\\u00", "\\q"),
    ),
    "python": ('call = "<c>{name}<a>{arguments}</c>"\nliterals = "python"', "<c>f<a>{", "</c>", _JSON + _SLIPS),
    "marked": (
        'call = "<c>{name}<a>{arguments}</c>"\nliterals = { quotes = ["<q>"], bare_keys = true }',
        "<c>f<a>{",
        "</c>",
        (*_JSON, *_SLIPS, "<q>", "<", "<q>a<q>", "k:"),
    ),
    "keywords": (
        'section = "<s>[{calls}]</s>"\ncall = "{name}({arguments})"\nargument = "{key}={value}"\n'
        'argument_separator = ", "\nvalues = "literal"\nliterals = "python"',
        "<s>[f(",
        ")]</s>",
        (*_JSON, *_SLIPS, "k=", "s='", "=", ")"),
    ),
    "tagged": (
        'call = "<c>{name}{arguments}</c>"\nargument = "<k>{key}</k><v>{value}</v>"',
        "<c>f",
        "</c>",
        (*_TEXT, "<k>s</k><v>", "<k>n</k><v>", "<k>o</k><v>", "</v>", "</k>"),
    ),
    "escaped": (
        'call = "<c>{name}{arguments}</c>"\nargument = "<k>{key}</k><v>\\n{value}\\n</v>"\nescape = ["values"]',
        "<c>f",
        "</c>",
        (*_TEXT, "<k>s</k><v>\n", "<k>o</k><v>", "\n</v>", "</v>"),
    ),
    "elements": (
        'call = "<c>{name}{arguments}</c>"\nargument = "<{key}>{value}</{key}>"\nitem = "item"',
        "<c>f",
        "</c>",
        (*_TEXT, "<s>", "</s>", "<o>", "</o>", "<n>", "</n>", "<item>", "</item>"),
    ),
}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}]


@pytest.mark.parametrize("notation", NOTATIONS)
def test_arguments_are_the_beginning_of_one_object(notation: str) -> None:
    toml, opener, closer, pieces = NOTATIONS[notation]
    spec = read_toml("[tools]\n" + toml)
    for seed in range(120):
        source = random.Random(f"{notation} {seed}")
        text = (
            opener + "".join(source.choices(pieces, k=source.randint(0, 9))) + source.choice((closer, "", closer[:-2]))
        )
        tools = source.choice((None, TOOLS))
        _, parser = read(lambda tools=tools: StreamParser(spec, tools, id_seed=""), [text])  # type: ignore[misc]
        for call in parser.message.tool_calls:
            machine = JsonMachine()
            assert machine.feed(call.arguments, 0, len(call.arguments))[0] == len(call.arguments), text
            assert machine.done == call.complete or not call.complete, text
            assert call.arguments[:1] in ("", "{"), text
        for chunks in chunkings(text, two_way=False):
            _, other = read(lambda tools=tools: StreamParser(spec, tools, id_seed=""), chunks)  # type: ignore[misc]
            assert other.message == parser.message, chunks
