"""The decode loop: a backend computes logits, a grammar says which tokens may follow, a sampler chooses.

The grammar compiles in a thread of its own (the engine releases the GIL) while the prompt is prefilled, and a matcher
is reset and used again when the same grammar comes back. Each step fills the bitmask, applies it to the logits, samples
and lets the matcher accept the token. A token that the matcher refuses after the mask allowed it is a fault of the
engine: it raises, it is never skipped.
"""

from __future__ import annotations

import collections.abc
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Literal

import msgspec
import numpy as np

from syntagma.decoding import (
    GrammarCompiler,
    GrammarMatcher,
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
)
from syntagma.decoding.backend import Backend, Logits, Session
from syntagma.decoding.sampling import Sampler, Sampling, TokenLogprob, log_softmax, top_logprobs
from syntagma.decoding.stop_strings import StopScanner
from syntagma.errors import ArgumentError, MatcherError, ModelError
from syntagma.events import Event
from syntagma.grammars import Grammar
from syntagma.parsing import StreamParser

__all__ = ["Generation", "GenerationOptions", "Generator", "Metrics", "Step"]

_IDLE_MATCHERS = 16


class GenerationOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What one generation is asked for.

    Attributes:
        sampling: temperature, nucleus and seed.
        max_tokens: tokens to sample at most, the end-of-turn token included; None: as many as the context holds.
        stop: texts that end the output and never appear in it. They are looked for in the raw text, reasoning and
            calls included.
        logprobs: None computes none; otherwise each step has the chosen token's log-probability and this many of the
            likeliest tokens. They are the model's own, before mask and temperature.
    """

    sampling: Sampling = Sampling()
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: int | None = None

    def __post_init__(self) -> None:
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ArgumentError("E-ARGUMENT-VALUE", f"max_tokens is at least 1, not {self.max_tokens}")
        if self.logprobs is not None and self.logprobs < 0:
            raise ArgumentError("E-ARGUMENT-VALUE", f"logprobs is at least 0, not {self.logprobs}")


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One sampled token.

    Attributes:
        token_id: the token.
        data: its bytes; UTF-8 characters may be cut between steps.
        cut: a stop string begins inside the token; `data` is what stands before it.
        end: it ended the turn (an end-of-sequence token).
        logprob: natural log-probability, or None if not asked for.
        top_logprobs: the likeliest tokens at this place, likeliest first.
    """

    token_id: int
    data: bytes
    cut: bool = False
    end: bool = False
    logprob: float | None = None
    top_logprobs: Sequence[TokenLogprob] = ()


