"""Shapes of turns that no shipped format has: derived, or the certificate says why they cannot be."""

from __future__ import annotations

import functools

import pytest

from syntagma.analysis import Analysis, analyze
from syntagma.templates import ChatTemplate

from .truth import problems

TURN = """{%- if tools %}{{ '[sys]' + (tools | tojson) + '[end]' }}{% endif -%}
{%- for m in messages -%}
{%- if m.role == 'assistant' -%}{{- '[bot]' -}}BODY{{- '[end]' -}}
{%- else -%}{{- '[' + m.role + ']' + m.content + '[end]' -}}{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt %}{{ '[bot]' }}{% endif -%}"""
THOUGHT = "{%- if m.reasoning_content %}{{ '<plan>' + m.reasoning_content + '</plan>' }}{% endif -%}"
CONTENT = "{{- m.content or '' -}}"
CALLS = "{%- for c in m.tool_calls or [] -%}{{- CALL -}}{%- endfor -%}"
JSON = CALLS.replace("CALL", "'<do>' + (c.function | tojson) + '</do>'")
ITEMS = "{%- for k, v in c.function.arguments | items -%}{{- ITEM -}}{%- endfor -%}"


def _each(before: str, item: str, after: str) -> str:
    """Calls whose arguments are written one by one."""
    body = "{{- " + before + " -}}" + ITEMS.replace("ITEM", item) + "{{- " + after + " -}}"
    return CALLS.replace("{{- CALL -}}", body)


def _wrapped(opener: str, call: str, between: str, closer: str) -> str:
    """Calls in one wrapper."""
    shown = "{{- " + call + " -}}{{- '' if loop.last else '" + between + "' -}}"
    inside = CALLS.replace(" or []", "").replace("{{- CALL -}}", shown)
    return "{%- if m.tool_calls -%}{{- '" + opener + "' -}}" + inside + "{{- '" + closer + "' -}}{%- endif -%}"


