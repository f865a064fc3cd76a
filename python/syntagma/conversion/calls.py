"""Calls of tools: their ids, their arguments as objects, and the texts of custom tools."""

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
    """Arguments as JSON text, of an object or of a text that is one already."""
    if isinstance(value, str):
        return value
    return "{}" if value is None else msgspec.json.encode(value).decode()


def exact_object(arguments: str) -> dict[str, Any] | None:
    """The arguments as an object that says all of them; None: they are no object, or it would say something else."""
    try:
        value = json.loads(arguments, object_pairs_hook=_pairs, parse_float=_number, parse_constant=_number)
    except (ValueError, ArithmeticError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice")
    return value


def _number(text: str) -> float:
    value = float(text)
    if Decimal(text) != Decimal(repr(value)):
        raise ValueError("no float says this number")
    return value


def object_of(call: ToolCall, pointer: str, notes: Notes) -> dict[str, Any]:
    """The arguments of a call as an object; what it does not say is lost."""
    exact = exact_object(call.arguments)
    if exact is not None:
        return exact
    try:
        value = msgspec.json.decode(call.arguments)
    except (msgspec.DecodeError, RecursionError):
        value = None
    if isinstance(value, dict):
        notes.lose(pointer, "arguments", "a key stands twice, or a number has too many digits for an object")
        return value
    notes.lose(pointer, "arguments", "they are not one JSON object")
    return {}


def custom_input(call: ToolCall) -> str | None:
    """The text that a custom tool is called with; None: the arguments say something else."""
    text = input_of(call.arguments)
    exact = exact_object(call.arguments)
    return text if exact == json.loads(input_arguments(text)) else None


def with_ids(messages: Sequence[Message], notes: Notes) -> list[Message]:
    """The messages, for a form that needs ids: those of calls without one are made up, and so are those of replies."""
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
                        f"{pointer}/tool_calls/{at}", "that a call has no id", "the form needs one: it was made up"
                    )
            calls = tuple(call if call.id else replace(call, id=next(fresh)) for call in message.tool_calls)
            message = replace(message, tool_calls=calls)
        open_calls += message.tool_calls
        if message.role == "tool":
            answered = _answered(message, open_calls)
            if answered is not None:
                open_calls.remove(answered)
            if not message.tool_call_id:
                reason = "the form needs the call that it answers: it was made out by the order"
                notes.lose(pointer, "that a reply has no id", reason)
                message = replace(message, tool_call_id="" if answered is None else answered.id)
        done.append(message)
    return done


def _answered(reply: Message, open_calls: Iterable[ToolCall]) -> ToolCall | None:
    """The call that a reply answers: that of its id, else the oldest of its tool, else the oldest."""
    calls = list(open_calls)
    if reply.tool_call_id:
        return next((call for call in calls if call.id == reply.tool_call_id), None)
    named = [call for call in calls if reply.name is not None and call.name == reply.name]
    return next(iter(named or calls), None)
