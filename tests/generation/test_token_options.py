"""Tokens that end an answer, tokens and texts that it may not hold, and penalties, in the loop."""

from __future__ import annotations

import numpy as np
import pytest

from syntagma.decoding.sampling import Sampling
from syntagma.errors import ArgumentError
from syntagma.generation import Generation, GenerationOptions, Generator
from syntagma.grammars import Grammar
from syntagma.testing import ScriptedBackend

A = ord("a")


def run(script: str, grammar: Grammar | None = None, **given: object) -> tuple[Generation, str]:
    asked = {"sampling": Sampling(temperature=0), "max_tokens": 40} | given
    generation = Generator(ScriptedBackend(script)).start("ask", grammar=grammar, options=GenerationOptions(**asked))  # type: ignore[arg-type]
    return generation, b"".join(step.data for step in generation if not step.end).decode("utf-8", "replace")


def test_nothing_ends_before_min_tokens() -> None:
    generation, text = run("abc", min_tokens=10)
    assert text.startswith("abc")
    assert len(text) == 10
    assert generation.finish_reason == "stop"
    assert generation.metrics.completion_tokens == 11


def test_where_a_grammar_leaves_only_the_end_min_tokens_yields() -> None:
    generation, text = run("abc", Grammar.from_regex("a+bc"), min_tokens=10)
    assert text == "abc"
    assert generation.finish_reason == "stop"


def test_the_model_s_own_end_is_ignored() -> None:
    generation, text = run("abc", ignore_eos=True)
    assert len(text.encode()) >= 40
    assert generation.finish_reason == "length"
    # A token that is asked for ends it all the same.
    generation, text = run("abcd", ignore_eos=True, stop_token_ids=(ord("c"),))
    assert (text, generation.finish_reason) == ("ab", "stop")


def test_tokens_that_are_asked_for_end_the_text_with_a_grammar_too() -> None:
    generation, text = run("abcd", Grammar.from_regex("[a-z]{3,9}"), stop_token_ids=(ord("c"),))
    assert (text, generation.finish_reason) == ("ab", "stop")


@pytest.mark.parametrize("seed", range(20))
def test_excluded_texts_never_appear(seed: int) -> None:
    excluded = ("ab", "ba", "c", "aa")
    asked = Sampling(seed=seed, allowed_token_ids=(A, A + 1, A + 2, A + 3))
    _, text = run("abcabc", sampling=asked, excluded=excluded)
    assert len(text) == 40
    assert not any(one in text for one in excluded)
    _, text = run("abcabc", Grammar.from_regex("[abcd]{20}"), sampling=Sampling(seed=seed), excluded=excluded)
    assert len(text) == 20
    assert not any(one in text for one in excluded)


def test_an_excluded_text_that_a_grammar_demands_appears() -> None:
    assert run("abc", Grammar.from_choices(["abc"]), excluded=("b",))[1] == "abc"


def test_the_text_of_an_end_token_excludes_nothing() -> None:
    assert run("abc", excluded=("nd",), max_tokens=9)[1] == "abc"


def test_penalties_see_prompt_and_answer() -> None:
    flat = Sampling(temperature=0, allowed_token_ids=tuple(range(A, A + 8)), presence_penalty=50.0)
    # Each of the eight tokens once, before any comes again.
    assert sorted(run("aaaaaaaa", sampling=flat, max_tokens=8)[1]) == list("abcdefgh")
    # The prompt is "ask": its own tokens are the ones that repeat.
    bias = {A: 1.0, A + 1: 1.0}
    asked = Sampling(temperature=0, repetition_penalty=1e6, logit_bias=bias, allowed_token_ids=(A, A + 1))
    assert run("a", sampling=asked, max_tokens=1)[1] == "b"


def test_tokens_that_the_vocabulary_lacks_are_refused() -> None:
    size = ScriptedBackend("").tokenizer_info.vocab_size
    for wrong in (
        {"stop_token_ids": (size,)},
        {"stop_token_ids": (-1,)},
        {"sampling": Sampling(logit_bias={size + 3: 1.0})},
        {"sampling": Sampling(allowed_token_ids=(size,))},
    ):
        with pytest.raises(ArgumentError):
            run("abc", **wrong)


@pytest.mark.parametrize("wrong", [{"min_tokens": -1}, {"min_tokens": 41}, {"excluded": ("a", "")}])
def test_options_that_cannot_be_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ArgumentError):
        run("abc", **wrong)


def test_log_probabilities_are_those_of_the_model_whatever_is_asked() -> None:
    plain, penalised = Sampling(temperature=0), Sampling(temperature=0, logit_bias={ord("a"): 5.0, ord("b"): -5.0})
    first, second = (
        [
            (step.token_id, step.logprob)
            for step in Generator(ScriptedBackend("aabb")).generate(
                "ask", options=GenerationOptions(sampling=asked, logprobs=0, max_tokens=2)
            )
        ]
        for asked in (plain, penalised)
    )
    assert first == second
    assert np.isfinite([logprob for _, logprob in first]).all()