DERIVED = {
    "ids after the arguments": CALLS.replace(
        "CALL", "'<do ' + c.function.name + '>' + (c.function.arguments | tojson) + '<id>' + c.id + '</id></do>'"
    ),
    "ids after arguments one by one": _each(
        "'<do ' + c.function.name + '>'",
        "'<' + k + '>' + (v if v is string else v | tojson) + '</' + k + '>'",
        "'#' + c.id + '</do>'",
    ),
    "ids after the arguments, in brackets": CALLS.replace(
        "CALL", "'\\n@' + c.function.name + ' ' + (c.function.arguments | tojson) + ' (' + c.id + ')'"
    ),
    "a wrapper of lines": _wrapped(
        "<calls>\\n", "c.function.name + ': ' + (c.function.arguments | tojson)", "\\n", "\\n</calls>"
    ),
    "a wrapper of signs": _wrapped("<<", "c.function.name + (c.function.arguments | tojson)", "; ", ">>"),
    "a wrapper that is an object": _wrapped(
        '<run>{"steps": [',
        "{'tool': c.function.name, 'with': c.function.arguments} | tojson",
        ", ",
        '], "mode": "auto"}</run>',
    ),
    "a code fence for each call": CALLS.replace(
        "CALL",
        "'\\n```json\\n' + ({'name': c.function.name, 'arguments': c.function.arguments} | tojson) + '\\n```'",
    ),
    "a code fence with the name": CALLS.replace(
        "CALL", "'\\n```' + c.function.name + '\\n' + (c.function.arguments | tojson(indent=2)) + '\\n```'"
    ),
    "a code fence around an array": _wrapped("```tools\\n[", "c.function | tojson", ",\\n", "]\\n```"),
    "a line for each call": CALLS.replace("CALL", "'\\n!' + c.function.name + ' ' + (c.function.arguments | tojson)"),
    "two lines for each call": CALLS.replace(
        "CALL", "'tool ' + c.function.name + '\\nargs ' + (c.function.arguments | tojson) + '\\n'"
    ),
    "a line for each argument": _each(
        "'\\nCALL ' + c.function.name + '\\n'", "k + ' = ' + (v | tojson) + '\\n'", "'END'"
    ),
    "types of one letter": _each(
        "'<do ' + c.function.name + '>'",
        "k + ':' + ('S' if v is string else 'J') + ':' + (v if v is string else v | tojson) + '|'",
        "'</do>'",
    ),
    "lines that nothing ends": _each(
        "'\\n- tool: ' + c.function.name + '\\n  args:\\n'", "'    ' + k + ': ' + (v | tojson) + '\\n'", "''"
    ),
    "flags of a program": _each("'\\n$ ' + c.function.name", "' --' + k + '=' + (v | tojson)", "''"),
    "attributes that are literals": _each("'<' + c.function.name", "' ' + k + '=' + (v | tojson)", "'/>'"),
    "a list of a language": _each("'(' + c.function.name", "' :' + k + ' ' + (v | tojson)", "')'"),
    "literals in elements": _each(
        "'<do ' + c.function.name + '>'", "'<' + k + '>' + (v | tojson) + '</' + k + '>'", "'</do>'"
    ),
    "words for some types": _each(
        "'<do ' + c.function.name + '>'",
        "'<a ' + k + ' ' + ('text' if v is string else 'flag' if v is boolean else 'num' if v is number else 'raw')"
        " + '>'"
        " + (v if v is string else v | tojson) + '</a>'",
        "'</do>'",
    ),
    "a form of its own without arguments": CALLS.replace(
        "CALL",
        "('<do ' + c.function.name + '>' + (c.function.arguments | tojson) + '</do>') if c.function.arguments"
        " else ('<do ' + c.function.name + '/>')",
    ),
    "no line for arguments where there are none": CALLS.replace(
        "CALL",
        "'\\ncall ' + c.function.name"
        " + (('\\nwith ' + (c.function.arguments | tojson)) if c.function.arguments else '') + '\\nover'",
    ),
}
"""calls after content"""
WRAPPERS = {
    "wrappers around reasoning, content and calls": THOUGHT
    + "{%- if m.content %}{{ '<say>' + m.content + '</say>' }}{% endif -%}"
    + _wrapped("<act>", "'<do>' + (c.function | tojson) + '</do>'", "", "</act>"),
    "wrappers in braces": (
        "{%- if m.reasoning_content %}{{ '{plan}' + m.reasoning_content + '{/plan}' }}{% endif -%}"
        "{%- if m.content %}{{ '{say}' + m.content + '{/say}' }}{% endif -%}"
        + CALLS.replace("CALL", "'{do}' + (c.function | tojson) + '{/do}'")
    ),
    "markers of several words": (
        "{%- if m.reasoning_content %}{{ 'THOUGHT:\\n' + m.reasoning_content + '\\nEND THOUGHT\\n' }}{% endif -%}"
        + CONTENT
        + CALLS.replace("CALL", "'\\nACTION: ' + c.function.name + '\\nINPUT: ' + (c.function.arguments | tojson)")
    ),
    "reasoning that the answer's opener ends": (
        "{%- if m.reasoning_content %}{{ 'Thought: ' + m.reasoning_content + '\\n' }}{% endif -%}"
        "{%- if m.content %}{{ 'Answer: ' + m.content + '\\n' }}{% endif -%}"
        + CALLS.replace("CALL", "'Action: ' + c.function.name + '\\nInput: ' + (c.function.arguments | tojson) + '\\n'")
    ),
    "reasoning that the next opener ends, without whitespace": (
        "{%- if m.reasoning_content %}{{ '<plan>' + m.reasoning_content }}{% endif -%}"
        "{%- if m.content %}{{ '<say>' + m.content }}{% endif -%}"
        + CALLS.replace("CALL", "'<do ' + c.function.name + '>' + (c.function.arguments | tojson)")
    ),
    "words with marks on their letters, between signs": (
        "{%- if m.reasoning_content %}{{ '॥विचार॥' + m.reasoning_content + '॥समाप्त॥' }}{% endif -%}"
        + CONTENT
        + CALLS.replace("CALL", "'॥कार्य॥' + c.function.name + '॥मान॥' + (c.function.arguments | tojson) + '॥इति॥'")
    ),
    "reasoning after a word alone": (
        "{%- if m.reasoning_content %}{{ 'PLAN\\n' + m.reasoning_content + '\\nPLAN OVER\\n' }}{% endif -%}"
        + CONTENT
        + JSON
    ),
    "calls that close with the word that they open with": (
        CONTENT
        + CALLS.replace(
            "CALL", "'\\nRUN ' + c.function.name + ' WITH ' + (c.function.arguments | tojson) + ' RUN OVER'"
        )
    ),
    "reasoning closed by a line break": (
        "{%- if m.reasoning_content %}{{ 'Thinking: ' + m.reasoning_content + '\\n' }}{% endif -%}" + CONTENT + JSON
    ),
    "another wrapper of content beside calls": (
        "{%- if m.content and m.tool_calls %}{{ '<note>' + m.content + '</note>' }}{% else %}{{ m.content or '' }}"
        "{% endif -%}" + JSON
    ),
    "a wrapper of content alone": (
        "{%- if m.content and not m.tool_calls %}{{ '<say>' + m.content + '</say>' }}{% else %}{{ m.content or '' }}"
        "{% endif -%}" + JSON
    ),
    "reasoning and content in brackets of one sign": (
        "{%- if m.reasoning_content %}{{ '(thinking\\n' + m.reasoning_content + '\\n)\\n' }}{% endif -%}"
        "{%- if m.content %}{{ '(saying\\n' + m.content + '\\n)\\n' }}{% endif -%}" + JSON
    ),
    "markers with a backslash": (
        "{%- if m.reasoning_content %}{{ '\\\\note{' + m.reasoning_content + '\\\\end}' }}{% endif -%}" + CONTENT + JSON
    ),
}
"""whole turns"""
UNSAYABLE = {
    "the name after the arguments": (
        CONTENT
        + CALLS.replace("CALL", "'<do>' + (c.function.arguments | tojson) + ' -> ' + c.function.name + '</do>'"),
        "the reader does not know calls without a name",
    ),
    "arguments as JSON inside a string": (
        CONTENT
        + CALLS.replace("CALL", "'<do>' + c.function.name + (c.function.arguments | tojson | tojson) + '</do>'"),
        "arguments are written as JSON inside a string",
    ),
    "values without keys": (
        CONTENT + _each("'<do>' + c.function.name + '('", "(v | tojson) + ', '", "')</do>'"),
        "no call came back",
    ),
    "names in other letters": (
        CONTENT
        + CALLS.replace(
            "CALL", "'<do>' + (c.function.name | replace('_', '-')) + (c.function.arguments | tojson) + '</do>'"
        ),
        "another number of calls comes back",
    ),
}
"""whole turns, and what their certificates say"""


@functools.cache
def _analysis(body: str) -> tuple[ChatTemplate, Analysis]:
    template = ChatTemplate(TURN.replace("BODY", body))
    return template, analyze(template, candidates="derived")


@pytest.mark.parametrize("name", [*DERIVED, *WRAPPERS])
def test_a_shape_is_derived(name: str) -> None:
    template, found = _analysis(CONTENT + DERIVED[name] if name in DERIVED else WRAPPERS[name])
    assert found.certificate is not None
    assert found.certificate.clean, found.certificate.summary
    assert found.format.spec.tools is not None
    assert list(problems(template, found)) == []


@pytest.mark.parametrize("name", UNSAYABLE)
def test_what_no_format_can_say_is_said_by_the_certificate(name: str) -> None:
    body, sentence = UNSAYABLE[name]
    template, found = _analysis(body)
    assert found.certificate is not None
    assert not found.certificate.clean
    assert sentence in found.certificate.summary
    assert list(problems(template, found)) or not found.capabilities.tool_calls
