"""Answers that advance together and readers that fall behind: nobody computes for who does not read."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import syntagma as sg
from syntagma.decoding.backend import Batch, BatchBackend, Logits
from syntagma.embedded import load
from syntagma.embedded.backend import EmbeddedBatch
from syntagma.generation import Generation, GenerationOptions, Generator, Written
from syntagma.generation.local import written
from syntagma.parsing import StreamParser
from syntagma.serving import ServedModel, create_app
from syntagma.serving.rounds import Rounds
from syntagma.serving.threads import ThreadStream
from tests.generation.batch_laws import PROMPTS, Alone
from tests.serving.test_life import PATIENCE, Caller, run

BACKEND = load()
FORMAT = sg.ChatFormat.from_toml("")
LONG = GenerationOptions(sampling=sg.Sampling(temperature=0), max_tokens=120, ignore_eos=True)
AHEAD, MOST = 8, 4


class Counting(EmbeddedBatch):
    """Counts passes of the model, and the sequences in the widest."""

    passes = 0
    widest = 0

    def extend(self, token_ids: Mapping[int, Sequence[int]]) -> Sequence[Logits]:
        self.passes += 1
        self.widest = max(self.widest, len(token_ids))
        return super().extend(token_ids)


class Counted(Alone):
    """The shipped model with such a batch."""

    def __init__(self) -> None:
        super().__init__(BACKEND)
        self.batch = Counting(BACKEND.network)

    def open_batch(self) -> Batch:
        return self.batch


class Stepped:
    """A generator whose steps are counted."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator
        self.steps = 0

    def step(self) -> bool:
        self.steps += 1
        return self._generator.step()


class Scene:
    """Answers of a model, with small bounds on what waits for their readers; each round hands out what it made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor) -> None:
        monkeypatch.setattr("syntagma.generation.sequence._AHEAD", AHEAD)
        monkeypatch.setattr("syntagma.serving.threads._MOST", MOST)
        for pause in ("_LEAST_S", "_PER_ANSWER_S"):
            monkeypatch.setattr(f"syntagma.serving.rounds.{pause}", 0.0)
        self._threads = threads
        backend = Counted()
        assert isinstance(backend, BatchBackend)
        self.batch = backend.batch
        self.generator = Generator(backend)
        self.stepped = Stepped(self.generator)
        self.rounds = Rounds(self.stepped)  # type: ignore[arg-type]
        self.ended = 0

    def answer(self, prompt: str) -> ThreadStream[Written]:
        def work(stream: ThreadStream[Written]) -> None:
            try:
                generation = self.generator.start(prompt, options=LONG)
                self.rounds.follow(generation, pieces(generation), stream)
            finally:
                self.ended += 1

        return ThreadStream(self._threads, work)

    async def asleep(self) -> None:
        """Wait until all that is wanted is computed, and see that nothing goes on."""
        await until(lambda: self.batch.passes == AHEAD + MOST - 1)
        await asyncio.sleep(0.05)
        before = self.stepped.steps
        await asyncio.sleep(0.2)
        assert self.stepped.steps - before <= 2
        assert self.batch.passes == AHEAD + MOST - 1


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(max_workers=4) as executor:
        yield executor


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor) -> Scene:
    return Scene(monkeypatch, threads)


def pieces(generation: Generation) -> Iterator[Written]:
    return written(generation, StreamParser(FORMAT, id_seed="1"), BACKEND.tokenizer_info)


async def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        await asyncio.sleep(0.005)


async def tokens(stream: AsyncIterator[Written]) -> list[int]:
    return [token async for piece in stream for token in piece.token_ids]


def alone(prompt: str) -> list[int]:
    return [step.token_id for step in Generator(Alone(BACKEND)).start(prompt, options=LONG)]


def test_an_answer_that_nobody_reads_pauses_and_its_thread_sleeps(scene: Scene) -> None:
    async def test() -> None:
        stream = scene.answer(PROMPTS[0])
        await scene.asleep()
        assert await tokens(stream) == alone(PROMPTS[0])
        await until(lambda: scene.ended == 1)

    run(test)


def test_others_go_on_and_come_while_one_pauses(scene: Scene) -> None:
    async def test() -> None:
        paused = scene.answer(PROMPTS[0])
        first = scene.answer(PROMPTS[1])
        assert await tokens(first) == alone(PROMPTS[1])
        assert await tokens(scene.answer(PROMPTS[2])) == alone(PROMPTS[2])
        assert await tokens(paused) == alone(PROMPTS[0])
        await until(lambda: scene.ended == 3)

    run(test)


def test_a_reader_that_leaves_ends_what_sleeps(scene: Scene) -> None:
    async def test() -> None:
        stream = scene.answer(PROMPTS[0])
        await scene.asleep()
        await stream.aclose()
        await until(lambda: scene.ended == 1)
        assert not scene.batch._keys

    run(test)


def test_one_thread_waits_for_its_reader(threads: ThreadPoolExecutor) -> None:
    put: list[int] = []

    def work(stream: ThreadStream[int]) -> None:
        for number in range(1000):
            if stream.cancelled.is_set():
                return
            stream.put(number)
            put.append(number)

    async def test() -> None:
        stream = ThreadStream(threads, work)
        await until(lambda: len(put) == 64)
        await asyncio.sleep(0.05)
        assert len(put) == 64
        assert [number async for number in stream] == list(range(1000))
        put.clear()
        left = ThreadStream(threads, work)
        await until(lambda: len(put) == 64)
        await left.aclose()
        await until(lambda: not left._future.running())
        assert len(put) < 1000

    run(test)


def test_choices_of_one_request_advance_together() -> None:
    backend = Counted()
    codec = sg.backends.load("embedded")[1]
    asked: dict[str, Any] = {
        "model": "m",
        "messages": [{"role": "user", "content": "Hello"}],
        "n": 3,
        "max_tokens": 60,
        "ignore_eos": True,
        "seed": 4,
        "logprobs": True,
    }

    async def test() -> None:
        app = create_app(ServedModel(backend, codec, name="m"))
        together = await Caller(app, "/v1/chat/completions", asked).run()
        assert together.status == 200
        assert backend.batch.widest == 3
        apart = create_app(ServedModel(Alone(BACKEND), codec, name="m"))
        one_by_one = await Caller(apart, "/v1/chat/completions", asked).run()
        assert texts(together) == texts(one_by_one)
        assert len(set(texts(together))) == 3

    run(test)


def texts(caller: Caller) -> list[str]:
    return [choice["message"]["content"] for choice in json.loads(caller.received)["choices"]]
