"""Tool calls: their ids, their arguments as objects, and the input texts of custom tools."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import msgspec
from msgspec.structs import replace

from syntagma.conversion.custom_calls import input_arguments, input_of
from syntagma.conversion.notes import Notes
from syntagma.messages import Message, ToolCall

__all__ = ["arguments_text", "custom_input", "exact_object", "object_of", "with_ids"]


def arguments_text(value: Any) -> str:
    """Arguments as JSON text. A text is returned unchanged; None becomes `{}`."""
    if isinstance(value, str):
        return value
    return "{}" if value is None else msgspec.json.encode(value).decode()


def exact_object(arguments: str) -> dict[str, Any] | None:
    """The arguments as an object, if that loses nothing; None if they are not an object, or would change.

    They change if a key occurs twice, or if a float cannot represent a number exactly.
    """
    try:
        value = json.loads(arguments, object_pairs_hook=_pairs, parse_float=_number, parse_constant=_number)
    except (ValueError, ArithmeticError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key occurs twice")
    return value


def _number(text: str) -> float:
    value = float(text)
    if Decimal(text) != Decimal(repr(value)):
        raise ValueError("no float is equal to this number")
    return value


def object_of(call: ToolCall, pointer: str, notes: Notes) -> dict[str, Any]:
    """The arguments of a call as an object. Records a loss if the object differs from the text."""
    exact = exact_object(call.arguments)
    if exact is not None:
        return exact
    try:
        value = msgspec.json.decode(call.arguments)
    except (msgspec.DecodeError, RecursionError):
        value = None
    if isinstance(value, dict):
        notes.lose(pointer, "arguments", "a key occurs twice, or a number has too many digits")
        return value
    notes.lose(pointer, "arguments", "they are not one JSON object")
    return {}


def custom_input(call: ToolCall) -> str | None:
    """The input text of a call of a custom tool; None if the arguments are not just that text."""
    text = input_of(call.arguments)
    exact = exact_object(call.arguments)
    return text if exact == json.loads(input_arguments(text)) else None


def with_ids(messages: Sequence[Message], notes: Notes) -> list[Message]:
    """The messages with an id for every call, and the id of the answered call for every reply.

    Ids are generated where they are missing, and each is recorded as a loss.
    """
    taken = {call.id for message in messages for call in message.tool_calls}
    fresh = (name for number in itertools.count() if (name := f"call_{number}") not in taken)
    open_calls: list[ToolCall] = []
    done: list[Message] = []
    for index, given in enumerate(messages):
        message, pointer = given, f"/messages/{index}"
        if not all(call.id for call in message.tool_calls):
            for at, call in enumerate(message.tool_calls):
                if not call.id:
                    notes.lose(
                        f"{pointer}/tool_calls/{at}", "missing call id", "the form needs an id, so one is generated"
                    )
            calls = tuple(call if call.id else replace(call, id=next(fresh)) for call in message.tool_calls)
            message = replace(message, tool_calls=calls)
        open_calls += message.tool_calls
        if message.role == "tool":
            answered = _answered(message, open_calls)
            if answered is not None:
                open_calls.remove(answered)
            if not message.tool_call_id:
                reason = "the form needs the id of the answered call, so it is inferred from the order"
                notes.lose(pointer, "missing reply id", reason)
                message = replace(message, tool_call_id="" if answered is None else answered.id)
        done.append(message)
    return done


def _answered(reply: Message, open_calls: Iterable[ToolCall]) -> ToolCall | None:
    """The open call that a reply answers: the one with its id, else the oldest of its tool, else the oldest."""
    calls = list(open_calls)
    if reply.tool_call_id:
        return next((call for call in calls if call.id == reply.tool_call_id), None)
    named = [call for call in calls if reply.name is not None and call.name == reply.name]
    return next(iter(named or calls), None)
