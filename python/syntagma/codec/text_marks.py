"""Marks: unique words at the ends of a conversation's texts, which tell what a render holds, and in which order."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["Marks", "thinks"]

_REASONING = ("reasoning_content", "reasoning")
_MARK = re.compile(r"zq([0-9a-f]{12})x(\d+)z", re.IGNORECASE)


def thinks(message: Mapping[str, Any]) -> bool:
    """Whether a message has reasoning."""
    return any(message.get(field) for field in _REASONING)


class Marks:
    """The marks of one conversation.

    Attributes:
        messages: the conversation with a mark at the end of each text. Arguments of calls have it in a value, or as a
            further key.
        places: the pointer of the text of each mark.
    """

    def __init__(self, messages: Sequence[dict[str, Any]], *, reasoning: bool) -> None:
        """Mark a conversation.

        Args:
            messages: the conversation.
            reasoning: whether reasoning after the last message of the user is marked; templates drop earlier reasoning.
        """
        self._word = secrets.token_hex(6)
        self.places: list[str] = []
        last = max((at for at, message in enumerate(messages) if message.get("role") == "user"), default=-1)
        self.messages = [
            self._message(message, f"/messages/{at}", reasoning=reasoning and at > last)
            for at, message in enumerate(messages)
        ]

    def _mark(self, pointer: str) -> str:
        self.places.append(pointer)
        return f"zq{self._word}x{len(self.places) - 1}z"

    def _in(self, text: str) -> Iterator[tuple[int, int]]:
        """Every mark in a text, and where it begins."""
        for match in _MARK.finditer(text):
            if match[1].lower() == self._word:
                yield int(match[2]), match.start()

    def _message(self, message: dict[str, Any], pointer: str, *, reasoning: bool) -> dict[str, Any]:
        changed = dict(message)
        content = message.get("content")
        if isinstance(content, str) and content.strip():
            changed["content"] = content + self._mark(f"{pointer}/content")
        elif isinstance(content, list):
            changed["content"] = [self._part(part, f"{pointer}/content/{at}") for at, part in enumerate(content)]
        for field in ("refusal", *(_REASONING if reasoning else ())):
            if isinstance(message.get(field), str) and message[field].strip():
                changed[field] = message[field] + self._mark(f"{pointer}/{field}")
        if message.get("tool_calls"):
            calls = enumerate(message["tool_calls"])
            changed["tool_calls"] = [self._call(call, f"{pointer}/tool_calls/{at}") for at, call in calls]
        return changed

    def _part(self, part: Any, pointer: str) -> Any:
        for key in ("text", "refusal") if isinstance(part, Mapping) else ():
            if isinstance(part.get(key), str) and part[key].strip():
                return {**part, key: part[key] + self._mark(pointer)}
        return part

    def _call(self, call: Any, pointer: str) -> Any:
        inner = call.get("function") if isinstance(call, Mapping) else None
        function = inner if isinstance(inner, Mapping) else call
        if not isinstance(function, Mapping):
            return call
        given = function.get("arguments")
        arguments = json.loads(given or "{}") if isinstance(given, str) else given
        if not isinstance(arguments, Mapping):
            return call
        mark = self._mark(pointer)
        key = next((key for key, value in arguments.items() if isinstance(value, str) and value), mark)
        marked: Any = {**arguments, key: arguments.get(key, "") + mark}
        if isinstance(given, str):
            marked = json.dumps(marked, ensure_ascii=False)
        changed = {**function, "arguments": marked}
        return {**call, "function": changed} if function is inner else changed

    def lost(self, messages: Sequence[dict[str, Any]], text: str) -> list[str]:
        """The pointers of texts that a render does not hold, or not in the order of the conversation.

        System messages stand where the template puts them. A message that calls tools and their results may be written
        in any order, as long as the calls among themselves and the results among themselves are in order.

        Args:
            messages: the conversation as it was rendered, with marks.
            text: its render.
        """
        starts: dict[int, list[int]] = {}
        for mark, at in self._in(text):
            starts.setdefault(mark, []).append(at)
        lost: set[int] = set(range(len(self.places)))
        done = -1
        for group, in_place in _groups(messages):
            reached = done
            for column in group:
                before = done if in_place else -1
                for mark in self._marks_in(column):
                    start = next((at for at in starts.get(mark, ()) if at > before), None)
                    if start is not None:
                        lost.discard(mark)
                        before = start
                reached = max(reached, before)
            done = reached if in_place else done
        return [self.places[mark] for mark in sorted(lost)]

    def _marks_in(self, value: Any) -> Iterator[int]:
        """The marks in a value, in the order of its texts."""
        if isinstance(value, str):
            yield from (mark for mark, _ in self._in(value))
        elif isinstance(value, Mapping):
            for item in value.values():
                yield from self._marks_in(item)
        elif isinstance(value, list | tuple):
            for item in value:
                yield from self._marks_in(item)


def _groups(messages: Sequence[dict[str, Any]]) -> Iterator[tuple[list[list[Any]], bool]]:
    """Groups of columns of texts, and whether the group follows those before. The texts of a column are in order."""
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        columns = [[value] for key, value in message.items() if key not in ("role", "tool_calls")]
        if message.get("tool_calls"):
            results = []
            while at < len(messages) and messages[at].get("role") == "tool":
                results.append(messages[at].get("content"))
                at += 1
            columns += [list(message["tool_calls"]), results]
        yield columns, message.get("role") not in ("system", "developer")
