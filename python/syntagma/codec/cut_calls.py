"""Calls that were cut off: their arguments are completed to the shortest object that begins with their text."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["completed"]

_SPACE = " \t\n\r"
_NUMBER_END = re.compile(r"[-+eE.]$")
_ESCAPE_END = re.compile(r"(?<!\\)(?:\\\\)*\\(u[0-9a-fA-F]{0,3})?$")
_PAIR_END = re.compile(r"(?<!\\)(?:\\\\)*\\u[dD][89abAB][0-9a-fA-F]{2}((?:\\(?:u[0-9a-fA-F]{0,3})?)?)$")
"""the first half of a surrogate pair, and what is there of the second"""
_SECOND_HALF = "\\udc00"
_WORDS = ("true", "false", "null")


def completed(text: str) -> str | None:
    """The shortest JSON text of an object that begins with `text`, which is none itself; None if no object does."""
    end = _end(text)
    return text + end if end is not None and _is_object(text + end) else None


def _is_object(text: str) -> bool:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


def _end(text: str) -> str | None:
    """What completes the text; None: it is not the beginning of an object."""
    closers: list[str] = []
    due = "value"
    """what comes next in the innermost container: `value`, `key`, `colon`, or `next` (a comma or the closer)"""
    may_close = False
    """whether the innermost container is still empty"""
    at = 0
    while at < len(text):
        sign = text[at]
        if sign in _SPACE:
            at += 1
        elif sign == '"' and due in ("key", "value"):
            past = _string_end(text, at)
            rest = {"key": "colon", "value": "next"}[due]
            if past is None:
                return _string_rest(text[at:]) + _after(rest, closers, may_close=False)
            due, may_close, at = rest, False, past
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
            while past < len(text) and text[past] not in _SPACE + ",]}":
                past += 1
            if past == len(text):
                return _scalar_rest(text[at:]) + _after("next", closers, may_close=False)
            due, may_close, at = "next", False, past
        else:
            return None
    return _after(due, closers, may_close=may_close) if closers or not text.strip() else None


def _after(due: str, closers: list[str], *, may_close: bool) -> str:
    """What completes the open containers, the innermost first."""
    if not closers:
        return "{}"
    needed = {"value": "0", "key": '"":0', "colon": ":0", "next": ""}[due]
    return ("" if may_close else needed) + "".join(reversed(closers))


def _string_end(text: str, start: int) -> int | None:
    """The offset after the string that begins at `start`; None if it is open."""
    at = start + 1
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text[at] == '"':
            return at + 1
        else:
            at += 1
    return None


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
