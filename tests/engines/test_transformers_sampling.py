"""Choosing tokens for many rows in torch: each gets what it gets alone on the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from syntagma.decoding import allocate_token_bitmask  # noqa: E402
from syntagma.decoding.backend import on_host  # noqa: E402
from syntagma.decoding.device_sampling import draw_together, samples_on  # noqa: E402
from syntagma.decoding.sampling import Draw, Sampler, Sampling, draw  # noqa: E402
from syntagma.errors import SyntagmaError  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
WIDTH = 70
"""tokens: neither whole words of a bitmask nor whole bytes"""
TOKENS = st.integers(0, WIDTH - 1)
NUMBERS = st.floats(-3, 3, width=32)
SAMPLINGS = st.builds(
    Sampling,
    temperature=st.sampled_from([0, 1e-300, 0.7, 1.0, 30.0]),
    top_p=st.sampled_from([1.0, 1.0, 0.9, 0.3, 1e-9]),
    top_k=st.sampled_from([0, 0, 1, 5, WIDTH, 1000]),
    min_p=st.sampled_from([0.0, 0.0, 0.05, 1.0]),
    frequency_penalty=st.sampled_from([0.0, 0.5, -0.25]),
    presence_penalty=st.sampled_from([0.0, 0.75, 1e30]),
    repetition_penalty=st.sampled_from([1.0, 1.5, 0.5]),
    logit_bias=st.dictionaries(TOKENS, NUMBERS, max_size=3),
    allowed_token_ids=st.none() | st.lists(TOKENS, min_size=1, max_size=40).map(tuple),
    seed=st.integers(0, 2**64),
)


@st.composite
def asks(draws: Any) -> Draw:
    """What a row may ask; few tokens are left, or all."""
    mask = None
    if draws(st.booleans()):
        mask = allocate_token_bitmask(1, WIDTH)[0]
        mask.view(np.uint32)[:] = draws(st.lists(st.integers(0, 2**32 - 1), min_size=len(mask), max_size=len(mask)))
    return Draw(
        sampler=Sampler(draws(SAMPLINGS), draws(st.lists(TOKENS, max_size=9))),
        mask=mask,
        held=np.array(draws(st.lists(TOKENS, max_size=2)), np.int64),
        excluded=draws(st.lists(TOKENS, max_size=3)),
        given=draws(st.none() | st.none() | TOKENS),
        logprobs=draws(st.none() | st.integers(0, 100)),
        explains=draws(st.integers(0, 9)) == 0,
    )


def again(asked: Draw, accepted: Sequence[int]) -> Draw:
    """The same with a sampler in the state in which it was."""
    sampler = Sampler(asked.sampler.sampling, sorted(asked.sampler._seen))
    for token in accepted:
        sampler.accept(token)
    return Draw(**{name: getattr(asked, name) for name in asked.__struct_fields__} | {"sampler": sampler})


def chosen(logits: np.ndarray, asked: Draw) -> Any:
    """What `draw` gives: the token, or the error's code."""
    try:
        found = draw(logits, asked)
    except SyntagmaError as error:
        return error.code
    return None if found is None else found[:3]


def same(found: Any, wanted: Any) -> bool:
    """Equal, but for the rounding of log-probabilities."""
    if not isinstance(found, tuple) or not isinstance(wanted, tuple) or wanted[1] is None:
        return bool(found == wanted)
    ids = [(one[0], [top.token_id for top in one[2]]) for one in (found, wanted)]
    values = [[one[1], *(top.logprob for top in one[2])] for one in (found, wanted)]
    return ids[0] == ids[1] and np.allclose(*values, atol=1e-9)


@settings(max_examples=300, deadline=None)
@given(asked=st.lists(asks(), min_size=1, max_size=6), seed=st.integers(0, 2**32 - 1), data=st.data())
def test_many_rows_get_what_each_gets_alone(asked: list[Draw], seed: int, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([torch.float32, torch.bfloat16, torch.float16]))
    random = np.random.default_rng(seed)
    together, one_by_one = [again(one, ()) for one in asked], [again(one, ()) for one in asked]
    for _ in range(3):
        # Rounded: of equal logits, the first token comes first.
        values = random.normal(0, 3, (len(asked), WIDTH)).round(data.draw(st.integers(0, 3))).astype(np.float32)
        whole = torch.from_numpy(values).to(DEVICE, dtype)
        before = whole.clone()
        found = draw_together([*whole.unbind()], together)
        assert torch.equal(whole, before)
        for row, many, alone, drawn in zip(whole, together, one_by_one, found, strict=True):
            wanted = chosen(on_host(row), alone)
            assert same(chosen(on_host(row), many) if drawn is None else drawn[:3], wanted)
            if drawn is not None:
                assert many.mask is None or many.mask[drawn.token >> 5] >> (drawn.token & 31) & 1
            if isinstance(wanted, tuple):
                many.sampler.accept(wanted[0])
                alone.sampler.accept(wanted[0])


def test_what_the_host_must_see() -> None:
    plain = Sampler(Sampling(temperature=0))
    rows = [
        torch.tensor(one, device=DEVICE) for one in ([1.0, 2.0], [float("nan"), 1.0], [float("-inf")] * 2, [0.0, 1.0])
    ]
    asked = [Draw(sampler=plain) for _ in rows]
    asked[3].held = np.array([0, 1])
    assert [None if one is None else one.token for one in draw_together(rows, asked)] == [1, None, None, None]
    assert draw_together(rows[:1], [Draw(sampler=plain, given=0)]) == [None]


def test_tokens_are_not_chosen_in_torch_on_the_cpu() -> None:
    assert not samples_on(torch.device("cpu"))
    assert samples_on(torch.device(DEVICE)) is (DEVICE != "cpu")
