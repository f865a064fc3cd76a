"""Behaviour of the reader that cases as data cannot show: tokens, limits, strictness, misuse, text that has to wait."""

from __future__ import annotations

from typing import Any

import pytest

from syntagma.errors import ArgumentError, ArgumentTypeError, FormatError, ParseError
from syntagma.events import ContentDelta, ReasoningDelta, ToolCallDelta, ToolCallStart
from syntagma.format_schema import StartState, read_toml
from syntagma.formats import ChatFormat
from syntagma.limits import Limits
from syntagma.messages import Tool
from syntagma.parsing import ParserOptions, Policies, StreamParser, start_state

SPEC = read_toml(
    """
end_of_turn = ["<|over|>", "\\n"]
[reasoning]
block = "<thought>\\n{reasoning}\\n</thought>\\n\\n"
switch.effort = { none = "off", high = "<thought>" }
[content]
block = "<answer>{content}</answer>"
[tools]
call = "<call>\\n{envelope}\\n</call>"
envelope = '{"name": "{name}", "arguments": {arguments}}'
"""
)
CALL = '<call>{"name": "f", "arguments": {"a": 1}}</call>'


class Vocabulary:
    """Bytes, and special tokens after them."""

    def __init__(self, *special: str) -> None:
        self.special = special

    @property
    def special_token_ids(self) -> list[int]:
        return [256 + i for i in range(len(self.special))]

    def token_bytes(self, token_id: int) -> bytes:
        return bytes([token_id]) if token_id < 256 else self.special[token_id - 256].encode()

    def encode(self, *pieces: str) -> list[int]:
        """Pieces that are special tokens, exactly, become those; all others their bytes."""
        ids: list[int] = []
        for piece in pieces:
            ids += [256 + self.special.index(piece)] if piece in self.special else piece.encode()
        return ids


def contents(events: list[Any]) -> str:
    return "".join(event.text for event in events if isinstance(event, ContentDelta))


def test_special_tokens_are_markers_and_look_alikes_are_text() -> None:
    info = Vocabulary("<call>", "</call>", "<|over|>")
    parser = StreamParser(SPEC)
    parser.feed_tokens(info.encode(CALL.replace("<call>", "<" + "call>")), info)
    parser.feed_tokens(
        info.encode("<call>", '{"name": "g", "arguments": {"x": "</call>é"}}', "</call>", "<|over|>"), info
    )
    parser.finish()
    assert parser.message.content == CALL
    assert [(call.name, call.arguments) for call in parser.message.tool_calls] == [("g", '{"x": "</call>é"}')]
    assert parser.raw == CALL + '<call>{"name": "g", "arguments": {"x": "</call>é"}}</call><|over|>'


def test_markers_that_are_no_tokens_are_read_as_text() -> None:
    info = Vocabulary("<|other|>")
    parser = StreamParser(SPEC)
    for token in info.encode(CALL, "<|other|>", "é"):
        parser.feed_tokens([token], info)
    parser.finish()
    assert parser.message.content == "<|other|>é"
    assert len(parser.message.tool_calls) == 1


def test_one_special_token_at_a_time() -> None:
    parser = StreamParser(SPEC)
    parser.feed("<call>", special=False)
    parser.feed("<call>", special=True)
    parser.feed('{"name": "f", "arguments": {}}', special=False)
    parser.feed("</call>", special=True)
    parser.finish()
    assert parser.message.content == "<call>"
    assert [call.name for call in parser.message.tool_calls] == ["f"]


def test_the_end_of_the_turn_as_text_is_text() -> None:
    info = Vocabulary("<|over|>")
    parser = StreamParser(SPEC)
    parser.feed_tokens(list(b"say <|over|>"), info)
    parser.finish()
    assert parser.message.content == "say <|over|>"


def test_invalid_bytes_and_surrogates() -> None:
    parser = StreamParser(SPEC)
    for byte in b"a\xf0\x9f\x98b\xffc\xe2\x82":
        parser.feed(bytes([byte]))
    parser.feed("x\ud83d\ude00y")
    parser.finish()
    assert parser.message.content == "a\ufffdb\ufffdc\ufffdx\ufffd\ufffdy"
    assert parser.raw == parser.message.content


def test_content_is_released_as_it_comes() -> None:
    parser = StreamParser(SPEC)
    assert contents(parser.feed("Hello <")) == "Hello "
    assert contents(parser.feed("cal")) == ""
    assert contents(parser.feed("m")) == "<calm"
    assert contents(parser.feed("<call>\n")) == ""
    assert contents(parser.feed("x")) == "<call>\nx"


def test_arguments_are_released_as_they_come() -> None:
    parser = StreamParser(SPEC)
    assert parser.feed('<call>{"name": "f", "arguments": ') == []
    start, delta = parser.feed('{"a": "b<')
    assert isinstance(start, ToolCallStart)
    assert isinstance(delta, ToolCallDelta)
    assert delta.arguments == '{"a": "b'  # `<` may begin the end of the turn
    [delta] = parser.feed("c\\")
    assert isinstance(delta, ToolCallDelta)
    assert delta.arguments == "<c\\"