class Metrics(msgspec.Struct, frozen=True, kw_only=True):
    """What one generation, or several together, took. Times are wall-clock seconds.

    Attributes:
        prompt_tokens: tokens of the prompt.
        completion_tokens: tokens sampled, the end-of-turn token included.
        grammar_init_s: compiling the grammar and making the matcher; over several choices the sum.
        grammar_per_token_s: bitmask and acceptance, average of a token; over several choices the average of them.
        prefill_s: reading the prompt.
        decode_s: all steps, masks and sampling included, the consumer's time not.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    grammar_init_s: float = 0.0
    grammar_per_token_s: float = 0.0
    prefill_s: float = 0.0
    decode_s: float = 0.0

    @classmethod
    def of_choices(cls, choices: Iterable[Metrics]) -> Metrics:
        """The metrics of `n` choices for one prompt: the prompt counts once, initialisation is summed, the per-token
        time averaged.
        """
        every = list(choices)
        if not every:
            return cls()
        return cls(
            prompt_tokens=every[0].prompt_tokens,
            completion_tokens=sum(one.completion_tokens for one in every),
            grammar_init_s=sum(one.grammar_init_s for one in every),
            grammar_per_token_s=sum(one.grammar_per_token_s for one in every) / len(every),
            prefill_s=sum(one.prefill_s for one in every),
            decode_s=sum(one.decode_s for one in every),
        )


class Generator:
    """Runs constrained generations on one backend; shared between threads.

    Args:
        backend: what computes the logits.
        compiler: compiles grammars for the backend's vocabulary; None makes one.
    """

    def __init__(self, backend: Backend, *, compiler: GrammarCompiler | None = None) -> None:
        self.backend = backend
        self.compiler = GrammarCompiler(backend.tokenizer_info) if compiler is None else compiler
        self._matchers = _MatcherPool(self.compiler)
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="syntagma-compile")

    def start(
        self,
        prompt: str | Sequence[int],
        *,
        grammar: Grammar | None = None,
        grammar_key: Hashable | None = None,
        options: GenerationOptions = GenerationOptions(),  # noqa: B008 - frozen
    ) -> Generation:
        """Read the prompt and compile the grammar, both at once; iterate over what comes back for the tokens.

        Args:
            prompt: rendered text, or token ids.
            grammar: what may be written; None leaves the model free.
            grammar_key: equal keys promise equal grammars, so that a matcher can be used again; None: the grammar
                itself is the key.
            options: sampling, lengths and stop strings.

        Raises:
            ModelError: `E-MODEL-CONTEXT`, the prompt leaves no room for an answer; `E-MODEL-PROMPT`, it is empty.
            GrammarError, LimitError: the grammar does not compile.
        """
        ids = self.backend.encode(prompt) if isinstance(prompt, str) else list(prompt)
        if not ids:
            raise ModelError("E-MODEL-PROMPT", "the prompt is empty", hint="a model needs at least one token to go on")
        if len(ids) >= self.backend.context_length:
            raise ModelError(
                "E-MODEL-CONTEXT",
                f"the prompt has {len(ids)} tokens; the context of {self.backend.context_length} leaves no room for an "
                "answer",
                hint="shorten the conversation or the tools",
            )
        pending: Future[_Lease] | None = None
        if grammar is not None:
            key = grammar if grammar_key is None else grammar_key
            pending = self._threads.submit(self._matchers.take, key, grammar)
        began = time.perf_counter()
        try:
            session = self.backend.open()
            logits = session.prefill(ids)
        except BaseException:
            if pending is not None:
                pending.add_done_callback(self._matchers.give_back_result)
            raise
        prefill_s = time.perf_counter() - began
        lease = None if pending is None else pending.result()
        return Generation(
            self.backend,
            options,
            session=session,
            logits=logits,
            prompt_tokens=len(ids),
            prefill_s=prefill_s,
            pool=self._matchers,
            lease=lease,
        )

    def generate(
        self,
        prompt: str | Sequence[int],
        *,
        grammar: Grammar | None = None,
        grammar_key: Hashable | None = None,
        options: GenerationOptions = GenerationOptions(),  # noqa: B008 - frozen
    ) -> Iterator[Step]:
        """The steps alone; see `start`."""
        return iter(self.start(prompt, grammar=grammar, grammar_key=grammar_key, options=options))

    def close(self) -> None:
        """Stop the compiling threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Generation:
    """One sequence that is being generated. Iterate over it once, in one thread.

    Attributes:
        finish_reason: `stop` (end of turn, stop string, or nothing may follow), `length` (max_tokens or context), or
            None while it runs and after `cancel`.
        stopped_by: the stop string that ended it, or None.
    """

    def __init__(
        self,
        backend: Backend,
        options: GenerationOptions,
        *,
        session: Session,
        logits: Logits,
        prompt_tokens: int,
        prefill_s: float,
        pool: _MatcherPool,
        lease: _Lease | None,
    ) -> None:
        self.finish_reason: Literal["stop", "length"] | None = None
        self.stopped_by: str | None = None
        self._pool = pool
        self._info = backend.tokenizer_info
        self._ends = frozenset(self._info.eos_token_ids)
        self._session = session
        self._logits = logits
        self._lease = lease
        self._grammar_init_s = 0.0 if lease is None else lease.init_s
        self._bitmask = allocate_token_bitmask(1, self._info.vocab_size)
        self._prompt_tokens = prompt_tokens
        self._options = options
        self._sampler = Sampler(options.sampling)
        self._cancelled = threading.Event()
        room = backend.context_length - prompt_tokens
        self._room = room if options.max_tokens is None else min(room, options.max_tokens)
        self._sampled = 0
        self._last = -1
        self._grammar_s = 0.0
        self._prefill_s = prefill_s
        self._decode_s = 0.0
        self._steps = self._run()

    def __iter__(self) -> Iterator[Step]:
        return self._steps

    def read(self, parser: StreamParser, *, markers: Collection[str] = ()) -> Iterator[tuple[Step | None, list[Event]]]:
        """The steps with the events that a parser makes of them; at the end the events of its `finish`, with no step.

        Args:
            parser: reads the message; it is finished here unless the generation is cancelled.
            markers: texts that mean something to the format (`Turn.preserved_tokens`). A token that ends the turn is
                read only if it is one of them: the closer of a call, for instance.
        """
        for step in self:
            if not step.end:
                # Token identity is known, so text that only looks like a special token stays text.
                yield step, parser.feed(step.data) if step.cut else parser.feed_tokens((step.token_id,), self._info)
            elif step.data.decode("utf-8", "replace") in markers:
                yield step, parser.feed_tokens((step.token_id,), self._info)
            else:
                yield step, []
        if self.finish_reason is not None:
            yield None, parser.finish(self.finish_reason)

    def cancel(self) -> None:
        """Stop before the next token; may be called from any thread."""
        self._cancelled.set()

    def close(self) -> None:
        """Give the matcher back; happens by itself at the end of the iteration."""
        self._steps.close()
        self._give_back()

    @property
    def metrics(self) -> Metrics:
        """What it took so far."""
        return Metrics(
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._sampled,
            grammar_init_s=self._grammar_init_s,
            grammar_per_token_s=self._grammar_s / self._sampled if self._sampled else 0.0,
            prefill_s=self._prefill_s,
            decode_s=self._decode_s,
        )

    def _run(self) -> collections.abc.Generator[Step, None, None]:
        scanner: StopScanner[Step] = StopScanner(self._options.stop)
        try:
            while not self._cancelled.is_set():
                began = time.perf_counter()
                step = self._sample()
                self._decode_s += time.perf_counter() - began
                if step is None:
                    break
                pieces = scanner.flush() if step.end else scanner.push(step, step.data)
                for piece, data in pieces:
                    yield piece if data == piece.data else msgspec.structs.replace(piece, data=data, cut=True)
                if scanner.found is not None:
                    self.stopped_by = scanner.found
                    self.finish_reason = "stop"
                    return
                if step.end:
                    yield step
                if self.finish_reason is not None:
                    break
            for piece, _ in scanner.flush():
                yield piece
        finally:
            self._give_back()

    def _sample(self) -> Step | None:
        """Sample one token and set `finish_reason` if it is the last; None if no token may follow."""
        if self._sampled:
            self._logits = self._session.step(self._last)
        logits, options = self._logits, self._options
        logprobs = None if options.logprobs is None else log_softmax(logits)
        matcher = None if self._lease is None else self._lease.matcher
        if matcher is not None and not self._mask(matcher, logits):
            self.finish_reason = "stop"
            return None
        token = self._sampler.sample(logits)
        if matcher is not None:
            began = time.perf_counter()
            accepted = matcher.accept_token(token)
            self._grammar_s += time.perf_counter() - began
            if not accepted:
                raise MatcherError("E-MATCH-REFUSED", f"the grammar refused token {token}, which its mask had allowed")
        self._sampled += 1
        self._last = token
        ended = token in self._ends if matcher is None else matcher.is_terminated()
        if ended:
            self.finish_reason = "stop"
        elif self._sampled >= self._room:
            self.finish_reason = "stop" if matcher is not None and self._only_end_follows(matcher) else "length"
        return Step(
            token_id=token,
            data=self._info.token_bytes(token),
            end=ended and token in self._ends,
            logprob=None if logprobs is None else float(logprobs[token]),
            top_logprobs=() if logprobs is None else top_logprobs(logprobs, options.logprobs or 0),
        )

    def _mask(self, matcher: GrammarMatcher, logits: Logits) -> bool:
        """Mask the logits; False if the text is complete and nothing may follow."""
        began = time.perf_counter()
        matcher.fill_next_token_bitmask(self._bitmask)
        self._grammar_s += time.perf_counter() - began
        if not self._bitmask.any():
            # A vocabulary without an end-of-sequence token cannot say that it is done.
            if matcher.is_accepting():
                return False
            raise MatcherError("E-MATCH-DEAD", "no token of the vocabulary can continue what the grammar has begun")
        apply_token_bitmask_inplace(logits, self._bitmask[0])
        return True

    def _only_end_follows(self, matcher: GrammarMatcher) -> bool:
        """Whether the text is complete and could not have gone on: then the length limit cut nothing off."""
        if not matcher.is_accepting():
            return False
        matcher.fill_next_token_bitmask(self._bitmask)
        allowed = np.unpackbits(self._bitmask[0].view(np.uint8), bitorder="little")[: self._info.vocab_size]
        allowed[list(self._ends)] = 0
        return not allowed.any()

    def _give_back(self) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            self._pool.give_back(lease)


class _Lease(msgspec.Struct, frozen=True):
    """A matcher that one generation uses alone, and what it took to get it."""

    key: Hashable
    matcher: GrammarMatcher
    init_s: float


class _MatcherPool:
    """Matchers that wait for their grammar to come back. Shared between threads."""

    def __init__(self, compiler: GrammarCompiler) -> None:
        self._compiler = compiler
        self._lock = threading.Lock()
        self._idle: OrderedDict[Hashable, GrammarMatcher] = OrderedDict()

    def take(self, key: Hashable, grammar: Grammar) -> _Lease:
        began = time.perf_counter()
        with self._lock:
            matcher = self._idle.pop(key, None)
        if matcher is None:
            matcher = GrammarMatcher(self._compiler.compile(grammar))
        else:
            matcher.reset()
        return _Lease(key, matcher, time.perf_counter() - began)

    def give_back(self, lease: _Lease) -> None:
        with self._lock:
            self._idle[lease.key] = lease.matcher
            self._idle.move_to_end(lease.key)
            while len(self._idle) > _IDLE_MATCHERS:
                self._idle.popitem(last=False)

    def give_back_result(self, pending: Future[_Lease]) -> None:
        if not pending.cancelled() and pending.exception() is None:
            self.give_back(pending.result())
