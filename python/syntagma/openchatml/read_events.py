"""The events that a reader emits while text arrives."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from syntagma.openchatml.transcript import Message, Problem

__all__ = ["BodyDelta", "BodyStarted", "MessageFinished", "ReadError", "ReadEvent"]


class BodyStarted(msgspec.Struct, frozen=True, tag="body_started"):
    """A header is complete. `message` has its fields and an empty body. `index` counts messages from 0."""

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
    """The text has a fault. `fatal`: the reader ignores all further text."""

    problem: Problem = msgspec.field(name="report")
    fatal: bool


ReadEvent: TypeAlias = BodyStarted | BodyDelta | MessageFinished | ReadError
