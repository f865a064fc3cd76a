"""One model in one object: prompt, grammar and parser of a turn belong together."""

from __future__ import annotations

import json
import pickle
from typing import Any

import msgspec
import pytest

from syntagma.analysis import Capabilities
from syntagma.codec import ChatCodec
from syntagma.errors import ArgumentError, ArgumentTypeError, FormatError, GrammarError, RequestError, TemplateError
from syntagma.formats import ChatFormat
from syntagma.messages import Message, Tool, ToolCall
from syntagma.request import resolve_request
from syntagma.templates import ChatTemplate
from tests.constraints.walks import accepts

SOURCE = """\
{%- if tools %}<|tools|>{{ tools | tojson }}<|end|>{% endif -%}
{%- for message in messages -%}
<|{{ message.role }}|>
{%- if message.thought %}<t>{{ message.thought }}</t>{% endif -%}
{%- if message.content is none %}NULL{% else %}{{ message.content }}{% endif -%}
{%- for call in message.tool_calls or [] -%}
<c>{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}</c>
{%- endfor -%}
<|end|>
{%- endfor -%}
{%- if add_generation_prompt %}<|assistant|>{% if think %}<t>{% endif %}{% endif -%}
"""
FORMAT = ChatFormat.from_toml(
    'end_of_turn = ["<|end|>"]\n'
    '[reasoning]\nblock = "<t>{reasoning}</t>"\n'
    '[tools]\ncall = "<c>{envelope}</c>"\nenvelope = \'{"name": "{name}", "arguments": {arguments}}\'\n'
)
TOOL = Tool(
    name="add",
    parameters={
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    },
)
OTHER = Tool(name="other")
ONLY_ADD = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "add"}]}
HELLO: list[dict[str, Any]] = [{"role": "user", "content": "Hello"}]
CALL = '<c>{"name": "add", "arguments": {"a": 1}}</c>'
WRONG = '<c>{"name": "add", "arguments": {"a": "x"}}</c>'


def codec(**capabilities: Any) -> ChatCodec:
    return ChatCodec(FORMAT, ChatTemplate(SOURCE), Capabilities(**capabilities))


def test_a_turn_from_prompt_to_message() -> None:
    turn = codec().prepare(HELLO, tools=[TOOL], tool_choice="required", id_seed="x")
    assert turn.prompt.endswith("<|user|>Hello<|end|><|assistant|>")
    assert turn.prompt.opening == "<|assistant|>"
    assert turn.grammar is not None
    assert accepts(turn.grammar, CALL)
    assert not accepts(turn.grammar, WRONG)
    parser = turn.parser()
    parser.feed(CALL + "<|end|>")
    parser.finish()
    assert [(call.name, call.arguments) for call in parser.message.tool_calls] == [("add", '{"a": 1}')]
    assert not parser.message.content
    assert turn.tools == (TOOL,)
    assert turn.triggers == ("<c>",)
    assert turn.stop_strings == ("<|end|>",)
    assert turn.preserved_tokens == ("<t>", "</t>", "<c>", "</c>", "<|end|>")


def test_every_parser_is_fresh_and_mints_the_same_ids() -> None:
    turn = codec().prepare(HELLO, tools=[TOOL], id_seed="x")
    ids = []
    for _ in range(2):
        parser = turn.parser()
        parser.feed(CALL)
        parser.finish()
        ids.append([call.id for call in parser.message.tool_calls])
    assert ids[0] == ids[1] != []


def test_the_prompt_opens_reasoning_for_grammar_and_parser_alike() -> None:
    turn = codec().prepare(HELLO, tools=[TOOL], tool_choice="required", template_kwargs={"think": True})
    assert turn.start.reasoning == "open"
    assert turn.grammar is not None
    assert accepts(turn.grammar, f"hm</t>{CALL}")
    assert not accepts(turn.grammar, CALL)
    parser = turn.parser()
    parser.feed(f"hm</t>{CALL}")
    parser.finish()
    assert parser.message.reasoning_content == "hm"
    assert len(parser.message.tool_calls) == 1


