"""Collects the messages that a reader makes, in the form of chat completions, with their places in the input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from syntagma.conversion.content import joined_content
from syntagma.conversion.notes import Notes
from syntagma.messages import Message

__all__ = ["Drafts"]

_NOWHERE: Mapping[str, str] = {}


class Drafts:
    """The messages so far.

    Args:
        notes: collects losses and places.
    """

    def __init__(self, notes: Notes) -> None:
        self.made: list[dict[str, Any]] = []
        self._notes = notes

    def add(self, data: dict[str, Any], pointer: str, places: Mapping[str, str] = _NOWHERE) -> None:
        """Add a message.

        Args:
            data: the message's fields.
            pointer: the message's place in the input.
            places: places in the input of the message's parts, by their pointers in it, such as `/content/0`.
        """
        own = f"/messages/{len(self.made)}"
        self._notes.origins[own] = pointer
        self._notes.origins.update({own + inner: place for inner, place in places.items()})
        self.made.append(data)

    def add_part(self, part: Mapping[str, Any], pointer: str) -> None:
        """Add a part of an assistant's turn to the last message, or to a new one if the order would change.

        Args:
            part: `content`, `reasoning_content` or `tool_calls`.
            pointer: the part's place in the input.
        """
        last = self.made[-1] if self.made else None
        if last is None or last["role"] != "assistant" or ("tool_calls" in last and "tool_calls" not in part):
            self.add({"role": "assistant", "content": None}, pointer)
            last = self.made[-1]
        own = f"/messages/{len(self.made) - 1}"
        for key, value in part.items():
            before = last.get(key)
            if key == "incomplete" or not before:
                last[key] = value
            elif key == "content":
                self._notes.lose(pointer, "item boundary", "the text is joined to that of the item before")
                last[key] = joined_content(before, value)
            elif key == "reasoning_content":
                self._notes.lose(pointer, "item boundary", "the reasoning is joined to that of the item before")
                last[key] = f"{before}\n{value}"
            else:
                last[key] = [*before, *value]
            if key == "reasoning_content" and last.get("content"):
                self._notes.lose(pointer, "order of items", "reasoning is moved before the content")
            self._notes.origins[f"{own}/{key}"] = pointer
            if key == "tool_calls":
                self._notes.origins[f"{own}/{key}/{len(last[key]) - 1}"] = pointer

    def messages(self) -> tuple[Message, ...]:
        """The messages. An assistant's content is None if and only if it is empty and there are calls."""
        made = []
        for data in self.made:
            content = data.get("content")
            if data["role"] == "assistant" and not content:
                content = None if data.get("tool_calls") else ""
            message = Message.from_openai({**data, "content": content})
            if data.get("incomplete"):
                message = replace(message, incomplete=True)
            made.append(message)
        return tuple(made)
