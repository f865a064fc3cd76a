"""One answer that a running engine writes."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncGenerator, Collection, Iterator
from contextlib import aclosing
from typing import Literal

import msgspec

from syntagma.codec import Turn
from syntagma.decoding.stop_strings import StopScanner
from syntagma.decoding.upstream import Completion, Piece, TextLogprob, Upstream
from syntagma.errors import UpstreamError
from syntagma.events import Event
from syntagma.generation.field_report import FieldReport, Reading, TokenReading
from syntagma.generation.held import accepts, constraint_for, is_held_by_reading
from syntagma.generation.held import unheld as refusal
from syntagma.generation.values import GenerationOptions, Metrics, Step, Written
from syntagma.parsing import StreamParser
from syntagma.upstreams.loop_thread import iterate

__all__ = ["Lookalikes", "RemoteGeneration", "Unheld", "completion_of"]

Unheld = Literal["refuse", "check"]
Lookalikes = Literal["break", "refuse"]
_ATTEMPTS = 3
"""texts that an engine may write until one satisfies a constraint that is only checked afterwards"""


def completion_of(
    upstream: Upstream,
    turn: Turn,
    options: GenerationOptions,
    *,
    unheld: Unheld = "refuse",
    lookalikes: Lookalikes = "break",
) -> Completion:
    """The request to an engine for an answer to a turn; arguments and errors are those of `RemoteGeneration`."""
    info = upstream.tokenizer_info
    constraint = None
    if turn.request.constrains:
        constraint = constraint_for(upstream, turn)
        if constraint is None and unheld == "refuse" and not is_held_by_reading(turn.request):
            raise refusal(upstream, turn.request)
    ends, shown = turn.stop_strings, turn.preserved_tokens
    if constraint is not None:
        # The grammar ends with the turn. Before that a marker may be text, as in a JSON string: it does not end the
        # answer, and the engine must not drop it where it writes it as a control token.
        ends, shown = (), tuple(sorted({*turn.preserved_tokens, *turn.prompt.markers()}.difference(turn.stop_strings)))
    return Completion(
        prompt=str(turn.prompt_text(mode=lookalikes)) if info is None else turn.prompt_ids(info),
        sampling=options.sampling,
        max_tokens=options.max_tokens,
        stop=tuple(dict.fromkeys((*options.stop, *ends))),
        logprobs=options.logprobs,
        constraint=constraint,
        preserved_tokens=shown,
        min_tokens=options.min_tokens,
        ignore_eos=options.ignore_eos,
        stop_token_ids=options.stop_token_ids,
        excluded=options.excluded,
    )


class RemoteGeneration:
    """One answer that a running engine writes. Read it once, with `read` or `written`.

    If the engine cannot be held to the turn's constraint and `unheld` is `check`, nothing is passed on before the text
    is complete. A text that breaks the constraint is discarded and asked for again, twice at most.

    Args:
        upstream: the engine.
        turn: the prepared turn.
        options: sampling, lengths and stop strings. `complete` has no effect: an engine cuts the text off.
        unheld: what to do about a constraint that the engine cannot be held to: `refuse` or `check`.
        lookalikes: what to do about look-alikes in a prompt that is sent as text; see `Turn.prompt_text`.

    Raises:
        TemplateError: `E-TEMPLATE-LOOKALIKE`, a look-alike is refused.
        UpstreamError: `E-UPSTREAM-CONSTRAINT`, the engine cannot be held to the constraint, and `unheld` is `refuse`.
        RequestError: `E-REQUEST-PREFIX`, no text of the grammar begins with the part of the answer in the prompt.
        FormatError, GrammarError, LimitError: as `Turn.grammar`.

    Attributes:
        finish_reason: `stop` or `length`; None while it runs and after `cancel`.
        stopped_by: the stop string that ended it, if it was found here.
    """

    def __init__(
        self,
        upstream: Upstream,
        turn: Turn,
        options: GenerationOptions,
        *,
        unheld: Unheld = "refuse",
        lookalikes: Lookalikes = "break",
    ) -> None:
        self.finish_reason: Literal["stop", "length"] | None = None
        self.stopped_by: str | None = None
        self._upstream = upstream
        self._turn = turn
        self._cancelled = threading.Event()
        self._prompt_tokens = self._completion_tokens = 0
        self._prefill_s = self._decode_s = 0.0
        began = time.perf_counter()
        self._asked = completion_of(upstream, turn, options, unheld=unheld, lookalikes=lookalikes)
        constrains = turn.request.constrains
        self._checks = unheld == "check" and constrains and self._asked.constraint is None
        self._grammar_init_s = time.perf_counter() - began if constrains else 0.0

    @property
    def metrics(self) -> Metrics:
        """Time and tokens so far. The engine counts the tokens; if it does not, its pieces are counted."""
        return Metrics(
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._completion_tokens,
            grammar_init_s=self._grammar_init_s,
            prefill_s=self._prefill_s,
            decode_s=self._decode_s,
        )

    def cancel(self) -> None:
        """Stop before the next piece; may be called from any thread."""
        self._cancelled.set()

    def close(self) -> None:
        """Do nothing: closing the iterator closes the connection."""

    def read(
        self,
        parser: StreamParser,
        *,
        markers: Collection[str] = (),  # noqa: ARG002 - the interface of `Generation.read`
    ) -> Iterator[tuple[Step | None, list[Event]]]:
        """The events that a parser makes of the text, in the calling thread; see `Generation.read`.

        Args:
            parser: reads the message; it is finished here unless the generation is cancelled.
            markers: not used: an engine writes them as text.
        """
        for written in iterate(self.written(parser)):
            yield None, list(written.events)

    async def written(self, parser: StreamParser) -> AsyncGenerator[Written, None]:
        """The events that a parser makes of the text, in the running event loop. Closing it stops the engine.

        Args:
            parser: as for `read`.

        Raises:
            UpstreamError: the engine failed; `E-UPSTREAM-UNHELD`, all its texts broke the constraint.
        """
        began = False
        # Log-probabilities come token by token, text in pieces: a second parser reads the tokens to find their fields.
        reader = None if self._asked.logprobs is None else (self._turn.parser(), Reading())
        async with aclosing(self._checked() if self._checks else self._pieces()) as pieces:
            async for piece in pieces:
                if self._cancelled.is_set():
                    return
                logprobs = () if self._asked.logprobs is None else piece.logprobs
                if reader is not None:
                    for token in logprobs:
                        _note(*reader, token)
                if piece.text or logprobs:
                    events = parser.feed(piece.text) if piece.text else ()
                    told = self.metrics if not began and self._prompt_tokens else None
                    began = True
                    yield Written(events=events, logprobs=logprobs, metrics=told)
        events = parser.finish(self.finish_reason or "stop")
        fields = None if reader is None else _fields(*reader)
        yield Written(events=events, metrics=self.metrics, stopped_by=self.stopped_by, fields=fields)

    async def _checked(self) -> AsyncGenerator[Piece, None]:
        """The pieces of the first text that satisfies the constraint."""
        for attempt in range(_ATTEMPTS):
            pieces = [piece async for piece in self._pieces(attempt)]
            text = "".join(piece.text for piece in pieces)
            if self._cancelled.is_set() or self._holds(text):
                for piece in pieces:
                    yield piece
                return
        raise UpstreamError(
            "E-UPSTREAM-UNHELD",
            f"the engine was not held to what is asked for, and none of {_ATTEMPTS} texts is by chance",
            source=self._upstream.address,
        )

    def _holds(self, text: str) -> bool:
        if self.finish_reason == "length" and self._turn.whole_grammar is not None:
            # A text that was cut off may be the beginning of one that the grammar accepts.
            return self._turn.whole_grammar.check(self._turn.begun + text).reason != "refused"
        return accepts(self._turn, text)

    async def _pieces(self, attempt: int = 0) -> AsyncGenerator[Piece, None]:
        """The pieces of one text, up to a stop string."""
        asked = self._asked
        if attempt and asked.sampling.seed is not None:
            sampling = msgspec.structs.replace(asked.sampling, seed=asked.sampling.seed + attempt)
            asked = msgspec.structs.replace(asked, sampling=sampling)
        scanner: StopScanner[None] = StopScanner(asked.stop)
        began, counted = time.perf_counter(), 0
        async with aclosing(self._upstream.stream(asked)) as pieces:
            async for piece in pieces:
                counted += piece.tokens or bool(piece.text)
                self._count(piece, counted, time.perf_counter() - began)
                if piece.finish_reason is not None:
                    self.finish_reason = piece.finish_reason
                yield _before_a_stop(scanner, piece) if asked.stop else piece
                if scanner.found is not None:
                    self.stopped_by, self.finish_reason = scanner.found, "stop"
                    return

    def _count(self, piece: Piece, counted: int, seconds: float) -> None:
        if piece.prompt_tokens is not None:
            self._prompt_tokens = piece.prompt_tokens
        told = piece.completion_tokens
        self._completion_tokens = max(self._completion_tokens, counted) if told is None else told
        self._prefill_s = self._prefill_s or seconds
        self._decode_s = seconds - self._prefill_s


def _before_a_stop(scanner: StopScanner[None], piece: Piece) -> Piece:
    """The piece, with only the text in which no stop string can begin."""
    decided = scanner.push(None, piece.text.encode("utf-8", "replace"))
    if piece.finish_reason is not None and scanner.found is None:
        decided += scanner.flush()
    return msgspec.structs.replace(piece, text=b"".join(data for _, data in decided).decode())


def _note(parser: StreamParser, reading: Reading, token: TextLogprob) -> None:
    events = parser.feed(token.data)
    reading.token(TokenReading(data=token.data, logprob=token.logprob), parser.position)
    reading.events(events)


def _fields(parser: StreamParser, reading: Reading) -> FieldReport:
    reading.events(parser.finish())
    return reading.report(parser.raw, json_content=parser.reads_json)
