"""The shape of a stream: events, chunks, and what stands in which."""

from __future__ import annotations

from typing import Any

from syntagma.doctor.answers import REASONING_FIELDS, events_of
from syntagma.doctor.asks import NAMED, PLAIN
from syntagma.doctor.checks.common import TEXT_ENDS, must, same_answer
from syntagma.doctor.endpoint import Endpoint
from syntagma.doctor.outcomes import Check, Fault, NotOffered
from syntagma.doctor.reading import DONE
from syntagma.doctor.values import at, is_count, listed, word

__all__ = ["CHECKS"]


def _answered(endpoint: Endpoint) -> str | None:
    must(endpoint.ask(PLAIN, stream=True))
    return None


def _content_type(endpoint: Endpoint) -> str | None:
    exchange = endpoint.ask(PLAIN, stream=True)
    events_of(exchange)
    if not exchange.content_type.startswith("text/event-stream"):
        raise Fault(f"the content type is {exchange.content_type!r}", exchange)
    return None


def _frames(endpoint: Endpoint) -> str | None:
    exchange = endpoint.ask(PLAIN, stream=True)
    events = events_of(exchange)
    for said, line in events.broken:
        raise Fault(said, exchange, line)
    if events.unended:
        raise Fault("the last event has no empty line after it", exchange)
    return None


def _done(endpoint: Endpoint) -> str | None:
    exchange = endpoint.ask(PLAIN, stream=True)
    if DONE not in events_of(exchange).data:
        raise Fault("no event is [DONE]", exchange, _end_of(exchange.text))
    return None


def _after_done(endpoint: Endpoint) -> str | None:
    exchange = endpoint.ask(PLAIN, stream=True)
    data = events_of(exchange).data
    if DONE in data and data.index(DONE) != len(data) - 1:
        raise Fault("something follows [DONE]", exchange, _end_of(exchange.text))
    return None


def _one_envelope(endpoint: Endpoint) -> str | None:
    exchange = endpoint.ask(PLAIN, stream=True)
    chunks = events_of(exchange).chunks
    for name in ("id", "model", "created"):
        values = {repr(at(chunk, name)) for chunk in chunks}
        if len(values) != 1 or at(chunks[0], name) in (None, ""):
            raise Fault(f"{name} is not one in all chunks: {', '.join(sorted(values))}", exchange)
    for chunk in chunks:
        if at(chunk, "object") != "chat.completion.chunk":
            raise Fault("object is not 'chat.completion.chunk'", exchange, chunk)
    return None


def _deltas(endpoint: Endpoint) -> str | None:
    exchange = endpoint.ask(PLAIN, stream=True)
    for chunk in events_of(exchange).chunks:
        if not isinstance(at(chunk, "choices"), list):
            raise Fault("a chunk has no list of choices", exchange, chunk)
        for choice in listed(chunk, "choices"):
            if not is_count(at(choice, "index")) or not isinstance(at(choice, "delta"), dict):
                raise Fault("a choice needs an index and a delta", exchange, chunk)
            if not isinstance(at(choice, "delta", "content"), str | None):
                raise Fault("content of a delta is not a string", exchange, chunk)
    return None


def _role(endpoint: Endpoint) -> str | None:
    exchange = endpoint.ask(PLAIN, stream=True)
    choices = _choices(exchange)
    said = [at(choice, "delta", "role") for choice in choices]
    if not said or said[0] != "assistant":
        raise Fault("the first delta does not say role 'assistant'", exchange)
    for choice in choices[1:]:
        if at(choice, "delta", "role") is not None:
            raise Fault("the role is said more than once", exchange, choice)
    return None


def _reason_once(endpoint: Endpoint) -> str | None:
    for body in (PLAIN, NAMED):
        exchange = endpoint.ask(body, stream=True)
        try:
            choices = _choices(exchange)
        except NotOffered:
            continue
        reasons = [at(choice, "finish_reason") for choice in choices if at(choice, "finish_reason") is not None]
        if len(reasons) != 1:
            raise Fault(f"finish_reason comes {len(reasons)} times: {reasons}", exchange, _end_of(exchange.text))
        if body is PLAIN and reasons[0] not in TEXT_ENDS:
            raise Fault(f"finish_reason of plain text is {reasons[0]!r}", exchange, _end_of(exchange.text))
    return None


def _reason_last(endpoint: Endpoint) -> str | None:
    for body in (PLAIN, NAMED):
        exchange = endpoint.ask(body, stream=True)
        try:
            choices = _choices(exchange)
        except NotOffered:
            continue
        ended = False
        for choice in choices:
            delta = at(choice, "delta")
            text = any(word(delta, name) for name in ("content", *REASONING_FIELDS))
            if ended and (text or listed(delta, "tool_calls")):
                raise Fault("text or calls come after the finish reason", exchange, choice)
            ended = ended or at(choice, "finish_reason") is not None
    return None


