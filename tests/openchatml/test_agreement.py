"""The stream parser with the format's file, and the reader of transcripts, understand every completion alike."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from syntagma import formats, openchatml
from syntagma.messages import Message
from syntagma.openchatml import harmony

FORMAT = formats.get("harmony")
CASES = tomllib.loads(
    (Path(__file__).parents[2] / "conformance" / "formats" / f"{FORMAT.name}.toml").read_text(encoding="utf-8")
)["case"]
BODY = "<|message|>"
HEADS = [
    *("<|start|>assistant", "<|start|>", "<|start|>user", "<|start|>functions.f", "assistant", "<|start|>assistant "),
    *("<|channel|>analysis", "<|channel|>commentary", "<|channel|>final", "<|channel|>final?", "<|channel|>finals"),
    *("<|channel|>", "<|channel|>??", " to=functions.f", " to=functions.g", " to=python", " to=user", " to=assistant"),
    *(" to=", " to=functions.{", "<|constrain|>json", " <|constrain|> json", "<|constrain|>", "<|constrain|>a{b"),
    *(" call_id=1", " name=n", " intent=preamble", " x=1", " json", " some words", "\n", " "),
]
BODIES = [
    *(
        "{}",
        '{"a": 1}',
        '{"a": "b',
        'c"}',
        '{"a": "x<|call|>y"}',
        "[1]",
        "code()",
        "{",
        "}",
        "text",
        " ",
        "\n",
        "<",
        "<|",
    ),
    *("<|start|>", "<|channel|>", "é", "😀", "<|literal|>", '{"a": "\n"}', "{} {}", "nul", "<<|end|>"),
]
ENDS = ["<|end|>", "<|return|>", "<|call|>", ""]


@st.composite
def completions(draw: st.DrawFn) -> str:
    """Headers and bodies as models write them, and as they do not."""
    parts: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        parts += draw(st.lists(st.sampled_from(HEADS), max_size=5))
        parts += [BODY] if draw(st.integers(0, 5)) else []
        parts += draw(st.lists(st.sampled_from(BODIES), max_size=3))
        parts.append(draw(st.sampled_from(ENDS)))
    return "".join(parts)


def said(message: Message) -> tuple[object, ...]:
    """What a message says; of ids of calls, those that the text has."""
    calls = [
        (call.name, call.arguments, call.complete, None if call.id.startswith("call_") else call.id)
        for call in message.tool_calls
    ]
    return message.content, message.reasoning_content, calls, message.incomplete


@st.composite
def tokens(draw: st.DrawFn) -> list[tuple[bool, str]]:
    """A completion as pieces, each with whether it is a control token; text may spell one."""
    pieces = [(False, text) for text in draw(st.lists(st.sampled_from([*BODIES, *ENDS[:3]]), max_size=2))]
    for _ in range(draw(st.integers(1, 3))):
        head = draw(st.lists(st.sampled_from(HEADS), max_size=4))
        parts = [part for text in (*head, BODY) for part in re.split(r"(<\|[a-z]+\|>)", text) if part]
        pieces += [(part.startswith("<|"), part) for part in parts]
        pieces += [(False, text) for text in draw(st.lists(st.sampled_from([*BODIES, *ENDS[:3]]), max_size=4))]
        pieces.append((True, draw(st.sampled_from(ENDS[:3]))))
    return pieces


def by_format(chunks: list[str]) -> tuple[object, ...]:
    parser = FORMAT.parser(id_seed="")
    for chunk in chunks:
        parser.feed(chunk)
    parser.finish()
    return said(parser.message)


def is_repaired(text: str) -> bool:
    """Whether the stream parser repairs arguments, which the reader of transcripts leaves as they were written."""
    return "E-PARSE-REPAIRED" in [diagnostic.code for diagnostic in FORMAT.parse(text).diagnostics]


def by_reader(text: str) -> tuple[object, ...]:
    return said(harmony.to_chat(harmony.parse_completion(text).messages))


@pytest.mark.parametrize("case", [case for case in CASES if "prompt" not in case], ids=lambda case: case["name"])
def test_both_read_the_formats_own_cases_alike(case: dict[str, str]) -> None:
    text = case["raw"]
    assert by_reader(text) == by_format([text]) == by_format(list(text))


@settings(deadline=None, max_examples=300)
@given(completions(), st.integers(1, 9))
@example("<|channel|>final<|message|>a<|return|><|channel|>final<|message|>b", 3)
@example("<|channel|>analysis to=functions.f<|message|> {}<|call|>", 2)
@example("<|channel|>final to=user<|constrain|>json<|message|>{}<|end|>", 5)
@example('<|channel|>analysis to=functions.{<|message|>{"a": "b<|end|>', 1)
@example("<|channel|>analysis to=functions.{<|end|>", 1)
@example("I must refuse<|end|><|start|>assistant<|channel|>final {}<|return|>", 4)
def test_both_read_malformed_completions_alike(text: str, size: int) -> None:
    assume(not is_repaired(text))
    wanted = by_reader(text)
    assert by_format([text]) == wanted
    assert by_format([text[at : at + size] for at in range(0, len(text), size)]) == wanted


_SPACE, _CALL = "<|channel|>commentary<|message|> <|end|>", "<|channel|>commentary to=functions.f<|message|>{}<|call|>"
_REASONING, _TEXT = "<|channel|>analysis<|message|>r<|end|>", "<|channel|>final<|message|>text<|end|>"


@pytest.mark.parametrize(
    ("bodies", "content"),
    [
        ([_SPACE], " "),
        ([_SPACE, _SPACE], "  "),
        ([_SPACE, _REASONING], None),
        ([_SPACE, _CALL], None),
        ([_SPACE, "<|message|>{}<|end|>"], None),
        ([_REASONING, _SPACE], " "),
        ([_REASONING, _SPACE, _REASONING], None),
        ([_TEXT, _REASONING, _SPACE, _REASONING], "text"),
        ([_REASONING, _TEXT, _REASONING, _SPACE, _REASONING], "text"),
        ([_REASONING, _SPACE, _CALL], None),
        ([_CALL, _SPACE], None),
        ([_CALL, _SPACE, _SPACE, _CALL], None),
        ([_SPACE, _TEXT, _SPACE, _CALL], " text "),
        ([_REASONING, _SPACE, "<|channel|>analysis<|message|><|end|>", _TEXT], " text"),
        ([_CALL, _SPACE, _TEXT], " text"),
    ],
    ids=str,
)
def test_whitespace_between_reasoning_and_calls_is_no_content(bodies: list[str], content: str | None) -> None:
    text = "<|start|>assistant".join(bodies)
    assert by_reader(text)[0] == content
    for size in (len(text), 1, 2, 7):
        assert by_format([text[at : at + size] for at in range(0, len(text), size)]) == by_reader(text)


@settings(deadline=None, max_examples=300)
@given(tokens())
@example(
    [
        *((True, "<|channel|>"), (False, "commentary"), (True, "<|message|>"), (False, " "), (True, "<|end|>")),
        *((True, "<|message|>"), (False, "{}"), (True, "<|end|>")),
    ]
)
def test_both_read_tokens_alike(pieces: list[tuple[bool, str]]) -> None:
    parser = FORMAT.parser(id_seed="")
    reader = harmony.HarmonyReader()
    for is_token, text in pieces:
        parser.feed(text, special=is_token)
        if is_token:
            reader.feed_token(text.strip("<|>"))
        else:
            reader.feed_text(text)
    parser.finish()
    reader.finish()
    assume("E-PARSE-REPAIRED" not in [diagnostic.code for diagnostic in parser.message.diagnostics])
    assert said(parser.message) == said(harmony.to_chat(reader.messages))


OPENCHATML = formats.get("openchatml")
TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}}]
PROSE = st.lists(
    st.sampled_from(["a", "b c", "é", "\n", "x\n\n", " ", "{}", "<|", "<|en", "1 < 2", "```"]), max_size=3
).map(lambda words: "".join(words).rstrip("<"))


@st.composite
def answers(draw: st.DrawFn) -> list[openchatml.Message]:
    """The messages of one turn of an assistant, without text that needs an escape."""
    made: list[openchatml.Message] = []
    for number in range(draw(st.integers(1, 4))):
        kinds = ["analysis", "commentary", "final", "absent", "preamble", "to user", "function"]
        kind, body = draw(st.sampled_from(kinds)), draw(PROSE)
        fields: dict[str, object] = {"channel": kind, "body": body}
        if kind in ("final", "absent"):
            channel = None if kind == "absent" else "final"
            fields |= {"channel": channel, "terminator": draw(st.sampled_from(["end", "return"]))}
        elif kind == "preamble":
            fields |= {"channel": "commentary", "intent": "preamble"}
        elif kind == "to user":
            fields |= {"channel": "final", "recipient": "user"}
        elif kind == "function":
            fields |= {"channel": "commentary", "recipient": "functions.f", "call_id": f"c{number}"}
            fields |= {"constrain": draw(st.sampled_from([None, "json"])), "body": '{"a": "x"}'}
        made.append(openchatml.Message(role="assistant", **fields))
    return made


def of_turn(messages: list[openchatml.Message]) -> tuple[object, ...]:
    """What a user is told, the reasoning, and the calls of a turn."""
    content: list[str] = []
    waiting: list[str] = []  # whitespace alone, which is content only between texts
    reasoning: list[str] = []
    calls: list[object] = []
    in_text = False
    for message in messages:
        if message.is_call or not (message.body and openchatml.is_visible(message)):
            if message.is_call:
                calls.append(("f", message.body, True, message.call_id))
            elif message.body:
                reasoning.append(message.body)
            if message.body:
                waiting, in_text = [], False
        elif in_text or not message.body.isspace():
            content += [*waiting, message.body]
            waiting, in_text = [], True
        else:
            waiting.append(message.body)
    content += [] if calls else waiting
    return "".join(content) or None, "".join(reasoning) or None, calls, False


@settings(deadline=None, max_examples=200)
@given(answers(), st.sampled_from(["", "\n"]), st.integers(1, 9))
def test_the_format_openchatml_reads_what_the_transcript_reader_reads(
    written: list[openchatml.Message], separator: str, size: int
) -> None:
    text = openchatml.render(written, separator=separator).removeprefix("<|start|>assistant")
    read = openchatml.parse(text, role="assistant").messages
    parser = OPENCHATML.parser(TOOLS)
    for at in range(0, len(text), size):
        parser.feed(text[at : at + size])
    parser.finish()
    assert said(parser.message) == of_turn(list(read))


@settings(deadline=None, max_examples=50)
@given(answers())
def test_what_the_format_openchatml_writes_is_read_the_same_and_held_by_its_grammar(
    written: list[openchatml.Message],
) -> None:
    text = openchatml.render(written, separator="").removeprefix("<|start|>assistant")
    message = OPENCHATML.parse(text, TOOLS)
    again = OPENCHATML.write(message, TOOLS)
    assert said(OPENCHATML.parse(again, TOOLS)) == said(message)
    assert GRAMMAR.accepts(again)


GRAMMAR = OPENCHATML.grammar(TOOLS)
