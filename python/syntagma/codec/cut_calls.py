"""Calls that were cut off: their arguments become an object that says what their text says."""

from __future__ import annotations

import json
import re

from syntagma.json_types import WHITESPACE

__all__ = ["completion"]

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NUMBER_END = re.compile(r"[-+eE.]$")
_ESCAPE_END = re.compile(r"(?<!\\)(?:\\\\)*\\(u[0-9a-fA-F]{0,3})?$")
_PAIR_END = re.compile(r"(?<!\\)(?:\\\\)*\\u[dD][89abAB][0-9a-fA-F]{2}((?:\\(?:u[0-9a-fA-F]{0,3})?)?)$")
"""the first half of a surrogate pair, and what is there of the second"""
_SECOND_HALF = "\\udc00"
_WORDS = ("true", "false", "null")


def completion(text: str) -> str | None:
    """The JSON text of an object that says what `text`, the beginning of one, says; None if no object begins so.

    A string, a number or a word that was cut is ended. A key without a value is left out: the value would be invented.
    """
    whole = _ended(text)
    return whole if whole is not None and _is_object(whole) else None


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _ended(text: str) -> str | None:
    """The text with its containers closed; None: it is not the beginning of an object."""
    closers: list[str] = []
    due = "value"
    """what comes next in the innermost container: `value`, `key`, `colon`, or `next` (a comma or the closer)"""
    at = said = 0
    """`said` is where the last whole value ends, or the innermost container begins"""
    while at < len(text):
        sign = text[at]
        if sign in WHITESPACE:
            at += 1
            continue
        if sign == '"' and due in ("key", "value"):
            string = _STRING.match(text, at)
            if string is None:
                return _closed(text + _string_rest(text[at:]) if due == "value" else text[:said], closers)
            due, at = {"key": "colon", "value": "next"}[due], string.end()
        elif sign in "{[" and due == "value":
            closers.append("}" if sign == "{" else "]")
            due, at, said = ("key" if sign == "{" else "value"), at + 1, at + 1
        elif closers and sign == closers[-1] and (due == "next" or not text[said:at].strip()):
            closers.pop()
            due, at = "next", at + 1
        elif closers and sign == "," and due == "next":
            due, at = ("key" if closers[-1] == "}" else "value"), at + 1
        elif sign == ":" and due == "colon":
            due, at = "value", at + 1
        elif due == "value":
            past = at
            while past < len(text) and text[past] not in WHITESPACE + ",]}":
                past += 1
            if past == len(text):
                return _closed(text + _scalar_rest(text[at:]), closers)
            due, at = "next", past
        else:
            return None
        said = at if due == "next" else said
    return _closed(text[:said], closers) if closers or due == "next" else "{}"


def _closed(text: str, closers: list[str]) -> str:
    return text + "".join(reversed(closers))


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
