"""Answers of `POST /v1/chat/completions` as bytes."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec

from syntagma.events import ContentDelta, Event, ReasoningDelta, to_openai
from syntagma.messages import Message
from syntagma.serving.chat.call_fields import WrittenCalls
from syntagma.serving.chat.wire import (
    ChatChunk,
    ChatCompletion,
    Choice,
    ChoiceLogprobs,
    ChunkChoice,
    Delta,
    FinishReason,
    ResponseMessage,
)
from syntagma.serving.errors import error_body
from syntagma.serving.inner import Began, Ended, Update, Wrote
from syntagma.serving.logprobs import TokenLogprobEntry, logprob_entry
from syntagma.serving.sse import DONE, event
from syntagma.serving.usage import Usage, usage_of
from syntagma.typed import as_type

__all__ = ["ChatWriter"]


class ChatWriter:
    """Writes one answer: `whole` or `stream` for each update, then `end`.

    Args:
        model: the model's name.
        calls: writes its calls.
        wants_ids: whether token ids were asked for.
        wants_logprobs: whether log-probabilities were asked for.
        with_usage: whether a stream ends with the usage.
        with_diagnostics: whether the usage says what the parser noticed; a stream then ends with it.
        reasoning_fields: the fields that hold the reasoning; empty: it is left out.
    """

    def __init__(
        self,
        model: str,
        *,
        calls: WrittenCalls,
        wants_ids: bool,
        wants_logprobs: bool,
        with_usage: bool,
        with_diagnostics: bool,
        reasoning_fields: Sequence[str],
    ) -> None:
        self._model = model
        self._calls = calls
        self._wants_ids = wants_ids
        self._wants_logprobs = wants_logprobs
        self._with_usage = with_usage or with_diagnostics
        self._with_diagnostics = with_diagnostics
        self._reasoning_fields = tuple(reasoning_fields)
        self._id = f"chatcmpl-{secrets.token_hex(12)}"
        self._created = int(time.time())
        self._logprobs: list[TokenLogprobEntry] = []
        """of the current choice; in a stream, those that no chunk has sent yet"""
        self._ids: list[int] = []
        """tokens, likewise"""
        self._of_prompt: dict[str, Any] = {}
        """ids and log-probabilities of the prompt's tokens, where they were asked for"""
        self._choices: list[Choice] = []
        self._ended: list[Ended] = []

    def whole(self, update: Update) -> None:
        """Add an update to an answer that is sent as one body."""
        if isinstance(update, Ended):
            self._ended.append(update)
            self._choices.append(
                Choice(
                    index=update.index,
                    message=self._message(update.message),
                    logprobs=ChoiceLogprobs(content=self._logprobs) if self._wants_logprobs else None,
                    finish_reason=self._reason(update),
                    token_ids=self._taken_ids(),
                )
            )
            self._logprobs = []
        elif isinstance(update, Began):
            told = {"prompt_token_ids": update.prompt_ids, "prompt_logprobs": update.prompt_logprobs}
            self._of_prompt = {name: value for name, value in told.items() if value is not None}
        else:
            self._take(update)

    def body(self) -> bytes:
        """The body of that answer."""
        return msgspec.json.encode(
            ChatCompletion(
                id=self._id,
                created=self._created,
                model=self._model,
                choices=self._choices,
                usage=self._usage(),
                **self._of_prompt,
            )
        )

    def stream(self, update: Update) -> Iterator[bytes]:
        """The server-sent events of an update."""
        if isinstance(update, Began):
            choice = ChunkChoice(index=update.index, delta=Delta(role="assistant", content=""))
            yield self._chunk(choice, prompt_ids=update.prompt_ids)
        elif isinstance(update, Ended):
            self._ended.append(update)
            yield self._next(update.index, Delta(), self._reason(update))
        else:
            self._take(update)
            for one in update.events:
                delta = self._delta(update.index, one)
                if delta is not None:
                    yield self._next(update.index, delta)

    def end(self) -> Iterator[bytes]:
        """The events after the last choice of a stream."""
        if self._with_usage:
            yield self._chunk(None, self._usage())
        yield DONE

    def failed(self, error: BaseException) -> bytes:
        """See `Writer`."""
        return event({"error": error_body(error)[1]})

    def _usage(self) -> Usage:
        return usage_of(self._ended, with_diagnostics=self._with_diagnostics)

    def _take(self, wrote: Wrote) -> None:
        self._logprobs += map(logprob_entry, wrote.logprobs)
        if self._wants_ids:
            self._ids += wrote.token_ids

    def _taken_ids(self) -> list[int] | msgspec.UnsetType:
        """The token ids that are sent now."""
        taken, self._ids = self._ids, []
        return taken if self._wants_ids else msgspec.UNSET

    def _reason(self, ended: Ended) -> FinishReason:
        return cast("FinishReason", self._calls.reason(ended.finish_reason))

    def _reasoning(self, text: str | None) -> dict[str, Any]:
        return {} if text is None else dict.fromkeys(self._reasoning_fields, text)

    def _delta(self, index: int, happened: Event) -> Delta | None:
        """The delta that an event adds to the message of a choice; None: nothing."""
        if isinstance(happened, ContentDelta):
            return Delta(content=happened.text)
        if isinstance(happened, ReasoningDelta):
            return Delta(**self._reasoning(happened.text)) if self._reasoning_fields else None
        calls = to_openai((happened,)).get("tool_calls")
        added = self._calls.delta(index, calls) if calls else {}
        return as_type(added, Delta) if added else None

    def _message(self, message: Message) -> ResponseMessage:
        content = message.content if isinstance(message.content, str) else None
        return ResponseMessage(
            # Clients take null for 'no content'; a message without calls always has content, if only an empty string.
            content=content if content or message.tool_calls else "",
            **self._reasoning(message.reasoning_content),
            **self._calls.whole(message.tool_calls),
        )

    def _next(self, index: int, delta: Delta, finish_reason: FinishReason | None = None) -> bytes:
        waiting, self._logprobs = self._logprobs, []
        choice = ChunkChoice(
            index=index,
            delta=delta,
            logprobs=ChoiceLogprobs(content=waiting) if waiting else None,
            finish_reason=finish_reason,
            token_ids=self._taken_ids(),
        )
        return self._chunk(choice)

    def _chunk(
        self, choice: ChunkChoice | None, usage: Usage | None = None, prompt_ids: Sequence[int] | None = None
    ) -> bytes:
        return event(
            ChatChunk(
                id=self._id,
                created=self._created,
                model=self._model,
                choices=[] if choice is None else [choice],
                usage=usage if self._with_usage else msgspec.UNSET,
                prompt_token_ids=msgspec.UNSET if prompt_ids is None else prompt_ids,
            )
        )
