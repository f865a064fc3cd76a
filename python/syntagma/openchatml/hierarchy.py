"""The instruction hierarchy (§4): whose instructions take precedence when two contradict each other."""

from __future__ import annotations

from syntagma.entry import entry
from syntagma.errors import ArgumentError
from syntagma.openchatml.errors import OpenChatMLError
from syntagma.openchatml.message_header import split_role
from syntagma.openchatml.tokens import ROLES
from syntagma.openchatml.transcript import Message

__all__ = ["HIERARCHY", "outranks"]

HIERARCHY = ROLES
"""the roles, highest precedence first"""


@entry
def outranks(first: Message | str, second: Message | str) -> bool:
    """Whether instructions of the first message or role take precedence over those of the second.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, one of them is not a role.
    """
    return _rank(first) < _rank(second)


def _rank(one: Message | str) -> int:
    role = one.role if isinstance(one, Message) else one
    try:
        return HIERARCHY.index(split_role(role, "ocm")[0])
    except OpenChatMLError as error:
        raise ArgumentError("E-ARGUMENT-VALUE", f"{role!r} is not a role", hint=", ".join(HIERARCHY)) from error
