"""Extracts the input text of a custom tool from the arguments of its call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

from syntagma.messages import Tool, ToolInput

__all__ = ["InputText", "custom_names", "input_arguments", "input_of"]

_OPENS: Final = re.compile(r'\s*\{\s*"input"\s*:\s*"')
"""the beginning of the arguments: an object whose first key is `ToolInput.KEY`"""
_STOPS: Final = re.compile(r'["\\]')


class InputText:
    """Extracts the input text from a call's arguments, which arrive in fragments."""

    def __init__(self) -> None:
        self._waiting = ""
        self._begun = False
        self._ended = False

    def feed(self, fragment: str) -> str:
        """Read a fragment, and return the text that is now certain and was not returned before."""
        if self._ended:
            return ""
        self._waiting += fragment
        if not self._begun:
            opens = _OPENS.match(self._waiting)
            if opens is None:
                return ""
            self._begun = True
            self._waiting = self._waiting[opens.end() :]
        taken = self._taken()
        text, self._waiting = self._waiting[:taken], self._waiting[taken:]
        decoded = str(json.loads(f'"{text}"', strict=False))
        return decoded.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _taken(self) -> int:
        """The length of the waiting text up to its last complete character; sets `_ended` at the closing quote."""
        text, at = self._waiting, 0
        while (stop := _STOPS.search(text, at)) is not None:
            at = stop.start()
            if text[at] == '"':
                self._ended = True
                return at
            size = _escape(text, at)
            if size is None:
                return at
            at += size
        return len(text)


def _escape(text: str, at: int) -> int | None:
    """The length of the escape at `at`, a surrogate pair counted as one; None if it is cut."""
    if text[at + 1 : at + 2] != "u":
        return 2 if len(text) > at + 1 else None
    if len(text) < at + 6:
        return None
    if text[at + 2] not in "dD" or text[at + 3] not in "89abAB":
        return 6
    rest = text[at + 6 : at + 8]
    if rest in ("", "\\"):
        return None
    if rest != "\\u":
        return 6
    return 12 if len(text) >= at + 12 else None


def input_of(arguments: str) -> str:
    """The input text in a call's arguments; its beginning if the call was cut."""
    return InputText().feed(arguments)


def input_arguments(text: str) -> str:
    """The arguments of a call with this input text, as JSON text."""
    return json.dumps({ToolInput.KEY: text}, ensure_ascii=False)


def custom_names(tools: Iterable[Tool] | None) -> frozenset[str]:
    """The names of the custom tools."""
    return frozenset(tool.name for tool in tools or () if tool.input is not None)
