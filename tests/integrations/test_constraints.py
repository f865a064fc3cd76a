"""What adapters share: compilers of tokenizers, grammars of turns, answers by OpenAI's names."""

from __future__ import annotations

from typing import Any

import pytest

import syntagma as sg
from syntagma.integrations.answers import Answer
from syntagma.integrations.constraints import compiled_grammars, compiler_for
from syntagma.testing import ScriptedBackend, byte_vocabulary

INFO = byte_vocabulary()
GRAMMAR = sg.Grammar.from_choices(["yes", "no"])
FORMAT = sg.ChatFormat.from_toml("""
[tools]
call = "<c>{envelope}</c>"
envelope = '{"name": "{name}", "arguments": {arguments}}'
""")
CODEC = sg.ChatCodec.from_format(FORMAT, sg.ChatTemplate("{% for m in messages %}{{ m.content }}{% endfor %}"))
MESSAGES = [{"role": "user", "content": "Hello"}]
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}


def test_a_vocabulary_or_a_compiler_stands_for_a_tokenizer() -> None:
    compiler = sg.GrammarCompiler(INFO)
    assert compiler_for(compiler) is compiler
    assert compiler_for(INFO).info is INFO
    with pytest.raises(sg.ArgumentTypeError, match="E-VOCAB-TYPE"):
        compiler_for("a name")


def test_turns_and_grammars_become_compiled_grammars() -> None:
    compiler = sg.GrammarCompiler(INFO)
    free = CODEC.prepare(MESSAGES, tools=[])
    held = CODEC.prepare(MESSAGES, tools=[TOOL], tool_choice="required")
    found = compiled_grammars([free, held, GRAMMAR, compiler.compile(GRAMMAR)], compiler)
    assert found[0] is None
    for compiled, text in zip(found[1:], (b'<c>{"name": "f", "arguments": {}}</c>', b"yes", b"no"), strict=True):
        assert compiled is not None
        assert sg.GrammarMatcher(compiled).accept_bytes(text)
        assert not sg.GrammarMatcher(compiled).accept_bytes(b"other")
    assert len(compiled_grammars(GRAMMAR, compiler)) == 1


@pytest.mark.parametrize("wrong", [None, 3, "text", [GRAMMAR, None]])
def test_what_constrains_nothing_is_refused(wrong: Any) -> None:
    with pytest.raises(sg.ArgumentTypeError, match="E-ARGUMENT-TYPE"):
        compiled_grammars(wrong, sg.GrammarCompiler(INFO))


def test_lists_and_vocabularies_must_fit() -> None:
    with pytest.raises(sg.ArgumentError, match="E-ARGUMENT-VALUE"):
        compiled_grammars([], sg.GrammarCompiler(INFO))
    other = sg.GrammarCompiler(byte_vocabulary(["<end>", "<more>"])).compile(GRAMMAR)
    with pytest.raises(sg.ArgumentError, match="E-BITMASK-SIZE"):
        compiled_grammars(other, sg.GrammarCompiler(INFO))


def test_an_answer_speaks_as_openai_does() -> None:
    model = sg.Model(ScriptedBackend('Well.<c>{"name": "f", "arguments": {}}</c>'), CODEC)
    asked = {"tools": [TOOL], "temperature": 0, "max_completion_tokens": 200, "stop": "never", "seed": None}
    answer = Answer(model, MESSAGES, asked)
    assert answer.finish_reason is None
    deltas = list(answer)
    assert "".join(delta.get("content", "") for delta in deltas) == "Well." == answer.message()["content"]
    pieces = [call["function"] for delta in deltas for call in delta.get("tool_calls", ())]
    assert [piece["name"] for piece in pieces if "name" in piece] == ["f"]
    assert "".join(piece["arguments"] for piece in pieces) == "{}"
    assert answer.finish_reason == "tool_calls"
    usage = answer.usage
    assert usage["prompt_tokens"] == len("Hello")
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_an_answer_that_is_left_stops_the_model() -> None:
    steps: list[int] = []
    model = sg.Model(ScriptedBackend("word " * 50, on_step=steps.append), CODEC)
    deltas = iter(Answer(model, MESSAGES, {"temperature": 0}))
    next(deltas)
    deltas.close()  # type: ignore[attr-defined]
    assert len(steps) < 20


def test_options_that_nothing_knows_are_refused() -> None:
    model = sg.Model(ScriptedBackend("Yes."), CODEC)
    with pytest.raises(sg.ArgumentError, match="sorcery") as caught:
        Answer(model, MESSAGES, {"sorcery": 3})
    assert caught.value.pointer == "/sorcery"
    Answer(model, MESSAGES, {"sorcery": None})
