"""Budgets of turns: what they allow, in every format that grammars can hold."""

from __future__ import annotations

import random

import numpy as np
import pytest

import syntagma as sg

MARKERS = [b"<think>", b"</think>", b"<tool_call>", b"</tool_call>"]
WORDS = [b"hello", b" world", b'{"', b'": "', b'"}', b"}}", b"</", b"city", b"<tool"]
TOKENS = [bytes([byte]) for byte in range(256)] + [b"<end>"] + MARKERS + WORDS
INFO = sg.TokenizerInfo.from_tokens(TOKENS, eos_token_ids=[256], special_token_ids=[257, 258, 259, 260])
COMPILER = sg.GrammarCompiler(INFO)
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }
]


def allowed(matcher: sg.GrammarMatcher) -> list[int]:
    bitmask = sg.allocate_token_bitmask(1, INFO.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    bits = np.unpackbits(bitmask[0].view(np.uint8), bitorder="little")[: INFO.vocab_size]
    return [int(token) for token in np.flatnonzero(bits)]


def walk(matcher: sg.GrammarMatcher, seed: int, steps: int = 300) -> list[int]:
    """Random tokens, and a shortest way to the end where they do not come to one."""
    rng = random.Random(seed)
    taken: list[int] = []
    while not matcher.is_terminated() and len(taken) < steps:
        tokens = allowed(matcher)
        assert tokens, f"a dead end after {INFO.decode(taken)!r}"
        taken.append(rng.choice(tokens))
        assert matcher.accept_token(taken[-1])
    if not matcher.is_terminated():
        close = matcher.shortest_close()
        assert close is not None
        taken += close
        assert matcher.validate_tokens(close) == len(close)
    return taken


def is_held(name: str) -> bool:
    try:
        sg.formats.get(name).grammar(TOOLS)
    except sg.FormatError:
        return False
    return True


@pytest.mark.parametrize("name", list(filter(is_held, sg.formats.names())))
def test_every_format_keeps_to_budgets(name: str) -> None:
    fmt = sg.formats.get(name)
    budgets = sg.Budgets(reasoning_tokens=5, content_tokens=7, argument_bytes=200)
    grammar = fmt.grammar(TOOLS, budgets=budgets)
    free = COMPILER.compile(fmt.grammar(TOOLS))
    for seed in range(3):
        taken = walk(sg.GrammarMatcher(COMPILER.compile(grammar)), seed)
        assert sg.GrammarMatcher(free).validate_tokens(taken) == len(taken)
        message = fmt.parse(INFO.decode(taken[:-1] if taken[-1] == 256 else taken).decode(), TOOLS)
        # A token has nine bytes at most.
        assert len((message.reasoning_content or "").encode()) <= 5 * 9
        assert len((message.content or "").encode()) <= 7 * 9


def test_thoughts_are_closed_and_the_answer_goes_on() -> None:
    fmt = sg.formats.get("qwen3")
    grammar = fmt.grammar(reasoning="open", budgets=sg.Budgets(reasoning_tokens=3, on_reasoning="close"))
    matcher = sg.GrammarMatcher(COMPILER.compile(grammar))
    for token in (261, 262, ord("!")):
        assert matcher.accept_token(token)
    assert allowed(matcher) == [258]
    verdict = matcher.explain(ord("x")).token
    assert verdict is not None
    assert verdict.reason == "spent"
    assert matcher.accept_token(258)
    assert ord("x") in allowed(matcher)


def test_one_compiled_grammar_serves_any_budget() -> None:
    compiled = COMPILER.compile(sg.formats.get("hermes").grammar(TOOLS, tool_choice="required", budgets=sg.Budgets()))
    call = b'{"name": "weather", "arguments": {"city": "Oslo'
    for most, follows in ((100, True), (17, True), (16, False)):
        matcher = sg.GrammarMatcher(compiled, budgets=sg.Budgets(argument_bytes=most))
        assert matcher.accept_token(259)
        assert matcher.accept_bytes(call)
        # `"}` is what is left to write.
        assert (ord("a") in allowed(matcher)) is follows
        close = matcher.shortest_close()
        assert INFO.decode(close or []).startswith(b'"}')


def test_budgets_hold_in_drafts_batches_forks_and_saved_states() -> None:
    compiled = COMPILER.compile(
        sg.formats.get("qwen3").grammar(reasoning="open", budgets=sg.Budgets(reasoning_tokens=2))
    )
    matcher = sg.GrammarMatcher(compiled)
    assert matcher.validate_tokens([261, 262, 261]) == 2
    rows = sg.allocate_token_bitmask(4, INFO.vocab_size)
    assert matcher.fill_draft([261, 262, 261], rows) == [True, True, False]
    assert all(matcher.accept_token(token) for token in (261, 262))
    others = [matcher.fork(), sg.GrammarMatcher.from_state_bytes(compiled, matcher.state_bytes())]
    assert [allowed(other) for other in others] == [[258], [258]]
    assert matcher.find_jump_forward_bytes() == b""
    batch = sg.allocate_token_bitmask(2, INFO.vocab_size)
    sg.fill_next_token_bitmask_batch(others, batch, threads=2)
    assert (batch == rows[2]).all()
    matcher.rollback(1)
    assert 262 in allowed(matcher)
    matcher.reset()
    assert len(allowed(matcher)) > 100


def test_parts_of_a_grammar_of_ones_own() -> None:
    grammar = sg.Grammar.from_ebnf("start ::= @quote(#'[a-z ]*') '.' ;").bounded("quote", tokens=2)
    matcher = sg.GrammarMatcher(COMPILER.compile(grammar))
    assert all(matcher.accept_token(token) for token in (261, 262))
    assert allowed(matcher) == [ord(".")]
    both = sg.Grammar.concat(grammar, grammar.bounded("quote", tokens=1))
    assert sg.GrammarMatcher(COMPILER.compile(both)).validate_tokens([261, ord("."), 261]) == 2
    assert grammar != grammar.bounded("quote", tokens=3)
    for wrong in ({}, {"tokens": 1, "bytes": 1}, {"bytes": -1}):
        with pytest.raises(sg.ArgumentError) as caught:
            grammar.bounded("quote", **wrong)
        assert caught.value.code == "E-GRAMMAR-BOUND"
