"""Which reply belongs to which call."""

from __future__ import annotations

from collections.abc import Sequence

from syntagma.openchatml.model import Message

__all__ = ["is_function", "open_calls", "to_tool"]

_PEOPLE = frozenset({None, "user", "assistant", "system", "developer"})


def is_function(recipient: str) -> bool:
    """Whether a recipient is a function that a developer defined."""
    return recipient.startswith("functions.")


def to_tool(message: Message) -> bool:
    """Whether a message goes to a tool, or would if its call named one."""
    return message.recipient not in _PEOPLE or message.is_call


def open_calls(messages: Sequence[Message]) -> list[int]:
    """Indexes of the calls that have no reply; a reply without an id answers the oldest open call of its name."""
    waiting: list[int] = []
    for index, message in enumerate(messages):
        if message.is_call:
            waiting.append(index)
        elif message.role == "tool":
            for call in waiting:
                asked = messages[call]
                by_name = message.call_id is None or asked.call_id is None
                if asked.recipient == message.name if by_name else asked.call_id == message.call_id:
                    waiting.remove(call)
                    break
    return waiting
