"""The fields of `compat.llama_cpp` in requests to llama.cpp: what it writes under them, our grammar holds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import pytest

import syntagma as sg
from syntagma.compat.llama_cpp import request_fields, special_tokens
from syntagma.embedded import load
from syntagma.testing import byte_vocabulary
from tests.engines.test_llamacpp_grammars import ANSWERS, FORMATS, TOOLS, without_end

MESSAGES = [{"role": "user", "content": "Set a timer for 7 minutes"}]
HOT = {"temperature": 2, "top_k": 0, "top_p": 1, "min_p": 0, "n_predict": 240}
"""every token that the fields allow may come"""


@pytest.fixture(scope="module")
def codec(folder: Path) -> sg.ChatCodec:
    return sg.ChatCodec.from_pretrained(folder)


@pytest.fixture(scope="module")
def vocabulary(folder: Path) -> sg.TokenizerInfo:
    return load(folder).tokenizer_info


def is_begun(grammar: sg.Grammar, text: str) -> bool:
    """Whether some text of the grammar begins so; the last character may be cut."""
    compiled = sg.GrammarCompiler(byte_vocabulary(["<|eos|>"])).compile(grammar)
    return sg.GrammarMatcher(compiled).accept_bytes(text.rstrip("\ufffd").encode())


def written_by(llamacpp: Any, request: dict[str, Any]) -> tuple[str, bool, list[int]]:
    """The text of an answer, whether it came to its end, and its tokens."""
    choice = llamacpp.handle_completions({**request, "n_probs": 1})["choices"][0]
    tokens = [step["id"] for step in choice["logprobs"]["content"]]
    return without_end(choice["text"]), choice["finish_reason"] == "stop", tokens


@pytest.mark.parametrize("tokens", [False, True], ids=["text", "tokens"])
def test_eager(llamacpp: Any, codec: sg.ChatCodec, vocabulary: sg.TokenizerInfo, *, tokens: bool) -> None:
    turn = codec.prepare(MESSAGES, tools=TOOLS, tool_choice="required", parallel_tool_calls=False)
    assert turn.grammar is not None
    fields = {"prompt": str(turn.prompt), **HOT, **request_fields(turn, vocabulary=vocabulary if tokens else None)}
    ended = 0
    for seed in range(ANSWERS):
        text, is_whole, _ = written_by(llamacpp, fields | {"seed": seed})
        assert text
        if is_whole:
            ended += 1
            assert turn.grammar.accepts(text), (text, turn.grammar.check(text))
            [call] = turn.format.parse(text, TOOLS).tool_calls
            assert call.name in ("set_timer", "find")
        else:
            assert is_begun(turn.grammar, text), text
    assert ended > ANSWERS / 2


@pytest.mark.parametrize("tokens", [False, True], ids=["text", "tokens"])
def test_a_marker_is_its_token_only_where_the_vocabulary_is_given(
    llamacpp: Any, codec: sg.ChatCodec, vocabulary: sg.TokenizerInfo, *, tokens: bool
) -> None:
    turn = codec.prepare(MESSAGES, tools=TOOLS, tool_choice="required", parallel_tool_calls=False)
    fields = request_fields(turn, vocabulary=vocabulary if tokens else None)
    marker = special_tokens(vocabulary)["<tool_call>"]
    # The model would rather spell it.
    request = {"prompt": str(turn.prompt), "temperature": 0, "n_predict": 60, "logit_bias": [[marker, -60]], **fields}
    text, _, numbers = written_by(llamacpp, request)
    assert re.match(r"<tool_call>\s*\{", text)
    assert (marker in numbers) == tokens


@pytest.mark.parametrize("tokens", [False, True], ids=["text", "tokens"])
def test_lazy(llamacpp: Any, codec: sg.ChatCodec, vocabulary: sg.TokenizerInfo, *, tokens: bool) -> None:
    turn = codec.prepare(MESSAGES, tools=TOOLS)
    assert turn.call_grammar is not None
    fields = request_fields(turn, lazy=True, vocabulary=vocabulary if tokens else None)
    begun = 0
    for seed in range(ANSWERS):
        text, is_whole, _ = written_by(llamacpp, {"prompt": str(turn.prompt), **HOT, **fields, "seed": seed})
        before, trigger, after = text.partition("<tool_call>")
        if not trigger or "<think>" in before:
            continue
        begun += 1
        if is_whole:
            assert turn.call_grammar.accepts(trigger + after), text
        else:
            assert is_begun(turn.call_grammar, trigger + after), text
    assert begun > ANSWERS / 2


def test_a_trigger_inside_of_reasoning_that_the_prompt_opened_does_not_count(
    llamacpp: Any, codec: sg.ChatCodec, vocabulary: sg.TokenizerInfo
) -> None:
    bias = [[special_tokens(vocabulary)["<tool_call>"], 60]]
    written = {}
    for state in ("open", "closed"):
        turn = codec.prepare(MESSAGES, tools=TOOLS, reasoning=state)
        request = {"prompt": str(turn.prompt), "n_predict": 12, "temperature": 0, "logit_bias": bias}
        written[state], _, _ = written_by(llamacpp, request | request_fields(turn, lazy=True))
    assert written["open"].startswith("<tool_call><tool_call>")
    assert re.match(r"<tool_call>\s*\{", written["closed"])


def test_a_trigger_behind_reasoning_that_the_prompt_opened_counts(llamacpp: Any, codec: sg.ChatCodec) -> None:
    turn = codec.prepare(MESSAGES, tools=TOOLS, reasoning="open")
    assert turn.call_grammar is not None
    fields = request_fields(turn, lazy=True)
    begun = 0
    for seed in range(ANSWERS):
        text, is_whole, _ = written_by(llamacpp, {"prompt": f"{turn.prompt}<think>\n", **HOT, **fields, "seed": seed})
        _, trigger, after = text.partition("</think>")[2].partition("<tool_call>")
        begun += bool(trigger)
        if trigger and is_whole:
            assert turn.call_grammar.accepts(trigger + after), text
    assert begun > ANSWERS / 4


def test_a_trigger_inside_of_reasoning_that_the_model_opened_does_not_count(
    llamacpp: Any, codec: sg.ChatCodec, vocabulary: sg.TokenizerInfo
) -> None:
    turn = codec.prepare(MESSAGES, tools=TOOLS)
    ids = special_tokens(vocabulary)
    # Nothing but these two comes, one as likely as the other.
    bias = [[ids["<tool_call>"], 900], [ids["<think>"], 900]]
    request = {"prompt": str(turn.prompt), **HOT, "n_predict": 12, "temperature": 60, "logit_bias": bias}
    inside = 0
    for seed in range(ANSWERS):
        text, _, _ = written_by(llamacpp, {**request, **request_fields(turn, lazy=True), "seed": seed})
        if text.startswith("<think>") and "<tool_call>" in text:
            inside += 1
            assert re.fullmatch(r"(<think>|<tool_call>)+", text), text
        elif text.startswith("<tool_call>"):
            assert re.match(r"<tool_call>\s*\{", text), text
    assert 0 < inside < ANSWERS


@pytest.mark.parametrize("name", [name for name in FORMATS if sg.formats.get(name).triggers])
def test_triggers_of_every_format_are_read(llamacpp: Any, name: str) -> None:
    codec = sg.ChatCodec(sg.formats.get(name), sg.ChatTemplate("{{ messages[0].content }}"))
    states: tuple[Literal["open", "closed"], ...] = ("open", "closed") if codec.format.spec.reasoning else ("closed",)
    for state in states:
        fields = request_fields(codec.prepare(MESSAGES, tools=TOOLS, reasoning=state), lazy=True)
        answer = llamacpp.handle_completions({**fields, "prompt": "a", "n_predict": 2})
        assert "error" not in answer, answer
