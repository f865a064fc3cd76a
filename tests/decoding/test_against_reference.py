"""The engine against the naive reference: accept, next bytes, and mask bit ⇔ accept for every token."""

from __future__ import annotations

import random

import pytest

from syntagma.decoding import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo, allocate_token_bitmask
from syntagma.errors import GrammarError
from syntagma.grammars import Grammar
from tests.decoding.reference import Recogniser, Rules, random_rules, to_ebnf, without

LETTERS = b"ab"
# Long, shared beginnings, duplicates, unused, and a special token whose text looks like letters.
TOKENS = [b"a", b"b", b"ab", b"ba", b"aa", b"aab", b"abab", b"bbbbb", b"a", b"", b"abba", b"ab", b"</s>", b"bab"]
EOS = 12
SPECIAL = 11


def info() -> TokenizerInfo:
    return TokenizerInfo.from_tokens(TOKENS, eos_token_ids=[EOS], special_token_ids=[SPECIAL], vocab_size=40)


def allowed(matcher: GrammarMatcher, size: int) -> set[int]:
    bitmask = allocate_token_bitmask(1, size)
    matcher.fill_next_token_bitmask(bitmask)
    return {i for i in range(size) if bitmask[0, i // 32] >> (i % 32) & 1}


def compiled_or_none(vocabulary: TokenizerInfo, rules: Rules) -> CompiledGrammar | None:
    """None where the language is empty; any other refusal is a failure.

    A rule that can never write anything is refused by name; without such rules the language is the same.
    """
    compiler = GrammarCompiler(vocabulary, verify=True)
    try:
        return compiler.compile(Grammar.from_ebnf(to_ebnf(rules)))
    except GrammarError as error:
        if error.code == "E-GRAMMAR-EMPTY":
            return None
        if error.code != "E-GRAMMAR-UNPRODUCTIVE":
            raise
        refused = error.message.split('"')[1]
    readers = {name: Recogniser(rules, name) for name in rules}
    dead = frozenset(name for name, reader in readers.items() if not reader.accepts() and not reader.next_bytes())
    assert refused in dead
    kept = {name: without(node, dead) for name, node in rules.items() if name not in dead}
    if "start" not in kept:
        return None
    return compiler.compile(Grammar.from_ebnf(to_ebnf({name: node for name, node in kept.items() if node is not None})))


def walk(rng: random.Random, rules: Rules) -> None:
    """Follow random text through engine and reference together."""
    vocabulary = info()
    reference = Recogniser(rules)
    compiled = compiled_or_none(vocabulary, rules)
    if compiled is None:
        assert not reference.accepts()
        return
    matcher = GrammarMatcher(compiled)
    for _ in range(8):
        assert matcher.is_accepting() == reference.accepts()
        assert set(matcher.next_bytes()) == reference.next_bytes()
        expected = {i for i, token in enumerate(TOKENS) if token and i not in (EOS, SPECIAL) and reference.reads(token)}
        if reference.accepts():
            expected.add(EOS)
        assert allowed(matcher, vocabulary.vocab_size) == expected
        assert {i for i in range(len(TOKENS)) if matcher.accepts(i)} == expected
        text = sorted(expected - {EOS})
        if not text:
            break
        token = rng.choice(text)
        assert matcher.accept_token(token)
        for byte in TOKENS[token]:
            assert reference.step(byte)


@pytest.mark.parametrize("seed", range(150))
def test_random_grammar(seed: int) -> None:
    rng = random.Random(seed)
    walk(rng, random_rules(rng, LETTERS))


@pytest.mark.parametrize("seed", range(150, 200))
def test_all_short_strings(seed: int) -> None:
    rng = random.Random(seed)
    rules = random_rules(rng, LETTERS)
    compiled = compiled_or_none(info(), rules)
    if compiled is None:
        return
    matcher = GrammarMatcher(compiled)
    texts = [b""]
    for text in texts:
        reference = Recogniser(rules)
        readable = all(reference.step(byte) for byte in text)
        fresh = matcher.fork()
        assert fresh.accept_bytes(text) == readable, text
        if readable:
            assert fresh.is_accepting() == reference.accepts(), text
            if len(text) < 5:
                texts += [text + bytes([letter]) for letter in LETTERS]


@pytest.mark.parametrize("seed", range(200, 230))
def test_rollback_fork_and_reset(seed: int) -> None:
    rng = random.Random(seed)
    vocabulary = info()
    compiled = compiled_or_none(vocabulary, random_rules(rng, LETTERS))
    if compiled is None:
        return
    matcher = GrammarMatcher(compiled)
    masks = [allowed(matcher, vocabulary.vocab_size)]
    for _ in range(6):
        text = sorted(masks[-1] - {EOS})
        if not text:
            break
        twin = matcher.fork()
        token = rng.choice(text)
        assert matcher.accept_token(token)
        assert allowed(twin, vocabulary.vocab_size) == masks[-1]
        masks.append(allowed(matcher, vocabulary.vocab_size))
    for count in range(len(masks) - 1, 0, -1):
        matcher.rollback(1)
        assert allowed(matcher, vocabulary.vocab_size) == masks[count - 1]
    matcher.reset()
    assert matcher.steps == 0
    assert allowed(matcher, vocabulary.vocab_size) == masks[0]
