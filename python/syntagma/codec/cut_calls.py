"""Calls that were cut off: their arguments are completed to the shortest object that begins with their text."""

from __future__ import annotations

import json
import re
from typing import Any

from syntagma.json_types import WHITESPACE

__all__ = ["completion"]

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NUMBER_END = re.compile(r"[-+eE.]$")
_ESCAPE_END = re.compile(r"(?<!\\)(?:\\\\)*\\(u[0-9a-fA-F]{0,3})?$")
_PAIR_END = re.compile(r"(?<!\\)(?:\\\\)*\\u[dD][89abAB][0-9a-fA-F]{2}((?:\\(?:u[0-9a-fA-F]{0,3})?)?)$")
"""the first half of a surrogate pair, and what is there of the second"""
_SECOND_HALF = "\\udc00"
_WORDS = ("true", "false", "null")
_KEYS = ("", *"0123456789", "00")
"""what may end a key that is not whole, the shortest first"""


def completion(text: str) -> str | None:
    """The shortest JSON text of an object that begins with `text`, which is none itself; None if no object does.

    A key that is not whole is not completed to one that the object already has, since its value would be lost.
    """
    first = None
    for more in _KEYS:
        end = _end(text, more)
        if end is None:
            return None
        first = first if first is not None else text + end
        if _is_object(text + end, unique=True):
            return text + end
    return first if first is not None and _is_object(first) else None


def _is_object(text: str, *, unique: bool = False) -> bool:
    try:
        value: Any = json.loads(text, object_pairs_hook=_unique if unique else dict)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _end(text: str, more: str) -> str | None:
    """What completes the text; None: it is not the beginning of an object.

    Args:
        text: the text.
        more: stands at the end of a key that is not whole.
    """
    closers: list[str] = []
    due = "value"
    """what comes next in the innermost container: `value`, `key`, `colon`, or `next` (a comma or the closer)"""
    may_close = False
    """whether the innermost container is still empty"""
    at = 0
    while at < len(text):
        sign = text[at]
        if sign in WHITESPACE:
            at += 1
        elif sign == '"' and due in ("key", "value"):
            string = _STRING.match(text, at)
            rest = {"key": "colon", "value": "next"}[due]
            if string is None:
                ended = _string_rest(text[at:])
                ended = ended[:-1] + more + '"' if due == "key" else ended
                return ended + _after(rest, closers, more, may_close=False)
            due, may_close, at = rest, False, string.end()
        elif sign in "{[" and due == "value":
            closers.append("}" if sign == "{" else "]")
            due, may_close = ("key" if sign == "{" else "value"), True
            at += 1
        elif closers and sign == closers[-1] and (due == "next" or may_close):
            closers.pop()
            due, may_close = "next", False
            at += 1
        elif closers and sign == "," and due == "next":
            due = "key" if closers[-1] == "}" else "value"
            at += 1
        elif sign == ":" and due == "colon":
            due = "value"
            at += 1
        elif due == "value":
            past = at
            while past < len(text) and text[past] not in WHITESPACE + ",]}":
                past += 1
            if past == len(text):
                return _scalar_rest(text[at:]) + _after("next", closers, more, may_close=False)
            due, may_close, at = "next", False, past
        else:
            return None
    return _after(due, closers, more, may_close=may_close) if closers or not text.strip() else None


def _after(due: str, closers: list[str], more: str, *, may_close: bool) -> str:
    """What completes the open containers, the innermost first."""
    if not closers:
        return "{}"
    needed = {"value": "0", "key": f'"{more}":0', "colon": ":0", "next": ""}[due]
    return ("" if may_close else needed) + "".join(reversed(closers))


def _string_rest(text: str) -> str:
    """What closes a string; an escape that was begun is completed first."""
    half = _PAIR_END.search(text)
    if half is not None:
        return _SECOND_HALF[len(half[1]) :] + '"'
    begun = _ESCAPE_END.search(text)
    if begun is None:
        return '"'
    return ("0" * (5 - len(begun[1])) if begun[1] else "\\") + '"'


def _scalar_rest(text: str) -> str:
    """What completes a number or a word."""
    for word in _WORDS:
        if word.startswith(text):
            return word[len(text) :]
    return "0" if _NUMBER_END.search(text) else ""
