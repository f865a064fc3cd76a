"""Whether a text is the beginning of one JSON object: a plain recursive reader, with nothing of the parser's in it."""

from __future__ import annotations

import re

__all__ = ["is_beginning_of_object"]

_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_BEGINNING_OF_NUMBER = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:(?<=[0-9])[eE][+-]?[0-9]*)?)?")


class _TextEnds(Exception):
    """The text is over, and was right so far."""


class _Wrong(Exception):
    """No JSON object goes on like this."""


def is_beginning_of_object(text: str) -> bool:
    """Whether some JSON object begins with this text, or is it."""
    try:
        at = _spaces(text, 0)
        at = _object(text, at)
        return not text[at:].strip(" \t\r\n")
    except _TextEnds:
        return True
    except _Wrong:
        return False


def _spaces(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    if at == len(text):
        raise _TextEnds
    return at


def _sign(text: str, at: int, signs: str) -> str:
    if text[at] not in signs:
        raise _Wrong
    return text[at]


def _object(text: str, at: int) -> int:
    _sign(text, at, "{")
    at = _spaces(text, at + 1)
    if text[at] == "}":
        return at + 1
    while True:
        at = _spaces(text, _string(text, at))
        _sign(text, at, ":")
        at = _spaces(text, _value(text, _spaces(text, at + 1)))
        if _sign(text, at, ",}") == "}":
            return at + 1
        at = _spaces(text, at + 1)


def _array(text: str, at: int) -> int:
    at = _spaces(text, at + 1)
    if text[at] == "]":
        return at + 1
    while True:
        at = _spaces(text, _value(text, at))
        if _sign(text, at, ",]") == "]":
            return at + 1
        at = _spaces(text, at + 1)


def _value(text: str, at: int) -> int:
    if text[at] == "{":
        return _object(text, at)
    if text[at] == "[":
        return _array(text, at)
    if text[at] == '"':
        return _string(text, at)
    for word in ("true", "false", "null"):
        if text.startswith(word, at):
            return at + len(word)
        if word.startswith(text[at:]):
            raise _TextEnds
    beginning = _BEGINNING_OF_NUMBER.match(text, at)
    if beginning is not None and beginning.end() == len(text):
        raise _TextEnds
    number = _NUMBER.match(text, at)
    if number is None:
        raise _Wrong
    return number.end()


def _string(text: str, at: int) -> int:
    _sign(text, at, '"')
    at += 1
    while True:
        plain = _PLAIN.match(text, at)
        at = at if plain is None else plain.end()
        if at == len(text):
            raise _TextEnds
        if text[at] == '"':
            return at + 1
        if text[at] != "\\":
            raise _Wrong
        escape = text[at + 1 : at + 6]
        if not escape:
            raise _TextEnds
        if escape[0] != "u":
            _sign(escape, 0, '"\\/bfnrt')
            at += 2
            continue
        if not all(digit in "0123456789abcdefABCDEF" for digit in escape[1:]):
            raise _Wrong
        if len(escape) < 5:
            raise _TextEnds
        at += 6
