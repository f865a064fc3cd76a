"""One chat completion: a request through codec, generator and parser to the bytes of its answer.

Runs in a worker thread. Templates, schemas and grammars are rendered and compiled, and the prompt is read, before the
first bytes come out, so that every mistake in a request is still an HTTP error.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import msgspec

from syntagma.codec import Turn
from syntagma.decoding import TokenizerInfo
from syntagma.errors import SyntagmaError
from syntagma.events import (
    ContentDelta,
    Event,
    FinishReason,
    MessageEnd,
    ReasoningDelta,
    ToolCallDelta,
    ToolCallStart,
)
from syntagma.generation import Generation, GenerationOptions, Metrics, Step
from syntagma.messages import Message
from syntagma.parsing import ReadingOptions
from syntagma.serving.model import ServedModel
from syntagma.serving.requests import CheckedRequest
from syntagma.serving.sse import DONE, event
from syntagma.serving.wire import (
    ChatChunk,
    ChatCompletion,
    Choice,
    ChoiceLogprobs,
    ChunkChoice,
    Delta,
    DeltaCall,
    DeltaFunction,
    ResponseMessage,
    TokenLogprobEntry,
    TopLogprobEntry,
    Usage,
    UsageExtra,
)

__all__ = ["ChatRun"]


class ChatRun:
    """Serves one request. Use `stream` or `whole`, once."""

    def __init__(self, model: ServedModel, request: CheckedRequest) -> None:
        self._model = model
        self._request = request
        self._id = f"chatcmpl-{secrets.token_hex(12)}"
        self._created = int(time.time())

    def whole(self, cancelled: threading.Event) -> Iterator[bytes]:
        """The body of the answer, as the only item; none once `cancelled` is set."""
        turn = self._prepare()
        choices: list[Choice] = []
        metrics: list[Metrics] = []
        for index in range(self._request.n):
            reader = self._start(turn, index)
            entries: list[TokenLogprobEntry] = []
            for _, logprobs in reader.read(cancelled):
                entries += logprobs
            if cancelled.is_set():
                return
            choices.append(
                Choice(
                    index=index,
                    message=_message(reader.message),
                    logprobs=ChoiceLogprobs(content=entries) if reader.wants_logprobs else None,
                    finish_reason=reader.finish_reason,
                )
            )
            metrics.append(reader.metrics)
        yield msgspec.json.encode(
            ChatCompletion(
                id=self._id,
                created=self._created,
                model=self._model.name,
                choices=choices,
                usage=_usage(Metrics.of_choices(metrics)),
            )
        )

    def stream(self, cancelled: threading.Event) -> Iterator[bytes]:
        """The events of the answer; they end early once `cancelled` is set."""
        options = self._request.body.stream_options
        with_usage = bool(options and options.include_usage)
        turn = self._prepare()
        metrics: list[Metrics] = []
        for index in range(self._request.n):
            reader = self._start(turn, index)
            yield self._chunk(ChunkChoice(index=index, delta=Delta(role="assistant", content="")), with_usage)
            waiting: list[TokenLogprobEntry] = []
            for delta, logprobs in reader.read(cancelled):
                waiting += logprobs
                if delta is not None:
                    choice = ChunkChoice(index=index, delta=delta, logprobs=_logprobs(waiting))
                    waiting = []
                    yield self._chunk(choice, with_usage)
            if cancelled.is_set():
                return
            last = ChunkChoice(
                index=index, delta=Delta(), logprobs=_logprobs(waiting), finish_reason=reader.finish_reason
            )
            yield self._chunk(last, with_usage)
            metrics.append(reader.metrics)
        if with_usage:
            yield self._chunk(None, with_usage, _usage(Metrics.of_choices(metrics)))
        yield DONE

    def _prepare(self) -> Turn:
        try:
            return self._turn()
        except SyntagmaError as error:
            # What the codec calls `template_kwargs` has another name in requests.
            if error.pointer is not None and error.pointer.startswith("/template_kwargs"):
                error.pointer = f"/chat_{error.pointer[1:]}"
            raise

    def _turn(self) -> Turn:
        body = self._request.body
        return self._model.codec.prepare_request(
            self._request.messages,
            self._request.resolved,
            reading=ReadingOptions(stream_reasoning=body.stream_reasoning is not False),
            documents=body.documents,
            add_generation_prompt=body.add_generation_prompt is not False,
            continue_final_message=body.continue_final_message is True,
        )

    def _start(self, turn: Turn, index: int) -> _ChoiceReader:
        options = self._request.options
        if index and options.sampling.seed is not None:
            sampling = msgspec.structs.replace(options.sampling, seed=options.sampling.seed + index)
            options = msgspec.structs.replace(options, sampling=sampling)
        generation = self._model.model.start(turn, options)
        return _ChoiceReader(generation, turn, self._model.backend.tokenizer_info, options)

    def _chunk(self, choice: ChunkChoice | None, with_usage: bool, usage: Usage | None = None) -> bytes:
        return event(
            ChatChunk(
                id=self._id,
                created=self._created,
                model=self._model.name,
                choices=[] if choice is None else [choice],
                usage=usage if with_usage else msgspec.UNSET,
            )
        )


class _ChoiceReader:
    """Reads one generation through a parser."""

    def __init__(self, generation: Generation, turn: Turn, info: TokenizerInfo, options: GenerationOptions) -> None:
        self._generation = generation
        self._parser = turn.parser()
        self._info = info
        self._markers = frozenset(turn.preserved_tokens)
        self.wants_logprobs = options.logprobs is not None
        self.finish_reason: FinishReason = "stop"

    def read(self, cancelled: threading.Event) -> Iterator[tuple[Delta | None, list[TokenLogprobEntry]]]:
        """Deltas and the log-probabilities that came with them; either may be missing."""
        with closing(self._generation):
            for step, events in self._generation.read(self._parser, markers=self._markers):
                if cancelled.is_set():
                    return
                if self.wants_logprobs and step is not None and not step.end:
                    yield None, [self._entry(step)]
                for happened in events:
                    yield self._delta(happened), []

    @property
    def message(self) -> Message:
        return self._parser.message

    @property
    def metrics(self) -> Metrics:
        return self._generation.metrics

    def _delta(self, happened: Event) -> Delta | None:
        match happened:
            case ContentDelta(text=text):
                return Delta(content=text)
            case ReasoningDelta(text=text):
                return Delta(reasoning_content=text)
            case ToolCallStart(index=index, id=call_id, name=name):
                function = DeltaFunction(name=name, arguments="")
                return Delta(tool_calls=[DeltaCall(index=index, id=call_id, type="function", function=function)])
            case ToolCallDelta(index=index, arguments=arguments):
                return Delta(tool_calls=[DeltaCall(index=index, function=DeltaFunction(arguments=arguments))])
            case MessageEnd(finish_reason=reason):
                self.finish_reason = reason
        return None

    def _entry(self, step: Step) -> TokenLogprobEntry:
        return TokenLogprobEntry(
            token=step.data.decode("utf-8", "replace"),
            logprob=step.logprob or 0.0,
            bytes=list(step.data),
            top_logprobs=[
                TopLogprobEntry(token=data.decode("utf-8", "replace"), logprob=top.logprob, bytes=list(data))
                for top in step.top_logprobs
                for data in (self._info.token_bytes(top.token_id),)
            ],
        )


def _logprobs(entries: list[TokenLogprobEntry]) -> ChoiceLogprobs | None:
    return ChoiceLogprobs(content=entries) if entries else None


def _message(message: Message) -> ResponseMessage:
    content = message.content if isinstance(message.content, str) else None
    return ResponseMessage(
        # Clients take null for 'no answer'; a message without calls always has one, if only an empty one.
        content=content if content or message.tool_calls else "",
        reasoning_content=msgspec.UNSET if message.reasoning_content is None else message.reasoning_content,
        tool_calls=[call.to_openai() for call in message.tool_calls] or msgspec.UNSET,
    )


def _usage(metrics: Metrics) -> Usage:
    return Usage(
        prompt_tokens=metrics.prompt_tokens,
        completion_tokens=metrics.completion_tokens,
        total_tokens=metrics.prompt_tokens + metrics.completion_tokens,
        extra=UsageExtra(
            grammar_init_s=metrics.grammar_init_s,
            grammar_per_token_s=metrics.grammar_per_token_s,
        ),
    )
