"""Answers that are constrained to JSON."""

from __future__ import annotations

from syntagma.doctor.answers import answer_of
from syntagma.doctor.asks import CREW, JSON_OBJECT, SHIP, UNICODE, Crew, Ship, constant_answer, constant_call
from syntagma.doctor.checks.common import first_call, fits, judge_each, same_answer, uncut
from syntagma.doctor.endpoint import Endpoint
from syntagma.doctor.exchange import Exchange
from syntagma.doctor.outcomes import Check, Fault, Unsure
from syntagma.doctor.values import at, object_of

__all__ = ["CHECKS"]


def _whole(endpoint: Endpoint) -> str | None:
    answer = uncut(answer_of(endpoint.ask(CREW)))
    fits(answer.content, Crew, answer.exchange, "content")
    return None


def _streamed(endpoint: Endpoint) -> str | None:
    answer = uncut(answer_of(endpoint.ask(CREW, stream=True)))
    fits(answer.content, Crew, answer.exchange, "content")
    return None


def _nested(endpoint: Endpoint) -> str | None:
    answer = uncut(answer_of(endpoint.ask(SHIP)))
    fits(answer.content, Ship, answer.exchange, "content")
    return None


def _same(endpoint: Endpoint) -> str | None:
    return same_answer(endpoint, CREW)


def _object(endpoint: Endpoint) -> str | None:
    for exchange in endpoint.both(JSON_OBJECT):
        answer = uncut(answer_of(exchange))
        if object_of(answer.content) is None:
            raise Fault("content is not a JSON object", exchange, answer.content)
    return None


def _unicode(endpoint: Endpoint) -> str | None:
    judge_each(
        endpoint.both(constant_answer(UNICODE)),
        lambda one: _is_unicode(at(object_of(uncut(answer_of(one)).content), "text"), one),
    )
    return None


def _unicode_arguments(endpoint: Endpoint) -> str | None:
    judge_each(
        endpoint.both(constant_call(UNICODE)),
        lambda one: _is_unicode(at(object_of(first_call(uncut(answer_of(one))).arguments), "text"), one),
    )
    return None


def _is_unicode(text: object, exchange: Exchange) -> None:
    if text == UNICODE:
        return
    if isinstance(text, str) and "\ufffd" in text:
        raise Fault("characters came as U+FFFD", exchange, text)
    if not isinstance(text, str) or not any(ord(sign) > 127 for sign in text):
        raise Unsure("the model did not write the text that it was constrained to")
    raise Fault("characters are lost or changed", exchange, text)


CHECKS = (
    Check(
        "schema.whole",
        "an answer is in the JSON Schema that is asked for",
        "response_format json_schema, strict, and a question that does not ask for JSON",
        "Programs that decode the answer raise, sometimes.",
        "Constrain the model with a grammar of the schema, and refuse schemas that cannot be enforced.",
        _whole,
    ),
    Check(
        "schema.streamed",
        "so is a streamed answer",
        "the same, streamed",
        "The same, in streams only.",
        "Compile the grammar for streams, too.",
        _streamed,
    ),
    Check(
        "schema.nested",
        "references, lists and null are enforced",
        "a schema with $ref, a list with bounds, and a number that may be null",
        "Keywords that are not enforced are dropped silently.",
        "Enforce every keyword, or report those that are not.",
        _nested,
    ),
    Check(
        "schema.same",
        "a streamed answer in a schema is the whole answer",
        "response_format json_schema; whole and streamed",
        "Characters are lost at the borders of chunks.",
        "Make both from one reader.",
        _same,
    ),
    Check(
        "schema.json-object",
        "response_format json_object gives a JSON object",
        "response_format json_object; whole and streamed",
        "Programs that decode the answer raise; a fence of backticks is enough.",
        "Hold the model by the grammar of JSON objects.",
        _object,
    ),
    Check(
        "unicode.content",
        "multi-byte characters arrive complete",
        "a schema that only holds a text with emoji, Korean, and combined signs; whole and streamed",
        "Letters and emoji are lost if a token ends within a character.",
        "Decode the bytes of tokens with a stateful decoder.",
        _unicode,
    ),
    Check(
        "unicode.arguments",
        "multi-byte characters arrive complete in arguments",
        "a strict tool that only takes such a text, named; whole and streamed",
        "Tools get broken texts.",
        "The same; write JSON as UTF-8 or with escapes in pairs.",
        _unicode_arguments,
    ),
)
