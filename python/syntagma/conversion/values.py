"""What the forms have in common: a conversation, and how a form reads and writes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from syntagma.conversion.notes import Members, Notes
from syntagma.errors import ArgumentError
from syntagma.messages import Message, Tool

__all__ = ["SETTING", "Conversation", "Form", "bare_messages", "listed", "named_tool", "tool_of"]

SETTING = "a setting of the request, no part of the conversation"
"""why the members of a request that are none of its messages or tools are lost"""


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """Messages, and the tools that were declared; None: nothing was said of tools."""

    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] | None = None


class Form(Protocol):
    """How conversations are spelled."""

    def read(self, document: Any, notes: Notes) -> Conversation:
        """A conversation out of a document.

        Raises:
            SyntagmaError: it is not of this form.
        """
        ...

    def write(self, conversation: Conversation, notes: Notes) -> Any:
        """The document of a conversation: a JSON value, or text.

        Raises:
            SyntagmaError: the form cannot say it at all.
        """
        ...

    def shows(self, document: Any) -> bool:
        """Whether a document has a sign of this form that others lack."""
        ...


def listed(document: Any, key: str, notes: Notes) -> tuple[Members | None, list[tuple[Any, str]]]:
    """The items of a document with their places: it is a list of them, an object that has one, or one item alone.

    Args:
        document: as it came.
        key: the name of the list in an object.
        notes: names of places.

    Returns:
        the object's members, or None, and the items.

    Raises:
        SyntagmaError: what `Notes.malformed` gives, there are no items.
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
    """Whatever looks like a message in a document, of any form."""
    found = document
    if isinstance(document, Mapping):
        lists = [document[key] for key in ("messages", "input", "output") if isinstance(document.get(key), list)]
        found = lists[0] if lists else [document]
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list | tuple) else []


def tool_of(data: Mapping[str, Any], pointer: str, places: Mapping[str, str], notes: Notes) -> Tool:
    """The tool that an object as chat completions have it declares.

    Args:
        data: the object.
        pointer: its place in the input.
        places: of members that stand elsewhere in the input, by their pointer in `data`.
        notes: the error to raise.

    Raises:
        SyntagmaError: it is no tool.
    """
    try:
        return Tool.from_openai(data)
    except ArgumentError as error:
        at = error.pointer or ""
        raise notes.malformed(pointer + places.get(at, at), error.message) from error


def named_tool(tools: Sequence[Tool] | None, name: str) -> Tool | None:
    """The declared tool of that name, or None."""
    return next((tool for tool in tools or () if tool.name == name), None)
