"""From an inner request to what happens: the same for models that compute here and for engines elsewhere.

A model that computes here writes in a worker thread; an engine elsewhere is waited for in the event loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import aclosing, contextmanager
from typing import TypeVar

import msgspec

from syntagma.codec import Turn
from syntagma.errors import SyntagmaError
from syntagma.generation import Generation, GenerationOptions, Metrics, RemoteGeneration, Written
from syntagma.generation.local import written
from syntagma.parsing import ReadingOptions, StreamParser
from syntagma.serving.in_turn import in_turn
from syntagma.serving.inner import Began, Ended, Happening, InnerRequest, Wrote
from syntagma.serving.model import ServedModel
from syntagma.serving.plain_turn import plain_turn
from syntagma.serving.pointers import placed
from syntagma.serving.records import stage, timed
from syntagma.serving.threads import ThreadStream
from syntagma.serving.token_endpoints import vocabulary_of

__all__ = ["Runner"]

T = TypeVar("T")
_PREPARING = 2
"""threads that render prompts and build grammars"""


class Runner:
    """Runs requests.

    Args:
        parallel: answers of models in this process that are computed at once; further ones wait.
    """

    def __init__(self, parallel: int) -> None:
        self._generating = ThreadPoolExecutor(max_workers=parallel, thread_name_prefix="syntagma-generate")
        # Apart from the others, so that a request that is wrong is told so at once.
        self._preparing = ThreadPoolExecutor(max_workers=_PREPARING, thread_name_prefix="syntagma-prepare")

    def close(self) -> None:
        """Stop the threads; what waits for one never begins."""
        for threads in (self._generating, self._preparing):
            threads.shutdown(wait=False, cancel_futures=True)

    async def run(self, served: ServedModel, request: InnerRequest) -> AsyncGenerator[Happening, None]:
        """What happens, choice by choice. Everything wrong with the request is raised before the first item.

        Closing the iterator stops whatever writes.
        """
        with _in_request(request):
            with stage("render"):
                turn = await _in(self._preparing, lambda: _prepared(served, request))
            choices = [self._choice(served, turn, request, index) for index in range(request.n)]
            # An engine elsewhere writes several at once; what computes here is asked for one after another.
            at_once = request.n > 1 and not served.computes
            async with aclosing(in_turn(choices) if at_once else _one_by_one(choices)) as happenings:
                async for happening in happenings:
                    yield happening

    async def prepare(self, served: ServedModel, request: InnerRequest) -> Turn:
        """The turn of a request, with its prompt; nothing is written."""
        with _in_request(request):
            return await _in(self._preparing, lambda: _prepared(served, request))

    async def encode(self, served: ServedModel, prompt: Turn | str) -> list[int]:
        """The token ids of a turn's prompt, or of a text.

        Raises:
            RequestError: `E-REQUEST-UNSUPPORTED`, the vocabulary of the engine is not known here.
        """
        info = vocabulary_of(served)
        return await _in(
            self._preparing, lambda: info.encode(prompt) if isinstance(prompt, str) else prompt.prompt_ids(info)
        )

    async def _choice(
        self, served: ServedModel, turn: Turn, request: InnerRequest, index: int
    ) -> AsyncGenerator[Happening, None]:
        parser = timed(turn.parser())
        metrics, stopped_by = Metrics(), None
        async with aclosing(self._written(served, turn, _options(request, index), parser)) as pieces:
            began = False
            async for piece in pieces:
                if not began:
                    began = True
                    yield Began(index, 0 if piece.metrics is None else piece.metrics.prompt_tokens)
                metrics = piece.metrics or metrics
                stopped_by = piece.stopped_by if piece.stopped_by in request.options.stop else None
                yield Wrote(index, piece.events, piece.logprobs)
        yield Ended(index, parser.finish_reason or "stop", parser.message, metrics, stopped_by)

    def _written(
        self, served: ServedModel, turn: Turn, options: GenerationOptions, parser: StreamParser
    ) -> AsyncGenerator[Written, None]:
        if served.computes:
            return _here(self._generating, served, turn, options, parser)
        return _elsewhere(self._preparing, served, turn, options, parser)


async def _one_by_one(choices: Sequence[AsyncGenerator[T, None]]) -> AsyncGenerator[T, None]:
    for choice in choices:
        async with aclosing(choice):
            async for item in choice:
                yield item


async def _here(
    threads: Executor, served: ServedModel, turn: Turn, options: GenerationOptions, parser: StreamParser
) -> AsyncGenerator[Written, None]:
    def work(cancelled: threading.Event) -> Iterator[Written]:
        generation = served.model.start(turn, options)
        assert isinstance(generation, Generation)
        markers = frozenset(turn.preserved_tokens)
        for piece in written(generation, parser, served.model.backend.tokenizer_info, markers=markers):
            if cancelled.is_set():
                return
            yield piece

    stream = ThreadStream(threads, work)
    try:
        async for piece in stream:
            yield piece
    finally:
        stream.cancel()


async def _elsewhere(
    threads: Executor, served: ServedModel, turn: Turn, options: GenerationOptions, parser: StreamParser
) -> AsyncGenerator[Written, None]:
    # Building the grammar and writing it in the engine's language takes time.
    generation = await _in(threads, lambda: served.model.start(turn, options))
    assert isinstance(generation, RemoteGeneration)
    async with aclosing(generation.written(parser)) as pieces:
        async for piece in pieces:
            yield piece


async def _in(threads: Executor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(threads, work)


def _prepared(served: ServedModel, request: InnerRequest) -> Turn:
    if request.prompt is not None:
        return plain_turn(served, request.prompt, request.resolved)
    resolved = request.resolved
    if request.thinking is not None:
        switches = served.codec.capabilities.thinking_switches
        settings = {name: request.thinking for name, values in switches.items() if request.thinking in values}
        resolved = msgspec.structs.replace(resolved, template_kwargs={**settings, **(resolved.template_kwargs or {})})
    return served.codec.prepare_request(
        request.messages,
        resolved,
        reading=ReadingOptions(stream_reasoning=request.stream_reasoning),
        documents=request.documents,
        add_generation_prompt=request.add_generation_prompt,
        continue_final_message=request.continue_final_message,
    )


@contextmanager
def _in_request(request: InnerRequest) -> Iterator[None]:
    """What is raised points into the request that was sent."""
    try:
        yield
    except SyntagmaError as error:
        if error.code == "E-REQUEST-PREFIX":
            error.pointer = request.final_message
        elif error.pointer is not None:
            error.pointer = placed(error.pointer, request.places)
        raise


def _options(request: InnerRequest, index: int) -> GenerationOptions:
    options = request.options
    if index and options.sampling.seed is not None:
        sampling = msgspec.structs.replace(options.sampling, seed=options.sampling.seed + index)
        options = msgspec.structs.replace(options, sampling=sampling)
    return options