def test_a_format_says_what_a_prompt_has_opened() -> None:
    assert FORMAT.start_state().reasoning == "possible"
    assert FORMAT.start_state("<|assistant|><t>").reasoning == "open"
    assert FORMAT.start_state("<|assistant|><t>", reasoning="off").reasoning == "done"
    assert codec().prepare(HELLO, template_kwargs={"think": True}).start == FORMAT.start_state("<|assistant|><t>")


def test_a_parser_that_found_the_start_is_handed_out_once() -> None:
    turn = codec().prepare(HELLO, template_kwargs={"think": True})
    assert turn.start.reasoning == "open"
    first, second = turn.parser(), turn.parser()
    assert first is not second
    first.feed("one</t>two")
    second.feed("three")
    assert (first.message.reasoning_content, second.message.reasoning_content) == ("one", "three")


def test_turns_pickle() -> None:
    turn = codec().prepare(HELLO, tools=[TOOL], tool_choice="add", id_seed="x", template_kwargs={"think": True})
    assert turn.grammar is not None
    copy = pickle.loads(pickle.dumps(turn))
    assert (copy.prompt, copy.prompt.start, copy.request) == (turn.prompt, turn.prompt.start, turn.request)
    assert copy.grammar.to_ebnf() == turn.grammar.to_ebnf()
    parser = copy.parser()
    parser.feed(f"hm</t>{CALL}")
    parser.finish()
    assert len(parser.message.tool_calls) == 1


def test_a_request_that_was_read_already_gives_the_same_turn() -> None:
    options: dict[str, Any] = {"tool_choice": "add", "template_kwargs": {"think": True}}
    turn = codec().prepare(HELLO, tools=[TOOL], **options)
    again = codec().prepare_request(HELLO, resolve_request([TOOL], **options))
    assert (again.prompt, again.request) == (turn.prompt, turn.request)
    assert turn.grammar is not None
    assert again.grammar is not None
    assert again.grammar.to_ebnf() == turn.grammar.to_ebnf()


def test_unknown_options_are_type_errors() -> None:
    for call in (codec().prepare, codec().render):
        with pytest.raises(TypeError):
            call(HELLO, colour="red")  # type: ignore[operator]
    for make in (FORMAT.parser, FORMAT.grammar):
        with pytest.raises(TypeError):
            make(colour="red")  # type: ignore[operator]


def test_a_marker_of_the_user_changes_nothing() -> None:
    turn = codec().prepare([{"role": "user", "content": "why <t>"}])
    assert turn.start.reasoning == "possible"


@pytest.mark.parametrize(
    ("request_", "constrained"),
    [
        ({}, False),
        ({"tools": [TOOL]}, True),
        ({"tools": []}, False),
        ({"tools": [TOOL], "enforce": "off"}, False),
        ({"tools": [TOOL], "enforce": "name"}, True),
        ({"tools": [TOOL], "enforce": "parameters"}, True),
        ({"enforce": "parameters"}, False),
        ({"tools": [msgspec.structs.replace(TOOL, strict=True)], "enforce": "off"}, True),
        ({"tools": [TOOL], "parallel_tool_calls": False, "enforce": "off"}, True),
        ({"tools": [TOOL, OTHER], "tool_choice": ONLY_ADD, "enforce": "off"}, True),
        ({"tools": [TOOL], "tool_choice": ONLY_ADD, "enforce": "off"}, False),
        ({"tools": [TOOL], "tool_choice": "none"}, True),
        ({"tools": [TOOL], "tool_choice": "add"}, True),
        ({"response_format": {"type": "json_object"}}, True),
        ({"response_format": {"type": "text"}}, False),
    ],
)
def test_there_is_a_grammar_where_the_request_constrains_something(request_: dict[str, Any], constrained: bool) -> None:
    assert (codec().prepare(HELLO, **request_).grammar is not None) is constrained


def test_parameters_are_constrained_unless_the_request_says_otherwise() -> None:
    grammar = codec().prepare(HELLO, tools=[TOOL]).grammar
    assert grammar is not None
    assert accepts(grammar, CALL)
    assert not accepts(grammar, WRONG)
    names = codec().prepare(HELLO, tools=[TOOL], enforce="name").grammar
    assert names is not None
    assert accepts(names, WRONG)