def _usage(endpoint: Endpoint) -> str | None:
    exchange = endpoint.ask(PLAIN, stream=True)
    chunks = events_of(exchange).chunks
    told = [chunk for chunk in chunks if at(chunk, "usage") is not None]
    if not told:
        raise Fault("include_usage was asked for, and no chunk has usage", exchange, _end_of(exchange.text))
    if len(told) > 1 or told[0] is not chunks[-1] or at(told[0], "choices") != []:
        raise Fault("usage does not come once, in a last chunk without choices", exchange, told[0])
    counts = [at(told[0], "usage", name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")]
    if not all(is_count(count) for count in counts) or counts[0] + counts[1] != counts[2]:
        raise Fault("the counts of usage do not add up", exchange, told[0])
    return None


def _usage_unasked(endpoint: Endpoint) -> str | None:
    exchange = endpoint.ask({**PLAIN, "stream_options": None}, stream=True)
    for chunk in events_of(exchange).chunks:
        if not listed(chunk, "choices"):
            raise Fault("a chunk without choices, though usage was not asked for", exchange, chunk)
    return None


def _same(endpoint: Endpoint) -> str | None:
    return same_answer(endpoint, PLAIN)


def _choices(exchange: Any) -> list[Any]:
    """All choices of all chunks, in their order."""
    return [choice for chunk in events_of(exchange).chunks for choice in listed(chunk, "choices")]


def _end_of(text: str) -> str:
    return text[-400:]


_ASKS = "one message, with stream and include_usage"
CHECKS = (
    Check(
        "stream.answered",
        "a plain question is answered in a stream",
        _ASKS,
        "Nothing that streams works.",
        "Answer with status 200 and server-sent events.",
        _answered,
    ),
    Check(
        "stream.content-type",
        "the content type is text/event-stream",
        _ASKS,
        "Browsers and strict clients do not read the stream; proxies hold it back until it is over.",
        "Send `Content-Type: text/event-stream`.",
        _content_type,
    ),
    Check(
        "stream.frames",
        "the body is server-sent events of JSON",
        _ASKS,
        "Clients raise in the middle of an answer, or skip events.",
        "One line `data: {…}` and an empty line for each event, UTF-8, JSON without line breaks.",
        _frames,
    ),
    Check(
        "stream.done",
        "the stream ends with [DONE]",
        _ASKS,
        "Clients take the stream for broken off, or wait until a time runs out.",
        "Send `data: [DONE]` after the last chunk, also where the answer was cut.",
        _done,
    ),
    Check(
        "stream.nothing-after",
        "nothing follows [DONE]",
        _ASKS,
        "Clients stop reading there, so later data is lost, or read as the next answer on the connection.",
        "Send usage and the finish reason before `[DONE]`, and `[DONE]` once.",
        _after_done,
    ),
    Check(
        "stream.one-envelope",
        "id, model and created are the same in all chunks",
        _ASKS,
        "Clients that put chunks together by their id see several answers.",
        "Choose them once for each stream; `object` is `chat.completion.chunk`.",
        _one_envelope,
    ),
    Check(
        "stream.deltas",
        "every chunk has choices, and every choice an index and a delta",
        _ASKS,
        "Clients raise at the chunk that lacks one.",
        "Write `delta` also where it is empty, and `choices` also where there are none.",
        _deltas,
    ),
    Check(
        "stream.role",
        "the role is said once, in the first delta",
        _ASKS,
        "Clients that join texts make 'assistantassistant' of it; others begin a message at each role.",
        "Send the role in the first delta only.",
        _role,
    ),
    Check(
        "stream.finish-once",
        "the finish reason comes exactly once, and is a word of the protocol",
        _ASKS + "; the same with a named tool",
        "Without it, agents do not know whether to run tools; twice, they run them twice.",
        "Send one last chunk for each choice, with the reason and an empty delta.",
        _reason_once,
    ),
    Check(
        "stream.finish-last",
        "no text and no call comes after the finish reason",
        _ASKS + "; the same with a named tool",
        "Clients that stop there lose the end of the answer or of the arguments.",
        "Flush all held-back text before the finish reason.",
        _reason_last,
    ),
    Check(
        "stream.usage",
        "usage comes once, in a last chunk without choices, if it is asked for",
        _ASKS,
        "Tokens are counted twice or not at all.",
        "With `include_usage`, `usage` is null in all chunks but one after the finish reason, with `choices: []`.",
        _usage,
    ),
    Check(
        "stream.usage-unasked",
        "no chunk is without choices where usage is not asked for",
        "one message, with stream",
        "Clients that read `choices[0]` raise at the end of every answer.",
        "Send the chunk with usage only if `stream_options.include_usage` is true.",
        _usage_unasked,
    ),
    Check(
        "stream.same",
        "a streamed answer is the whole answer",
        "one message, whole and streamed",
        "Streaming users see a different answer: characters are lost at chunk boundaries, or fields differ.",
        "Use one parser for both; hold back text that may begin a marker, and flush it.",
        _same,
    ),
)
