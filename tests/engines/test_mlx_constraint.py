"""`integrations.mlx` with the shipped model, on the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syntagma as sg
from syntagma.decoding.bitmask.mlx_rows import masked_mlx
from syntagma.embedded import EmbeddedModel
from syntagma.integrations.mlx import Constraint, read_events
from tests.engines.cases import MESSAGES, TABLE, TOOLS, Case, Sampling, check_message, options_of, record

mx = pytest.importorskip("mlx.core")
mlx_lm = pytest.importorskip("mlx_lm")

USERS = ("Set a timer for 7 minutes", "Set a reminder for Ida at 11, please.", "Hello there")


class Loaded:
    """A model of mlx-lm with its codec."""

    def __init__(self, folder: Path) -> None:
        mx.set_default_device(mx.cpu)
        self.network, self.tokenizer = mlx_lm.load(str(folder))
        self.codec = sg.ChatCodec.from_pretrained(folder)

    def turn(self, user: str, **asked: Any) -> sg.Turn:
        return self.codec.prepare([{"role": "user", "content": user}], **asked)

    def prompt(self, turn: sg.Turn) -> list[int]:
        ids: list[int] = self.tokenizer.encode(str(turn.prompt), add_special_tokens=False)
        return ids

    def stream(self, turn: sg.Turn, constraint: Constraint, temperature: float = 0, **options: Any) -> Any:
        from mlx_lm.sample_utils import make_sampler

        return mlx_lm.stream_generate(
            self.network,
            self.tokenizer,
            self.prompt(turn),
            sampler=make_sampler(temp=temperature),
            logits_processors=[constraint],
            **{"max_tokens": 100, **options},
        )


@pytest.fixture(scope="module")
def loaded(plain_folder: Path) -> Loaded:
    return Loaded(plain_folder)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("width", [1, 31, 32, 33, 100, 130])
def test_masks_are_those_of_the_bits(dtype: str, width: int) -> None:
    rng = np.random.default_rng(width)
    words = rng.integers(-(2**31), 2**31, (3, 4), dtype=np.int64).astype(np.int32)
    logits = mx.array(rng.normal(size=(3, width)).astype(np.float32)).astype(getattr(mx, dtype))
    masked = masked_mlx(logits, words)
    assert masked.dtype == logits.dtype
    found, given = (np.array(array.astype(mx.float32)) for array in (masked, logits))
    for row in range(3):
        for token in range(width):
            allowed = token < 128 and (int(words[row, token // 32]) >> (token % 32)) & 1
            assert found[row, token] == (given[row, token] if allowed else -np.inf)


@pytest.mark.parametrize("draft", [False, True], ids=["alone", "with a draft model"])
@pytest.mark.parametrize("temperature", [0, 2])
def test_every_sequence_is_accepted(loaded: Loaded, temperature: float, draft: bool) -> None:
    """One processor for generations one after another."""
    compiled = None
    for number, user in enumerate(USERS):
        turn = loaded.turn(user, tools=TOOLS, tool_choice="required")
        constraint = Constraint(turn, loaded.tokenizer)
        for seed in range(2):
            mx.random.seed(10 * number + seed)
            options = {"draft_model": loaded.network, "num_draft_tokens": 3} if draft else {}
            steps = list(loaded.stream(turn, constraint, temperature, **options))
            compiled = constraint.compiler.compile(turn.grammar)
            matcher = sg.GrammarMatcher(compiled)
            assert all(matcher.accept_token(step.token) for step in steps)
            assert matcher.is_terminated() == (steps[-1].finish_reason == "stop")


def test_greedy_is_the_greedy_answer_of_our_own_loop(loaded: Loaded, ours: EmbeddedModel) -> None:
    for user in USERS:
        turn = loaded.turn(user, tools=TOOLS, tool_choice="required")
        options = sg.GenerationOptions(sampling=sg.Sampling(temperature=0), max_tokens=100, complete=False)
        expected = [
            step.token_id
            for step in sg.Generator(ours).generate(str(turn.prompt), grammar=turn.grammar, options=options)
        ]
        constraint = Constraint(turn, loaded.tokenizer)
        assert [step.token for step in loaded.stream(turn, constraint)] == expected
        drafted = loaded.stream(turn, constraint, draft_model=loaded.network, num_draft_tokens=4)
        assert [step.token for step in drafted] == expected


def test_sequences_of_a_batch_have_constraints_of_their_own(loaded: Loaded) -> None:
    from mlx_lm.generate import BatchGenerator

    turns = [
        loaded.turn(USERS[0], tools=TOOLS, tool_choice="required"),
        loaded.turn(USERS[1], response_format={"type": "choice", "choice": ["yes", "no"]}),
        loaded.turn(USERS[2], tools=TOOLS, tool_choice="required", template_kwargs={"enable_thinking": True}),
    ]
    alone = [[step.token for step in loaded.stream(turn, Constraint(turn, loaded.tokenizer))] for turn in turns]
    generator = BatchGenerator(loaded.network, stop_tokens=[[token] for token in loaded.tokenizer.eos_token_ids])
    numbers = generator.insert(
        [loaded.prompt(turn) for turn in turns],
        [100] * len(turns),
        logits_processors=[[Constraint(turn, loaded.tokenizer)] for turn in turns],
    )
    written: dict[int, list[int]] = {number: [] for number in numbers}
    while responses := generator.next_generated():
        for response in responses:
            written[response.uid].append(response.token)
    assert [written[number] for number in numbers] == alone


def test_a_list_is_refused(loaded: Loaded) -> None:
    turn = loaded.turn(USERS[0])
    with pytest.raises(sg.ArgumentTypeError):
        Constraint([turn], loaded.tokenizer)  # type: ignore[arg-type]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)
def test_the_table_of_cases(loaded: Loaded, case: Case, stream: bool) -> None:
    turn, sampling = loaded.codec.prepare(MESSAGES, **options_of(case)), Sampling(case)
    mx.random.seed(sampling.seed)
    constraint = Constraint(turn, loaded.tokenizer)
    steps = loaded.stream(turn, constraint, sampling.temperature, max_tokens=sampling.max_tokens)
    parser = turn.parser()
    if stream:
        events = list(read_events(steps, parser, loaded.tokenizer))
        assert isinstance(events[-1], sg.events.MessageEnd)
        check_message(case, parser.message.to_openai(), events[-1].finish_reason)
    else:
        every = list(steps)
        parser.feed_tokens([step.token for step in every], constraint.compiler.info)
        parser.finish(every[-1].finish_reason)
        check_message(case, parser.message.to_openai(), parser.finish_reason)
    record("mlx", case, stream=stream)