def test_whitespace_that_may_belong_to_the_end_of_reasoning_waits() -> None:
    parser = StreamParser(SPEC)
    assert [e.text for e in parser.feed("<thought>\none\n") if isinstance(e, ReasoningDelta)] == ["one"]
    assert [e.text for e in parser.feed("two") if isinstance(e, ReasoningDelta)] == ["\ntwo"]


def test_spans_point_into_the_raw_text() -> None:
    parser = StreamParser(SPEC)
    text = f"<thought>\nwhy\n</thought>\n\nséé {CALL} bye"
    events = parser.feed(text) + parser.finish()
    for event in events:
        if isinstance(event, ContentDelta | ReasoningDelta):
            assert text[slice(*event.span)] == event.text
        if isinstance(event, ToolCallDelta):
            assert text[slice(*event.span)] == event.arguments
    [call] = parser.message.tool_calls
    assert call.span is not None
    assert text[slice(*call.span)] == '<call>{"name": "f", "arguments": {"a": 1}'


def test_call_ids_depend_on_the_seed_and_the_index() -> None:
    def ids(seed: str | None) -> list[str]:
        parser = StreamParser(SPEC, id_seed=seed)
        parser.feed(CALL + CALL)
        parser.finish()
        return [call.id for call in parser.message.tool_calls]

    assert ids("a") == ids("a")
    assert len({*ids("a"), *ids("b"), *ids(None), *ids(None)}) == 8


def test_strict_raises_instead_of_recovering() -> None:
    for text in (CALL, "<thought>\na\n</thought>\n\nb", "the tag <call> in prose"):
        parser = StreamParser(SPEC, strict=True)
        parser.feed(text)
        parser.finish()
    parser = StreamParser(SPEC, strict=True)
    with pytest.raises(ParseError) as raised:
        parser.feed('x <call>{"name": "f", "arguments": 1}')
    assert raised.value.code == "E-PARSE-CALL"
    assert raised.value.offset == 2


def test_a_header_over_the_limit_is_content() -> None:
    limits = Limits(parser_header_chars=64)
    fits = '<call>{"x": "' + "y" * 10 + '", "name": "f", "arguments": {}}</call>'
    over = '<call>{"x": "' + "y" * 64 + '", "name": "f", "arguments": {}}</call>'
    parser = StreamParser(SPEC, limits=limits)
    parser.feed(over + fits)
    parser.finish()
    assert parser.message.content == over
    assert len(parser.message.tool_calls) == 1
    assert parser.message.diagnostics[0].code == "E-LIMIT-HEADER"


@pytest.mark.parametrize("step", [1, 1000])
def test_arguments_over_the_limit_end_the_call(step: int) -> None:
    arguments = '{"a": "' + "x" * 40 + '"}'
    text = f'<call>{{"name": "f", "arguments": {arguments}}}</call>'
    fits = StreamParser(SPEC, limits=Limits(parser_argument_chars=len(arguments)))
    cut = StreamParser(SPEC, limits=Limits(parser_argument_chars=len(arguments) - 1))
    for parser in (fits, cut):
        for at in range(0, len(text), step):
            parser.feed(text[at : at + step])
        parser.finish()
    assert fits.message.tool_calls[0].complete
    [call] = cut.message.tool_calls
    assert (call.complete, call.arguments) == (False, arguments[:-1])
    assert cut.message.content == "}}</call>"
    assert [one.code for one in cut.message.diagnostics] == ["E-LIMIT-ARGUMENT", "E-PARSE-MARKER"]


def test_depth_is_not_limited_by_recursion() -> None:
    depth = 50_000
    nested = '{"a": ' * depth + "1" + "}" * depth
    parser = StreamParser(SPEC)
    parser.feed(f'<call>{{"note": {"[" * 1000}{"]" * 1000}, "name": "f", "arguments": {nested}}}</call>')
    parser.finish()
    assert parser.message.tool_calls[0].arguments == nested
    assert parser.message.tool_calls[0].complete


def test_finish() -> None:
    parser = StreamParser(SPEC, keep_raw=False)
    parser.feed(CALL)
    assert parser.finish("stop")[-1].finish_reason == "tool_calls"  # type: ignore[union-attr]
    assert parser.finish() == []
    assert parser.raw == ""
    with pytest.raises(ArgumentError) as raised:
        parser.feed("more")
    assert raised.value.code == "E-ARGUMENT-FINISHED"


def test_misuse_is_refused() -> None:
    with pytest.raises(ArgumentTypeError):
        StreamParser(SPEC).feed(3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError):
        StreamParser(SPEC, reasoning="ajar")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError):
        StreamParser(SPEC, reasoning_format="raw")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("toml", "text", "names"),
    [
        ('[tools]\ncall = "<c>{name}{arguments}end;"\n', "<c>f_1end;<c>g{}end;", ["f_1", "g"]),
        (
            '[tools]\nsection = "<s>{calls}</s>"\nseparator = "\\n"\ncall = "{name}({arguments})"\n'
            'argument = "{key}={value}"\nargument_separator = ","\nvalues = "literal"\n',
            "<s>f()\ng(a=1)</s>",
            ["f", "g"],
        ),
    ],
)
def test_names_without_a_marker_on_one_side(toml: str, text: str, names: list[str]) -> None:
    for chunks in ([text], list(text)):
        parser = StreamParser(read_toml(toml))
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
        assert [call.name for call in parser.message.tool_calls] == names
        assert not parser.message.content


