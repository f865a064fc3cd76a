"""Matchers found by the tokens of rows: the same masks as a matcher that reads each row from its prompt."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import syntagma as sg
from syntagma.decoding.row_matchers import RowMatchers
from syntagma.testing import byte_vocabulary

INFO = byte_vocabulary(["</s>", "<pad>"], vocab_size=300)
END, PAD = 256, 257
COMPILER = sg.GrammarCompiler(INFO)
GRAMMARS = [
    COMPILER.compile(sg.Grammar.from_regex(pattern)) for pattern in ("a[bc]*d", "(ab|ba){1,3}", "[abcd]{2,4}", "c+")
]
LETTERS = list(b"abcd")
TOKENS = [*LETTERS, END, PAD, 299, 400]


def naive(grammar: sg.CompiledGrammar | None, written: list[int], ends: tuple[int, ...]) -> set[int] | None:
    """What may follow; None: anything."""
    if grammar is None:
        return None
    matcher = sg.GrammarMatcher(grammar)
    for token in written:
        if matcher.is_terminated() or token >= INFO.vocab_size or not matcher.accept_token(token):
            return set(ends) or None
    if matcher.is_terminated():
        return set(ends) or None
    return {token for token in range(INFO.vocab_size) if matcher.accepts(token)}


def allowed(row: np.ndarray) -> set[int] | None:
    bits = np.unpackbits(row.view(np.uint8), bitorder="little")
    return None if bits.all() else set(np.flatnonzero(bits).tolist())


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_masks_are_those_of_the_tokens_in_each_row(data: st.DataObject) -> None:
    """Rows change places, go on as several, take masked tokens, go back by any number of tokens, and begin anew."""
    ends = data.draw(st.sampled_from([(), (END,), (END, PAD)]))
    grammars = data.draw(st.lists(st.sampled_from([*GRAMMARS, None]), min_size=1, max_size=3))
    size = data.draw(st.integers(1, 3))
    rows = RowMatchers(grammars, INFO.vocab_size, ends)
    owner = [grammar for grammar in grammars for _ in range(size)]
    for _ in range(data.draw(st.integers(1, 3))):  # calls of `generate`
        # With its first token a prompt cannot be what was written before.
        width = data.draw(st.integers(1, 3))
        prompts = [
            [data.draw(st.integers(1000, 1001)), *[data.draw(st.sampled_from(TOKENS)) for _ in range(width - 1)]]
            for _ in range(len(owner) if data.draw(st.booleans()) else len(grammars))
        ]
        prompts = [prompts[row * len(prompts) // len(owner)] for row in range(len(owner))]
        rows.reset()
        batch = [list(prompt) for prompt in prompts]
        for _ in range(data.draw(st.integers(0, 12))):
            rows.follow(np.array(batch))
            masks = rows.bitmask()
            for mask, grammar, row in zip(masks, owner, batch, strict=True):
                assert allowed(mask) == naive(grammar, row[width:], ends)
            kept = data.draw(st.integers(width, len(batch[0])))
            moved = []
            for number in range(len(batch)):
                first = number - number % size
                same = [one for one in range(first, first + size) if prompts[one] == prompts[number]]
                old = batch[data.draw(st.sampled_from(same))]
                likely = naive(owner[number], old[width:kept], ends) or set(TOKENS)
                choices = TOKENS if data.draw(st.integers(0, 4)) == 0 else sorted(likely)
                moved.append([*old[:kept], data.draw(st.sampled_from(choices))])
            batch = moved


def test_prompts_begin_anew_without_being_told() -> None:
    rows = RowMatchers([GRAMMARS[0]], INFO.vocab_size, INFO.eos_token_ids)
    prompt = [7, 8]
    answer = [*b"abd", END]
    # The same prompt, another, a longer one with the answer in it, a shorter one, and batches of other sizes.
    for prompts in ([prompt], [prompt], [[9, 9]], [[9, 9, *answer, 5, 6]], [[1]], [prompt, [4, 5]], [prompt]):
        for length in range(len(answer) + 1):
            rows.follow(np.array([[*one, *answer[:length]] for one in prompts]))
            expected = naive(GRAMMARS[0], answer[:length], INFO.eos_token_ids)
            assert [allowed(mask) for mask in rows.bitmask()] == [expected] * len(prompts)


def test_the_batch_may_be_changed_after_it_was_followed() -> None:
    """Libraries reuse their buffers."""
    rows, batch = RowMatchers([GRAMMARS[3]], INFO.vocab_size), np.array([[7, 8, 0, 0]])
    for width, token in ((2, ord("c")), (3, ord("c")), (4, None)):
        rows.follow(batch[:, :width])
        assert allowed(rows.bitmask()[0]) == ({ord("c")} if width == 2 else {ord("c"), END})
        if token is not None:
            batch[0, width] = token


@pytest.mark.parametrize("shape", [(3, 2), (0, 2), (4,)])
def test_a_batch_that_cannot_be_dealt_out_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(sg.ArgumentError, match="E-BATCH-SIZE"):
        RowMatchers(GRAMMARS[:2], INFO.vocab_size).follow(np.zeros(shape, np.int64))
