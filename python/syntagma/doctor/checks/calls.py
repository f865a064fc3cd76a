"""Calls of tools: how they are asked for, and their shape, whole and streamed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from syntagma.doctor.answers import answer_of, answers_of
from syntagma.doctor.asks import (
    AUTO,
    EMPTY,
    HISTORY,
    NAMED,
    NONE,
    PARALLEL,
    REQUIRED,
    RESULTS,
    SINGLE,
    TOOL_NAMES,
    Forecast,
)
from syntagma.doctor.checks.common import calls_of, fits, same_answer, taken, uncut
from syntagma.doctor.endpoint import Endpoint
from syntagma.doctor.exchange import Exchange
from syntagma.doctor.outcomes import Check, Fault, Unsure
from syntagma.doctor.values import at, is_count, object_of, word

__all__ = ["CHECKS"]


def _needs_call(exchange: Exchange) -> str | None:
    answer = uncut(answer_of(exchange))
    if not answer.calls:
        raise Fault("there is no call, though one is required", exchange)
    return None


def _required(endpoint: Endpoint) -> str | None:
    return _needs_call(endpoint.ask(REQUIRED))


def _required_streamed(endpoint: Endpoint) -> str | None:
    return _needs_call(endpoint.ask(REQUIRED, stream=True))


def _named(endpoint: Endpoint) -> str | None:
    for answer in answers_of(endpoint.both(NAMED)):
        names = {str(call.name) for call in uncut(answer).calls}
        if names != {"get_forecast"}:
            raise Fault(f"get_forecast was to be called, and this was: {sorted(names)}", answer.exchange)
    return None


def _none(endpoint: Endpoint) -> str | None:
    for answer in answers_of(endpoint.both(NONE)):
        if answer.calls:
            raise Fault("there is a call, though none may be", answer.exchange)
        if answer.finish_reason == "tool_calls":
            raise Fault("finish_reason is 'tool_calls', though no call may be", answer.exchange)
    return None


def _auto(endpoint: Endpoint) -> str | None:
    answers = answers_of(endpoint.both(AUTO))
    for answer in answers:
        if answer.finish_reason == "tool_calls" and not answer.calls:
            raise Fault("finish_reason is 'tool_calls', and there is no call", answer.exchange)
        for call in answer.calls:
            if str(call.name) not in TOOL_NAMES:
                raise Fault(f"the call is of {call.name!r}, which is not a tool of the request", answer.exchange)
    if not any(answer.calls for answer in answers):
        raise Unsure("the model did not call; required and named choices show whether it can")
    return None


def _shape(endpoint: Endpoint) -> str | None:
    for answer, call in calls_of((endpoint.ask(REQUIRED), endpoint.ask(NAMED))):
        if not isinstance(call.id, str) or not call.id:
            raise Fault("a call has no id", answer.exchange, call.raw)
        if at(call.raw, "type") != "function":
            raise Fault("the type of a call is not 'function'", answer.exchange, call.raw)
        if str(call.name) not in TOOL_NAMES:
            raise Fault(f"the call is of {call.name!r}, which is not a tool of the request", answer.exchange, call.raw)
    return None


def _arguments(endpoint: Endpoint) -> str | None:
    for answer, call in calls_of((endpoint.ask(REQUIRED), endpoint.ask(NAMED))):
        if not isinstance(call.arguments, str):
            raise Fault("arguments are not a text", answer.exchange, call.raw)
        if not answer.was_cut and object_of(call.arguments) is None:
            raise Fault("arguments are not a JSON object", answer.exchange, call.raw)
    return None


def _strict(endpoint: Endpoint) -> str | None:
    for answer, call in calls_of(endpoint.both(REQUIRED)):
        if object_of(call.arguments) is None:
            raise Unsure("arguments are not JSON, as calls.arguments and calls.joined tell")
        if not answer.was_cut:
            fits(call.arguments, Forecast, answer.exchange, "a call's arguments")
    return None


def _content(endpoint: Endpoint) -> str | None:
    for answer in answers_of((endpoint.ask(REQUIRED), endpoint.ask(NAMED))):
        if not answer.calls:
            raise Unsure("no answer has a call to look at")
        if "content" not in answer.message:
            raise Fault("a message with calls has no content; it is null where there is no text", answer.exchange)
        content = answer.message["content"]
        if content is not None and not (isinstance(content, str) and content.strip()):
            raise Fault(f"content beside calls is {content!r} instead of null", answer.exchange)
    return None


def _finish(endpoint: Endpoint) -> str | None:
    for answer in answers_of(endpoint.both(REQUIRED)):
        if answer.calls and not answer.was_cut and answer.finish_reason != "tool_calls":
            raise Fault(f"finish_reason of an answer with calls is {answer.finish_reason!r}", answer.exchange)
    return None


def _parts_of(endpoint: Endpoint) -> list[tuple[Exchange, list[Any]]]:
    """The parts of every streamed call."""
    exchanges = [endpoint.ask(body, stream=True) for body in (REQUIRED, NAMED)]
    parallel = endpoint.ask(PARALLEL, stream=True)
    if parallel.status == 200 and not parallel.failed:
        exchanges.append(parallel)
    return [(answer.exchange, call.raw) for answer, call in calls_of(exchanges)]


def _index(endpoint: Endpoint) -> str | None:
    numbers: dict[bytes | None, set[int]] = {}
    for exchange, parts in _parts_of(endpoint):
        for part in parts:
            number = at(part, "index")
            if not is_count(number):
                raise Fault("a part of a call has no index", exchange, part)
            numbers.setdefault(exchange.body, set()).add(number)
    for exchange, _ in _parts_of(endpoint):
        found = sorted(numbers[exchange.body])
        if found != list(range(len(found))):
            raise Fault(f"the calls of an answer have the indexes {found}", exchange)
    return None


def _id_once(endpoint: Endpoint) -> str | None:
    for exchange, parts in _parts_of(endpoint):
        if not word(parts[0], "id"):
            raise Fault("the first part of a call has no id", exchange, parts[0])
        for part in parts[1:]:
            if at(part, "id") is not None:
                raise Fault("a later part of a call has an id again", exchange, part)
    return None


def _name_once(endpoint: Endpoint) -> str | None:
    for exchange, parts in _parts_of(endpoint):
        if not word(parts[0], "function", "name"):
            raise Fault("the first part of a call has no name", exchange, parts[0])
        for part in parts[1:]:
            if at(part, "function", "name") is not None:
                raise Fault("a later part of a call has a name again", exchange, part)
    return None


def _type_streamed(endpoint: Endpoint) -> str | None:
    for exchange, parts in _parts_of(endpoint):
        if at(parts[0], "type") != "function":
            raise Fault("the first part of a call has not type 'function'", exchange, parts[0])
    return None


def _joined(endpoint: Endpoint) -> str | None:
    for answer, call in calls_of(endpoint.ask(body, stream=True) for body in (REQUIRED, NAMED)):
        if not answer.was_cut and object_of(call.arguments) is None:
            raise Fault("the parts of arguments do not join to a JSON object", answer.exchange, call.arguments)
    return None


def _same(endpoint: Endpoint) -> str | None:
    return same_answer(endpoint, REQUIRED)


def _parallel(endpoint: Endpoint) -> str | None:
    answers = answers_of(endpoint.both(PARALLEL))
    for answer in answers:
        ids = [call.id for call in answer.calls]
        for one, other in pairwise(sorted(map(repr, ids))):
            if one == other:
                raise Fault(f"two calls of one answer have the id {one}", answer.exchange)
    if all(len(answer.calls) < 2 for answer in answers):
        raise Unsure("the model did not make two calls at once")
    return None


def _single(endpoint: Endpoint) -> str | None:
    for answer in answers_of(endpoint.both(SINGLE)):
        if len(answer.calls) > 1:
            raise Fault(f"there are {len(answer.calls)} calls, though one at a time may be", answer.exchange)
    return None


def _ids(endpoint: Endpoint) -> str | None:
    seen: dict[Any, Exchange] = {}
    found = calls_of((*endpoint.both(REQUIRED), *endpoint.both(NAMED)))
    for answer, call in found:
        if isinstance(call.id, str) and seen.setdefault(call.id, answer.exchange) is not answer.exchange:
            raise Fault(f"calls of two answers have the id {call.id!r}", answer.exchange)
    if len(found) < 2:
        raise Unsure("there are no two calls")
    return None


def _empty(endpoint: Endpoint) -> str | None:
    for answer, call in calls_of(endpoint.both(EMPTY)):
        if not answer.was_cut and object_of(call.arguments) != {}:
            raise Fault("arguments of a tool without parameters are not {}", answer.exchange, call.raw)
    return None


def _results(endpoint: Endpoint) -> str | None:
    answer = taken(endpoint, RESULTS)
    if not answer.kinds and not answer.was_cut:
        raise Unsure("nothing was answered to the result of a tool")
    return None


def _history(endpoint: Endpoint) -> str | None:
    taken(endpoint, HISTORY)
    return None


_ONE = "one tool, tool_choice 'required'"
_STREAMED = "tools with required, named and parallel calls, streamed"
CHECKS = (
    Check(
        "calls.required",
        "a required call is made",
        _ONE,
        "Agents that rely on it get prose, and stop or ask again.",
        "Hold the model to the grammar of a call in its own format; do not only hope that it calls.",
        _required,
    ),
    Check(
        "calls.required-streamed",
        "a required call is made in a stream",
        _ONE + ", streamed",
        "The call is lost in streams only, which looks like a fault of the model.",
        "Read a streamed answer with the reader that reads a whole one.",
        _required_streamed,
    ),
    Check(
        "calls.named",
        "the tool that is named is called, and no other",
        "two tools, tool_choice names one; whole and streamed",
        "Programs that ask for one tool run another.",
        "Offer the grammar that tool only.",
        _named,
    ),
    Check(
        "calls.none",
        "tool_choice 'none' makes no call",
        "two tools, tool_choice 'none'; whole and streamed",
        "A tool runs that the program had forbidden.",
        "Do not read calls there, and do not show the tools to the model.",
        _none,
    ),
    Check(
        "calls.auto",
        "with 'auto', a call has a declared tool and its finish reason",
        "two tools, tool_choice 'auto'; whole and streamed",
        "Agents loop: they get calls that do not exist, or unknown tools.",
        "Derive the finish reason from the parsed message; constrain names to the declared tools.",
        _auto,
    ),
    Check(
        "calls.shape",
        "a call has an id, type 'function', and the name of a tool",
        "tools with required and named choice",
        "Results cannot be matched with calls.",
        "Give every call an id, even if the model writes none.",
        _shape,
    ),
    Check(
        "calls.arguments",
        "arguments are a text of one JSON object",
        "tools with required and named choice",
        "Every client decodes the text; an object there, or JSON twice encoded, raises.",
        "Write the object as a JSON string, once.",
        _arguments,
    ),
    Check(
        "calls.strict",
        "arguments of a strict tool are in its schema",
        _ONE + ", strict; whole and streamed",
        "Tools get arguments of wrong types or values, although strictness was asked for.",
        "Hold arguments by a grammar of the schema.",
        _strict,
    ),
    Check(
        "calls.content",
        "content beside calls is null, or text",
        "tools with required and named choice",
        "Typed clients raise where it is missing; sent back, empty texts are refused by other servers.",
        "Write `content: null` unless the model wrote text before its calls.",
        _content,
    ),
    Check(
        "calls.finish-reason",
        "the finish reason of an answer with calls is 'tool_calls'",
        _ONE + "; whole and streamed",
        "Agents that rely on it do not run the tools.",
        "Derive it from the parsed message.",
        _finish,
    ),
    Check(
        "calls.index",
        "every part of a streamed call has an index, and calls are numbered from 0",
        _STREAMED,
        "Clients join the parts of different calls to one, or raise.",
        "Write `index` in every part: 0 for the first call, 1 for the second.",
        _index,
    ),
    Check(
        "calls.id-once",
        "the id is in the first part of a streamed call, and only there",
        _STREAMED,
        "Clients that concatenate deltas get 'call_1call_1call_1'; others begin a new call.",
        "Write `id` in the first part only.",
        _id_once,
    ),
    Check(
        "calls.name-once",
        "the name is in the first part of a streamed call, and only there",
        _STREAMED,
        "Clients that concatenate deltas call 'get_timeget_time'.",
        "Write the complete name, in the first part only.",
        _name_once,
    ),
    Check(
        "calls.type-streamed",
        "the first part of a streamed call has type 'function'",
        _STREAMED,
        "Clients that build typed calls raise.",
        "Write `type` beside the id.",
        _type_streamed,
    ),
    Check(
        "calls.joined",
        "the parts of streamed arguments join to a JSON object",
        _STREAMED,
        "Arguments of streamed calls are truncated or doubled; the same request works without streaming.",
        "Send every character of the arguments exactly once, including held-back text at the end.",
        _joined,
    ),
    Check(
        "calls.same",
        "a streamed call is the whole call",
        _ONE + "; whole and streamed",
        "What a tool gets depends on whether the client streams.",
        "Make both from one reader of the model's text.",
        _same,
    ),
    Check(
        "calls.empty-arguments",
        "arguments of a tool without parameters are {}",
        "two tools, tool_choice names the one without parameters; whole and streamed",
        "Clients decode the text; an empty text or null raises.",
        "Write `{}` if there are no arguments.",
        _empty,
    ),
    Check(
        "calls.parallel",
        "calls of one answer have different ids",
        "a question that needs two calls, parallel_tool_calls true; whole and streamed",
        "The result of one call is taken for that of the other.",
        "Draw an id for each call.",
        _parallel,
    ),
    Check(
        "calls.single",
        "parallel_tool_calls false makes one call at most",
        "a question that needs two calls, parallel_tool_calls false; whole and streamed",
        "Programs that can run one tool at a time run the first and lose the others.",
        "Let the grammar end after the first call.",
        _single,
    ),
    Check(
        "calls.ids",
        "calls of different answers have different ids",
        "required and named calls, whole and streamed",
        "In a longer conversation results belong to several calls; servers and clients refuse it, or mix them up.",
        "Draw ids at random, and map them to those that the model's format wants.",
        _ids,
    ),
    Check(
        "calls.results",
        "the result of a call can be sent back",
        "a call with id and content null, and its result with tool_call_id",
        "No agent works: the second request of every turn fails.",
        "Take `content: null`; give the template arguments as it wants them, and ids as it wants them.",
        _results,
    ),
    Check(
        "calls.history",
        "a message with calls needs no content",
        "the same, without content in the message that calls",
        "Clients that omit null fields are refused.",
        "Read a missing `content` as null.",
        _history,
    ),
)
