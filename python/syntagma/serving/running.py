"""Runs inner requests and yields their updates, for backends and for running engines.

A backend writes in a worker thread; the event loop waits for a running engine.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import aclosing, contextmanager
from contextvars import copy_context
from typing import Literal, NamedTuple, TypeVar

import msgspec

from syntagma.codec import Turn
from syntagma.decoding import GrammarMatcher
from syntagma.errors import RequestError, SyntagmaError
from syntagma.events import ReasoningDelta
from syntagma.generation import Generation, GenerationOptions, Metrics, RemoteGeneration, Written
from syntagma.generation.local import written
from syntagma.limits import Limits
from syntagma.parsing import Policies, ReadingOptions, StreamParser
from syntagma.serving.body import unsupported
from syntagma.serving.concurrent_chain import concurrent_chain
from syntagma.serving.dialect import Asked
from syntagma.serving.inner import Began, Echo, Ended, InnerRequest, Update, Wrote
from syntagma.serving.model import ServedModel
from syntagma.serving.plain_turn import plain_turn
from syntagma.serving.pointers import placed
from syntagma.serving.prompt_ahead import Places, PromptAhead
from syntagma.serving.prompt_logprobs import PromptLogprobs, echoed_tokens, prompt_logprobs, scores_of
from syntagma.serving.recordings import Recordings, recorded
from syntagma.serving.records import stage, timed
from syntagma.serving.threads import ThreadStream
from syntagma.serving.unknown_tools import UnknownCalls, UnknownTools
from syntagma.stopping import unless_stopped

__all__ = ["Ready", "Runner", "in_request", "prepared"]

T = TypeVar("T")
_ALONE = 2
"""generations at once of a model that computes each by itself"""
_TOGETHER = 16
"""generations at once of a model that computes them together"""
_SHORT = 2
"""threads that read short bodies"""
_SHORT_BYTES = 256 * 1024
"""bytes up to which a body is short: they are read, rendered and encoded in some tenths of a second"""
_COMPILING = 2
"""threads that build and compile grammars"""
_AT_ONCE_S = 0.005
"""seconds within which a grammar that was compiled before is there: it needs no prompt beside it"""


class Ready(NamedTuple):
    """A request that is fully checked: only the engine can still fail."""

    served: ServedModel
    asked: Asked
    turn: Turn
    grammar_s: float = 0.0
    """seconds that its grammar took"""
    prompt_ids: Sequence[int] | None = None
    """the token ids of the prompt, if asked for"""
    prompt_logprobs: PromptLogprobs | None = None
    """the log-probabilities of the prompt, if asked for"""
    echo: Echo | None = None
    """the prompt as it comes back, if asked for"""
    more: tuple[Ready, ...] = ()
    """the same for further prompts of the request"""
    ahead: PromptAhead | None = None
    """its prompt, if the model began to read it while the grammar was compiled"""

    @property
    def request(self) -> InnerRequest:
        """The inner request."""
        return self.asked.request


class Runner:
    """Runs requests.

    Slow work is done in threads, so that nothing holds up the event loop. There are some for short bodies, one for long
    ones, and some for grammars, so that slow work delays slow work only. While a grammar is compiled, the model reads
    the prompt if a place among the generations is free; else the grammar is compiled before its request takes a place.

    Args:
        parallel: answers of backends that are computed at once; further ones wait. None: 16 for models that compute
            them together, 2 for others.
        limits: how long they may wait.
        on_length, unknown_tools: see `Settings`.
        recordings: record answers; None: none is recorded.
    """

    def __init__(
        self,
        parallel: int | None,
        limits: Limits,
        on_length: Literal["length", "stop"] = "length",
        recordings: Recordings | None = None,
        unknown_tools: UnknownTools = "pass",
    ) -> None:
        self._on_length = on_length
        self._unknown_tools: UnknownTools = unknown_tools
        self._recordings = recordings
        self._queue_seconds = limits.server_queue_seconds
        alone, together = (_ALONE, _TOGETHER) if parallel is None else (parallel, parallel)
        self._alone = Places(alone, "syntagma-generate")
        self._together = Places(together, "syntagma-generate-together")
        self._short = ThreadPoolExecutor(max_workers=_SHORT, thread_name_prefix="syntagma-read")
        self._long = ThreadPoolExecutor(max_workers=1, thread_name_prefix="syntagma-read-long")
        self._compiling = Places(_COMPILING, "syntagma-grammar")

    def close(self) -> None:
        """Stop the threads; work that waits for one never begins."""
        for threads in (self._alone, self._together, self._short, self._long, self._compiling):
            threads.shutdown(wait=False, cancel_futures=True)

    async def read(self, size: int, work: Callable[[], T]) -> T:
        """Do work in a thread; its result or exception is returned or raised.

        Args:
            size: bytes of the body that it reads.
            work: reads, renders or encodes.
        """
        return await _in(self._short if size <= _SHORT_BYTES else self._long, work)

    async def ready(self, size: int, work: Callable[[], tuple[ServedModel, Asked]]) -> Ready:
        """Read a request, render its prompt, check its length, and compile its grammar.

        Args:
            size: as for `read`.
            work: reads the body.

        Raises:
            SyntagmaError: something is wrong with the request.
        """

        def prepare() -> Ready:
            served, asked = work()
            first, *more = [prepare_one(served, one) for one in _each_prompt(asked)]
            return first._replace(more=tuple(more))

        def prepare_one(served: ServedModel, asked: Asked) -> Ready:
            turn, ids = prepared(served, asked.request), None
            with in_request(asked.request):
                if served.computes:
                    ids = served.model.generator.check(turn.prompt, asked.request.options)
                elif asked.request.return_token_ids:
                    raise unsupported("/return_token_ids", "the engine does not tell the ids of its tokens")
                elif asked.request.options.explain:
                    raise unsupported("/explain", "the engine does not tell its logits")
            return Ready(served, asked, turn, prompt_ids=ids if asked.request.return_token_ids else None)

        with stage("render"):
            ready = await self.read(size, prepare)
        first, *more = [await self._completed(one) for one in (ready, *ready.more)]
        return first._replace(more=tuple(more))

    async def _completed(self, ready: Ready) -> Ready:
        """What takes longer than to read a prompt: its grammar, and the log-probabilities of its tokens."""
        if ready.served.computes and ready.turn.request.constrains:
            ready = await self._compiled(ready)
        if ready.request.prompt_logprobs is not None:
            ready = ready._replace(prompt_logprobs=await _in(self._compiling, lambda: _score(ready)))
        if ready.request.echo:
            ready = ready._replace(echo=await _in(self._compiling, lambda: _echo(ready)))
        return ready

    async def _compiled(self, ready: Ready) -> Ready:
        """The request with its grammar compiled, and with its prompt being read if that took long."""
        begins_at_once = self._compiling.is_free
        compiling = asyncio.ensure_future(self._compile(lambda: _compile(ready)))
        ahead = None
        try:
            await asyncio.wait({compiling}, timeout=_AT_ONCE_S)
            places = self._places(ready.served)
            if not compiling.done() and begins_at_once and places.is_free and not ready.more:
                model, turn, options = ready.served.model, ready.turn, ready.request.options
                ahead = PromptAhead(places, lambda: model.open(turn, options))
            done = await compiling
        except BaseException:
            compiling.cancel()
            if ahead is not None:
                ahead.close()
            # As in the answers of the app: error, task and frame would refer to each other.
            del compiling
            raise
        if ahead is not None and done.turn is not ready.turn:
            # The prompt has become another one.
            ahead.close()
            ahead = None
        return done._replace(ahead=ahead)

    def _places(self, served: ServedModel) -> Places:
        return self._alone if served.rounds is None else self._together

    async def _compile(self, work: Callable[[], T]) -> T:
        """Build and compile a grammar in a thread; the work stops soon after nobody waits for it."""
        left = threading.Event()

        def unless_left() -> T:
            with unless_stopped(left.is_set):
                return work()

        try:
            return await _in(self._compiling, unless_left)
        except asyncio.CancelledError:
            left.set()
            raise

    def run(self, ready: Ready) -> AsyncGenerator[Update, None]:
        """The updates of a request, choice by choice. Closing the iterator stops the model.

        Raises:
            RequestError: `E-REQUEST-QUEUE`, 503, before the first item: no generation was free in time.
        """
        every = itertools.product((ready, *ready.more), range(ready.request.n))
        choices = [self._choice(one, index, number) for number, (one, index) in enumerate(every)]
        if len(choices) == 1:
            return choices[0]
        # If each choice is computed by itself, several at once would only make the first wait for the others.
        is_alone = ready.served.computes and ready.served.rounds is None
        return _one_by_one(choices) if is_alone else concurrent_chain(choices)

    async def _choice(self, ready: Ready, index: int, number: int) -> AsyncGenerator[Update, None]:
        """The choice `index` of one prompt, which is `number` among all of the request."""
        request = ready.request
        parser = timed(recorded(self._recordings, ready.turn))
        metrics, stopped_by, fields, reasoning_tokens = Metrics(), None, None, 0
        tools = request.resolved.tools
        unknown = UnknownCalls(self._unknown_tools, None if tools is None else {tool.name for tool in tools})
        with in_request(request):
            async with aclosing(await self._written(ready, index, number, parser)) as pieces:
                began = False
                async for piece in pieces:
                    if not began:
                        began = True
                        tokens = 0 if piece.metrics is None else piece.metrics.prompt_tokens
                        yield Began(number, tokens, ready.prompt_ids, ready.prompt_logprobs, ready.echo)
                    if piece.metrics is not None:
                        metrics = piece.metrics
                    stopped_by, fields = piece.stopped_by, piece.fields
                    if any(isinstance(event, ReasoningDelta) for event in piece.events):
                        reasoning_tokens += len(piece.token_ids) or 1
                    yield Wrote(number, unknown.kept(piece.events), piece.logprobs, piece.token_ids)
        if stopped_by not in request.options.stop:
            stopped_by = None
        if not index:
            metrics = msgspec.structs.replace(metrics, grammar_init_s=metrics.grammar_init_s + ready.grammar_s)
        reason, message = parser.finish_reason or "stop", unknown.message(parser.message)
        has_calls = any(call.complete for call in message.tool_calls)
        if (metrics.completed and self._on_length == "stop") or (reason == "tool_calls" and not message.tool_calls):
            reason = "tool_calls" if has_calls else "stop"
        reasoning_tokens = min(reasoning_tokens, metrics.completion_tokens)
        yield Ended(number, reason, message, metrics, stopped_by, fields, reasoning_tokens)

    async def _written(
        self, ready: Ready, index: int, number: int, parser: StreamParser
    ) -> AsyncGenerator[Written, None] | ThreadStream[Written]:
        options = _options(ready.request, index)
        if not ready.served.computes:
            # In a thread: to build the grammar and write it in the engine's language takes time.
            generation = await self._compile(lambda: ready.served.model.start(ready.turn, options))
            assert isinstance(generation, RemoteGeneration)
            return generation.written(parser)
        # Only the first choice may give up: later ones belong to an answer that has begun.
        patience = None if number else self._queue_seconds
        first = ready._replace(ahead=None) if index else ready
        return await _here(self._places(ready.served), first, options, parser, patience)


async def _one_by_one(choices: Sequence[AsyncGenerator[T, None]]) -> AsyncGenerator[T, None]:
    for choice in choices:
        async with aclosing(choice):
            async for item in choice:
                yield item


async def _here(
    threads: Executor,
    ready: Ready,
    options: GenerationOptions,
    parser: StreamParser,
    patience: float | None,
) -> ThreadStream[Written]:
    turn, served, ahead = ready.turn, ready.served, ready.ahead
    loop, begun = asyncio.get_running_loop(), asyncio.Event()

    def work(stream: ThreadStream[Written]) -> None:
        loop.call_soon_threadsafe(begun.set)
        generation = served.model.start(turn, options, opened=None if ahead is None else ahead.generation())
        assert isinstance(generation, Generation)
        markers = frozenset(turn.preserved_tokens)
        pieces = written(generation, parser, served.model.backend.tokenizer_info, markers=markers)
        if served.rounds is not None:
            served.rounds.follow(generation, pieces, stream)
            return
        for piece in pieces:
            if stream.cancelled.is_set():
                return
            stream.put(piece)

    stream = ThreadStream(threads, work)
    try:
        await _place(begun, patience)
    except BaseException:
        stream.cancel()
        if ahead is not None:
            ahead.close()
        raise
    return stream


async def _place(begun: asyncio.Event, patience: float | None) -> None:
    try:
        await asyncio.wait_for(begun.wait(), patience)
    except TimeoutError:
        raise RequestError(
            "E-REQUEST-QUEUE", f"no generation was free within {patience:g} seconds", status=503
        ) from None


async def _in(threads: Executor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(threads, copy_context().run, work)


def _compile(ready: Ready) -> Ready:
    """Build and compile the grammar of a turn, and note the time. The turn and the compiler keep it.

    If the prompt ends with a part of a control token, and only the whole token can complete it, the prompt loses that
    part.
    """
    turn, model = ready.turn, ready.served.model
    began = time.perf_counter()
    with in_request(ready.request):
        grammar = turn.whole_grammar
        compiled = None if grammar is None else model.compiler.compile(grammar)
        if compiled is not None and turn.begun:
            turn = turn.resumed(GrammarMatcher(compiled), model.backend.tokenizer_info)
        if compiled is not None and ready.request.options.complete:
            # What it costs to close a text is found out once for a grammar, and may take as long as its compilation.
            GrammarMatcher(compiled).closes_within(ready.request.options.max_tokens or model.backend.context_length)
    ids = ready.prompt_ids
    if ids is not None and turn is not ready.turn:
        ids = turn.prompt_ids(model.backend.tokenizer_info)
    return ready._replace(turn=turn, prompt_ids=ids, grammar_s=time.perf_counter() - began)


def _each_prompt(asked: Asked) -> Iterator[Asked]:
    """The request for each of its prompts."""
    request = asked.request
    if not request.more_prompts:
        yield asked
        return
    for index, prompt in enumerate((request.prompt, *request.more_prompts)):
        places = {"/prompt": f"/prompt/{index}", **request.places}
        yield asked._replace(request=msgspec.structs.replace(request, prompt=prompt, more_prompts=(), places=places))


def _echo(ready: Ready) -> Echo:
    """The prompt as it comes back, with its tokens if log-probabilities are asked for."""
    top, text = ready.request.options.logprobs, str(ready.turn.prompt)
    if top is None:
        return Echo(text)
    with in_request(ready.request):
        return Echo(text, echoed_tokens(text, scores_of(ready.served, ready.turn, top, "/echo"), top))


def _score(ready: Ready) -> PromptLogprobs:
    top = ready.request.prompt_logprobs or 0
    with in_request(ready.request):
        return prompt_logprobs(scores_of(ready.served, ready.turn, top, "/prompt_logprobs"))


def prepared(served: ServedModel, request: InnerRequest) -> Turn:
    """The turn of a request, with its prompt; the model writes nothing.

    Raises:
        SyntagmaError: something is wrong with the conversation.
    """
    with in_request(request):
        return _turn(served, request)


def _turn(served: ServedModel, request: InnerRequest) -> Turn:
    # Fields are found in the raw text, so the parser must keep it.
    tells_fields = request.options.explain or request.options.logprobs is not None
    policies = Policies(unknown_tool="content" if request.unknown_as_content else "pass")
    reading = ReadingOptions(stream_reasoning=request.stream_reasoning, keep_raw=tells_fields, policies=policies)
    if request.prompt is not None:
        return plain_turn(served, request.prompt, request.resolved, reading)
    resolved = request.resolved
    if request.thinking is not None:
        switches = served.codec.capabilities.thinking_switches
        settings = {name: request.thinking for name, values in switches.items() if request.thinking in values}
        resolved = msgspec.structs.replace(resolved, template_kwargs={**settings, **(resolved.template_kwargs or {})})
    return served.codec.prepare_request(
        request.messages,
        resolved,
        reading=reading,
        documents=request.documents,
        add_generation_prompt=request.add_generation_prompt,
        continue_final_message=request.continue_final_message,
        history=served.history,
    )


@contextmanager
def in_request(request: InnerRequest) -> Iterator[None]:
    """A context in which the pointers of errors are changed to point into the request that was sent."""
    try:
        yield
    except SyntagmaError as error:
        if error.code == "E-REQUEST-PREFIX":
            error.pointer = request.final_message
        elif (pointer := error.pointer or _blamed(error, request)) is not None:
            error.pointer = placed(pointer, request.places)
        raise


def _blamed(error: SyntagmaError, request: InnerRequest) -> str | None:
    """The pointer of the field at fault, for errors of parts that do not know requests; None: unknown."""
    match error.code:
        case "E-MODEL-CONTEXT" | "E-MODEL-PROMPT":
            return "/messages"
        case "E-MATCH-DEAD":
            return request.resolved.response_format.pointer or "/tools"
        case _:
            return None


def _options(request: InnerRequest, index: int) -> GenerationOptions:
    options = request.options
    if index and options.sampling.seed is not None:
        sampling = msgspec.structs.replace(options.sampling, seed=options.sampling.seed + index)
        options = msgspec.structs.replace(options, sampling=sampling)
    return options
