"""What readers and writers of forms note: what is lost, and where in the input things stood."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from syntagma.errors import ArgumentError, SyntagmaError
from syntagma.json_pointer import follow, pointer_of, steps_of

__all__ = ["Loss", "Members", "Notes", "says_nothing"]


class Loss(msgspec.Struct, frozen=True):
    """Something of the input that the output does not say.

    Attributes:
        pointer: JSON pointer of its place in the input. A transcript counts as the list of its messages.
        what: what is lost, in a word or two.
        reason: why.
    """

    pointer: str
    what: str
    reason: str

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.what}: {self.reason}"


def says_nothing(value: Any) -> bool:
    """Whether a member with this value means the same as no member: null, false, or empty."""
    return value is None or value is False or (isinstance(value, str | list | dict) and not value)


class Notes:
    """The losses of one reading or writing, and the places of what was read.

    A reader names places of the input, a writer places of the messages: `/messages/0/content/1`, `/tools/0`.

    Attributes:
        losses: in the order in which they were found.
        origins: places of messages and their parts, each with its place in the input.
        document: what places of the input are places of.
    """

    def __init__(self, document: Any = None) -> None:
        self.losses: list[Loss] = []
        self.origins: dict[str, str] = {}
        self.document = document

    def lose(self, pointer: str, what: str, reason: str) -> None:
        """Something is not kept."""
        self.losses.append(Loss(pointer, what, reason))

    def unread(self, pointer: str, value: Any, reason: str) -> None:
        """A member that nobody knows, unless it says nothing."""
        if not says_nothing(value):
            self.lose(pointer, steps_of(pointer)[-1], reason)

    def unknown(self, pointer: str, what: str, kind: Any) -> None:
        """An object whose type nothing is made of.

        Args:
            pointer: of the object.
            what: what objects there are called, such as `block`.
            kind: its type, as it was given.
        """
        self.lose(pointer, f"{what} of type {kind!r}", "messages have no such thing")

    def malformed(self, pointer: str, message: str) -> SyntagmaError:
        """The error that says that something is not of its form."""
        return ArgumentError("E-CONVERT-FORM", f"{pointer or 'the input'}: {message}", pointer=pointer)

    def origin(self, pointer: str) -> str:
        """The place in the input of a place of the messages: the nearest one that there is."""
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
    """The members of one object, each of which is taken or lost.

    Args:
        data: the object.
        pointer: its place.
        notes: where losses go.

    Raises:
        SyntagmaError: what `Notes.malformed` gives, it is no object.
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
        """The value of a member, or None."""
        self._taken.add(name)
        return self.data.get(name)

    def text(self, name: str) -> str | None:
        """The text of a member, or None.

        Raises:
            SyntagmaError: it is something else.
        """
        value = self.take(name)
        if value is not None and not isinstance(value, str):
            raise self._notes.malformed(self.at(name), "must be text")
        return value

    def needed(self, name: str) -> str:
        """The text of a member.

        Raises:
            SyntagmaError: there is none.
        """
        value = self.text(name)
        if value is None:
            raise self._notes.malformed(self.at(name), "must be text")
        return value

    def objects(self, name: str) -> list[Any]:
        """The items of a list, or of none.

        Raises:
            SyntagmaError: it is something else.
        """
        value = self.take(name)
        if value is None:
            return []
        if not isinstance(value, list | tuple):
            raise self._notes.malformed(self.at(name), "must be a list")
        return list(value)

    def lose(self, name: str, reason: str) -> None:
        """A member is not kept, unless it says nothing."""
        self._taken.add(name)
        if not says_nothing(self.data.get(name)):
            self._notes.lose(self.at(name), name, reason)

    def rest(self, reason: str) -> None:
        """What nobody took is lost."""
        for name in self.data:
            if name not in self._taken:
                self._notes.unread(self.at(str(name)), self.data[name], reason)
