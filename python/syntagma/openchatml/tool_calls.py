"""Which messages are calls of tools, and which reply belongs to which call (§8)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from syntagma.openchatml.transcript import Message
from syntagma.parsing import is_name

__all__ = ["called_tool", "is_function", "names_tool", "open_calls", "to_tool"]

_PEOPLE = frozenset({None, "user", "assistant", "system", "developer"})


def is_function(recipient: str) -> bool:
    """Whether a recipient is a function that a developer defined."""
    return recipient.startswith("functions.")


def names_tool(recipient: str | None) -> bool:
    """Whether a recipient is a tool."""
    return recipient not in _PEOPLE


def to_tool(message: Message) -> bool:
    """Whether a message goes to a tool, or would if its call named one."""
    return names_tool(message.recipient) or message.is_call


def called_tool(message: Message) -> str | None:
    """The name of the tool that a message calls, or None."""
    recipient = message.recipient
    if message.role != "assistant" or message.recovered or recipient is None or not names_tool(recipient):
        return None
    name = recipient.removeprefix("functions.") if is_function(recipient) else recipient
    return name if is_name(name) else None


def open_calls(messages: Sequence[Message]) -> list[int]:
    """Indexes of the calls that have no reply.

    A reply answers the call with its id; where one of the two has no id, the oldest open call of the reply's name.
    """
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
    return list(waiting)


def _oldest(calls: deque[int] | None, waiting: dict[int, None]) -> int | None:
    """Take the first call off that still waits."""
    while calls:
        index = calls.popleft()
        if index in waiting:
            return index
    return None
