"""Answers of `POST /v1/messages` as bytes: messages of content blocks."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import msgspec

from syntagma.events import ContentDelta, Event, ReasoningDelta, ToolCallDelta, ToolCallStart
from syntagma.serving.inner import Began, Ended, Update
from syntagma.serving.messages.errors import error_payload
from syntagma.serving.messages.wire import Answer, Block, StopReason, Usage
from syntagma.serving.sse import named_event

__all__ = ["MessagesWriter"]


class MessagesWriter:
    """Writes one answer; see `Writer`. There is one choice.

    Args:
        model: the model's name.
        shows_thinking: whether reasoning is a block of the answer; if not, it is left out.
    """

    def __init__(self, model: str, *, shows_thinking: bool) -> None:
        self._shows_thinking = shows_thinking
        self._answer = Answer(
            id=f"msg_{secrets.token_hex(12)}",
            model=model,
            content=[],
            stop_reason=None,
            stop_sequence=None,
            usage=Usage(input_tokens=0, output_tokens=0),
        )
        self._parts: list[str] = []
        """of the open block: its text or its arguments"""
        self._is_open = False

    def whole(self, update: Update) -> None:
        """See `Writer`."""
        for _ in self.stream(update):
            pass

    def body(self) -> bytes:
        """See `Writer`."""
        return msgspec.json.encode(self._answer)

    def stream(self, update: Update) -> Iterator[bytes]:
        """See `Writer`."""
        if isinstance(update, Began):
            self._answer.usage.input_tokens = update.prompt_tokens
            yield _event("message_start", message=self._answer)
        elif isinstance(update, Ended):
            yield from self._close()
            yield from self._end(update)
        else:
            for one in update.events:
                yield from self._event(one)

    def end(self) -> Iterator[bytes]:
        """See `Writer`."""
        yield _event("message_stop")

    def failed(self, error: BaseException) -> bytes:
        """See `Writer`."""
        return named_event("error", error_payload(error)[1])

    def _event(self, happened: Event) -> Iterator[bytes]:
        match happened:
            case ContentDelta(text=text):
                yield from self._open("text", Block(type="text", text=""))
                yield self._delta(text, {"type": "text_delta", "text": text})
            case ReasoningDelta(text=text) if self._shows_thinking:
                yield from self._open("thinking", Block(type="thinking", thinking="", signature=""))
                yield self._delta(text, {"type": "thinking_delta", "thinking": text})
            case ToolCallStart(id=call_id, name=name):
                yield from self._close()
                yield from self._open(None, Block(type="tool_use", id=call_id, name=name, input={}))
            case ToolCallDelta(arguments=arguments):
                yield self._delta(arguments, {"type": "input_json_delta", "partial_json": arguments})

    def _open(self, kind: str | None, block: Block) -> Iterator[bytes]:
        """Begin a block, unless one of this kind is already open."""
        blocks = self._answer.content
        if self._is_open and blocks[-1].type == kind:
            return
        yield from self._close()
        blocks.append(block)
        self._is_open = True
        yield _event("content_block_start", index=len(blocks) - 1, content_block=block)

    def _delta(self, text: str, delta: dict[str, Any]) -> bytes:
        self._parts.append(text)
        return _event("content_block_delta", index=len(self._answer.content) - 1, delta=delta)

    def _close(self) -> Iterator[bytes]:
        """End the open block."""
        if not self._is_open:
            return
        self._is_open = False
        block, text = self._answer.content[-1], "".join(self._parts)
        self._parts = []
        if block.type == "text":
            block.text = text
        elif block.type == "thinking":
            block.thinking = text
            # Clients that have not seen a signature do not send the thinking back.
            yield self._delta("", {"type": "signature_delta", "signature": ""})
        else:
            block.input = _input(text)
        yield _event("content_block_stop", index=len(self._answer.content) - 1)

    def _end(self, ended: Ended) -> Iterator[bytes]:
        answer, metrics = self._answer, ended.metrics
        answer.stop_reason = _stop_reason(ended)
        answer.stop_sequence = ended.stopped_by
        answer.usage.input_tokens = metrics.prompt_tokens
        answer.usage.output_tokens = metrics.completion_tokens
        delta = {"stop_reason": answer.stop_reason, "stop_sequence": answer.stop_sequence}
        yield _event("message_delta", delta=delta, usage=answer.usage)


def _stop_reason(ended: Ended) -> StopReason:
    if ended.finish_reason == "tool_calls":
        return "tool_use"
    if ended.finish_reason == "length":
        return "max_tokens"
    return "end_turn" if ended.stopped_by is None else "stop_sequence"


def _input(arguments: str) -> Any:
    """The arguments of a call as an object; empty if they were cut off."""
    try:
        # Decoded only as a check: numbers and keys stay as the model wrote them.
        msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return {}
    return msgspec.Raw(arguments.encode())


def _event(kind: str, **fields: Any) -> bytes:
    return named_event(kind, {"type": kind, **fields})
