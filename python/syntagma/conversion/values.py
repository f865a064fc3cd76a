"""The protocol of forms, the conversation they read and write, and helpers they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import msgspec

from syntagma.conversion.notes import Members, Notes
from syntagma.errors import ArgumentError
from syntagma.messages import Message, Tool

__all__ = ["SETTING", "Conversation", "Form", "bare_messages", "listed", "tool_of"]

SETTING = "it is a setting of the request, not part of the conversation"
"""the reason for the loss of a request's members other than messages and tools"""


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """Messages, and the declared tools; None if the document has no list of tools."""

    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] | None = None


class Form(Protocol):
    """A form of conversations: how an API or data set spells them."""

    def read(self, document: Any, notes: Notes) -> Conversation:
        """Read a conversation from a document.

        Raises:
            SyntagmaError: the document is not of this form.
        """
        ...

    def write(self, conversation: Conversation, notes: Notes) -> Any:
        """Write a conversation as a document: a JSON value, or text.

        Raises:
            SyntagmaError: the form cannot express the conversation at all.
        """
        ...

    def shows(self, document: Any) -> bool:
        """Whether a document has a sign that only this form has."""
        ...


def listed(document: Any, key: str, notes: Notes) -> tuple[Members | None, list[tuple[Any, str]]]:
    """The items of a document, with their places. The document is a list, an object with a list, or one item.

    Args:
        document: the document as given.
        key: the name of the list in an object.
        notes: makes the error.

    Returns:
        the object's members, or None if the document is not an object with a list; and the items.

    Raises:
        ArgumentError: `E-CONVERT-FORM`, the document is none of these.
    """
    if isinstance(document, list | tuple):
        return None, [(item, f"/{index}") for index, item in enumerate(document)]
    members = Members(document, "", notes)
    if key in members.data:
        place = members.at(key)
        return members, [(item, f"{place}/{index}") for index, item in enumerate(members.objects(key))]
    if isinstance(members.data.get("role"), str):
        return None, [(document, "")]
    raise notes.malformed("", f"must be a list, or an object with {key!r}")


def bare_messages(document: Any) -> Iterable[Mapping[str, Any]]:
    """The objects in a document that may be messages or items, of any form."""
    found = document
    if isinstance(document, Mapping):
        lists = [document[key] for key in ("messages", "input", "output") if isinstance(document.get(key), list)]
        found = lists[0] if lists else [document]
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list | tuple) else []


def tool_of(data: Mapping[str, Any], pointer: str, places: Mapping[str, str], notes: Notes) -> Tool:
    """A tool, from its object in the form of chat completions.

    Args:
        data: the object.
        pointer: the object's place in the input.
        places: places of members, relative to `pointer`, by their pointers in `data`, if they differ.
        notes: makes the error.

    Raises:
        ArgumentError: `E-CONVERT-FORM`, the object does not declare a tool.
    """
    try:
        return Tool.from_openai(data)
    except ArgumentError as error:
        at = error.pointer or ""
        raise notes.malformed(pointer + places.get(at, at), error.message) from error
