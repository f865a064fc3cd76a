"""What the grammar may write, the parser reads without diagnostics; what the writer writes, the grammar accepts."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from syntagma import formats
from syntagma.errors import FormatError
from syntagma.format_schema import needs_known_name
from syntagma.format_schema.facts import forbidden_in_content, forbidden_in_reasoning, has_bare_calls
from syntagma.formats import ChatFormat
from syntagma.grammars import Grammar
from syntagma.limits import Limits
from syntagma.messages import Message, Tool, ToolCall
from syntagma.templates import Prompt
from tests.constraints.walks import accepts, asked, hints, line_ends, unexpected, walk
from tests.formats.cases import TOOLS, Loaded, load
from tests.formats.every import CALLING, ELEMENTS, FORMATS
from tests.formats.messages import MESSAGES

SHAPE_CASES = [one for one in load() if one.id.startswith("shape ")]
ACCEPTED = [one for one in SHAPE_CASES if one.case.write or one.case.accepted]
SIGNS = {
    name
    for name, fmt in FORMATS.items()
    if fmt.spec.tools is not None
    and needs_known_name(fmt.spec.tools.call[0])
    and not fmt.spec.tools.section[0].opener.strip()
}
"""formats that write nothing but a sign before the names of tools: before any other word it is text"""
SCHEMAS: dict[str, Any] = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}


def _read(fmt: ChatFormat, text: str, **options: Any) -> tuple[Message, list[Any]]:
    parser = fmt.parser(TOOLS, id_seed="walk", **options)
    events = [*parser.feed(text), *parser.finish()]
    return parser.message, unexpected(fmt, events)


def _written(fmt: ChatFormat, grammar: Grammar, rng: random.Random, count: int) -> list[str]:
    """Texts of the grammar; fewer than asked for where a walk finds no end."""
    walks = [walk(grammar, rng, hints(fmt)) for _ in range(count)]
    return [text for text in walks if text is not None]


def _read_back(fmt: ChatFormat, seed: str, count: int, **request: Any) -> list[tuple[str, Message]]:
    """Texts of the grammar of a request, and what each is read as, which must be without diagnostics."""
    found = []
    for text in _written(fmt, fmt.grammar(TOOLS, **request), random.Random(seed), count):
        message, problems = _read(fmt, text, **request)
        assert not problems, (text, problems)
        found.append((text, message))
    return found


@pytest.mark.parametrize("enforce", ["off", "parameters"])
@pytest.mark.every_format
@pytest.mark.parametrize("name", FORMATS)
def test_what_may_be_written_reads_without_diagnostics(name: str, enforce: Any) -> None:
    calls = 0
    # A walk may find no call; it is improbable that very many do not.
    for number in range(6):
        found = _read_back(FORMATS[name], f"{name} {enforce} {number or ''}".rstrip(), 25, enforce=enforce)
        for text, message in found:
            assert all(call.complete and call.name in SCHEMAS for call in message.tool_calls), text
        assert len(found) > 10
        calls += sum(len(message.tool_calls) for _, message in found)
        if calls or name not in CALLING:
            return
    pytest.fail("no walk has written a call")


@pytest.mark.parametrize("choice", ["required", "weather"])
@pytest.mark.every_format
@pytest.mark.parametrize("name", CALLING)
def test_required_calls_are_valid(name: str, choice: str) -> None:
    found: list[tuple[str, Message]] = []
    # Few walks come to the end of reasoning that is open and has a long closer.
    for number in range(6):
        found += _read_back(FORMATS[name], f"{name} {choice} {number or ''}".rstrip(), 20, tool_choice=choice)
        if len(found) > 5:
            break
    for text, message in found:
        assert not message.content, text
        assert message.tool_calls, text
        assert choice == "required" or [call.name for call in message.tool_calls] == [choice]
        for call in message.tool_calls:
            assert call.complete
            jsonschema.validate(json.loads(call.arguments), SCHEMAS[call.name])
    assert len(found) > 5


@pytest.mark.every_format
@pytest.mark.parametrize("name", CALLING)
def test_without_parallel_calls_there_is_one(name: str) -> None:
    fmt = FORMATS[name]
    call = ToolCall(id="", name="clock", arguments="{}")
    one, two = Message(tool_calls=(call,)), Message(tool_calls=(call, call))
    for choice in ("auto", "required"):
        grammar = fmt.grammar(TOOLS, tool_choice=choice, parallel_tool_calls=False)
        assert accepts(grammar, fmt.write(one, TOOLS))
        assert not accepts(grammar, fmt.write(two, TOOLS))
        assert accepts(fmt.grammar(TOOLS, tool_choice=choice), fmt.write(two, TOOLS))


@pytest.mark.parametrize(
    "one", [one for one in SHAPE_CASES if one.case.write or one.case.accepted], ids=lambda one: one.id
)
def test_what_a_shape_writes_is_accepted(one: Loaded) -> None:
    case = one.case
    for enforce in ("off", "parameters"):
        options: Any = {"prompt": case.prompt, "template_kwargs": case.template_kwargs, "enforce": enforce}
        grammar = one.fmt.grammar(TOOLS, **options)
        assert accepts(grammar, case.raw), enforce
        assert not any(accepts(grammar, text) for text in case.refused), enforce


@pytest.mark.every_format
@pytest.mark.parametrize("name", FORMATS)
def test_what_is_written_is_accepted(name: str) -> None:
    fmt = FORMATS[name]
    reasoning = fmt.spec.reasoning
    front = reasoning.block[0].opener if reasoning is not None and reasoning.to == "content" else ""
    text = "Well; 1 < 2." if reasoning is not None and not front else None
    # Where a line break ends a value, none holds one.
    breaks = "" if fmt.spec.tools is not None and "\n" in line_ends(fmt.spec.tools) else "\\n"
    note = ToolCall(
        id="",
        name="save_note",
        arguments=f'{{"text": "a{breaks}\\"b\\" é", "tags": ["x", ""], "meta": {{"pinned": true}}}}',
    )
    clock = ToolCall(id="", name="clock", arguments="{}")
    bare = not fmt.triggers or "{" in fmt.triggers[0]
    messages = [
        Message(content=f"{front}Yes, 1 < 2."),
        Message(content=f"{front}Yes.\n\n- é", reasoning_content=text),
        *(
            [Message(tool_calls=(note,)), Message(tool_calls=(clock, note), reasoning_content=text)]
            if fmt.triggers
            else []
        ),
        *([Message(content="Look: ", tool_calls=(note, clock))] if fmt.triggers and not bare else []),
    ]
    wants = asked(fmt)
    for message in messages:
        text = fmt.write(message, TOOLS)
        for enforce in ("off", "parameters"):
            assert accepts(fmt.grammar(TOOLS, enforce=enforce, **wants), text), text
        if message.tool_calls and not message.content:
            assert accepts(fmt.grammar(TOOLS, tool_choice="required", **wants), text), text
        assert accepts(fmt.grammar(TOOLS, tool_choice="none", **wants), text) is not bool(message.tool_calls)


@pytest.mark.every_format
@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=15, deadline=None)
@given(message=MESSAGES)
def test_whatever_is_written_is_accepted(name: str, message: Message) -> None:
    fmt = FORMATS[name]
    content, reasoning = str(message.content or ""), message.reasoning_content or ""
    assume(not any(word in content for word in forbidden_in_content(fmt.spec)))
    if fmt.spec.messages is not None:
        assume(not any(word in reasoning for word in forbidden_in_reasoning(fmt.spec)))
    assume(not (has_bare_calls(fmt.spec) and content.lstrip().startswith("{")))
    with suppress(FormatError):
        text = fmt.write(_declared(message) if name in ELEMENTS else message, TOOLS)
        assert accepts(fmt.grammar(TOOLS, enforce="name", **asked(fmt)), text), text


def _declared(message: Message) -> Message:
    """Without the arguments that no schema declares."""
    calls = []
    for call in message.tool_calls:
        arguments = json.loads(call.arguments)
        known = {key: arguments[key] for key in arguments if key in SCHEMAS[call.name]["properties"]}
        calls.append(ToolCall(id="", name=call.name, arguments=json.dumps(known)))
    return Message(content=message.content, reasoning_content=message.reasoning_content, tool_calls=tuple(calls))


@pytest.mark.every_format
@pytest.mark.parametrize("name", CALLING)
def test_invalid_calls_are_refused(name: str) -> None:
    fmt = FORMATS[name]
    incomplete = Message(tool_calls=(ToolCall(id="", name="weather", arguments='{"days": 1}'),))
    unknown = Message(tool_calls=(ToolCall(id="", name="nobody", arguments="{}"),))
    text = fmt.write(incomplete, TOOLS)
    assert accepts(fmt.grammar(TOOLS, enforce="name"), text)
    assert not accepts(fmt.grammar(TOOLS), text)
    assert not accepts(fmt.grammar(TOOLS, tool_choice="required"), text)
    assert accepts(fmt.grammar(TOOLS), fmt.write(unknown)) is (name in SIGNS)
    assert not accepts(fmt.grammar(TOOLS, tool_choice="required"), fmt.write(unknown))
    strict = [{**tool, "function": {**tool["function"], "strict": True}} for tool in TOOLS]
    assert not accepts(fmt.grammar(strict), text)
    named = fmt.grammar(TOOLS, tool_choice="weather")
    assert not accepts(named, fmt.write(Message(tool_calls=(ToolCall(id="", name="clock", arguments="{}"),)), TOOLS))


@pytest.mark.every_format
@pytest.mark.parametrize("name", CALLING)
def test_undeclared_tools_leave_names_open(name: str) -> None:
    fmt = FORMATS[name]
    plain = fmt.write(Message(tool_calls=(ToolCall(id="", name="nobody", arguments="{}"),)))
    text = fmt.write(Message(tool_calls=(ToolCall(id="", name="nobody", arguments='{"a": "1"}'),)))
    assert accepts(fmt.grammar(None), plain)
    # Elements close with their keys: a grammar can hold only keys that it knows.
    assert accepts(fmt.grammar(None), text) is (name not in ELEMENTS)
    assert accepts(fmt.grammar([]), text) is (name in SIGNS)


NAMED_TWICE = ("inkling", "muse", "shape named_closer")
"""formats that write the name of a tool twice: no grammar without declared names can hold two words to be the same"""


@pytest.mark.every_format
@pytest.mark.parametrize("name", [name for name in CALLING if name not in NAMED_TWICE])
def test_calls_of_undeclared_tools_read_without_diagnostics(name: str) -> None:
    fmt = FORMATS[name]
    for text in _written(fmt, fmt.grammar(None, tool_choice="auto"), random.Random(name), 10):
        parser = fmt.parser(None)
        events = [*parser.feed(text), *parser.finish()]
        assert not unexpected(fmt, events), text


@pytest.mark.parametrize("name", NAMED_TWICE)
def test_only_names_differ_in_calls_of_undeclared_tools(name: str) -> None:
    fmt = FORMATS[name]
    call = ToolCall(id="", name="nobody", arguments="{}")
    text = fmt.write(Message(tool_calls=(call,)))
    other = text[::-1].replace("nobody"[::-1], "nobodx"[::-1], 1)[::-1]
    assert accepts(fmt.grammar(None), text)
    assert accepts(fmt.grammar(None), other)
    assert fmt.parse(other).diagnostics
    assert not accepts(fmt.grammar([Tool(name="nobody"), Tool(name="nobodx")]), other)


TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/node"}},
    "required": ["root"],
    "additionalProperties": False,
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "weight": {"type": "integer", "minimum": 0},
                "label": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "free": {"type": "object"},
                "next": {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 2},
            },
            "required": ["weight"],
            "additionalProperties": False,
        }
    },
}
LABELS = st.none() | st.text("ab <", max_size=5)
NODES = st.recursive(
    st.fixed_dictionaries({"weight": st.integers(0, 99)}, optional={"label": LABELS}),
    lambda inner: st.fixed_dictionaries({"weight": st.integers(0, 9), "next": st.lists(inner, max_size=2)}),
    max_leaves=4,
)


@pytest.mark.every_format
@pytest.mark.parametrize("name", ELEMENTS)
@settings(max_examples=25, deadline=None)
@given(node=NODES)
def test_elements_nest_as_the_schema_does(name: str, node: Any) -> None:
    fmt = FORMATS[name]
    tools = [Tool(name="grow", parameters=TREE)]
    call = ToolCall(id="", name="grow", arguments=json.dumps({"root": _in_order(node)}))
    text = fmt.write(Message(tool_calls=(call,)), tools)
    assert accepts(fmt.grammar(tools), text), text
    assert accepts(fmt.grammar(tools, tool_choice="required"), text), text


def _in_order(node: Any) -> Any:
    """Members as the schema lists them."""
    ordered = {key: node[key] for key in TREE["$defs"]["node"]["properties"] if key in node}
    return {**ordered, **({"next": [_in_order(inner) for inner in node["next"]]} if "next" in node else {})}


@pytest.mark.every_format
@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_that_may_be_written_are_valid(name: str) -> None:
    fmt = FORMATS[name]
    tools = [Tool(name="grow", parameters=TREE)]
    grammar = fmt.grammar(tools, tool_choice="required")
    assert fmt.spec.tools is not None
    assert fmt.spec.tools.element is not None
    opening, opened, closing, closed = fmt.spec.tools.element
    keys = [key for key in ("root", "weight", "label", "free", "next", fmt.spec.tools.item) if key]
    tried = [f"{before}{key}{after}" for key in keys for before, after in ((opening, opened), (closing, closed))]
    rng = random.Random(name)
    read = 0
    for _ in range(40):
        text = walk(grammar, rng, [*hints(fmt), *tried, *tried, "1"], steps=60)
        if text is None:
            continue
        read += 1
        parser = fmt.parser(tools)
        events = [*parser.feed(text), *parser.finish()]
        assert not unexpected(fmt, events), text
        for call in parser.message.tool_calls:
            assert call.complete, text
            jsonschema.validate(json.loads(call.arguments), TREE)
    assert read > 5


def test_a_response_format_shapes_the_answer_and_leaves_calls_open() -> None:
    fmt = FORMATS["wrapped"]
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    call = fmt.write(Message(tool_calls=(ToolCall(id="", name="clock", arguments="{}"),)), TOOLS)
    grammar = fmt.grammar(TOOLS, response_format=wanted)
    assert accepts(grammar, '<t>\nhm\n</t>\n\n<a>{"n": 1}</a>')
    assert accepts(grammar, call)
    assert not accepts(grammar, "<a>text</a>")
    assert not accepts(grammar, '<a>{"n": "1"}</a>')
    assert not accepts(fmt.grammar(None, tool_choice="none", response_format=wanted), call)
    assert accepts(fmt.grammar(None, response_format={"type": "json_object"}), '<a>{"x": [1]}</a>')
    ebnf = {"type": "grammar", "grammar": 'start ::= "yes" | "no";'}
    assert accepts(fmt.grammar(None, response_format=ebnf), "<a>yes</a>")
    assert not accepts(fmt.grammar(None, response_format=ebnf), "<a>maybe</a>")


def test_the_prompt_decides_whether_reasoning_is_open() -> None:
    fmt = FORMATS["wrapped"]
    opened = fmt.grammar(None, prompt="user\nassistant: <t>\n")
    assert accepts(opened, "hm\n</t>\n\n<a>yes</a>")
    assert not accepts(opened, "<a>yes</a>")
    off = fmt.grammar(None, reasoning="off")
    assert accepts(off, "<a>yes</a>")
    assert not accepts(off, "<t>\nhm\n</t>\n\n<a>yes</a>")


def test_a_prompt_that_ends_inside_an_opener_is_gone_on_with() -> None:
    fmt = FORMATS["wrapped"]
    inside = fmt.grammar(None, prompt=Prompt("user: <", 6))
    assert accepts(inside, "<t>\nhm\n</t>\n\n<a>yes</a>")  # it may become reasoning, an answer or calls
    fmt = ChatFormat.from_toml('[reasoning]\nblock = "<t><u>\\n{reasoning}</t>"\n')
    prompt = Prompt("user: <t>", 6)
    assert accepts(fmt.grammar(prompt=prompt), "<u>\nhm</t>yes")
    assert not accepts(fmt.grammar(prompt=prompt), "<t><u>\nhm</t>yes")
    message = fmt.parse("<u>\nhm</t>yes", prompt=prompt)
    assert (message.reasoning_content, message.content) == ("hm", "yes")


def test_without_tools_an_answer_with_a_shape_holds_no_calls() -> None:
    fmt = formats.get(next(name for name in FORMATS if name in CALLING and FORMATS[name].spec.content is None))
    call = fmt.write(Message(tool_calls=(ToolCall(id="", name="clock", arguments="{}"),)))
    wanted = {"type": "json_object"}
    assert not accepts(fmt.grammar(None, response_format=wanted), call)
    answer = json.dumps({"text": call})
    assert accepts(fmt.grammar(None, response_format=wanted, reasoning="off"), answer)
    message = fmt.parse(answer, response_format=wanted)
    assert (message.content, message.tool_calls) == (answer, ())
    assert {one.code for one in message.diagnostics} <= {"E-PARSE-MARKER"}


def test_a_wrapper_that_the_prompt_has_opened_is_closed() -> None:
    fmt = FORMATS["wrapped"]
    opened = fmt.grammar(TOOLS, prompt=Prompt("user: <a>", 6))
    assert accepts(opened, "yes</a>")
    assert not accepts(opened, "<a>yes</a>")
    assert not accepts(opened, "yes")
    assert not accepts(opened, "<t>\nhm\n</t>\n\nyes</a>")
    assert accepts(
        fmt.grammar(TOOLS, prompt=Prompt("user: <a>", 6), tool_choice="clock"), "</a><s><c>clock\n{}</c></s>"
    )


def test_arguments_that_are_spelled_as_a_string() -> None:
    fmt = ChatFormat.from_toml(
        '[tools]\ncall = "<c>{envelope}</c>"\nenvelope = \'{"n": "{name}", "a": "{arguments}"}\'\n'
    )
    arguments = '{"a": "x \\"y\\" \\\\ \\n é", "b": [1, -2.5e3, {}, null], "c": true}'
    message = Message(tool_calls=(ToolCall(id="", name="clock", arguments=arguments),))
    grammar = fmt.grammar(TOOLS)
    assert accepts(grammar, fmt.write(message, TOOLS))
    assert not accepts(grammar, '<c>{"n": "clock", "a": {}}</c>')
    assert not accepts(grammar, '<c>{"n": "clock", "a": "{\\"x\\": y}"}</c>')
    rng = random.Random("spelled")
    texts = [walk(grammar, rng, ["<c>", "clock", '\\"', "}", '"}</c>']) for _ in range(20)]
    read = [_read(fmt, text) for text in texts if text is not None]
    assert all(not problems for _, problems in read)
    assert any(message.tool_calls for message, _ in read)


def test_as_many_tools_as_the_limit_allows_compile() -> None:
    tools = [
        Tool(name=f"tool_{n}", parameters={**SCHEMAS["save_note"], "title": str(n)}) for n in range(Limits().tools)
    ]
    fmt = FORMATS["delimited"]
    grammar = fmt.grammar(tools, tool_choice="required", reasoning="off")
    for tool in (tools[0], tools[-1]):
        call = ToolCall(id="", name=tool.name, arguments='{"text": "x"}')
        assert accepts(grammar, fmt.write(Message(tool_calls=(call,)), tools).removeprefix("\n[GO]\n"))
    unknown = Message(tool_calls=(ToolCall(id="", name="tool_", arguments='{"text": "x"}'),))
    assert not accepts(grammar, fmt.write(unknown).removeprefix("\n[GO]\n"))


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_section_of_nothing_but_a_line_break_ends_with_it_or_without(end: str) -> None:
    fmt = ChatFormat.from_toml(
        '[tools]\nsection = "{calls}\\n"\ncall = "tool {name}\\nargs {arguments}"\nseparator = "\\n"\n'
    )
    grammar = fmt.grammar([{"name": "clock", "parameters": {"type": "object"}}])
    one = "tool clock\nargs {}"
    for text in (one, f"Now.{one}\n{one}"):
        assert grammar.check(text + end).accepted
