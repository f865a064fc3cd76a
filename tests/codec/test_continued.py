"""Answers that go on from a final message: what is joined keeps to the grammar, wherever it was cut."""

from __future__ import annotations

import pickle
import random
from typing import Any

import pytest

from syntagma import ChatCodec, ChatFormat, ChatTemplate, GrammarCompiler, GrammarMatcher, RequestError
from syntagma.codec import Turn
from syntagma.errors import FormatError
from syntagma.generation import GenerationOptions, Generator, Model
from syntagma.testing import ScriptedBackend, byte_vocabulary

FORMAT = """
end_of_turn = ["<end>"]
[reasoning]
block = "<note>{reasoning}</note>"
[tools]
call = "<call>{envelope}</call>"
envelope = '{"name": "{name}", "arguments": {arguments}}'
"""
TEMPLATE = (
    "{%- for message in messages -%}<{{ message.role }}>"
    "{%- if message.reasoning_content -%}<note>{{ message.reasoning_content }}</note>{%- endif -%}"
    "{{ message.content }}<end>{%- endfor -%}{%- if add_generation_prompt -%}<assistant>{%- endif -%}"
)
# A template whose generation prompt opens reasoning, and whose history leaves it out.
FORGETS = (
    "{%- for message in messages -%}<{{ message.role }}>{{ message.content }}<end>{%- endfor -%}"
    "{%- if add_generation_prompt -%}<assistant><note>{%- endif -%}"
)
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"enum": ["Oslo", "Lima"]}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
CALL = '<call>{"name": "weather", "arguments": {"city": "Oslo"}}</call>'
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
CASES: list[tuple[dict[str, Any], str]] = [
    ({"response_format": {"type": "json_schema", "schema": SCHEMA}}, '<note>an ü</note>{"a": -12}'),
    ({"response_format": {"type": "regex", "regex": "[0-9]{2,4}[äö]x?"}}, "123öx"),
    ({"response_format": {"type": "choice", "choice": ["yes", "yesterday", "no"]}}, "yesterday"),
    ({"response_format": {"type": "grammar", "grammar": 'root ::= "(" root? ")"'}}, "((()))"),
    ({"tools": [WEATHER], "tool_choice": "required"}, f"<note>which?</note>{CALL}{CALL}"),
    ({"tools": [WEATHER]}, f"<note>which?</note>It is there. {CALL}"),
    ({"tools": [WEATHER], "response_format": {"type": "json_object"}}, '{"b": [1, {}]}'),
]
SPECIALS = [("<end>",), ("<end>", "<note>", "</note>", "<call>", "</call>")]


def turn(text: str, template: str = TEMPLATE, *, message: dict[str, Any] | None = None, **asked: Any) -> Turn:
    codec = ChatCodec.from_format(ChatFormat.from_toml(FORMAT), ChatTemplate(template))
    final = {"role": "assistant", "content": text} if message is None else {"role": "assistant", **message}
    return codec.prepare([{"role": "user", "content": "hi"}, final], continue_final_message=True, **asked)


def _places(text: str, part: str) -> list[int]:
    return [at for at in range(len(text)) if text.startswith(part, at)]


