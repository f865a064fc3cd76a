"""The notes of readers and writers of forms: losses, and the places of messages in the input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from syntagma.errors import ArgumentError, SyntagmaError
from syntagma.json_pointer import follow, pointer_of, steps_of

__all__ = ["Loss", "Members", "Notes", "says_nothing"]


class Loss(msgspec.Struct, frozen=True):
    """A part of the input that the output cannot express.

    Attributes:
        pointer: JSON pointer of its place in the input. A transcript counts as the list of its messages.
        what: what is lost, in a few words.
        reason: why it is lost.
    """

    pointer: str
    what: str
    reason: str

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.what}: {self.reason}"


def says_nothing(value: Any) -> bool:
    """Whether a member with this value means the same as no member: it is null, false, or empty."""
    return value is None or value is False or (isinstance(value, str | list | dict) and not value)


class Notes:
    """The losses of one reading or writing, and the places of messages in the input.

    A reader's places are pointers into the input. A writer's places are pointers into the conversation, such as
    `/messages/0/content/1` and `/tools/0`.

    Attributes:
        losses: the losses, in the order in which they were found.
        origins: for places of messages and their parts, the place in the input.
        document: the input.
    """

    def __init__(self, document: Any = None) -> None:
        self.losses: list[Loss] = []
        self.origins: dict[str, str] = {}
        self.document = document

    def lose(self, pointer: str, what: str, reason: str) -> None:
        """Record a loss."""
        self.losses.append(Loss(pointer, what, reason))

    def unread(self, pointer: str, value: Any, reason: str) -> None:
        """Record the loss of an unknown member, unless its value is null, false or empty."""
        if not says_nothing(value):
            self.lose(pointer, steps_of(pointer)[-1], reason)

    def unknown(self, pointer: str, what: str, kind: Any) -> None:
        """Record the loss of an object of an unknown type.

        Args:
            pointer: the object's place.
            what: what such objects are called, for example `block`.
            kind: the object's type, as given.
        """
        self.lose(pointer, f"{what} of type {kind!r}", "messages and tools cannot express this type")

    def malformed(self, pointer: str, message: str) -> SyntagmaError:
        """The error `E-CONVERT-FORM` for a part of the input. `message` has no subject, such as `must be a string`."""
        return ArgumentError("E-CONVERT-FORM", f"{pointer or 'the input'}: {message}", pointer=pointer)

    def origin(self, pointer: str) -> str:
        """The place in the input of a place in the conversation; the nearest known one if it has none."""
        steps = pointer.split("/")
        rest: list[str] = []
        while "/".join(steps) not in self.origins:
            if len(steps) == 1:
                return ""
            rest.insert(0, steps.pop())
        known = self.origins["/".join(steps)]
        found = "/".join([known, *rest])
        try:
            follow(self.document, found)
        except LookupError:
            return known
        return found


class Members:
    """The members of one object. Every member is taken by the reader or becomes a loss.

    Args:
        data: the object.
        pointer: the object's place.
        notes: collects the losses.

    Raises:
        ArgumentError: `E-CONVERT-FORM`, the value is not an object.
    """

    def __init__(self, data: Any, pointer: str, notes: Notes) -> None:
        if not isinstance(data, Mapping):
            raise notes.malformed(pointer, "must be an object")
        self.data: Mapping[str, Any] = data
        self.pointer = pointer
        self._notes = notes
        self._taken: set[str] = set()

    def at(self, name: str) -> str:
        """The place of a member."""
        return self.pointer + pointer_of(name)

    def take(self, name: str) -> Any:
        """Take a member and return its value, or None."""
        self._taken.add(name)
        return self.data.get(name)

    def text(self, name: str) -> str | None:
        """Take a member and return its text, or None.

        Raises:
            ArgumentError: `E-CONVERT-FORM`, the value is not a string.
        """
        value = self.take(name)
        if value is not None and not isinstance(value, str):
            raise self._notes.malformed(self.at(name), "must be a string")
        return value

    def needed(self, name: str) -> str:
        """Take a required member and return its text.

        Raises:
            ArgumentError: `E-CONVERT-FORM`, the member is missing or not a string.
        """
        value = self.text(name)
        if value is None:
            raise self._notes.malformed(self.at(name), "is missing; it must be a string")
        return value

    def objects(self, name: str) -> list[Any]:
        """Take a member and return its items; an empty list if it is missing.

        Raises:
            ArgumentError: `E-CONVERT-FORM`, the value is not a list.
        """
        value = self.take(name)
        if value is None:
            return []
        if not isinstance(value, list | tuple):
            raise self._notes.malformed(self.at(name), "must be a list")
        return list(value)

    def lose(self, name: str, reason: str) -> None:
        """Record the loss of a member, unless its value is null, false or empty."""
        self._taken.add(name)
        if not says_nothing(self.data.get(name)):
            self._notes.lose(self.at(name), name, reason)

    def rest(self, reason: str) -> None:
        """Record the loss of all members that were not taken."""
        for name in self.data:
            if name not in self._taken:
                self._notes.unread(self.at(str(name)), self.data[name], reason)
