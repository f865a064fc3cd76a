"""Wrong requests: each is refused with a status of 4xx and an error that says why."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import msgspec

from syntagma.doctor.answers import answer_of
from syntagma.doctor.asks import NAMED, PLAIN, REQUIRED, function, schema_format, user
from syntagma.doctor.endpoint import Endpoint
from syntagma.doctor.exchange import Exchange
from syntagma.doctor.outcomes import Broken, Check, Fault, NotOffered, Outcome, Unsure
from syntagma.doctor.values import at, word

__all__ = ["CHECKS"]

_PATH = "/chat/completions"
_DEEP = 2_000


# As bytes, since a value as deep as that is more than Python's encoders take.
_DEEP_SCHEMA: Final = msgspec.Raw(b'{"type":"array","items":' * _DEEP + b'{"type":"integer"}' + b"}" * _DEEP)


class _Wrong(msgspec.Struct, frozen=True):
    """A wrong request: what it is called, what is wrong with it, and its fields beside a plain question."""

    name: str
    title: str
    fields: dict[str, Any]


_WRONG: Final = (
    _Wrong("no-messages", "a request without messages", {"messages": None}),
    _Wrong("empty-messages", "an empty list of messages", {"messages": []}),
    _Wrong("messages-type", "messages that are a text", {"messages": "hello"}),
    _Wrong("role", "a role that does not exist", {"messages": [{"role": "nobody", "content": "Hello."}]}),
    _Wrong("temperature", "a temperature that is a text", {"temperature": "hot"}),
    _Wrong("max-tokens", "a bound on tokens that is a text", {"max_tokens": "many"}),
    _Wrong("tools-type", "tools that are not a list", {"tools": {"type": "function"}}),
    _Wrong("choice-without-tools", "a required call without tools", {"tool_choice": "required"}),
    _Wrong(
        "unknown-tool",
        "a named tool that is not declared",
        {"tools": NAMED["tools"], "tool_choice": {"type": "function", "function": {"name": "get_nothing"}}},
    ),
    _Wrong("response-format", "a response format that does not exist", {"response_format": {"type": "nonsense"}}),
    _Wrong(
        "schema",
        "a response format whose schema is none",
        {"response_format": schema_format({"type": "object", "properties": 5})},
    ),
    _Wrong(
        "tool-schema",
        "a required tool whose parameters are not a schema",
        {"tools": [function("f", "Does it.", {"type": "nonsense"})], "tool_choice": "required"},
    ),
)


def _came(exchange: Exchange) -> Exchange:
    """The exchange, if it has an answer that says anything of the request."""
    if exchange.status is None:
        raise Broken(f"no answer came: {exchange.failed}", exchange)
    if exchange.status == 429:
        raise Unsure("the server asks to wait (429), again and again", exchange)
    return exchange


def _refused(exchange: Exchange) -> None:
    """Raise unless a status says that the request was wrong."""
    status = _came(exchange).status or 0
    if status >= 500:
        raise Fault(f"the server fails with status {status} where the request is wrong", exchange)
    if status < 400:
        raise Fault(f"the request is wrong, and is answered with status {status}", exchange)


def _wrong(wrong: _Wrong, endpoint: Endpoint) -> str | None:
    _refused(_ask_wrong(endpoint, wrong))
    return None


def _ask_wrong(endpoint: Endpoint, wrong: _Wrong) -> Exchange:
    return endpoint.ask({**PLAIN, "max_tokens": 16, **wrong.fields})


def _json(endpoint: Endpoint) -> str | None:
    _refused(endpoint.send("POST", _PATH, b'{"messages": [{"role": "user", '))
    return None


def _streamed(endpoint: Endpoint) -> str | None:
    exchange = endpoint.ask({**PLAIN, "max_tokens": 16, "messages": "hello"}, stream=True)
    _refused(exchange)
    return None


def _model(endpoint: Endpoint) -> str | None:
    exchange = _came(endpoint.ask({**PLAIN, "max_tokens": 16, "model": "no-such-model-anywhere"}))
    if exchange.status is not None and exchange.status < 300:
        raise Fault("a model that does not exist is answered for", exchange)
    if exchange.status != 404:
        raise Fault(f"a model that does not exist is refused with status {exchange.status}, not 404", exchange)
    return None


def _path(endpoint: Endpoint) -> str | None:
    exchange = _came(endpoint.send("POST", "/no/such/path", b"{}"))
    if exchange.status != 404:
        raise Fault(f"a path that does not exist is answered with status {exchange.status}, not 404", exchange)
    return None


def _key(endpoint: Endpoint) -> str | None:
    if not endpoint.has_key:
        raise NotOffered("no key was given (--api-key)")
    exchange = endpoint.send("POST", _PATH, endpoint.encoded({**PLAIN, "max_tokens": 1}), key="no-such-key")
    if exchange.status == 200:
        raise NotOffered("the server asks for no key")
    if exchange.status not in (401, 403):
        raise Fault(f"a wrong key is refused with status {exchange.status}, not 401", exchange)
    return None


def _object(endpoint: Endpoint) -> str | None:
    exchanges = [_ask_wrong(endpoint, wrong) for wrong in _WRONG]
    exchanges = [
        exchange
        for exchange in exchanges
        if exchange.status is not None and 400 <= exchange.status < 500 and exchange.status != 429
    ]
    if not exchanges:
        raise Unsure("no wrong request was refused")
    for exchange in exchanges:
        if not word(exchange.json(), "error", "message"):
            raise Fault("the body of a refusal has no error with a message", exchange)
        if not exchange.content_type.startswith("application/json"):
            raise Fault(f"the content type of a refusal is {exchange.content_type!r}", exchange)
        if not word(exchange.json(), "error", "type") and at(exchange.json(), "error", "code") is None:
            raise Fault("the error has neither a type nor a code", exchange)
    return None


def _bounded(endpoint: Endpoint) -> str | None:
    """Inputs that are large or unusual may be refused or served, and do no harm."""
    schema = {"type": "object", "properties": {"a": _DEEP_SCHEMA}, "required": ["a"]}
    exchanges = [
        endpoint.ask({**PLAIN, "max_tokens": 16, "response_format": schema_format(schema)}),
        endpoint.ask(
            {**PLAIN, "max_tokens": 16, "response_format": schema_format({"type": "string", "pattern": "(a"})}
        ),
        endpoint.ask({**PLAIN, "max_tokens": 16, "response_format": schema_format({"$ref": "#/$defs/none"})}),
        endpoint.ask({**REQUIRED, "max_tokens": 16, "messages": user("\x00\x1b[2J\u202e")}),
    ]
    for exchange in exchanges:
        if exchange.status is None or exchange.status >= 500:
            raise Fault(
                f"the server fails with status {exchange.status}: {exchange.failed or ''}".rstrip(": "), exchange
            )
    return None


def _alive(endpoint: Endpoint) -> str | None:
    exchange = endpoint.ask(PLAIN, again=True)
    try:
        answer_of(exchange)
    except Outcome as raised:
        raise Fault(f"after the wrong requests a plain one fails: {raised.said}", exchange) from raised
    return None


_HARM = "Mistakes of programs stay unseen, or look like faults of the server, and are tried again and again."
_MEND = "Check the request before it is run, and answer 400 with an error that names the field."
CHECKS = (
    Check("errors.json", "a body that is not JSON is refused", "half a JSON text", _HARM, _MEND, _json),
    *(
        Check(
            f"errors.{wrong.name}",
            f"{wrong.title} is refused"
            if not wrong.title.startswith(("messages", "tools"))
            else f"{wrong.title} are refused",
            "a plain question, with that",
            _HARM,
            _MEND,
            partial(_wrong, wrong),
        )
        for wrong in _WRONG
    ),
    Check(
        "errors.streamed",
        "a wrong request for a stream is refused before the stream",
        "messages that are a text, with stream",
        "The status is 200 before the mistake is seen, and clients do not raise.",
        "Check the request before the first byte is sent.",
        _streamed,
    ),
    Check(
        "errors.model",
        "a model that does not exist is refused with 404",
        "a plain question to a model of another name",
        "Programs get answers of another model, and do not know.",
        "Compare the name with those that are served; answer 404.",
        _model,
    ),
    Check(
        "errors.path",
        "a path that does not exist is refused with 404",
        "POST /no/such/path",
        "Clients that probe for features believe that the server has all of them.",
        "Answer 404.",
        _path,
    ),
    Check(
        "errors.key",
        "a wrong key is refused with 401",
        "a plain question with a wrong key; only where --api-key is given",
        "Clients do not tell their users that the key is wrong.",
        "Answer 401.",
        _key,
    ),
    Check(
        "errors.object",
        "a refusal has an error object",
        "the wrong requests of this family",
        "Clients show 'unknown error' instead of the reason.",
        'Answer `{"error": {"message": …, "type": …, "param": …, "code": …}}`.',
        _object,
    ),
    Check(
        "errors.bounded",
        "large and unusual inputs do no harm",
        f"a schema that is {_DEEP} deep, a broken pattern, a reference to nothing, control characters",
        "One request stops the server for everyone.",
        "Limit depth and size of inputs, and refuse larger ones.",
        _bounded,
    ),
    Check(
        "errors.alive",
        "the server still works after invalid requests",
        "a plain question, again",
        "One request stops the server for everyone.",
        "Isolate failures of a request.",
        _alive,
    ),
)
