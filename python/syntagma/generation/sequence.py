"""One sequence, token by token: it asks for a mask or a token, and makes a step of them."""

from __future__ import annotations

import collections.abc
import threading
import time
from collections import deque
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from syntagma.decoding import GrammarMatcher, allocate_token_bitmask
from syntagma.decoding.backend import Backend, Logits, on_host
from syntagma.decoding.excluded_texts import ExcludedTexts
from syntagma.decoding.sampling import Draw, Drawn, Sampler, TokenLogprob, draw
from syntagma.decoding.stop_strings import StopScanner
from syntagma.errors import MatcherError
from syntagma.generation.batching import Asks
from syntagma.generation.field_report import masked_mass
from syntagma.generation.forced import ForcedTokens
from syntagma.generation.matchers import Lease, MatcherPool
from syntagma.generation.values import GenerationOptions, Metrics, Step

__all__ = ["Sequence"]

_AHEAD = 1024
"""steps that may wait for their reader"""
_Needs = collections.abc.Generator[Asks, None, None]


class Sequence:
    """A row of a `BatchLoop`: it makes steps from logits and masks, and keeps them until they are read.

    Attributes:
        matcher: follows the grammar; None without one.
        unread: tokens that the model has not read; at first the prompt.
        asks: what it needs to go on; None before it has begun, and when it is over.
        mask: which tokens may come next, int32 [words]; set when it asks for a mask.
        logits: those after the last token, [vocab_size]; set when the model has read all tokens.
        draw: how the token is chosen for which it asks.
        drawn: the token, where it was chosen by others; else it is chosen here.
        options: the options with which it was started.
        steps: the steps made and not yet read.
        error: the exception that ended it, or None.
        finish_reason, stopped_by: see `Generation`.
    """

    def __init__(self, backend: Backend, prompt: list[int], options: GenerationOptions, pool: MatcherPool) -> None:
        self.matcher: GrammarMatcher | None = None
        self.unread = list(prompt)
        self.asks: Asks | None = None
        self.mask: NDArray[np.int32]
        self.logits: Logits
        self.drawn: Drawn | None = None
        self.steps: deque[Step] = deque()
        self.error: Exception | None = None
        self.finish_reason: Literal["stop", "length"] | None = None
        self.stopped_by: str | None = None
        self._pool = pool
        self._info = backend.tokenizer_info
        self._stop_tokens = frozenset(options.stop_token_ids)
        self._ends = self._stop_tokens.union(self._info.eos_token_ids)
        self._held_early = np.fromiter(self._ends, np.int64)
        """end tokens, which may not come before there are `min_tokens`, unless nothing else may"""
        self._held_always = np.fromiter(self._info.eos_token_ids if options.ignore_eos else (), np.int64)
        self._lease: Lease | None = None
        self._grammar_init_s = 0.0
        self._prompt_tokens = len(prompt)
        self.options = options
        self._sampler = Sampler(options.sampling, prompt)
        self.draw = Draw(
            sampler=self._sampler, held=self._held_early, logprobs=options.logprobs, explains=options.explain
        )
        self._excluded = ExcludedTexts(options.excluded)
        self._cancelled = threading.Event()
        room = backend.context_length - len(prompt)
        self._room = room if options.max_tokens is None else min(room, options.max_tokens)
        self._ends_complete = False
        """whether the text is closed with a valid ending before the limit cuts it off"""
        self._closing_tokens: list[int] | None = None
        """what is left of the valid ending, once that has begun"""
        self._forced: ForcedTokens | None = None
        self._was_forced = False
        self._masked: float | None = None
        self._sampled = 0
        self._passes = 0
        self._prompt_is_read = False
        self._without_model = 0
        self._grammar_s = 0.0
        self._prefill_s = 0.0
        self._decode_s = 0.0
        self._ended = False
        self._run = self._steps_to_the_end()

    def begin(self, lease: Lease | None) -> None:
        """Begin to sample; the prompt has been read.

        Args:
            lease: the matcher of the grammar, given back at the end; None: no grammar.
        """
        if lease is not None:
            options = self.options
            self._lease, self.matcher = lease, lease.matcher
            self.draw.masks = lease.matcher.mask_logits_inplace
            self._grammar_init_s = lease.init_s
            self._ends_complete = options.complete and lease.matcher.closes_within(self._room)
            self._forced = ForcedTokens(self._info) if _may_force(options) else None
        self.go_on()

    @property
    def is_read(self) -> bool:
        """Whether the model has read or refused the prompt."""
        return self._prompt_is_read or self._ended

    @property
    def is_over(self) -> bool:
        """Whether it has ended, failed or been cancelled."""
        return self._ended or self._cancelled.is_set()

    @property
    def is_ready(self) -> bool:
        """Whether its reader can go on without waiting."""
        return bool(self.steps) or self.is_over

    @property
    def may_advance(self) -> bool:
        """Whether it may make a further token: its reader is not too far behind."""
        return self.asks is not None and len(self.steps) < _AHEAD and not self.is_over

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Make no further step; may be called from any thread."""
        self._cancelled.set()

    def read_part(self, seconds: float) -> None:
        """Note that the model has read a part of the prompt, in one pass of `seconds`."""
        self._prefill_s += seconds
        self._passes += 1

    def read(self, logits: Logits, seconds: float) -> None:
        """Take the logits after tokens of `unread`, which the model has read in one pass of `seconds`."""
        self.logits = logits
        if self._prompt_is_read:
            self._decode_s += seconds
            self._passes += 1
        else:
            self.read_part(seconds)
            self._prompt_is_read = True

    def go_on(self, *, masked_s: float = 0.0, drawn_s: float = 0.0) -> None:
        """Go on with the mask or the logits, until it asks again; an exception becomes its `error`.

        Args:
            masked_s: the seconds that it took to fill the mask.
            drawn_s: the seconds that it took to choose the token.
        """
        began = time.perf_counter()
        self._grammar_s += masked_s
        asks: Asks | None = None
        try:
            asks = next(self._run, None)
        except Exception as error:
            self.error = error
        finally:
            self._decode_s += masked_s + drawn_s + time.perf_counter() - began
            self._ended = asks is None
            self.asks = asks

    def fail(self, error: Exception) -> None:
        """End with an error."""
        self.error, self.asks, self._ended = error, None, True

    def release(self) -> None:
        """Give the matcher back; no further step is made."""
        self._ended = True
        self._run.close()
        lease, self._lease, self.matcher = self._lease, None, None
        if lease is not None:
            self._pool.give_back(lease)

    @property
    def metrics(self) -> Metrics:
        """Time and tokens so far."""
        return Metrics(
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._sampled,
            forced_tokens=self._without_model,
            forward_passes=self._passes,
            grammar_init_s=self._grammar_init_s,
            grammar_per_token_s=self._grammar_s / self._sampled if self._sampled else 0.0,
            prefill_s=self._prefill_s,
            decode_s=self._decode_s,
            completed=int(self._closing_tokens == [] and self.finish_reason == "length"),
        )

    def _steps_to_the_end(self) -> _Needs:
        scanner: StopScanner[Step] = StopScanner(self.options.stop)
        while not self._cancelled.is_set():
            step = yield from self._sample()
            if step is None:
                break
            pieces = scanner.flush() if step.end else scanner.push(step, step.data)
            for piece, data in pieces:
                self.steps.append(piece if data == piece.data else msgspec.structs.replace(piece, data=data, cut=True))
            if scanner.found is not None:
                self.stopped_by = scanner.found
                self.finish_reason = "stop"
                return
            if step.end:
                self.steps.append(step)
            if self.finish_reason is not None:
                break
        self.steps.extend(piece for piece, _ in scanner.flush())

    def _sample(self) -> collections.abc.Generator[Asks, None, Step | None]:
        """Sample one token and set `finish_reason` if it is the last; None if no token may follow."""
        matcher = self.matcher
        self._was_forced, self._masked = False, None
        drawn = (yield from self._drawn()) if matcher is None else (yield from self._constrained(matcher))
        if drawn is None:
            return None
        token, logprob, top, logprobs = drawn
        data = self._info.token_bytes(token)
        self._sampler.accept(token)
        self._excluded.accept(data)
        self._sampled += 1
        self.unread.append(token)
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
            logprob=logprob,
            top_logprobs=top,
            forced=self._was_forced,
            masked=self._masked,
            preferred=None if logprobs is None else _likeliest(logprobs),
        )

    def _drawn(
        self, mask: NDArray[np.int32] | None = None, given: int | None = None
    ) -> collections.abc.Generator[Asks, None, Drawn]:
        """A token: the given one, or one that is chosen so that it completes no excluded text."""
        asked = self.draw
        # Little is written: this is done for every token.
        if mask is not None:
            asked.mask = mask
        if given is not asked.given:
            asked.given = given
        if asked.excluded:
            asked.excluded = []
        if asked.held is not self._held_always:
            asked.held = self._held_early if self._sampled < self.options.min_tokens else self._held_always
        yield Asks.TOKEN
        chosen = self._answer()
        assert chosen is not None, "nothing was excluded"
        # A token that ends the answer is not part of it, so its text may be an excluded one.
        while chosen.token not in self._ends and self._excluded.completes(self._info.token_bytes(chosen.token)):
            if given is not None:
                break
            asked.excluded.append(chosen.token)
            yield Asks.TOKEN
            other = self._answer()
            if other is None:
                break
            chosen = other
        return chosen

    def _answer(self) -> Drawn | None:
        """The token for which it asked; None if only excluded ones are left."""
        drawn, self.drawn = self.drawn, None
        if drawn is not None:
            return drawn
        if type(self.logits) is not np.ndarray:
            self.logits = on_host(self.logits)
        return draw(self.logits, self.draw)

    def _constrained(self, matcher: GrammarMatcher) -> collections.abc.Generator[Asks, None, Drawn | None]:
        """The next token under a grammar, which has accepted it; None, with `finish_reason` set, if none may follow."""
        if self._closing_tokens is None:
            forced, drawn = yield from self._proposed(matcher)
            if drawn is None:
                self.finish_reason = "stop"
                return None
            self._accept(matcher, drawn.token)
            if self._can_still_close(matcher):
                self._was_forced = forced
                self._without_model += forced and self._forced is not None
                return drawn
            matcher.rollback(1)
            # Before this token, the text could still be closed with the tokens that were left.
            self._closing_tokens = matcher.shortest_close(self._room - self._sampled) or []
        if not self._closing_tokens:
            self.finish_reason = "length"
            return None
        token = self._closing_tokens.pop(0)
        self._accept(matcher, token)
        self._without_model += 1
        self._was_forced = True
        if self.options.logprobs is None and not self.options.explain:
            return Drawn(token)
        drawn = yield from self._drawn(given=token)
        if drawn.logprobs is not None:
            self._masked = float(-np.expm1(drawn.logprobs[token]))
        return drawn

    def _proposed(self, matcher: GrammarMatcher) -> collections.abc.Generator[Asks, None, tuple[bool, Drawn | None]]:
        """Whether the grammar forces the next token, and the token; None if the text is complete."""
        began = time.perf_counter()
        token = None if self._forced is None else self._forced.next(matcher)
        self._grammar_s += time.perf_counter() - began
        if token is not None:
            return True, Drawn(token)
        yield Asks.MASK
        words = np.flatnonzero(self.mask)
        if not words.size:
            # A vocabulary without an end-of-sequence token cannot end the text itself.
            if matcher.is_accepting():
                return False, None
            raise MatcherError("E-MATCH-DEAD", "no token of the vocabulary can continue what the grammar has begun")
        only = _only_token(self.mask, words[0]) if words.size == 1 else None
        if only is not None and self._forced is not None:
            return True, Drawn(only)
        mask = self.mask
        if self.options.explain or type(self.logits) is not np.ndarray:
            # It is read later, and the loop fills the masks of others into the same memory.
            mask = mask.copy()
        drawn = yield from self._drawn(mask)
        if drawn.logprobs is not None:
            self._masked = masked_mass(drawn.logprobs, mask)
        return only is not None, drawn

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
        """Whether the text is complete and nothing but its end may follow: then the length limit cut nothing off."""
        if not matcher.is_accepting():
            return False
        bitmask = allocate_token_bitmask(1, self._info.vocab_size)
        matcher.fill_next_token_bitmask(bitmask)
        allowed = np.unpackbits(bitmask[0].view(np.uint8), bitorder="little")[: self._info.vocab_size]
        allowed[list(self._ends)] = 0
        return not allowed.any()


def _may_force(options: GenerationOptions) -> bool:
    """Whether forced tokens may be taken without asking the model."""
    sampling = options.sampling
    return (
        options.jump_forward
        and options.logprobs is None
        and not options.explain
        and sampling.allowed_token_ids is None
        and not sampling.logit_bias
    )


def _likeliest(logprobs: NDArray[np.float64]) -> TokenLogprob:
    token = int(np.argmax(logprobs))
    return TokenLogprob(token, float(logprobs[token]))


def _only_token(bitmask: NDArray[np.int32], word: int) -> int | None:
    """The token whose bit is set in this word, if that is the only one; None if there are several."""
    bits = int(bitmask[word]) & 0xFFFFFFFF
    return None if bits & (bits - 1) else int(word) * 32 + bits.bit_length() - 1
