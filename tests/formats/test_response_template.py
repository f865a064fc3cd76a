"""Response templates: read into a format, written from one, and what is listed as not carried."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma import formats
from syntagma.errors import FormatError
from syntagma.formats import ChatFormat
from tests.formats.cases import TOOLS
from tests.formats.written import meaning, messages

NAMES = formats.names()
TRANSFORM = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
MARKS: dict[str, Any] = {
    "version": 1,
    "defaults": {"role": "assistant"},
    "start_anchor": "(model)",
    "fields": {
        "thinking": {"open": "(thinks)", "close": "(/thinks)", "content_args": {"strip": False}},
        "content": {"content_args": {"strip": False}, "close": "(end)"},
        "tool_calls": {
            "open_pattern": r"\(call (?P<name>[\w.-]+)\)\s*",
            "close": "(/call)",
            "repeats": True,
            "content": "json",
            "transform": TRANSFORM,
        },
    },
}


def _with(path: str, value: Any) -> dict[str, Any]:
    """The template with one value changed; `...` takes it away."""
    template = copy.deepcopy(MARKS)
    *steps, last = path.split("/")
    table = template
    for step in steps:
        table = table[step]
    if value is ...:
        del table[last]
    else:
        table[last] = value
    return template


def test_marks_become_patterns() -> None:
    fmt, lost = ChatFormat.from_response_template(MARKS)
    assert lost == ()
    assert fmt.spec.anchor == "(model)"
    message = fmt.parse('(thinks)Hm.(/thinks)Yes.(call weather)\n{"place": "Oslo"}(/call)(end)', TOOLS)
    assert (message.reasoning_content, message.content) == ("Hm.", "Yes.")
    assert [(call.name, call.arguments) for call in message.tool_calls] == [("weather", '{"place": "Oslo"}')]
    assert fmt.grammar(TOOLS, tool_choice="required") is not None


@pytest.mark.parametrize(
    ("field", "raw", "arguments"),
    [
        (
            {
                "open": "(call)",
                "close": "(/call)",
                "content": "json",
                "transform": {"function": {"name": "{content.tool}", "arguments": "{content.with.args}"}},
            },
            '(call){"tool": "weather", "with": {"args": {"place": "Oslo"}}}(/call)',
            {"place": "Oslo"},
        ),
        (
            {
                "open": "(calls)",
                "close": "(/calls)",
                "content": "json",
                "transform": {"function": {"name": "{name}", "arguments": "{parameters}"}},
                "transform_each": True,
            },
            '(calls)[{"name": "weather", "parameters": {"place": "Oslo"}}](/calls)',
            {"place": "Oslo"},
        ),
        (
            {
                "open_pattern": r"\(call (?P<name>\w+)\)",
                "close": "(/call)",
                "content": "xml-inline",
                "content_args": {"tag_pattern": r"\(set (?P<key>\w+)\)\n?(?P<value>.*?)\n?\(/set\)\s*"},
                "transform": TRANSFORM,
            },
            "(call weather)(set place)\nOslo\n(/set)\n(set days)\n3\n(/set)\n(/call)",
            {"place": "Oslo", "days": 3},
        ),
        (
            {
                "open_pattern": r"(?:\(call|\(tool) (?P<name>\w+)\)",
                "close": "(/tool)",
                "content": "json",
                "content_args": {"unquoted_keys": True, "string_delims": [["~~", "~~"]]},
                "transform": TRANSFORM,
            },
            "(tool weather){place:~~Oslo~~,days:3}(/tool)",
            {"place": "Oslo", "days": 3},
        ),
        (
            {
                "open_pattern": r"\(call (?P<name>\w+)\)\n?",
                "close": "(/call)",
                "content": "kv-lines",
                "content_args": {"kv_sep": ":"},
                "transform": TRANSFORM,
            },
            "(call weather)\nplace: Oslo\ndays: 3\n(/call)",
            {"place": "Oslo", "days": 3},
        ),
        (
            {
                "open_pattern": r"\(call (?P<name>\w+)\)\n?",
                "close": "(/call)",
                "content": "kv-lines",
                "content_args": {"kv_sep": "=", "line_sep": " ", "value_parser": {"name": "json"}},
                "transform": TRANSFORM,
            },
            '(call weather)\nplace="Oslo is" days=3\n(/call)',
            {"place": "Oslo is", "days": 3},
        ),
    ],
)
def test_calls(field: dict[str, Any], raw: str, arguments: dict[str, Any]) -> None:
    fmt, _ = ChatFormat.from_response_template(_with("fields/tool_calls", field))
    message = fmt.parse(f"Look. {raw}", TOOLS)
    assert [(call.name, json.loads(call.arguments)) for call in message.tool_calls] == [("weather", arguments)]
    assert (message.content or "").strip() == "Look."


@pytest.mark.parametrize(
    ("path", "value", "pointer"),
    [
        ("fields/plan", {"open": "(plan)", "close": "(/plan)"}, "/fields/plan"),
        ("defaults", {"role": "assistant", "name": "x"}, "/defaults"),
        ("fields/thinking/content_args", {}, "/fields/thinking/content_args"),
        ("fields/thinking/content", "int", "/fields/thinking/content"),
        ("fields/thinking/optional", False, "/fields/thinking/optional"),
        ("fields/tool_calls/open_pattern", r"\(call (?P<name>\w+)\)(?=\{)", "/fields/tool_calls"),
        ("fields/tool_calls/open_pattern", r"\(call [a-z]+ (?P<name>\w+)\)", "/fields/tool_calls"),
        ("fields/tool_calls/content_args", {"allow_non_json": True}, "/fields/tool_calls/content_args/allow_non_json"),
        (
            "fields/tool_calls/content_args",
            {"string_delims": [["<", ">"]]},
            "/fields/tool_calls/content_args/string_delims",
        ),
        ("fields/tool_calls/content", "int", "/fields/tool_calls/content"),
        ("fields/tool_calls/transform", {"name": "{name}"}, "/fields/tool_calls"),
        (
            "fields/tool_calls/transform",
            {**TRANSFORM, "origin": "model"},
            "/fields/tool_calls/transform/origin",
        ),
        ("start_anchor", ["(model)", "(assistant)"], "/start_anchor"),
    ],
)
def test_what_is_not_carried_is_listed(path: str, value: Any, pointer: str) -> None:
    _, lost = ChatFormat.from_response_template(_with(path, value))
    assert pointer in [one.pointer for one in lost]
    assert all(one.reason for one in lost)


@pytest.mark.parametrize(
    ("template", "pointer"),
    [
        ([], ""),
        ({}, "/fields"),
        (_with("version", 2), "/version"),
        (_with("extra", 1), "/extra"),
        (_with("fields", {}), "/fields"),
        (_with("fields/content", 3), "/fields/content"),
        (_with("fields/content/colour", "red"), "/fields/content/colour"),
        (_with("fields/thinking/open", ""), "/fields/thinking/open"),
        (_with("fields/thinking/open", [1]), "/fields/thinking/open"),
        (_with("fields/thinking/open_pattern", "x"), "/fields/thinking/open"),
        (_with("fields/tool_calls/open_pattern", 1), "/fields/tool_calls/open_pattern"),
        (
            _with("fields/tool_calls/content_args", {"string_delims": ["x"]}),
            "/fields/tool_calls/content_args/string_delims",
        ),
    ],
)
def test_what_is_no_template(template: Any, pointer: str) -> None:
    with pytest.raises(FormatError) as raised:
        ChatFormat.from_response_template(template)
    assert (raised.value.code, raised.value.pointer or "") == ("E-FORMAT-RESPONSE-TEMPLATE", pointer)


@settings(max_examples=150, deadline=None)
@given(expression=st.text(alphabet=r"()[]{}|\?*+.^$<>P=:ans ~", max_size=30))
def test_any_expression_is_carried_or_listed(expression: str) -> None:
    fmt, lost = ChatFormat.from_response_template(_with("fields/tool_calls/open_pattern", f"{expression}(?P<name>x)~"))
    assert fmt.spec.tools is not None or any(one.pointer.startswith("/fields/tool_calls") for one in lost)


def test_deep_brackets_are_listed() -> None:
    _, lost = ChatFormat.from_response_template(
        _with("fields/tool_calls/open_pattern", "(?:" * 5000 + "(?P<name>x)" + ")" * 5000)
    )
    assert "/fields/tool_calls" in [one.pointer for one in lost]


def test_the_anchor_must_be_known() -> None:
    with pytest.raises(FormatError) as raised:
        formats.get("qwen25").to_response_template()
    assert raised.value.code == "E-FORMAT-UNWRITABLE"
    assert "start_anchor" in str(raised.value)


@pytest.mark.every_format
@pytest.mark.parametrize("name", NAMES)
def test_there_and_back(name: str) -> None:
    """What the format writes, the format that its own template describes reads the same, as far as it was carried."""
    fmt = formats.get(name)
    template, lost = fmt.to_response_template(start_anchor="(model)")
    json.dumps(template)
    again, lost_again = ChatFormat.from_response_template(template)
    calls = again.spec.tools is not None
    assert calls or fmt.spec.tools is None or any("tool" in one.pointer for one in (*lost, *lost_again))
    if fmt.spec.reasoning is not None and (fmt.spec.reasoning.start == "open" or fmt.spec.reasoning.to == "content"):
        return  # only the prompt determines it in a template
    for message, text in messages(fmt):
        if calls or not message.tool_calls:
            assert meaning(again.parse(text, TOOLS)) == meaning(message), text


@pytest.mark.every_format
@pytest.mark.parametrize("name", NAMES)
def test_what_the_engines_read(name: str) -> None:
    """Text is streamed by vLLM and SGLang only where a field has neither `join` nor `repeats`."""
    fmt = formats.get(name)
    template, lost = fmt.to_response_template(start_anchor="(model)")
    texts = [field for key, field in template["fields"].items() if key != "tool_calls"]
    assert not any({"join", "repeats"} & field.keys() for field in texts)
    joined, lost_joined = fmt.to_response_template(start_anchor="(model)", join=True)
    assert all(field["join"] == "" for key, field in joined["fields"].items() if key != "tool_calls")
    assert {one.pointer for one in lost} - {one.pointer for one in lost_joined} <= {"/content", "/reasoning/repeat"}


@pytest.mark.every_format
@pytest.mark.parametrize("name", [name for name in NAMES if formats.get(name).spec.tools is not None])
def test_what_ends_a_region_is_listed(name: str) -> None:
    fmt = formats.get(name)
    template, lost = fmt.to_response_template(start_anchor="(model)")
    pointers = {one.pointer for one in lost}
    assert ("/end_of_turn" in pointers) == bool(fmt.spec.end_of_turn)
    assert ("/tools/call" in pointers) or "tool_calls" not in template["fields"]


def test_the_separator_of_calls_comes_back() -> None:
    fmt = ChatFormat.from_toml(
        """
        anchor = "(model)"
        [tools]
        call = "<leaf>{name}\\n{arguments}</leaf>"
        separator = "\\n"
        """
    )
    template, _ = fmt.to_response_template()
    again, lost = ChatFormat.from_response_template(template)
    assert lost == ()
    assert again.spec.tools is not None
    assert again.spec.tools.separator == "\n"
