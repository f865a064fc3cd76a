"""Custom tools: what they are called with is a text of their grammar, in every format."""

from __future__ import annotations

import json
from typing import Any

import pytest

import syntagma as sg
from syntagma import formats

LARK = """
start: "SELECT " NAME (" WHERE " cond)?
cond: NAME "=" "\\"" NAME "\\"" ("\\n" cond)?
NAME: /[a-z]+/
"""
REGEX = "(?s)a[^b]+'\"\\\\\n<z"
CASES = [
    ("lark", LARK, 'SELECT a WHERE x="y"\nz="w"', "SELECT a WHERE x"),
    ("regex", REGEX, "ac & 'd\t'\"\\\n<z", "ab'\"\\\n<z"),
]
WITH_CALLS = [name for name in formats.names() if formats.get(name).spec.tools is not None]


def tool(syntax: str, definition: str, *, flat: bool) -> dict[str, Any]:
    grammar = {"syntax": syntax, "definition": definition}
    if flat:
        return {"type": "custom", "name": "query", "format": {"type": "grammar", **grammar}}
    return {"type": "custom", "custom": {"name": "query", "format": {"type": "grammar", "grammar": grammar}}}


def calls(text: str) -> sg.Message:
    call = sg.ToolCall(id="", name="query", arguments=json.dumps({"input": text}))
    return sg.Message(role="assistant", content=None, tool_calls=(call,))


@pytest.mark.every_format
@pytest.mark.parametrize("name", WITH_CALLS)
@pytest.mark.parametrize(("syntax", "definition", "good", "bad"), CASES, ids=["lark", "regex"])
def test_the_text_keeps_to_the_grammar(name: str, syntax: str, definition: str, good: str, bad: str) -> None:
    fmt, tools = formats.get(name), [tool(syntax, definition, flat=name < "m")]
    grammar = fmt.grammar(tools, tool_choice="required")
    assert grammar.accepts(fmt.write(calls(good), tools))
    assert not grammar.accepts(fmt.write(calls(bad), tools))
    # What the grammar writes is read as a text of the tool's.
    shortest = grammar.check("").continuation
    assert shortest is not None
    message = fmt.parse(shortest, tools)
    assert not message.diagnostics
    read = message.tool_calls[0].parsed_arguments()["input"]
    assert sg.Grammar.from_text(definition, "lark" if syntax == "lark" else "regex").accepts(read)


@pytest.mark.parametrize("enforce", ["off", "name", "parameters"])
def test_a_grammar_is_held_whatever_is_enforced(enforce: Any) -> None:
    fmt = formats.get("qwen25")
    grammar = fmt.grammar([tool("lark", LARK, flat=True)], enforce=enforce)
    assert grammar.accepts(fmt.write(calls("SELECT a"), None))
    assert not grammar.accepts(fmt.write(calls("DROP a"), None))


def test_text_without_a_format_is_any_text() -> None:
    fmt, tools = formats.get("qwen25"), [{"type": "custom", "custom": {"name": "query"}}]
    grammar = fmt.grammar(tools, tool_choice={"type": "custom", "custom": {"name": "query"}})
    assert grammar.accepts(fmt.write(calls('anything "at" all'), tools))
    assert not grammar.accepts(fmt.write(sg.Message(role="assistant", content="no"), tools))
    assert sg.Tool.from_openai(tools[0]).to_openai()["function"]["parameters"]["required"] == ["input"]


@pytest.mark.parametrize(
    ("bad", "pointer"),
    [
        ({"name": "a", "format": {"type": "grammar", "syntax": "bnf", "definition": "x"}}, "/0/format/syntax"),
        ({"name": "a", "format": {"type": "grammar", "syntax": "lark"}}, "/0/format/definition"),
        ({"custom": {"name": "a", "format": {"type": "xml"}}}, "/0/custom/format"),
        ({"custom": {"name": "a", "format": {"type": "grammar", "grammar": {}}}}, "/0/custom/format/grammar/syntax"),
        ({"custom": {"name": ""}}, "/0/custom/name"),
        ({"name": "a", "description": 1}, "/0/description"),
    ],
)
def test_what_is_wrong_has_its_place(bad: dict[str, Any], pointer: str) -> None:
    with pytest.raises(sg.ArgumentError) as refused:
        formats.get("qwen25").grammar([{"type": "custom", **bad}])
    assert (refused.value.code, refused.value.pointer) == ("E-TOOL-INVALID", pointer)


@pytest.mark.parametrize(("flat", "place"), [(True, "/format"), (False, "/custom/format/grammar")])
def test_an_error_in_a_grammar_points_into_the_request(flat: bool, place: str) -> None:
    with pytest.raises(sg.GrammarError) as refused:
        formats.get("qwen25").grammar([tool("lark", "start: missing", flat=flat)])
    assert refused.value.pointer == f"/tools/0{place}/definition"
    assert refused.value.line == 1
