"""What a request may ask, and how it is refused."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import syntagma as sg
from syntagma.constraints import build_grammar
from syntagma.errors import ArgumentError, FormatError, LimitError, RequestError, UnsupportedSchema
from syntagma.format_schema import FormatSpec, Markers, StartState, read_toml
from syntagma.grammars import Grammar
from syntagma.limits import Limits
from syntagma.messages import Tool, tools_from
from syntagma.request import Budgets, read_choice, read_response_format, resolve_request

TOOLS = tools_from([Tool(name="one"), Tool(name="two"), Tool(name="three")])
SPEC = read_toml('[tools]\ncall = "<c>{name}\\n{arguments}</c>"\n')


def build(spec: FormatSpec, tools: Any = None, **options: Any) -> Grammar:
    return build_grammar(spec, resolve_request(tools, **options), StartState())


def names(choice: Any) -> tuple[str, list[str] | None]:
    read = read_choice(choice, TOOLS)
    return read.mode, None if read.tools is None else [tool.name for _, tool in read.tools]


@pytest.mark.parametrize(
    ("choice", "mode", "tools"),
    [
        ("auto", "auto", ["one", "two", "three"]),
        ("none", "none", []),
        ("required", "required", ["one", "two", "three"]),
        ("two", "named", ["two"]),
        ({"type": "function", "function": {"name": "two"}}, "named", ["two"]),
        ({"type": "function", "name": "two"}, "named", ["two"]),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": "three"}}, {"type": "function", "name": "one"}],
                },
            },
            "required",
            ["one", "three"],
        ),
        ({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "one"}]}, "auto", ["one"]),
    ],
)
def test_choices(choice: Any, mode: str, tools: list[str]) -> None:
    assert names(choice) == (mode, tools)


@pytest.mark.parametrize(
    ("choice", "pointer"),
    [
        ("nobody", "/tool_choice"),
        (7, "/tool_choice"),
        ({"type": "magic"}, "/tool_choice/type"),
        ({"type": "function", "function": {}}, "/tool_choice/function/name"),
        ({"type": "function", "function": {"name": "nobody"}}, "/tool_choice/function/name"),
        ({"type": "function"}, "/tool_choice/name"),
        ({"type": "allowed_tools", "mode": "never", "tools": []}, "/tool_choice/mode"),
        ({"type": "allowed_tools", "tools": []}, "/tool_choice/tools"),
        ({"type": "allowed_tools", "allowed_tools": {"tools": [{"name": "x"}]}}, "/tool_choice/allowed_tools/tools/0"),
    ],
)
def test_choices_that_are_refused(choice: Any, pointer: str) -> None:
    with pytest.raises(RequestError) as caught:
        read_choice(choice, TOOLS)
    assert (caught.value.code, caught.value.pointer) == ("E-REQUEST-TOOL-CHOICE", pointer)


@pytest.mark.parametrize("tools", [None, ()])
def test_nothing_can_be_required_of_no_tools(tools: Any) -> None:
    for choice in ("required", "one"):
        with pytest.raises(RequestError) as caught:
            read_choice(choice, tools)
        assert caught.value.code == "E-REQUEST-TOOL-CHOICE"
    assert read_choice("auto", ()).mode == "none"
    assert read_choice("auto", None).tools is None


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "text"),
        ({"type": "text"}, "text"),
        ({"type": "json_object"}, "object"),
        ({"type": "json_object", "schema": {}}, "schema"),
        ({"type": "json_schema", "json_schema": {"name": "x", "schema": {}, "strict": True}}, "schema"),
        ({"type": "json_schema", "schema": True}, "schema"),
        ({"type": "grammar", "grammar": "start ::= 'a';"}, "grammar"),
        ({"type": "grammar", "grammar": "root ::= 'a'", "syntax": "gbnf", "start": "root"}, "grammar"),
        ({"type": "grammar", "grammar": {"syntax": "regex", "definition": "a|b"}}, "grammar"),
        ({"type": "regex", "regex": "a|b"}, "grammar"),
        ({"type": "choice", "choice": ["a", "b"]}, "choice"),
        ({"type": "structural_tag", "format": {"type": "any_text"}}, "structural_tag"),
    ],
)
def test_response_formats(value: Any, kind: str) -> None:
    assert read_response_format(value).kind == kind


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ("json", ""),
        ({}, "/type"),
        ({"type": "yaml"}, "/type"),
        ({"type": "structural_tag"}, "/format"),
        ({"type": "json_schema", "json_schema": {"name": "x"}}, "/json_schema/schema"),
        ({"type": "json_schema", "schema": "{"}, "/schema"),
        ({"type": "grammar"}, "/grammar"),
        ({"type": "grammar", "grammar": {"syntax": "lark"}}, "/grammar/definition"),
        ({"type": "grammar", "grammar": {"syntax": "bnf", "definition": "a"}}, "/grammar/syntax"),
        ({"type": "grammar", "grammar": "start: A", "syntax": "json_schema"}, "/syntax"),
        ({"type": "grammar", "grammar": "start: A", "start": 1}, "/start"),
        ({"type": "regex", "pattern": "a"}, "/regex"),
        ({"type": "choice", "choice": "abc"}, "/choice"),
        ({"type": "choice", "choice": []}, "/choice"),
        ({"type": "choice", "choice": ["a", None]}, "/choice/1"),
    ],
)
def test_response_formats_that_are_refused(value: Any, pointer: str) -> None:
    with pytest.raises(RequestError) as caught:
        read_response_format(value)
    assert (caught.value.code, caught.value.pointer) == ("E-REQUEST-RESPONSE-FORMAT", f"/response_format{pointer}")


@pytest.mark.parametrize(
    ("response_format", "accepted", "refused"),
    [
        ({"type": "regex", "regex": "[0-9]{2}"}, "07", "7"),
        ({"type": "choice", "choice": ["yes", "no", "a\nb"]}, "a\nb", "maybe"),
        ({"type": "grammar", "grammar": "top: /a+/", "syntax": "lark", "start": "top"}, "aa", ""),
        ({"type": "grammar", "grammar": {"syntax": "regex", "definition": "x: y"}}, "x: y", "y"),
        ({"type": "grammar", "grammar": 'answer ::= "ab"', "syntax": "gbnf", "start": "answer"}, "ab", "a"),
    ],
)
def test_content_is_held_to_patterns_choices_and_grammars(
    response_format: dict[str, Any], accepted: str, refused: str
) -> None:
    grammar = sg.formats.get("hermes").grammar([], response_format=response_format)
    assert grammar.accepts(accepted)
    assert not grammar.accepts(refused)


def test_an_unknown_type_lists_the_known_ones() -> None:
    with pytest.raises(RequestError) as caught:
        read_response_format({"type": "yaml"})
    assert all(known in (caught.value.hint or "") for known in ("json_schema", "regex", "choice", "structural_tag"))


@pytest.mark.parametrize(
    ("options", "calls", "constrains"),
    [
        ({}, True, True),
        ({"enforce": "off"}, True, False),
        ({"tool_choice": "none"}, False, True),
        ({"tool_choice": "two"}, True, True),
        ({"response_format": {"type": "json_object"}}, True, True),
        ({"tools": None}, True, False),
        ({"tools": None, "response_format": {"type": "json_object"}}, False, True),
        ({"tools": []}, False, False),
        ({"tools": [], "budgets": Budgets(content_tokens=3)}, False, True),
        ({"tools": [], "budgets": Budgets()}, False, False),
    ],
)
def test_what_a_request_allows_and_constrains(options: dict[str, Any], calls: bool, constrains: bool) -> None:
    request = resolve_request(**{"tools": TOOLS, "enforce": "name", **options})
    assert (request.allows_calls, request.constrains) == (calls, constrains)


@pytest.mark.parametrize(
    "options",
    [
        {"tool_choice": "required"},
        {"tool_choice": "nobody"},
        {"tool_choice": {"type": "magic"}},
        {"response_format": {"type": "json_schema"}},
        {"response_format": {"type": "yaml"}},
    ],
)
def test_text_that_exists_is_read_whatever_was_asked(options: dict[str, Any]) -> None:
    with pytest.raises(RequestError):
        resolve_request(**options)
    request = resolve_request(for_reading=True, **options)
    assert request.choice.mode == "auto"
    assert request.response_format.is_json is (options.get("response_format") == {"type": "json_schema"})
    assert request.response_format.is_text is ("response_format" not in options)


@pytest.mark.parametrize("for_reading", [True, False])
def test_unknown_words_are_refused(for_reading: bool) -> None:
    for options, code in (
        ({"reasoning": "ajar"}, "E-ARGUMENT-REASONING"),
        ({"reasoning_format": "raw"}, "E-ARGUMENT-REASONING-FORMAT"),
    ):
        with pytest.raises(ArgumentError) as caught:
            resolve_request(for_reading=for_reading, **options)  # type: ignore[arg-type]
        assert caught.value.code == code


def test_too_many_tools() -> None:
    tools = [Tool(name=f"t{n}") for n in range(4)]
    build(SPEC, tools[:3], limits=Limits(tools=3))
    with pytest.raises(LimitError) as caught:
        build(SPEC, tools, limits=Limits(tools=3))
    assert (caught.value.code, caught.value.limit, caught.value.given) == ("E-LIMIT-TOOLS", "tools", 4)


@pytest.mark.parametrize("field", ["reasoning_tokens", "content_tokens", "argument_bytes"])
def test_budgets_below_zero(field: str) -> None:
    Budgets(**{field: 0})  # type: ignore[arg-type]
    with pytest.raises(ArgumentError) as caught:
        Budgets(**{field: -1})  # type: ignore[arg-type]
    assert (caught.value.code, caught.value.pointer) == ("E-BUDGET-VALUE", f"/budgets/{field}")


def test_parts_are_labelled_only_for_budgets() -> None:
    plain = build(SPEC)
    assert "@content(" not in plain.to_ebnf()
    assert "@content(" in build(SPEC, budgets=Budgets()).to_ebnf()


@pytest.mark.parametrize(
    "text",
    [
        '[tools]\ncall = "<c>{name}({arguments})</c>"\nargument = "{key}={value}"\n'
        'argument_separator = "e"\nvalues = "literal"\n',
    ],
)
def test_forms_without_a_strict_reading_say_so(text: str) -> None:
    with pytest.raises(FormatError) as caught:
        build(read_toml(text), TOOLS, tool_choice="required")
    assert caught.value.code == "E-FORMAT-UNSUPPORTED"


def test_a_name_that_could_not_be_read_is_refused() -> None:
    with pytest.raises(FormatError) as caught:
        build(SPEC, [Tool(name="two words")], tool_choice="required")
    assert caught.value.code == "E-FORMAT-NAME"


def test_a_refused_schema_points_into_the_request() -> None:
    tools = [Tool(name="fine"), Tool(name="odd", strict=True, parameters={"properties": {"x": {"$ref": "#/nowhere"}}})]
    with pytest.raises(UnsupportedSchema) as caught:
        build(SPEC, tools)
    assert (caught.value.pointer or "").startswith("/tools/1/function/parameters")
    wanted = {"type": "json_schema", "json_schema": {"schema": {"$ref": "http://elsewhere.test/"}}}
    with pytest.raises(UnsupportedSchema) as caught:
        build(SPEC, response_format=wanted)
    assert (caught.value.pointer or "").startswith("/response_format/json_schema/schema")


def test_markers_stand_whole_in_a_literal() -> None:
    assert [(p.text, p.is_marker) for p in Markers().pieces("<a>\n[B c] x[ ] <d e='")] == [
        ("<a>", True),
        ("\n", False),
        ("[B c]", True),
        (" x[ ] <d e='", False),
    ]
    assert Markers().pieces("") == ()


_PARTS: dict[str, Any] = {
    "tools": [
        {"type": "function", "function": {"name": "one", "parameters": {"properties": {"x": {"enum": [1.5, 2]}}}}}
    ],
    "tool_choice": "auto",
    "response_format": {"type": "json_schema", "json_schema": {"schema": {"properties": {"b": {}, "a": {}}}}},
    "parallel_tool_calls": True,
    "enforce": "parameters",
    "limits": Limits(),
}
_OTHERS: list[dict[str, Any]] = [
    {
        "tools": [
            {"type": "function", "function": {"name": "one", "parameters": {"properties": {"x": {"enum": [1.5, 3]}}}}}
        ]
    },
    {
        "tools": [
            {
                "type": "function",
                "function": {"name": "one", "parameters": {"properties": {"x": {"enum": [1.5, True]}}}},
            }
        ]
    },
    {
        "tools": [
            {"type": "function", "function": {"name": "two", "parameters": {"properties": {"x": {"enum": [1.5, 2]}}}}}
        ]
    },
    {"tool_choice": "required"},
    {"response_format": {"type": "json_schema", "json_schema": {"schema": {"properties": {"a": {}, "b": {}}}}}},
    {"parallel_tool_calls": False},
    {"enforce": "name"},
    {"limits": Limits(schema_depth=9)},
]


def test_a_grammar_is_built_once_for_a_request() -> None:
    def built(**changed: Any) -> Grammar:
        asked = copy.deepcopy(_PARTS) | changed
        return build(SPEC, asked.pop("tools"), **asked)

    made = built()
    assert built() is made
    assert built(template_kwargs={"x": object()}, history_calls=3) is made
    assert build_grammar(SPEC, resolve_request(**copy.deepcopy(_PARTS)), StartState(pending="x")) is not made
    typed, plain = (
        build(SPEC, response_format=asked) for asked in (list[int], {"type": "array", "items": {"type": "integer"}})
    )
    assert typed is plain
    # The identity of a format that is gone may be that of another one.
    again = [read_toml(f'[tools]\ncall = "<c{number}>{{name}}\\n{{arguments}}</c>"\n') for number in range(3)]
    assert len({id(build(spec, TOOLS)) for spec in again}) == len(again)
    for changed in _OTHERS:
        assert built(**changed) is not made, changed