def test_parameters_that_no_grammar_can_hold_are_refused_when_the_grammar_is_read() -> None:
    impossible = {"type": "object", "properties": {"a": {"$ref": "#/$defs/nowhere"}}}
    turn = codec().prepare(HELLO, tools=[OTHER, Tool(name="odd", parameters=impossible)])
    parser = turn.parser()
    parser.feed(CALL)
    parser.finish()
    assert len(parser.message.tool_calls) == 1
    for name in ("grammar", "call_grammar"):
        with pytest.raises(GrammarError) as caught:
            getattr(turn, name)
        assert str(caught.value.pointer).startswith("/tools/1/function/parameters/properties/a")


@pytest.mark.parametrize("parallel", [True, False, None])
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_a_template_that_shows_one_call_a_message_gets_no_more(choice: str, parallel: bool | None) -> None:
    asked: dict[str, Any] = {"tools": [TOOL], "tool_choice": choice}
    if parallel is not None:
        asked["parallel_tool_calls"] = parallel
    for wants, two in ((codec(tool_calls=True), False), (codec(tool_calls=True, parallel_tool_calls=True), True)):
        turn = wants.prepare(HELLO, **asked)
        for grammar in (turn.grammar, turn.call_grammar):
            assert grammar is not None
            assert accepts(grammar, CALL)
            assert accepts(grammar, CALL * 2) is (two and parallel is not False)
        assert wants.prepare_request(HELLO, resolve_request(**asked)).request == turn.request


def test_whoever_knows_nothing_of_a_template_leaves_the_number_of_calls_free() -> None:
    grammar = ChatCodec.from_format(FORMAT, ChatTemplate(SOURCE)).prepare(HELLO, tools=[TOOL]).grammar
    assert grammar is not None
    assert accepts(grammar, CALL * 2)


def test_what_an_analysed_template_may_write_can_be_rendered_again() -> None:
    one = (
        "{%- if message.tool_calls | length > 1 %}{{ raise_exception('one call at a time') }}{% endif -%}"
        "{%- for call in message.tool_calls or [] -%}"
    )
    source = SOURCE.replace("{%- for call in message.tool_calls or [] -%}", one)
    assert source != SOURCE
    single = ChatCodec.from_template(ChatTemplate(source))
    turn = single.prepare(HELLO, tools=[TOOL], parallel_tool_calls=True)
    assert turn.grammar is not None
    assert accepts(turn.grammar, CALL)
    assert not accepts(turn.grammar, CALL * 2)
    answer = turn.format.parse(CALL * 2, [TOOL])
    assert len(answer.tool_calls) == 2
    assert single.prepare([*HELLO, answer]).prompt.count(f"<|assistant|>{CALL}<|end|>") == 2


def test_bad_requests_are_refused_before_anything_is_rendered() -> None:
    without_template = ChatCodec.from_format(FORMAT)
    with pytest.raises(RequestError):
        without_template.prepare(HELLO, tool_choice="required")
    with pytest.raises(RequestError):
        without_template.prepare(HELLO, response_format={"type": "yaml"})
    with pytest.raises(ArgumentError) as caught:
        without_template.prepare(HELLO)
    assert caught.value.code == "E-CODEC-TEMPLATE"
    with pytest.raises(ArgumentTypeError):
        codec().prepare("Hello")


def _history(arguments: Any) -> list[dict[str, Any]]:
    call = {"id": "1", "type": "function", "function": {"name": "add", "arguments": arguments}}
    return [*HELLO, {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [call]}]


@pytest.mark.parametrize("arguments", [{"a": 1}, '{"a": 1}'])
def test_messages_take_the_form_that_the_template_wants(arguments: Any) -> None:
    as_object = codec(arguments="object", reasoning="thought").render(_history(arguments))
    assert f"<t>hm</t>{CALL}<|end|>" in as_object
    as_text = codec(arguments="string", empty_content="null", reasoning="thought").render(_history(arguments))
    assert "<t>hm</t>NULL" in as_text
    assert json.dumps('{"a": 1}') in as_text.replace("\\u0022", '\\"')


def test_values_and_dictionaries_render_alike() -> None:
    message = Message(tool_calls=(ToolCall(id="1", name="add", arguments='{"a": 1}'),), reasoning_content="hm")
    wants = codec(reasoning="thought")
    assert wants.render([Message(role="user", content="Hello"), message]) == wants.render(_history({"a": 1}))


