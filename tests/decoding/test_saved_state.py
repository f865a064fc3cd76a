"""Matchers as bytes: into another process, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from syntagma.decoding import GrammarCompiler, GrammarMatcher, TokenizerInfo, allocate_token_bitmask
from syntagma.errors import ArgumentError, LimitError
from syntagma.grammars import Grammar
from syntagma.limits import Limits

ROOT = Path(__file__).resolve().parents[2]
TOKENS = [bytes([byte]) for byte in range(256)] + [b"<end>", b'{"', b'":', b"na", b"me"]
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^[a-z]+$"}, "size": {"type": "integer", "minimum": 3}},
    "required": ["name"],
    "additionalProperties": {"enum": [1, "two", None]},
}


def info() -> TokenizerInfo:
    return TokenizerInfo.from_tokens(TOKENS, eos_token_ids=[256])


def begun() -> GrammarMatcher:
    matcher = GrammarMatcher(GrammarCompiler(info()).compile(Grammar.from_json_schema(SCHEMA)))
    for token in (257, 259, 260, 258):
        assert matcher.accept_token(token)
    assert matcher.accept_bytes(b' "ab')
    return matcher


def row(matcher: GrammarMatcher) -> list[int]:
    bitmask = allocate_token_bitmask(1, len(TOKENS))
    matcher.fill_next_token_bitmask(bitmask)
    return [int(word) for word in bitmask[0]]


def main(state: str) -> None:
    """What the other process does: restore, say the mask, go on, and save again."""
    compiled = GrammarCompiler(info()).compile(Grammar.from_json_schema(SCHEMA))
    matcher = GrammarMatcher.from_state_bytes(compiled, bytes.fromhex(state))
    print(row(matcher))
    assert matcher.accept_bytes(b'", "size": 3')
    print(matcher.state_bytes().hex())


def test_a_state_goes_to_another_process_and_back() -> None:
    matcher = begun()
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"from tests.decoding.test_saved_state import main; main({matcher.state_bytes().hex()!r})",
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        env={"PYTHONPATH": f"{ROOT / 'python'}:{ROOT}", "PYTHONHASHSEED": "77"},
    )
    assert done.returncode == 0, done.stderr
    mask, state = done.stdout.split("\n", 1)
    assert mask == str(row(matcher))
    back = GrammarMatcher.from_state_bytes(
        GrammarCompiler(info()).compile(Grammar.from_json_schema(SCHEMA)), bytes.fromhex(state.strip())
    )
    assert back.steps == 6
    assert matcher.accept_bytes(b'", "size": 3')
    assert row(back) == row(matcher)
    back.rollback(2)
    matcher.rollback(2)
    assert row(back) == row(matcher)


def test_what_is_refused() -> None:
    state = begun().state_bytes()

    def code(compiled: object, data: bytes) -> str:
        with pytest.raises(ArgumentError) as caught:
            GrammarMatcher.from_state_bytes(compiled, data)  # type: ignore[arg-type]
        return caught.value.code

    same = GrammarCompiler(info()).compile(Grammar.from_json_schema(SCHEMA))
    other = GrammarCompiler(info()).compile(Grammar.from_json_schema({**SCHEMA, "required": []}))
    assert code(other, state) == "E-STATE-GRAMMAR"
    wider = TokenizerInfo.from_tokens(TOKENS, eos_token_ids=[256], vocab_size=len(TOKENS) + 3)
    assert code(GrammarCompiler(wider).compile(Grammar.from_json_schema(SCHEMA)), state) == "E-STATE-VOCABULARY"
    assert code(same, state[:4] + b"\x09" + state[5:]) == "E-STATE-VERSION"
    rng = np.random.default_rng(5)
    for _ in range(300):
        damaged = bytearray(state)
        damaged[int(rng.integers(len(state)))] ^= int(rng.integers(1, 256))
        assert code(same, bytes(damaged)).startswith("E-STATE-")
        assert code(same, rng.bytes(int(rng.integers(0, 120)))) == "E-STATE-FORMAT"
    for cut in range(len(state)):
        assert code(same, state[:cut]) == "E-STATE-FORMAT"


def test_a_failed_matcher_is_not_saved() -> None:
    grammar = Grammar.from_ebnf('start ::= start start | "a" | start start start;')
    matcher = GrammarMatcher(GrammarCompiler(info(), limits=Limits(step_fuel=2_000)).compile(grammar))
    with pytest.raises(LimitError):
        matcher.accept_bytes(b"a" * 5_000)
    with pytest.raises(LimitError) as caught:
        matcher.state_bytes()
    assert caught.value.code == "E-LIMIT-STEP"


def test_forks_share_their_past_and_nothing_else() -> None:
    compiled = GrammarCompiler(info()).compile(Grammar.from_regex("[ab]*"))
    matcher = GrammarMatcher(compiled)
    for at in range(1_000):
        assert matcher.accept_token(ord("ab"[at % 2]))
    forks = [matcher.fork() for _ in range(50)]
    for number, fork in enumerate(forks):
        fork.rollback(number * 20)
        assert fork.accept_bytes(b"b" * (number + 1))
        assert fork.steps == 1_001 - number * 20
    assert matcher.steps == 1_000
    matcher.reset()
    assert matcher.steps == 0
    assert forks[0].steps == 1_001
