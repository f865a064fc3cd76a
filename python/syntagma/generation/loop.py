"""One sequence, token by token."""

from __future__ import annotations

import collections.abc
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from syntagma.decoding import GrammarMatcher, allocate_token_bitmask
from syntagma.decoding.backend import Backend, Logits, Session
from syntagma.decoding.excluded_texts import ExcludedTexts
from syntagma.decoding.sampling import Sampler, log_softmax, top_logprobs
from syntagma.decoding.stop_strings import StopScanner
from syntagma.errors import MatcherError
from syntagma.events import Event
from syntagma.generation.forced import ForcedTokens
from syntagma.generation.matchers import Lease, MatcherPool
from syntagma.generation.values import GenerationOptions, Metrics, Step
from syntagma.parsing import StreamParser

__all__ = ["Generation"]


class Generation:
    """One sequence that is being generated. Iterate over it once, in one thread.

    Attributes:
        finish_reason: `stop` (end of turn, stop string, or nothing may follow), `length` (max_tokens or context; the
            text was cut off, or brought to an end that was not the model's), or None while it runs and after `cancel`.
        stopped_by: the stop string that ended it, or None.
    """

    def __init__(
        self,
        backend: Backend,
        options: GenerationOptions,
        *,
        session: Session,
        logits: Logits,
        prompt: Sequence[int],
        prefill_s: float,
        pool: MatcherPool,
        lease: Lease | None,
    ) -> None:
        self.finish_reason: Literal["stop", "length"] | None = None
        self.stopped_by: str | None = None
        self._pool = pool
        self._info = backend.tokenizer_info
        self._stop_tokens = frozenset(options.stop_token_ids)
        self._ends = self._stop_tokens.union(self._info.eos_token_ids)
        self._session = session
        self._logits = logits
        self._lease = lease
        self._grammar_init_s = 0.0 if lease is None else lease.init_s
        self._bitmask = allocate_token_bitmask(1, self._info.vocab_size)
        self._prompt_tokens = len(prompt)
        self._options = options
        self._sampler = Sampler(options.sampling, prompt)
        self._excluded = ExcludedTexts(options.excluded)
        self._cancelled = threading.Event()
        room = backend.context_length - len(prompt)
        self._room = room if options.max_tokens is None else min(room, options.max_tokens)
        self._ends_complete = lease is not None and options.complete and lease.matcher.closes_within(self._room)
        """whether the text is brought to an end before the limit cuts it off"""
        self._closing_tokens: list[int] | None = None
        """what is left of the way to that end, once it is taken"""
        self._forced = ForcedTokens(self._info) if lease is not None and _may_force(options) else None
        self._sampled = 0
        self._unread: list[int] = []
        """tokens of the answer that the model has not read"""
        self._passes = 1
        self._without_model = 0
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
            forced_tokens=self._without_model,
            forward_passes=self._passes,
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
        options = self._options
        logprobs = None if options.logprobs is None else log_softmax(self._logits_now())
        matcher = None if self._lease is None else self._lease.matcher
        token = self._chosen(self._logits_now()) if matcher is None else self._constrained_token(matcher)
        if token is None:
            return None
        data = self._info.token_bytes(token)
        self._sampler.accept(token)
        self._excluded.accept(data)
        self._sampled += 1
        self._unread.append(token)
        ended = token in (self._ends if matcher is None else self._stop_tokens)
        ended = ended or (matcher is not None and matcher.is_terminated())
        if ended:
            self.finish_reason = "stop"
        elif self._closing_tokens is not None and not self._closing_tokens:
            self.finish_reason = "length"
        elif self._sampled >= self._room:
            self.finish_reason = "stop" if matcher is not None and self._only_end_follows(matcher) else "length"
        return Step(
            token_id=token,
            data=data,
            end=ended and token in self._ends,
            logprob=None if logprobs is None else float(logprobs[token]),
            top_logprobs=() if logprobs is None else top_logprobs(logprobs, options.logprobs or 0),
        )

    def _logits_now(self) -> Logits:
        """The logits after all tokens of the answer; the model reads those that it has not read in one pass."""
        if self._unread:
            unread, self._unread = self._unread, []
            self._logits = self._session.step(unread[0]) if len(unread) == 1 else self._session.extend(unread)
            self._passes += 1
        return self._logits

    def _chosen(self, logits: Logits) -> int:
        """A token of those whose logits are finite; the logits of others that may not come now are lowered."""
        held = self._ends if self._sampled < self._options.min_tokens else frozenset()
        if self._options.ignore_eos:
            held = held.union(self._info.eos_token_ids)
        if held:
            ends = list(held)
            kept = logits[ends]
            logits[ends] = -np.inf
            if not np.isfinite(logits.max()):
                # Nothing but the end may follow.
                logits[ends] = kept
        token = self._sampler.sample(logits)
        while self._excluded.completes(self._info.token_bytes(token)):
            before = float(logits[token])
            logits[token] = -np.inf
            if not np.isfinite(logits.max()):
                logits[token] = before
                break
            token = self._sampler.sample(logits)
        return token

    def _constrained_token(self, matcher: GrammarMatcher) -> int | None:
        """The next token by a grammar, accepted; None, with `finish_reason` set, if none may follow."""
        if self._closing_tokens is None:
            forced, token = self._proposed(matcher)
            if token is None:
                self.finish_reason = "stop"
                return None
            self._accept(matcher, token)
            if self._can_still_close(matcher):
                self._without_model += forced
                return token
            matcher.rollback(1)
            # It could still be closed in as many tokens as there were left before this one.
            self._closing_tokens = matcher.shortest_close(self._room - self._sampled) or []
        if not self._closing_tokens:
            self.finish_reason = "length"
            return None
        token = self._closing_tokens.pop(0)
        self._accept(matcher, token)
        self._without_model += 1
        return token

    def _proposed(self, matcher: GrammarMatcher) -> tuple[bool, int | None]:
        """Whether the grammar forces the next token, and the token; None if the text is complete."""
        began = time.perf_counter()
        token = None if self._forced is None else self._forced.next(matcher)
        if token is not None:
            self._grammar_s += time.perf_counter() - began
            return True, token
        matcher.fill_next_token_bitmask(self._bitmask)
        words = np.flatnonzero(self._bitmask[0])
        self._grammar_s += time.perf_counter() - began
        if not words.size:
            # A vocabulary without an end-of-sequence token cannot say that it is done.
            if matcher.is_accepting():
                return False, None
            raise MatcherError("E-MATCH-DEAD", "no token of the vocabulary can continue what the grammar has begun")
        if (
            self._forced is not None
            and words.size == 1
            and (token := _only_token(self._bitmask[0], words[0])) is not None
        ):
            return True, token
        logits = self._logits_now()
        began = time.perf_counter()
        matcher.mask_logits_inplace(logits)
        self._grammar_s += time.perf_counter() - began
        return False, self._chosen(logits)

    def _can_still_close(self, matcher: GrammarMatcher) -> bool:
        """Whether the text can be completed with the tokens that are left after the one just accepted."""
        if not self._ends_complete or matcher.is_terminated():
            return True
        return matcher.closes_within(self._room - self._sampled - 1)

    def _accept(self, matcher: GrammarMatcher, token: int) -> None:
        began = time.perf_counter()
        accepted = matcher.accept_token(token)
        self._grammar_s += time.perf_counter() - began
        if not accepted:
            raise MatcherError("E-MATCH-REFUSED", f"the grammar refused token {token}, which its mask had allowed")

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


def _may_force(options: GenerationOptions) -> bool:
    """Whether tokens may be taken of which the model was not asked."""
    sampling = options.sampling
    return (
        options.jump_forward
        and options.logprobs is None
        and sampling.allowed_token_ids is None
        and not sampling.logit_bias
    )


def _only_token(bitmask: NDArray[np.int32], word: int) -> int | None:
    """The one token whose bit is set in this word; None if there are several."""
    bits = int(bitmask[word]) & 0xFFFFFFFF
    return None if bits & (bits - 1) else int(word) * 32 + bits.bit_length() - 1
