"""Answers of `POST /v1/responses` as bytes: items of a response."""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from syntagma.conversion.custom_calls import InputText, input_of
from syntagma.events import ContentDelta, Event, ReasoningDelta, ToolCallDelta, ToolCallEnd, ToolCallStart
from syntagma.serving.errors import error_body
from syntagma.serving.inner import Began, Ended, Update
from syntagma.serving.logprobs import TokenLogprobEntry, logprob_entry
from syntagma.serving.responses.conversation import assistant_message, sealed
from syntagma.serving.responses.store import Keeping, Stored
from syntagma.serving.responses.wire import (
    CallItem,
    ContentPart,
    CustomCallItem,
    IncompleteDetails,
    MessageItem,
    OutputItem,
    OutputTokens,
    ReasoningItem,
    ReasoningPart,
    Response,
    Status,
    Usage,
)
from syntagma.serving.sse import named_event

__all__ = ["ResponsesWriter"]


class ResponsesWriter:
    """Writes one answer; see `Writer`. There is one choice.

    Args:
        response: the answer before anything is written.
        custom: names of the tools whose calls hold a text in place of arguments.
        names: of tools in namespaces, the name by which the model knows it → its namespace and its own name.
        keeping: where the answer is stored; None: it is not.
        seals: whether reasoning has its text in a further form, which clients send back where nothing is stored.
    """

    def __init__(
        self,
        response: Response,
        custom: Collection[str] = (),
        names: Mapping[str, tuple[str, str]] = MappingProxyType({}),
        keeping: Keeping | None = None,
        *,
        seals: bool = False,
    ) -> None:
        response.id = _id("resp")
        response.created_at = int(time.time())
        self._response = response
        self._keeping = keeping
        self._seals = seals
        self._custom = custom
        self._names = names
        self._called = ""
        """the name by which the model knows the tool that is called"""
        self._input = InputText()
        """of the open call of a custom tool"""
        self._number = 0
        self._item: OutputItem | None = None
        """the open item: the last of the output"""
        self._parts: list[str] = []
        """of its text or its arguments"""
        self._logprobs: list[TokenLogprobEntry] = []
        """of its text"""
        self._turn: list[dict[str, Any]] = []
        """the parts of the assistant's message"""

    def whole(self, update: Update) -> None:
        """See `Writer`."""
        for _ in self.stream(update):
            pass

    def body(self) -> bytes:
        """See `Writer`."""
        return msgspec.json.encode(self._response)

    def stream(self, update: Update) -> Iterator[bytes]:
        """See `Writer`."""
        if isinstance(update, Began):
            yield self._event("response.created", response=self._response)
            yield self._event("response.in_progress", response=self._response)
        elif isinstance(update, Ended):
            yield from self._close("incomplete" if update.finish_reason == "length" else "completed")
            yield self._end(update)
        else:
            logprobs = [logprob_entry(one) for one in update.logprobs]
            for one in update.events:
                yield from self._happened(one, logprobs)
                logprobs = []

    def end(self) -> Iterator[bytes]:
        """See `Writer`; the last event was the answer itself."""
        return iter(())

    def failed(self, error: BaseException) -> bytes:
        """See `Writer`."""
        body = error_body(error)[1]
        self._response.status = "failed"
        self._response.error = {"code": "server_error", "message": body.message}
        return self._event("response.failed", response=self._response)

    def _happened(self, happened: Event, logprobs: list[TokenLogprobEntry]) -> Iterator[bytes]:
        match happened:
            case ContentDelta(text=text):
                if not isinstance(self._item, MessageItem):
                    yield from self._open(MessageItem(id=_id("msg")))
                    part = ContentPart(text="")
                    yield self._in_item("response.content_part.added", content_index=0, part=part)
                self._parts.append(text)
                self._logprobs += logprobs
                yield self._in_item(
                    "response.output_text.delta", content_index=0, delta=text, logprobs=_of_event(logprobs)
                )
            case ReasoningDelta(text=text):
                if not isinstance(self._item, ReasoningItem):
                    yield from self._open(ReasoningItem(id=_id("rs")))
                    thought = ReasoningPart(text="")
                    yield self._in_item("response.content_part.added", content_index=0, part=thought)
                self._parts.append(text)
                yield self._in_item("response.reasoning_text.delta", content_index=0, delta=text)
            case ToolCallStart(id=call_id, name=name) if name in self._custom:
                self._input = InputText()
                own, namespace = self._named(name)
                yield from self._open(CustomCallItem(id=_id("ctc"), call_id=call_id, name=own, namespace=namespace))
            case ToolCallDelta(arguments=arguments) if isinstance(self._item, CustomCallItem):
                self._parts.append(arguments)
                if text := self._input.feed(arguments):
                    yield self._in_item("response.custom_tool_call_input.delta", delta=text)
            case ToolCallStart(id=call_id, name=name):
                own, namespace = self._named(name)
                yield from self._open(CallItem(id=_id("fc"), call_id=call_id, name=own, namespace=namespace))
            case ToolCallDelta(arguments=arguments):
                self._parts.append(arguments)
                yield self._in_item("response.function_call_arguments.delta", delta=arguments)
            case ToolCallEnd(complete=complete, id=call_id):
                if isinstance(self._item, CallItem | CustomCallItem) and call_id is not None:
                    self._item.call_id = call_id
                yield from self._close("completed" if complete else "incomplete")

    def _named(self, name: str) -> tuple[str, str | UnsetType]:
        """The name of a called tool as the client knows it, and its namespace."""
        self._called = name
        namespace, own = self._names.get(name, (UNSET, name))
        return own, namespace

    def _open(self, item: OutputItem) -> Iterator[bytes]:
        yield from self._close("completed")
        self._response.output.append(item)
        self._item = item
        yield self._in_item("response.output_item.added", of_item=False, item=item)

    def _close(self, status: str) -> Iterator[bytes]:
        """End the open item."""
        item, text = self._item, "".join(self._parts)
        if item is None:
            return
        logprobs, self._logprobs, self._parts = self._logprobs, [], []
        if not isinstance(item, CustomCallItem):
            item.status = status  # type: ignore[assignment]
        if isinstance(item, CallItem | CustomCallItem):
            if isinstance(item, CallItem):
                item.arguments = text
                yield self._in_item("response.function_call_arguments.done", arguments=text)
            else:
                item.input = input_of(text)
                yield self._in_item("response.custom_tool_call_input.done", input=item.input)
            function = {"name": self._called, "arguments": text}
            self._turn.append({"tool_calls": [{"id": item.call_id, "type": "function", "function": function}]})
        elif isinstance(item, ReasoningItem):
            thought = ReasoningPart(text=text)
            item.content = [thought]
            item.encrypted_content = sealed(text) if self._seals else UNSET
            yield self._in_item("response.reasoning_text.done", content_index=0, text=text)
            yield self._in_item("response.content_part.done", content_index=0, part=thought)
            self._turn.append({"reasoning_content": text})
        else:
            part = ContentPart(text=text, logprobs=logprobs)
            item.content = [part]
            yield self._in_item("response.output_text.done", content_index=0, text=text, logprobs=_of_event(logprobs))
            yield self._in_item("response.content_part.done", content_index=0, part=part)
            self._turn.append({"content": text})
        yield self._in_item("response.output_item.done", of_item=False, item=item)
        self._item = None

    def _end(self, ended: Ended) -> bytes:
        response, metrics = self._response, ended.metrics
        cut = ended.finish_reason == "length"
        status: Status = "incomplete" if cut else "completed"
        response.status = status
        response.completed_at = None if cut else int(time.time())
        response.incomplete_details = IncompleteDetails() if cut else None
        response.usage = Usage(
            input_tokens=metrics.prompt_tokens,
            output_tokens=metrics.completion_tokens,
            output_tokens_details=OutputTokens(reasoning_tokens=ended.reasoning_tokens),
            total_tokens=metrics.prompt_tokens + metrics.completion_tokens,
        )
        if self._keeping is not None:
            store, items, conversation = self._keeping
            messages = (*conversation, *assistant_message(self._turn))
            output = tuple(msgspec.to_builtins(item) for item in response.output)
            store.put(response.id, Stored(self.body(), tuple(items), output, messages))
        return self._event(f"response.{status}", response=response)

    def _in_item(self, kind: str, *, of_item: bool = True, **fields: Any) -> bytes:
        place: dict[str, Any] = {"output_index": len(self._response.output) - 1}
        if of_item:
            place["item_id"] = self._response.output[-1].id
        return self._event(kind, **place, **fields)

    def _event(self, kind: str, **fields: Any) -> bytes:
        data = named_event(kind, {"type": kind, "sequence_number": self._number, **fields})
        self._number += 1
        return data


def _id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(24)}"


def _of_event(entries: Sequence[TokenLogprobEntry]) -> list[dict[str, Any]]:
    """Log-probabilities for events of text: without the bytes of tokens, which only those of the item have."""
    return [
        {
            "token": entry.token,
            "logprob": entry.logprob,
            "top_logprobs": [{"token": one.token, "logprob": one.logprob} for one in entry.top_logprobs],
        }
        for entry in entries
    ]
