"""Drawn grammars in Lark beside the readers that own the language: no text is accepted that they refuse, but for the
longest match."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from syntagma.errors import GrammarError
from syntagma.grammars import Grammar
from tests.engines.peers import Judge
from tests.grammars.lark_draws import Drawn, drawn, texts

TEXTS = 5_000
EACH = 25


def compared(draw: random.Random, *, lazy: bool) -> Iterator[tuple[Drawn, Grammar, list[str]]]:
    """Grammars that are read here, with texts, up to `TEXTS` of them."""
    count = 0
    while count < TEXTS:
        source = drawn(draw, lazy=lazy)
        try:
            grammar = Grammar.from_lark(source.source())
            grammar.accepts("")
        except GrammarError:
            continue
        chosen = texts(draw, EACH)
        count += len(chosen)
        yield source, grammar, chosen


@pytest.mark.parametrize("lazy", [True, False])
def test_no_text_is_accepted_that_llguidance_refuses(lazy: bool) -> None:
    pytest.importorskip("llguidance")
    judge = Judge("lark", 20.0)
    longest, missing, accepted = 0, 0, 0
    for source, grammar, chosen in compared(random.Random(7), lazy=lazy):
        judge.ask(source.source(), chosen)
        verdicts = judge.answer()
        assert not isinstance(verdicts, str), f"{verdicts}\n{source.source()}"
        for text, theirs in zip(chosen, verdicts, strict=True):
            # It ignores nothing before the first terminal, and nothing at an end where none may follow.
            if source.ignored is not None and source.ignored in (text[:1], text[-1:]):
                continue
            ours = grammar.accepts(text)
            accepted += ours
            missing += theirs and not ours
            if ours and not theirs:
                assert not source.accepts(text, "longest"), f"{text!r} is accepted\n{source.source()}"
                longest += 1
    judge.close()
    print(f"{accepted} accepted, {longest} of them not by the longest match, {missing} only there")
    assert missing < accepted / 50


def test_no_text_is_accepted_that_lark_refuses() -> None:
    lark = pytest.importorskip("lark")
    accepted = 0
    for source, grammar, chosen in compared(random.Random(8), lazy=False):
        theirs = lark.Lark(source.source(), parser="earley", lexer="dynamic_complete")
        for text in chosen:
            ours = grammar.accepts(text)
            try:
                theirs.parse(text)
                answer = True
            except lark.exceptions.LarkError:
                answer = False
            except RuntimeError:
                # A mistake of its own, of which it asks to be told.
                continue
            assert ours is answer, f"{text!r}: {ours}\n{source.source()}"
            accepted += ours
    assert accepted > TEXTS / 50
