"""Answers of `POST /v1/completions` as bytes."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from syntagma.decoding.upstream import TextLogprob
from syntagma.events import ContentDelta
from syntagma.serving.completions.wire import Choice, Completion, Logprobs
from syntagma.serving.errors import error_body
from syntagma.serving.inner import Began, Ended, Update
from syntagma.serving.sse import DONE, event
from syntagma.serving.usage import Usage, usage_of

__all__ = ["CompletionsWriter"]


class CompletionsWriter:
    """Writes one answer; see `Writer`.

    Args:
        model: the model's name.
        wants_ids: whether token ids were asked for.
        wants_logprobs: whether log-probabilities were asked for.
        with_usage: whether a stream ends with the usage.
        n: the choices of each prompt.
        only_echo: whether nothing but the prompts is to come back.
    """

    def __init__(
        self, model: str, *, wants_ids: bool, wants_logprobs: bool, with_usage: bool, n: int, only_echo: bool
    ) -> None:
        self._model = model
        self._n = n
        self._only_echo = only_echo
        self._wants_ids = wants_ids
        self._wants_logprobs = wants_logprobs
        self._with_usage = with_usage
        self._echoes: dict[int, str] = {}
        """by choice, the prompt that comes back before it"""
        self._id = f"cmpl-{secrets.token_hex(12)}"
        self._created = int(time.time())
        self._choices: dict[int, Choice] = {}
        self._offsets: dict[int, int] = {}
        """by choice, the code points of its text for which log-probabilities were given"""
        self._ended: list[Ended] = []

    def whole(self, update: Update) -> None:
        """See `Writer`."""
        if isinstance(update, Began):
            self._choices[update.index] = choice = self._begun(update)
            choice.token_ids = [] if self._wants_ids else msgspec.UNSET
            return
        choice = self._choices[update.index]
        if isinstance(update, Ended):
            content = update.message.content
            choice.text += content if isinstance(content, str) and not self._only_echo else ""
            choice.finish_reason = self._reason(update)
            self._ended.append(update)
        elif not self._only_echo:
            if choice.logprobs is not None:
                self._add(choice.logprobs, update.index, update.logprobs)
            if isinstance(choice.token_ids, list):
                choice.token_ids += update.token_ids

    def body(self) -> bytes:
        """See `Writer`."""
        choices = [self._choices[index] for index in sorted(self._choices)]
        return msgspec.json.encode(self._completion(choices, self._usage()))

    def stream(self, update: Update) -> Iterator[bytes]:
        """See `Writer`."""
        index = update.index
        if isinstance(update, Began):
            choice = self._begun(update)
            if choice.text or update.prompt_ids is not None:
                yield self._chunk(choice)
        elif isinstance(update, Ended):
            self._ended.append(update)
            yield self._chunk(Choice(index=index, text="", finish_reason=self._reason(update)))
        elif not self._only_echo:
            text = "".join(one.text for one in update.events if isinstance(one, ContentDelta))
            logprobs = None
            if self._wants_logprobs and update.logprobs:
                logprobs = Logprobs()
                self._add(logprobs, index, update.logprobs)
            ids = list(update.token_ids) if self._wants_ids else msgspec.UNSET
            if text or logprobs is not None or ids:
                yield self._chunk(Choice(index=index, text=text, logprobs=logprobs, token_ids=ids))

    def end(self) -> Iterator[bytes]:
        """See `Writer`."""
        if self._with_usage:
            yield event(self._completion([], self._usage()))
        yield DONE

    def failed(self, error: BaseException) -> bytes:
        """See `Writer`."""
        return event({"error": error_body(error)[1]})

    def _begun(self, began: Began) -> Choice:
        """A choice with its prompt, and the ids and log-probabilities of the prompt's tokens, as was asked for."""
        ids, logprobs = began.prompt_ids, began.prompt_logprobs
        self._echoes[began.index] = text = "" if began.echo is None else began.echo.text
        told = Logprobs() if self._wants_logprobs else None
        if told is not None and began.echo is not None:
            offset = 0
            for token in began.echo.tokens:
                told.tokens.append(token.text)
                told.token_logprobs.append(token.logprob)
                told.top_logprobs.append(token.top)
                told.text_offset.append(offset)
                offset += len(token.text)
        return Choice(
            index=began.index,
            text=text,
            logprobs=told,
            prompt_token_ids=msgspec.UNSET if ids is None else ids,
            prompt_logprobs=msgspec.UNSET if logprobs is None else logprobs,
        )

    def _chunk(self, choice: Choice) -> bytes:
        return event(self._completion([choice], None if self._with_usage else msgspec.UNSET))

    def _completion(self, choices: list[Choice], usage: Usage | msgspec.UnsetType | None) -> Completion:
        return Completion(id=self._id, created=self._created, model=self._model, choices=choices, usage=usage)

    def _add(self, logprobs: Logprobs, index: int, tokens: Sequence[TextLogprob]) -> None:
        for token in tokens:
            text = token.data.decode("utf-8", "replace")
            offset = self._offsets.get(index, len(self._echoes[index]))
            logprobs.tokens.append(text)
            logprobs.token_logprobs.append(token.logprob)
            logprobs.top_logprobs.append(_by_text(token.top))
            logprobs.text_offset.append(offset)
            self._offsets[index] = offset + len(text)

    def _reason(self, ended: Ended) -> Literal["stop", "length"]:
        return "length" if ended.finish_reason == "length" or self._only_echo else "stop"

    def _usage(self) -> Usage:
        """The usage of all choices; the tokens of each prompt count once."""
        usage = usage_of(self._ended)
        firsts = [one.metrics.prompt_tokens for one in self._ended if one.index % self._n == 0]
        usage.prompt_tokens = sum(firsts)
        usage.completion_tokens *= not self._only_echo
        usage.total_tokens = usage.prompt_tokens + usage.completion_tokens
        return usage


def _by_text(top: Sequence[tuple[bytes, float]]) -> dict[str, float]:
    return {data.decode("utf-8", "replace"): value for data, value in top}