@pytest.mark.some(5)
@pytest.mark.parametrize("special", SPECIALS, ids=["markers-are-text", "markers-are-tokens"])
@pytest.mark.parametrize(("asked", "answer"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_joined_is_a_text_of_the_grammar(asked: dict[str, Any], answer: str, special: tuple[str, ...]) -> None:
    seen = random.Random(answer)
    inside = {
        at for marker in special for start in _places(answer, marker) for at in range(start + 1, start + len(marker))
    }
    # A marker that is one token cannot be written in part.
    for cut in sorted({*range(1, len(answer) + 1)} - inside):
        prefix, rest = answer[:cut], answer[cut:]
        asks = turn(prefix, **asked)
        assert asks.begun == prefix
        whole = asks.whole_grammar
        assert whole is not None
        # What was cut off may come; so may anything else that keeps to the grammar, whatever the model likes.
        for script in (rest, "".join(seen.choice("}a1 <\n") for _ in range(5))):
            backend = ScriptedBackend(script, special=special)
            generation = Generator(backend).start(
                asks.prompt,
                grammar=whole,
                begin=lambda matcher, asks=asks, info=backend.tokenizer_info: asks.begin(matcher, info),
            )
            written = b"".join(step.data for step in generation if not step.end).decode()
            assert whole.accepts(prefix + written), (prefix, written)
            assert script != rest or written.startswith(rest)


@pytest.mark.parametrize(("asked", "answer"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_model_goes_on_and_the_message_is_read(asked: dict[str, Any], answer: str) -> None:
    cut = len(answer) - (len('slo"}}</call>') if answer.endswith("</call>") else 3)
    codec = ChatCodec.from_format(ChatFormat.from_toml(FORMAT), ChatTemplate(TEMPLATE))
    model = Model(ScriptedBackend(answer[cut:]), codec)
    asks = turn(answer[:cut], **asked)
    parser = asks.parser()
    generation = model.start(asks, GenerationOptions())
    for _ in generation.read(parser, markers=asks.preserved_tokens):
        pass
    assert parser.raw == f"{answer[cut:]}<end>"
    assert not parser.message.diagnostics
    # The call that is begun comes whole; earlier ones are a matter of the prefix.
    assert len(parser.message.tool_calls) == min(answer.count("<call>"), 1)


@pytest.mark.parametrize(
    ("asked", "prefix", "taken"),
    [
        ({"response_format": {"type": "json_schema", "schema": SCHEMA}}, '{"b', 2),
        ({"response_format": {"type": "choice", "choice": ["yes", "no"]}}, "yesx", 3),
        ({"response_format": {"type": "choice", "choice": ["yes", "no"]}}, "<note>hm</note>maybe", 15),
        ({"tools": [WEATHER], "tool_choice": "required"}, "Well", 0),
        ({"tools": [WEATHER]}, '<call>{"name": "watch', 17),
    ],
)
def test_what_nothing_begins_with_is_refused(asked: dict[str, Any], prefix: str, taken: int) -> None:
    asks = turn(prefix, **asked)
    info = byte_vocabulary()
    assert asks.whole_grammar is not None
    matcher = GrammarMatcher(GrammarCompiler(info).compile(asks.whole_grammar))
    with pytest.raises(RequestError, match=f"at character {taken} of") as refused:
        asks.begin(matcher, info)
    assert (refused.value.code, refused.value.pointer) == ("E-REQUEST-PREFIX", "/messages")
    with pytest.raises(RequestError, match=f"at character {taken} of"):
        asks.check_begun()


def test_reasoning_of_the_message_is_a_part_of_what_is_begun() -> None:
    shape = {"type": "choice", "choice": ["yes", "no"]}
    asks = turn("", message={"reasoning_content": "hm", "content": "y"}, response_format=shape)
    assert asks.begun == "<note>hm</note>y"
    inside = turn("", message={"reasoning_content": "hm", "content": ""}, response_format=shape)
    assert inside.begun == "<note>hm"
    assert inside.grammar is not None
    assert inside.grammar.accepts(" so</note>yes")
    assert not inside.grammar.accepts("</note>maybe")


def test_the_rest_of_a_shape_is_no_grammar() -> None:
    asks = turn("ye", response_format={"type": "choice", "choice": ["yes", "no"]})
    with pytest.raises(FormatError) as refused:
        _ = asks.grammar
    assert refused.value.code == "E-FORMAT-BEGUN"
    free = turn("It is", tools=[WEATHER])
    assert free.grammar is not None
    assert free.grammar.accepts(f" so. {CALL}")
    assert turn("It is").grammar is None
    assert turn("It is").whole_grammar is None


def test_a_template_that_forgets_reasoning_shows_where_its_message_begins() -> None:
    asks = turn("ye", FORGETS, response_format={"type": "choice", "choice": ["yes", "no"]})
    assert asks.begun == "ye"


def test_turns_that_begin_anew_have_begun_nothing() -> None:
    codec = ChatCodec.from_format(ChatFormat.from_toml(FORMAT), ChatTemplate(TEMPLATE))
    asks = codec.prepare([{"role": "user", "content": "hi"}], tools=[WEATHER])
    assert asks.begun == ""
    assert asks.whole_grammar is asks.grammar
    again = pickle.loads(pickle.dumps(turn("ye", tools=[WEATHER])))
    assert again.begun == "ye"
