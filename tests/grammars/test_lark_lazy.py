"""Lazy terminals of drawn grammars in Lark, beside a reference that reads texts place by place."""

from __future__ import annotations

import random
from collections import Counter

from syntagma.errors import GrammarError
from syntagma.grammars import Grammar
from tests.grammars.lark_draws import drawn, texts

GRAMMARS = 150
TEXTS = 20


def test_what_a_lazy_terminal_takes_no_other_takes() -> None:
    draw = random.Random(41)
    refused: Counter[str] = Counter()
    read, accepted, missing = 0, 0, 0
    for _ in range(GRAMMARS):
        source = drawn(draw, lazy=True)
        try:
            grammar = Grammar.from_lark(source.source())
            grammar.accepts("")
        except GrammarError as error:
            refused[error.code] += 1
            continue
        read += 1
        for text in texts(draw, TEXTS):
            answer, wanted = grammar.accepts(text), source.accepts(text, "lazy")
            accepted += answer
            missing += wanted and not answer
            assert wanted or not answer, f"{text!r} is accepted\n{source.source()}"
    assert set(refused) <= {"E-GRAMMAR-UNSUPPORTED", "E-GRAMMAR-EMPTY"}
    assert read > GRAMMARS / 2
    assert accepted > read
    # Where one rule is named in several places, and a few other cases, fewer texts are accepted.
    assert missing < accepted / 100
