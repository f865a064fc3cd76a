"""The text that a custom tool is called with, out of the arguments of its call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

from syntagma.messages import Tool, ToolInput

__all__ = ["InputText", "custom_names", "input_arguments", "input_of"]

_OPENS: Final = re.compile(r'\s*\{\s*"input"\s*:\s*"')
"""the beginning of the arguments, with `ToolInput.KEY`"""
_STOPS: Final = re.compile(r'["\\]')


class InputText:
    """Reads the text out of the fragments of a call's arguments as they come."""

    def __init__(self) -> None:
        self._waiting = ""
        self._begun = False
        self._ended = False

    def feed(self, fragment: str) -> str:
        """What more of the text is certain after this fragment."""
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
        """How much of what waits is whole characters of the text."""
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
    """The length of the escape that begins here, both halves of a surrogate pair together; None: it is not whole."""
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
    """The text out of all arguments; of a call that was cut, its beginning."""
    return InputText().feed(arguments)


def input_arguments(text: str) -> str:
    """The arguments of a call with this text, for templates."""
    return json.dumps({ToolInput.KEY: text}, ensure_ascii=False)


def custom_names(tools: Iterable[Tool] | None) -> frozenset[str]:
    """The names of the custom tools."""
    return frozenset(tool.name for tool in tools or () if tool.input is not None)
