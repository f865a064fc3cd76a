"""What the grammar may write, the parser reads without anything odd; what the writer writes, the grammar accepts."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given, settings

from syntagma import formats
from syntagma.constraints.literals import forbidden_in_content
from syntagma.constraints.text import has_bare_calls
from syntagma.errors import FormatError
from syntagma.events import Malformed
from syntagma.formats import ChatFormat
from syntagma.limits import Limits
from syntagma.messages import Message, Tool, ToolCall
from syntagma.templates import Prompt
from tests.constraints.walks import accepts, walk
from tests.formats.cases import TOOLS
from tests.formats.messages import MESSAGES

OWN = {
    "wrapped": '[reasoning]\nblock = "<t>\\n{reasoning}\\n</t>\\n\\n"\n[content]\nblock = "<a>{content}</a>"\n'
    '[tools]\nsection = "<s>{calls}</s>"\ncall = "<c>{name}\\n{arguments}</c>"\n',
    "delimited": '[reasoning]\nblock = "{reasoning}\\n[GO]\\n"\nstart = "open"\n'
    '[tools]\nsection = "<s>[{calls}]</s>"\nseparator = ", "\ncall = "{envelope}"\n'
    'envelope = \'{"id": "{id}", "call": {"tool": "{name}", "n": {index}, "with": {arguments}}}\'\n',
    "sometimes wrapped": '[reasoning]\nblock = "<t>{reasoning}</t>"\n'
    '[content]\nblock = "<a>{content}</a>"\nwhen = "reasoning"\ndrop = ["<x>"]\n'
    '[tools]\ncall = "\\n<c>\\n<n>{name}</n>{arguments}\\n</c>\\n"\n',
    "with ids": '[tools]\nsection = "<s>{calls}</s>"\ncall = "<c>{id}<v>{arguments}</c>"\n'
    'id = "functions.{name}:{index}"\n',
    "pairs between separators": '[tools]\ncall = "<c>{name}: {arguments}</c>"\nargument = "<k>{key}<v>{value}</v>"\n'
    'argument_separator = "; "\n',
    "an object with words": '[tools]\ncall = "<c>{name}({arguments})</c>"\nliterals = "python"\n',
    "strings between marks": '[tools]\nsection = "<s>{calls}</s>"\ncall = "<c>{name}{arguments}</c>"\n'
    'literals = { quotes = ["<q>"], null = ["nil", "null"] }\n',
    "keywords with bare keys inside": '[tools]\ncall = "<c>{name}({arguments})</c>"\nargument = "{key} = {value}"\n'
    'argument_separator = " , "\nvalues = "literal"\nliterals = { quotes = ["\'"], bare_keys = true }\n',
    "spelled as a string": '[tools]\nsection = "<s>{calls}</s>"\ncall = "<c>{envelope}</c>"\n'
    'envelope = \'{"n": "{name}", "a": "{arguments}"}\'\n',
    "words in an envelope": '[tools]\ncall = "<c>{envelope}</c>"\nenvelope = \'{"n": "{name}", "a": {arguments}}\'\n'
    'literals = "python"\n',
    "marks in an envelope": '[tools]\ncall = "<c>{envelope}</c>"\nenvelope = \'{"n": "{name}", "a": {arguments}}\'\n'
    'literals = { quotes = ["<q>"], bare_keys = true }\n',
    "raw text beside words": '[tools]\ncall = "<c>{name}{arguments}</c>"\nargument = "<k>{key}<v>{value}</v>"\n'
    'literals = "python"\n',
    "raw text by its looks, beside words": '[tools]\ncall = "<c>{name}{arguments}</c>"\n'
    'argument = "<k>{key}<v>{value}</v>"\nvalues = "json"\nliterals = "python"\n',
    "types beside strings in marks": '[tools]\ncall = "<c>{name}{arguments}</c>"\n'
    'argument = "<k {type}>{key}<v>{value}</v>"\n'
    'types = { s = "string", j = "json" }\nliterals = { quotes = ["<q>"], true = ["yes", "true"] }\n',
    "keywords with semicolons": '[tools]\ncall = "<c>{name}({arguments})</c>"\nargument = "{key}={value}"\n'
    'argument_separator = "; "\nvalues = "literal"\nliterals = "python"\n',
    "messages that the next one ends": '[messages]\nfields = [">>>"]\nbody = "\\n"\n[content]\n'
    'block = ">>>all\\n{content}"\n[tools]\ncall = ">>>{name}\\n{arguments}"\n',
    "messages and thoughts that the next one ends": '[messages]\nstart = "<s>bot"\nfields = ["<to>"]\nbody = "<b>"\n'
    '[reasoning]\nblock = "<to>self<b>{reasoning}"\n[content]\nblock = "<to>all<b>{content}"\n'
    '[tools]\ncall = "<to>{name}<b>{arguments}"\n',
    "types on the wire": '[tools]\nsection = "<s>\\n{calls}</s>"\ncall = "<c={name}>\\n{arguments}</c>\\n"\n'
    'argument = "<k={key} {type}>\\n{value}\\n</k>\\n"\ntypes = { text = "string", data = "json" }\n',
}
FORMATS: dict[str, ChatFormat] = {name: formats.get(name) for name in formats.names()}
FORMATS |= {name: ChatFormat.from_toml(text) for name, text in OWN.items()}
NESTED = [name for name, fmt in FORMATS.items() if fmt.spec.tools is not None and fmt.spec.tools.item is not None]
NESTED_FORMATS = {name: FORMATS.pop(name) for name in NESTED}
CALLING = [name for name, fmt in FORMATS.items() if fmt.spec.tools is not None]
SCHEMAS: dict[str, Any] = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}
HINTS = ["weather", "clock", "save_note", '"place": "', '{"']


def _hints(fmt: ChatFormat) -> list[str]:
    reasoning = fmt.spec.reasoning
    closers = [block.closer for block in reasoning.block] if reasoning is not None else []
    if fmt.spec.tools is not None:
        tools = fmt.spec.tools
        behind = "".join(one.closer for one in (*tools.argument[:1], tools.call[0], tools.section[0]))
        closers += [one.around("value")[1] for one in tools.argument[:1]] + [behind, tools.call[0].closer]
        if not tools.literals.writes_json:
            quote = tools.literals.quotes[0]
            closers += [one.around("key")[1] + "0" for one in tools.argument[:1]]
            closers += [
                quote,
                quote,
                quote + ": 0",
                quote + behind,
                behind,
                *(
                    tools.section[0].opener + "clock" + one.around("name")[1]
                    for one in tools.call[:1]
                    if "name" in one.holes
                ),
            ]
    return [*fmt.preserved_tokens, *fmt.triggers, *HINTS, *closers]


def _odd(fmt: ChatFormat, text: str, **options: Any) -> tuple[Message, list[Any]]:
    parser = fmt.parser(TOOLS, id_seed="walk", **options)
    events = [*parser.feed(text), *parser.finish()]
    return parser.message, [event for event in events if isinstance(event, Malformed)] + list(
        parser.message.diagnostics
    )


@pytest.mark.parametrize("enforce", ["off", "parameters"])
@pytest.mark.parametrize("name", FORMATS)
def test_what_may_be_written_reads_without_anything_odd(name: str, enforce: Any) -> None:
    fmt = FORMATS[name]
    grammar = fmt.grammar(TOOLS, enforce=enforce)
    rng = random.Random(f"{name} {enforce}")
    read = called = 0
    for _ in range(25):
        text = walk(grammar, rng, _hints(fmt))
        if text is None:
            continue
        read += 1
        message, odd = _odd(fmt, text)
        assert not odd, (text, odd)
        assert all(call.complete and call.name in SCHEMAS for call in message.tool_calls), text
        called += bool(message.tool_calls)
    assert read > 10
    assert called or name not in CALLING


@pytest.mark.parametrize("choice", ["required", "weather"])
@pytest.mark.parametrize("name", CALLING)
def test_required_calls_are_valid(name: str, choice: str) -> None:
    fmt = FORMATS[name]
    grammar = fmt.grammar(TOOLS, tool_choice=choice)
    rng = random.Random(f"{name} {choice}")
    read = 0
    for _ in range(20):
        text = walk(grammar, rng, _hints(fmt))
        if text is None:
            continue
        read += 1
        message, odd = _odd(fmt, text, tool_choice=choice)
        assert not odd, (text, odd)
        assert not message.content, text
        assert message.tool_calls, text
        assert choice == "required" or [call.name for call in message.tool_calls] == [choice]
        for call in message.tool_calls:
            assert call.complete
            jsonschema.validate(json.loads(call.arguments), SCHEMAS[call.name])
    assert read > 5


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


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_written_is_accepted(name: str) -> None:
    fmt = FORMATS[name]
    reasoning = fmt.spec.reasoning
    front = reasoning.block[0].opener if reasoning is not None and reasoning.to == "content" else ""
    thoughts = "Well; 1 < 2." if reasoning is not None and not front else None
    note = ToolCall(
        id="", name="save_note", arguments='{"text": "a\\n\\"b\\" é", "tags": ["x", ""], "meta": {"pinned": true}}'
    )
    clock = ToolCall(id="", name="clock", arguments="{}")
    bare = not fmt.triggers or "{" in fmt.triggers[0]
    messages = [
        Message(content=f"{front}Yes, 1 < 2."),
        Message(content=f"{front}Yes.\n\n- é", reasoning_content=thoughts),
        *(
            [Message(tool_calls=(note,)), Message(tool_calls=(clock, note), reasoning_content=thoughts)]
            if fmt.triggers
            else []
        ),
        *([Message(content="Look: ", tool_calls=(note, clock))] if fmt.triggers and not bare else []),
    ]
    for message in messages:
        text = fmt.write(message, TOOLS)
        for enforce in ("off", "parameters"):
            assert accepts(fmt.grammar(TOOLS, enforce=enforce), text), text  # type: ignore[arg-type]
        if message.tool_calls and not message.content:
            assert accepts(fmt.grammar(TOOLS, tool_choice="required"), text), text
        assert accepts(fmt.grammar(TOOLS, tool_choice="none"), text) is not bool(message.tool_calls)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=15, deadline=None)
@given(message=MESSAGES)
def test_whatever_is_written_is_accepted(name: str, message: Message) -> None:
    fmt = FORMATS[name]
    content = str(message.content or "")
    assume(not any(word in content for word in forbidden_in_content(fmt.spec)))
    assume(not (has_bare_calls(fmt.spec) and content.lstrip().startswith("{")))
    with suppress(FormatError):
        text = fmt.write(message, TOOLS)
        assert accepts(fmt.grammar(TOOLS), text), text


@pytest.mark.parametrize("name", CALLING)
def test_invalid_calls_are_refused(name: str) -> None:
    fmt = FORMATS[name]
    incomplete = Message(tool_calls=(ToolCall(id="", name="weather", arguments='{"days": 1}'),))
    unknown = Message(tool_calls=(ToolCall(id="", name="nobody", arguments="{}"),))
    text = fmt.write(incomplete, TOOLS)
    assert accepts(fmt.grammar(TOOLS), text)
    assert not accepts(fmt.grammar(TOOLS, enforce="parameters"), text)
    assert not accepts(fmt.grammar(TOOLS, tool_choice="required"), text)
    assert not accepts(fmt.grammar(TOOLS), fmt.write(unknown))
    strict = [{**tool, "function": {**tool["function"], "strict": True}} for tool in TOOLS]
    assert not accepts(fmt.grammar(strict), text)
    named = fmt.grammar(TOOLS, tool_choice="weather")
    assert not accepts(named, fmt.write(Message(tool_calls=(ToolCall(id="", name="clock", arguments="{}"),)), TOOLS))


@pytest.mark.parametrize("name", CALLING)
def test_undeclared_tools_leave_names_open(name: str) -> None:
    fmt = FORMATS[name]
    text = fmt.write(Message(tool_calls=(ToolCall(id="", name="nobody", arguments='{"a": "1"}'),)))
    assert accepts(fmt.grammar(None), text)
    assert not accepts(fmt.grammar([]), text)


@pytest.mark.parametrize("name", NESTED_FORMATS)
def test_calls_that_nest_are_refused(name: str) -> None:
    with pytest.raises(FormatError) as caught:
        NESTED_FORMATS[name].grammar(TOOLS)
    assert caught.value.code == "E-FORMAT-UNSUPPORTED"
    assert accepts(NESTED_FORMATS[name].grammar(TOOLS, tool_choice="none"), "Yes, 1 < 2.")


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


def test_the_prompt_decides_whether_thoughts_are_open() -> None:
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
    assert accepts(inside, "<t>\nhm\n</t>\n\n<a>yes</a>")  # it may become thoughts, an answer or calls
    thoughts = ChatFormat.from_toml('[reasoning]\nblock = "<t><u>\\n{reasoning}</t>"\n')
    prompt = Prompt("user: <t>", 6)
    assert accepts(thoughts.grammar(prompt=prompt), "<u>\nhm</t>yes")
    assert not accepts(thoughts.grammar(prompt=prompt), "<t><u>\nhm</t>yes")
    message = thoughts.parse("<u>\nhm</t>yes", prompt=prompt)
    assert (message.reasoning_content, message.content) == ("hm", "yes")


def test_without_tools_an_answer_with_a_shape_holds_no_calls() -> None:
    fmt = formats.get(next(name for name in FORMATS if name in CALLING and FORMATS[name].spec.content is None))
    call = fmt.write(Message(tool_calls=(ToolCall(id="", name="clock", arguments="{}"),)))
    wanted = {"type": "json_object"}
    assert not accepts(fmt.grammar(None, response_format=wanted), call)
    answer = json.dumps({"text": call})
    assert accepts(fmt.grammar(None, response_format=wanted, reasoning="off"), answer)
    message = fmt.parse(answer, response_format=wanted)
    assert (message.content, message.tool_calls, message.diagnostics) == (answer, (), ())


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
    read = [_odd(fmt, text) for text in texts if text is not None]
    assert all(not odd for _, odd in read)
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
