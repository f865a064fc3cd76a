"""What a reader reports while text arrives."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from syntagma.openchatml.transcript import Message, Problem

__all__ = ["BodyDelta", "BodyStarted", "MessageFinished", "ReadError", "ReadEvent"]


class BodyStarted(msgspec.Struct, frozen=True, tag="body_started"):
    """A header is complete. `message` holds it, with an empty body; `index` counts messages from 0."""

    index: int
    message: Message


class BodyDelta(msgspec.Struct, frozen=True, tag="body_delta"):
    """A piece of the decoded body of message `index`."""

    index: int
    text: str


class MessageFinished(msgspec.Struct, frozen=True, tag="message_finished"):
    """Message `index` is complete."""

    index: int
    message: Message


class ReadError(msgspec.Struct, frozen=True, tag="read_error"):
    """Something is wrong; `fatal`: nothing is read any more."""

    problem: Problem = msgspec.field(name="report")
    fatal: bool


ReadEvent: TypeAlias = BodyStarted | BodyDelta | MessageFinished | ReadError
