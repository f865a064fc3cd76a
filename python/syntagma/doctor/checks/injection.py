"""Text of others that looks like the template's own: it stays text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from syntagma.doctor.answers import answer_of
from syntagma.doctor.asks import MARKED, RESULTS, constant_answer, constant_call, user
from syntagma.doctor.checks.common import first_call, judge_each, uncut
from syntagma.doctor.endpoint import Endpoint
from syntagma.doctor.exchange import Exchange
from syntagma.doctor.markers import control_texts
from syntagma.doctor.outcomes import Check, Fault, NotOffered, Unsure
from syntagma.doctor.values import at, is_count, object_of

__all__ = ["CHECKS"]

_TIMES = 6
"""how often a text stands in the message: each is one token if it is a control token, and several if it is text"""
_OF_USERS, _OF_TOOLS = 24, 8
"""texts that are tried"""


def _prompt_tokens(endpoint: Endpoint, body: dict[str, Any]) -> int:
    answer = answer_of(endpoint.ask({**body, "max_tokens": 1}))
    count = at(answer.usage, "prompt_tokens")
    if not is_count(count) or not count:
        raise Unsure("usage does not count the tokens of the prompt")
    return int(count)


def _forged(endpoint: Endpoint, body_of: Callable[[str], dict[str, Any]], most: int) -> str | None:
    """Raise if a text is read as a control token, which the tokens of the prompt tell."""
    alone = _prompt_tokens(endpoint, body_of("x"))
    for text in control_texts(most):
        added = _prompt_tokens(endpoint, body_of("x" + text * _TIMES)) - alone
        if added < 0:
            raise Fault(f"{text!r} takes away what stood in the prompt", endpoint.exchanges[-1])
        if added > _TIMES + 1:
            continue
        # A plain text of the same signs tells whether the vocabulary merely has long tokens.
        plain = text[:-2] + "q" + text[-2:] if len(text) > 3 else text + "q"
        if _prompt_tokens(endpoint, body_of("x" + plain * _TIMES)) - alone >= 2 * _TIMES:
            endpoint.ask({**body_of("x" + text * _TIMES), "max_tokens": 1})
            exchange = endpoint.ask({**body_of("x" + text * _TIMES), "max_tokens": 1})
            raise Fault(f"{text!r} in the message is read as a control token, {_TIMES} times {added} tokens", exchange)
    return None


def _users(endpoint: Endpoint) -> str | None:
    return _forged(endpoint, lambda text: {"messages": user(text)}, _OF_USERS)


def _tools(endpoint: Endpoint) -> str | None:
    *before, result = RESULTS["messages"]
    return _forged(endpoint, lambda text: {**RESULTS, "messages": [*before, {**result, "content": text}]}, _OF_TOOLS)


def _judge(written: Any, exchange: Exchange) -> None:
    """Raise unless the text that was asked for came whole."""
    if written == MARKED:
        return
    signs = iter(MARKED)
    if isinstance(written, str) and len(written) > len(MARKED) / 2 and all(sign in signs for sign in written):
        raise Fault("of text that looks like markers, parts are lost", exchange, written)
    raise Unsure("the model did not write the text that it was constrained to")


def _content(endpoint: Endpoint) -> str | None:
    judge_each(endpoint.both(constant_answer(MARKED)), _judge_content)
    return None


def _judge_content(exchange: Exchange) -> None:
    answer = uncut(answer_of(exchange))
    if answer.calls:
        raise Fault("a call was read where there are no tools", exchange)
    # Only what begins as that object was constrained.
    began = any(text.lstrip().startswith("{") for text in (answer.content, *answer.reasoning.values()))
    if began and object_of(answer.content) is None:
        raise Fault("an answer that is constrained to JSON is broken at text that looks like markers", exchange)
    _judge(at(object_of(answer.content), "text"), exchange)


def _arguments(endpoint: Endpoint) -> str | None:
    judge_each(endpoint.both(constant_call(MARKED)), _judge_arguments)
    return None


def _judge_arguments(exchange: Exchange) -> None:
    answer = uncut(answer_of(exchange))
    arguments = first_call(answer).arguments
    if len(answer.calls) > 1:
        raise Fault("a call that stands in an argument is read as one more call", exchange)
    if isinstance(arguments, str) and object_of(arguments) is None:
        raise Fault("arguments are torn at text that looks like markers", exchange, arguments)
    _judge(at(object_of(arguments), "text"), exchange)


def _echo(endpoint: Endpoint) -> str | None:
    seen = False
    for exchange in endpoint.both({"messages": user(f"Repeat exactly this text, and nothing else: {MARKED}")}):
        answer = answer_of(exchange)
        if answer.calls or answer.finish_reason == "tool_calls":
            raise Fault("a call was read, though the request has no tools", exchange)
        seen = seen or bool(answer.kinds)
    if not seen:
        raise NotOffered("nothing was answered")
    return None


_HARM = "The author of a message, a web page or a file can write turns and calls in the name of others."
CHECKS = (
    Check(
        "injection.user",
        "control tokens in a user's message are text",
        f"a message with a marker {_TIMES} times, for {_OF_USERS} markers; the tokens of the prompt are counted",
        _HARM,
        "Encode the text of others without control tokens: track which part of the prompt the template wrote.",
        _users,
    ),
    Check(
        "injection.tool",
        "control tokens in the result of a tool are text",
        f"the same in the result of a tool, for {_OF_TOOLS} markers",
        _HARM,
        "The same for every role.",
        _tools,
    ),
    Check(
        "injection.content",
        "markers within a JSON answer are text",
        "a schema that only holds a text full of markers; whole and streamed",
        "Answers about templates are torn apart, and turned into calls.",
        "Do not look for markers inside JSON strings.",
        _content,
    ),
    Check(
        "injection.arguments",
        "markers within arguments are text",
        "a strict tool that only takes a text full of markers, named; whole and streamed",
        "A call that writes a file about templates is cut at the first marker.",
        "Find the end of a call by its JSON, and not by the first closer.",
        _arguments,
    ),
    Check(
        "injection.echo",
        "without tools, nothing is read as a call",
        "a message that asks to repeat a text full of markers; whole and streamed",
        "Text that a user wrote comes back as a call.",
        "Read calls only where tools are declared.",
        _echo,
    ),
)
