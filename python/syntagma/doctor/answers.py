"""What an answer says, whole or streamed: text, reasoning, calls, why it ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from syntagma.doctor.exchange import Exchange, shortened
from syntagma.doctor.outcomes import Broken, NotOffered, Unsure
from syntagma.doctor.reading import Events, read_events
from syntagma.doctor.values import at, listed, word

__all__ = ["REASONING_FIELDS", "Answer", "Call", "answer_of", "answers_of", "events_of"]

REASONING_FIELDS: Final = ("reasoning_content", "reasoning")
_SHOWN = 240
"""characters of a refusal that are told"""


class Call(msgspec.Struct, frozen=True):
    """A call; in a stream what its parts join to. Nothing is checked: `None` where a field is missing."""

    id: Any
    name: Any
    arguments: Any
    raw: Any


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One choice of an answer.

    Attributes:
        exchange: where it comes from.
        content: its text; empty where there is none.
        reasoning: the text of each field that holds reasoning, without those that are empty.
        calls: its calls.
        finish_reason: why it ended, as it stands there.
        usage: what it took, as it stands there.
        message: the message, or an empty object in a stream.
    """

    exchange: Exchange
    content: str
    reasoning: dict[str, str]
    calls: tuple[Call, ...]
    finish_reason: Any
    usage: Any
    message: Mapping[str, Any]

    @property
    def kinds(self) -> tuple[str, ...]:
        """What it consists of: fields of reasoning, `content`, and the names of calls."""
        text = ("content",) if self.content.strip() else ()
        return (*sorted(self.reasoning), *text, *(str(call.name) for call in self.calls))

    @property
    def was_cut(self) -> bool:
        """Whether its tokens ran out."""
        return bool(self.finish_reason == "length")


def _check_status(exchange: Exchange) -> None:
    """Raise unless the status says that there is an answer; whoever has to wait is told nothing of the server."""
    if exchange.status is None:
        raise Broken(f"no answer came: {exchange.failed}", exchange)
    if exchange.status >= 500 and exchange.status != 501:
        raise Broken(f"the server failed with status {exchange.status}", exchange)
    if exchange.status == 429:
        raise Unsure("the server asks to wait (429), again and again", exchange)
    if exchange.status == 501 or 400 <= exchange.status < 500:
        said = word(exchange.json(), "error", "message") or word(exchange.json(), "error") or exchange.text
        raise NotOffered(
            f"refused with status {exchange.status}: {shortened(' '.join(said.split()), _SHOWN)}", exchange
        )
    if exchange.status != 200:
        raise Broken(f"the status is {exchange.status} where 200 is expected", exchange)
    if exchange.failed is not None:
        raise Broken(exchange.failed, exchange)


def events_of(exchange: Exchange) -> Events:
    """The events of a streamed answer.

    Raises:
        Broken: there is no stream, or it holds an error.
        NotOffered: the request was refused.
    """
    _check_status(exchange)
    events = read_events(exchange.received)
    if not events.chunks:
        raise Broken("the stream has no events", exchange)
    for chunk in events.chunks:
        if "error" in chunk and "choices" not in chunk:
            raise Broken("the stream holds an error", exchange, chunk)
    return events


def answer_of(exchange: Exchange, index: int = 0) -> Answer:
    """One choice of an answer.

    Raises:
        Broken: there is no answer, or no such choice.
        NotOffered: the request was refused.
    """
    return (_streamed if exchange.is_stream else _whole)(exchange, index)


def answers_of(exchanges: tuple[Exchange, ...]) -> tuple[Answer, ...]:
    """The first choice of each; raises as `answer_of`."""
    return tuple(answer_of(exchange) for exchange in exchanges)


def _whole(exchange: Exchange, index: int) -> Answer:
    _check_status(exchange)
    body = exchange.json()
    if not isinstance(body, dict):
        raise Broken("the answer is not a JSON object", exchange)
    choices = [choice for choice in listed(body, "choices") if at(choice, "index") in (index, None)]
    if not choices:
        raise Broken(f"the answer has no choice with index {index}", exchange)
    message = at(choices[0], "message")
    if not isinstance(message, Mapping):
        raise Broken("the choice has no message", exchange, choices[0])
    calls = tuple(
        Call(at(call, "id"), at(call, "function", "name"), at(call, "function", "arguments"), call)
        for call in listed(message, "tool_calls")
    )
    return Answer(
        exchange=exchange,
        content=word(message, "content"),
        reasoning={name: text for name in REASONING_FIELDS if (text := word(message, name))},
        calls=calls,
        finish_reason=at(choices[0], "finish_reason"),
        usage=at(body, "usage"),
        message=message,
    )


def _streamed(exchange: Exchange, index: int) -> Answer:
    content, reasoning, reason, usage = "", dict.fromkeys(REASONING_FIELDS, ""), None, None
    parts: dict[Any, list[Any]] = {}
    seen = False
    for chunk in events_of(exchange).chunks:
        usage = at(chunk, "usage") or usage
        for choice in listed(chunk, "choices"):
            if at(choice, "index") not in (index, None):
                continue
            seen = True
            delta = at(choice, "delta")
            content += word(delta, "content")
            for name in REASONING_FIELDS:
                reasoning[name] += word(delta, name)
            for part in listed(delta, "tool_calls"):
                position = at(part, "index")
                parts.setdefault(position if isinstance(position, int) else 0, []).append(part)
            reason = at(choice, "finish_reason") or reason
    if not seen:
        raise Broken(f"the stream has no choice with index {index}", exchange)
    return Answer(
        exchange=exchange,
        content=content,
        reasoning={name: text for name, text in reasoning.items() if text},
        calls=tuple(_joined(parts[position]) for position in sorted(parts)),
        finish_reason=reason,
        usage=usage,
        message={},
    )


def _joined(parts: list[Any]) -> Call:
    """A call as clients put it together: the first id and name, and all arguments."""
    ids = [found for part in parts if (found := at(part, "id")) is not None]
    names = [found for part in parts if (found := at(part, "function", "name")) is not None]
    arguments = "".join(word(part, "function", "arguments") for part in parts)
    return Call(ids[0] if ids else None, names[0] if names else None, arguments, parts)
