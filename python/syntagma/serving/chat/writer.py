"""The dialect of `POST /v1/chat/completions`: what happens, as bytes."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence

import msgspec

from syntagma.events import ContentDelta, Event, FinishReason, ReasoningDelta, ToolCallDelta, ToolCallStart
from syntagma.generation import Metrics
from syntagma.messages import Message
from syntagma.serving.chat.wire import (
    ChatChunk,
    ChatCompletion,
    Choice,
    ChoiceLogprobs,
    ChunkChoice,
    Delta,
    DeltaCall,
    DeltaFunction,
    ResponseMessage,
)
from syntagma.serving.errors import error_body
from syntagma.serving.inner import Began, Ended, Happening
from syntagma.serving.logprobs import TokenLogprobEntry, logprob_entry
from syntagma.serving.sse import DONE, event
from syntagma.serving.usage import Usage, usage_of

__all__ = ["ChatWriter"]


class ChatWriter:
    """Writes one answer: `whole` or `stream` for each happening, then `end`.

    Args:
        model: its name.
        wants_logprobs: whether they were asked for.
        with_usage: whether a stream says what it took.
        reasoning_fields: the fields that reasoning stands in; none: it is left out.
    """

    def __init__(self, model: str, *, wants_logprobs: bool, with_usage: bool, reasoning_fields: Sequence[str]) -> None:
        self._model = model
        self._wants_logprobs = wants_logprobs
        self._with_usage = with_usage
        self._reasoning_fields = tuple(reasoning_fields)
        self._id = f"chatcmpl-{secrets.token_hex(12)}"
        self._created = int(time.time())
        self._logprobs: list[TokenLogprobEntry] = []
        """of the current choice; in a stream those that no chunk has taken along"""
        self._choices: list[Choice] = []
        self._metrics: list[Metrics] = []

    def whole(self, happening: Happening) -> None:
        """Take what happened into an answer that goes out whole."""
        if isinstance(happening, Ended):
            self._metrics.append(happening.metrics)
            self._choices.append(
                Choice(
                    index=happening.index,
                    message=_message(happening.message, self._reasoning_fields),
                    logprobs=ChoiceLogprobs(content=self._logprobs) if self._wants_logprobs else None,
                    finish_reason=happening.finish_reason,
                )
            )
            self._logprobs = []
        elif not isinstance(happening, Began):
            self._logprobs += map(logprob_entry, happening.logprobs)

    def body(self) -> bytes:
        """The answer, whole."""
        return msgspec.json.encode(
            ChatCompletion(
                id=self._id,
                created=self._created,
                model=self._model,
                choices=self._choices,
                usage=usage_of(self._metrics),
            )
        )

    def stream(self, happening: Happening) -> Iterator[bytes]:
        """What happened, as events."""
        if isinstance(happening, Began):
            yield self._chunk(ChunkChoice(index=happening.index, delta=Delta(role="assistant", content="")))
        elif isinstance(happening, Ended):
            self._metrics.append(happening.metrics)
            yield self._next(happening.index, Delta(), happening.finish_reason)
        else:
            self._logprobs += map(logprob_entry, happening.logprobs)
            for one in happening.events:
                if (delta := _delta(one, self._reasoning_fields)) is not None:
                    yield self._next(happening.index, delta)

    def end(self) -> Iterator[bytes]:
        """What comes after the last choice of a stream."""
        if self._with_usage:
            yield self._chunk(None, usage_of(self._metrics))
        yield DONE

    def failed(self, error: BaseException) -> bytes:
        """See `Writer`."""
        return event({"error": error_body(error)[1]})

    def _next(self, index: int, delta: Delta, finish_reason: FinishReason | None = None) -> bytes:
        waiting, self._logprobs = self._logprobs, []
        logprobs = ChoiceLogprobs(content=waiting) if waiting else None
        return self._chunk(ChunkChoice(index=index, delta=delta, logprobs=logprobs, finish_reason=finish_reason))

    def _chunk(self, choice: ChunkChoice | None, usage: Usage | None = None) -> bytes:
        return event(
            ChatChunk(
                id=self._id,
                created=self._created,
                model=self._model,
                choices=[] if choice is None else [choice],
                usage=usage if self._with_usage else msgspec.UNSET,
            )
        )


def _delta(happened: Event, reasoning_fields: Sequence[str]) -> Delta | None:
    match happened:
        case ContentDelta(text=text):
            return Delta(content=text)
        case ReasoningDelta(text=text):
            if not reasoning_fields:
                return None
            return Delta(
                reasoning_content=text if "reasoning_content" in reasoning_fields else msgspec.UNSET,
                reasoning=text if "reasoning" in reasoning_fields else msgspec.UNSET,
            )
        case ToolCallStart(index=index, id=call_id, name=name):
            function = DeltaFunction(name=name, arguments="")
            return Delta(tool_calls=[DeltaCall(index=index, id=call_id, type="function", function=function)])
        case ToolCallDelta(index=index, arguments=arguments):
            return Delta(tool_calls=[DeltaCall(index=index, function=DeltaFunction(arguments=arguments))])
    return None


def _message(message: Message, reasoning_fields: Sequence[str]) -> ResponseMessage:
    content = message.content if isinstance(message.content, str) else None
    reasoning = msgspec.UNSET if message.reasoning_content is None else message.reasoning_content
    return ResponseMessage(
        # Clients take null for 'no answer'; a message without calls always has one, if only an empty one.
        content=content if content or message.tool_calls else "",
        tool_calls=[call.to_openai() for call in message.tool_calls] or msgspec.UNSET,
        reasoning_content=reasoning if "reasoning_content" in reasoning_fields else msgspec.UNSET,
        reasoning=reasoning if "reasoning" in reasoning_fields else msgspec.UNSET,
    )