def test_a_call_that_does_not_say_its_tool() -> None:
    spec = read_toml('[tools]\ncall = "<c>{id}<a>{arguments}</c>"\nid = ["{name}:{index}", "{index}"]\n')
    wanted = {"type": "object", "properties": {"x": {}, "y": {}}, "required": ["x"]}
    tools = [Tool(name="f", parameters=wanted), Tool(name="g", parameters={**wanted, "properties": {"z": {}}})]
    for text, names in (
        ('<c>0<a>{"x": {"y": "}"}}</c>', ["f"]),
        ('<c>0<a>{"y": 1}</c>', []),
        ('<c>0<a>{"x": 1</c>', []),
        ('<c>g:1<a>{"x": 1}</c>', ["g"]),
    ):
        for chunks in ([text], list(text)):
            parser = StreamParser(spec, tools)
            for chunk in chunks:
                parser.feed(chunk)
            parser.finish()
            message = parser.message
            assert [call.name for call in message.tool_calls] == names
            assert (message.content or "") == ("" if names else text)


def test_whitespace_before_what_was_no_call_stays() -> None:
    spec = read_toml('[tools]\ncall = " to={name}<m>{arguments}<e>"\n')
    text = "Write to=you and to = me, or to={}."
    for chunks in ([text], list(text)):
        parser = StreamParser(spec)
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
        assert parser.message.content == text


@pytest.mark.parametrize(
    "toml",
    [
        '[content]\nblock = "<to>you<m><q>{content}</q><e>"\n'
        '[messages]\nfields = ["<to>"]\nbody = "<m>"\nend = ["<e>"]\n',
        '[tools]\ncall = "<call>{envelope}</call>"\nenvelope = \'{"arguments": {arguments}}\'\n',
        '[tools]\ncall = "<call>{arguments}<name>{name}</name></call>"\n',
    ],
)
def test_what_the_reader_does_not_know_is_refused(toml: str) -> None:
    with pytest.raises(FormatError) as raised:
        StreamParser(read_toml(toml))
    assert raised.value.code == "E-FORMAT-UNSUPPORTED"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, StartState()),
        ({"prompt": "a\n<|bot|>\n<thought>\n"}, StartState(reasoning="open")),
        ({"prompt": "a\n<|bot|>\n<thought>\n\n</thought>\n\n"}, StartState(reasoning="done")),
        ({"prompt": "a\n<|bot|>\n<thought>", "reasoning": "off"}, StartState(reasoning="done")),
        ({"template_kwargs": {"effort": "none"}}, StartState(reasoning="done")),
        ({"template_kwargs": {"effort": "high"}}, StartState(reasoning="open")),
        ({"template_kwargs": {"effort": "low"}}, StartState()),
        ({"reasoning": "open"}, StartState(reasoning="open")),
        ({"prompt": "a\n<|bot|><thought>\n</thought>\n\n<answer>"}, StartState(content_open=True, reasoning="done")),
    ],
)
def test_start_state(options: dict[str, Any], expected: StartState) -> None:
    assert start_state(SPEC, **options) == expected


def test_a_parser_takes_a_format_and_every_option_of_its_own_parser() -> None:
    fmt = ChatFormat(SPEC)
    options: ParserOptions = {
        "prompt": "<|writer|>",
        "id_seed": "seed",
        "reasoning": "closed",
        "reasoning_format": "auto",
        "stream_reasoning": False,
        "tool_choice": "auto",
        "response_format": None,
        "template_kwargs": {},
        "policies": Policies(malformed="drop"),
        "history_calls": 1,
        "keep_raw": False,
        "strict": False,
        "limits": Limits(),
    }
    assert set(options) == set(ParserOptions.__annotations__)
    text = '<call>{"name": 1}</call>Yes.<call>{"name": "f", "arguments": {"a": 1}}</call>'
    messages = []
    for parser in (StreamParser(fmt, **options), fmt.parser(**options)):
        parser.feed(text)
        parser.finish()
        messages.append(parser.message)
    assert messages[0] == messages[1] == fmt.parse(text, **options)
    assert messages[0].content == "Yes."
    assert len(messages[0].tool_calls) == 1


def test_a_strict_reader_raises_at_a_repair() -> None:
    parser = StreamParser(SPEC, strict=True)
    with pytest.raises(ParseError) as raised:
        parser.feed('<call>{"name": "f", "arguments": {"a": True}}</call>')
    assert raised.value.code == "E-PARSE-REPAIRED"
    assert raised.value.offset == 39
