"""Names and keys with any sign: a grammar allows exactly those that the writer writes and the parser reads."""

from __future__ import annotations

import json
import string
from typing import Any

import pytest

from syntagma.errors import FormatError
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolCall
from tests.constraints.walks import accepts
from tests.formats.every import CALLING, ELEMENTS, FORMATS

SIGNS = [*string.punctuation, " ", "\n", "é", "0"]


def _tool(name: str, key: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def _written(fmt: ChatFormat, name: str, key: str) -> str | None:
    """The call as the format writes it; None: it has no way to."""
    call = ToolCall(id="0", name=name, arguments=json.dumps({key: "v"}))
    try:
        return fmt.write(Message(tool_calls=(call,)), [_tool(name, key)])
    except FormatError as error:
        if error.code != "E-FORMAT-UNWRITABLE":
            raise
        return None


def _accepted(fmt: ChatFormat, name: str, key: str, text: str | None) -> bool:
    """Whether the grammar lets a model write the call."""
    try:
        grammar = fmt.grammar([_tool(name, key)], tool_choice="required", enforce="parameters")
    except FormatError as error:
        if error.code not in ("E-FORMAT-NAME", "E-FORMAT-UNSUPPORTED"):
            raise
        return False
    assert text is not None, "a grammar of what cannot be written"
    return accepts(grammar, text)


def _reads(fmt: ChatFormat, name: str, key: str, text: str) -> bool:
    parser = fmt.parser([_tool(name, key)])
    parser.feed(text)
    parser.finish()
    calls = [(call.name, json.loads(call.arguments)) for call in parser.message.tool_calls if call.complete]
    return calls == [(name, {key: "v"})] and not parser.message.diagnostics


@pytest.mark.every_format
@pytest.mark.parametrize("name", CALLING)
def test_a_name_with_any_sign(name: str) -> None:
    fmt = FORMATS[name]
    for sign in SIGNS:
        word = f"a{sign}b"
        text = _written(fmt, word, "key")
        readable = text is not None and _reads(fmt, word, "key", text)
        assert _accepted(fmt, word, "key", text) == readable, f"{sign!r} in a name"


@pytest.mark.every_format
@pytest.mark.parametrize("name", CALLING)
def test_a_key_with_any_sign(name: str) -> None:
    fmt = FORMATS[name]
    for sign in SIGNS:
        word = f"a{sign}b"
        text = _written(fmt, "tool", word)
        readable = text is not None and _reads(fmt, "tool", word, text)
        if sign == "/" and name in ELEMENTS:
            # The parser reads it in front of the first value only.
            readable = False
        assert _accepted(fmt, "tool", word, text) == readable, f"{sign!r} in a key"