CUT = ToolCall(id="1", name="add", arguments='{"a": 1', complete=False)


def test_a_call_that_was_cut_is_completed_by_the_codec_alone() -> None:
    history = [Message(role="user", content="Hello"), Message(tool_calls=(CUT,))]
    out = history[1].to_openai()
    assert out["tool_calls"][0]["complete"] is False
    assert Message.from_openai(out) == history[1]
    assert "complete" not in ToolCall(id="1", name="add", arguments="{}").to_openai()
    for messages in (history, [message.to_openai() for message in history]):
        assert CALL in codec().render(messages)
        assert CALL in codec().prepare(messages).prompt
        with pytest.raises(ArgumentError) as caught:
            ChatTemplate(SOURCE).render(messages)
        assert caught.value.code == "E-MESSAGE-INCOMPLETE"
        assert caught.value.pointer == "/messages/1/tool_calls/0"
        assert caught.value.hint
    with pytest.raises(FormatError) as refused:
        FORMAT.write(history[1])
    assert (refused.value.code, refused.value.pointer) == ("E-FORMAT-UNWRITABLE", "/tool_calls/0")
    whole = ToolCall(id="1", name="add", arguments='{"a": 1}', complete=False)
    with pytest.raises(FormatError):
        FORMAT.write(Message(tool_calls=(whole,)))


@pytest.mark.parametrize("arguments", ['{"a": 1}}', "[1]", "null", "x"])
@pytest.mark.parametrize("form", ["object", "string"])
def test_arguments_that_are_no_object_are_refused(arguments: str, form: Any) -> None:
    with pytest.raises(ArgumentError) as caught:
        codec(arguments=form).render(_history(arguments))
    assert caught.value.code == "E-MESSAGE-ARGUMENTS"
    assert caught.value.pointer == f"/messages/{len(HELLO)}/tool_calls/0/function/arguments"


def test_ids_take_the_form_that_the_template_insists_on() -> None:
    source = (
        "{% for m in messages %}{% for c in m.tool_calls or [] %}{% if c.id | length != 9 %}"
        "{{ raise_exception('ids have nine characters') }}{% endif %}[{{ c.id }}]{% endfor %}"
        "{% if m.tool_call_id %}({{ m.tool_call_id }}){% endif %}{% if m.content == 'no' %}"
        "{{ raise_exception('no') }}{% endif %}{% endfor %}"
    )
    strict = ChatCodec.from_format(FORMAT, ChatTemplate(source))

    def history(call_id: str, answer: str) -> list[dict[str, Any]]:
        call = {"id": call_id, "type": "function", "function": {"name": "add", "arguments": "{}"}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call_id, "content": answer},
        ]

    assert strict.render(history("abcdefghi", "1")) == "[abcdefghi](abcdefghi)"
    renamed = strict.render(history("call_0123456789", "1"))
    assert renamed[1:10] == renamed[12:21]
    assert len(renamed) == 22
    with pytest.raises(TemplateError) as caught:
        strict.render(history("call_0123456789", "no"))
    assert "nine" in caught.value.message


def test_tools_are_declared_as_the_template_wants_none() -> None:
    source = (
        "{% if tools is none %}none{% elif tools is not defined %}undefined{% else %}{{ tools | length }}{% endif %}"
    )
    for wanted, shown in (("none", "none"), ("empty", "0")):
        rendered = ChatCodec(FORMAT, ChatTemplate(source), Capabilities(no_tools=wanted)).render(HELLO)  # type: ignore[arg-type]
        assert rendered.startswith(shown)
    assert ChatCodec(FORMAT, ChatTemplate(source)).render(HELLO, tools=[TOOL]).startswith("1")


def test_a_template_is_analysed_into_a_codec() -> None:
    made = ChatCodec.from_template(ChatTemplate(SOURCE.replace("message.thought", "message.reasoning_content")))
    turn = made.prepare(HELLO, tools=[TOOL], tool_choice="add")
    assert turn.grammar is not None
    assert accepts(turn.grammar, CALL)
    assert not accepts(turn.grammar, WRONG)
