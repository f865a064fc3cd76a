"""Finds the messages that are tool calls, and matches replies to calls (§8)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from syntagma.openchatml.errors import ERROR_CODES, TOOL_FAILED, user_summary
from syntagma.openchatml.transcript import Message, names_tool
from syntagma.parsing import is_name

__all__ = [
    "CallIds",
    "answered_by",
    "called_tool",
    "channels_of_calls",
    "error_details",
    "is_function",
    "open_calls",
    "to_tool",
]


def is_function(recipient: str) -> bool:
    """Whether a recipient is a function defined by the developer."""
    return recipient.startswith("functions.")


def channels_of_calls(recipient: str) -> tuple[str, ...]:
    """The channels on which a tool may be called (§8.3): commentary for functions, also analysis for built-in tools."""
    return ("commentary",) if is_function(recipient) else ("analysis", "commentary")


def to_tool(message: Message) -> bool:
    """Whether a message is addressed to a tool, or is a call."""
    return names_tool(message.recipient) or message.is_call


def called_tool(message: Message) -> str | None:
    """The name of the tool that a message calls, or None."""
    recipient = message.recipient
    is_guess = message.recovered and message.lacks is None
    if message.role != "assistant" or is_guess or recipient is None or not names_tool(recipient):
        return None
    # A namespace alone is a name like any other: it is no declared one, and says so.
    name = (recipient.removeprefix("functions.") if is_function(recipient) else recipient) or recipient
    return name if is_name(name) else None


def error_details(error: Any) -> dict[str, Any]:
    """A tool's error, of any JSON type, as an object with `code` and `message`, both strings."""
    if isinstance(error, str) and error in ERROR_CODES:
        error = {"code": error, "message": user_summary(error)}
    given = error if isinstance(error, dict) else {}
    text = error if isinstance(error, str) and error else "the tool failed"
    code, message = given.get("code"), given.get("message")
    return {
        **given,
        "code": TOOL_FAILED if code is None else str(code),
        "message": text if message is None else str(message),
    }


def open_calls(messages: Sequence[Message]) -> list[int]:
    """Indexes of the calls that have no reply."""
    answered = set(answered_by(messages).values())
    return [index for index, message in enumerate(messages) if message.is_call and index not in answered]


def answered_by(messages: Sequence[Message]) -> dict[int, int]:
    """The index of the answered call, by the index of the reply.

    A reply answers the call with its id. If the reply or the call has no id, it answers the oldest open call of the
    tool with the reply's name.
    """
    answers: dict[int, int] = {}
    waiting: dict[int, None] = {}
    by_id: dict[str, deque[int]] = {}
    by_name: dict[tuple[str | None, bool], deque[int]] = {}
    for index, message in enumerate(messages):
        if message.is_call:
            waiting[index] = None
            if message.call_id is not None:
                by_id.setdefault(message.call_id, deque()).append(index)
            by_name.setdefault((message.recipient, message.call_id is None), deque()).append(index)
        elif message.role == "tool":
            answered = None if message.call_id is None else _oldest(by_id.get(message.call_id), waiting)
            if answered is None:
                answered = _oldest(by_name.get((message.name, True)), waiting)
            if answered is None and message.call_id is None:
                answered = _oldest(by_name.get((message.name, False)), waiting)
            if answered is not None:
                del waiting[answered]
                answers[index] = answered
    return answers


def _oldest(calls: deque[int] | None, waiting: dict[int, None]) -> int | None:
    """Remove and return the first call that has no reply yet; None if there is none."""
    while calls:
        index = calls.popleft()
        if index in waiting:
            return index
    return None


class CallIds:
    """Checks the call ids of one conversation: each is used once and answered once (§8.2).

    Args:
        needed: calls and replies must have an id.
        whole: the conversation has all calls, so every reply must answer one of them.

    Attributes:
        calls: the calls so far, by id.
    """

    def __init__(self, *, needed: bool, whole: bool = True) -> None:
        self.calls: dict[str, Message] = {}
        self._answered: set[str] = set()
        self._needed = needed
        self._whole = whole

    def call(self, message: Message) -> str | None:
        """Add a call. Returns what is wrong with its id, or None."""
        call_id = message.call_id
        if call_id is None:
            return "the call has no id" if self._needed else None
        if call_id in self.calls:
            return f"the id {call_id} is already used by another call"
        self.calls[call_id] = message
        return None

    def reply(self, message: Message) -> str | None:
        """Add a tool's reply. Returns what is wrong with its id, or None."""
        call_id = message.call_id
        if call_id is None:
            return "the tool's reply has no call id" if self._needed else None
        call = self.calls.get(call_id)
        wrong = None
        if call is None and self._whole:
            wrong = f"the reply answers {call_id}, but there is no such call"
        elif call_id in self._answered:
            wrong = f"the call {call_id} already has a reply"
        elif call is not None and call.recipient != message.name:
            wrong = f"the reply of {message.name} answers a call of {call.recipient}"
        self._answered.add(call_id)
        return wrong
