"""Converts values to msgspec types, safely for several threads, and reads the errors of msgspec.

msgspec says what is wrong only in sentences. They are read here and nowhere else, and a test names each form of them.
"""

from __future__ import annotations

import re
from typing import Any, Literal, TypeVar

import msgspec

from syntagma.forks import ForkSafeLock

__all__ = ["ANY_MEMBER", "Problem", "as_type", "problem"]

T = TypeVar("T")
ANY_MEMBER = "..."
"""the step of a path into any member of an object whose names are free"""

_first_use = ForkSafeLock(lambda: None)
_known: set[Any] = set()
"""types whose annotations msgspec has read"""
_PLACE = re.compile(r" - at `\$([^`]*)`\Z")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_SYNTAX = "JSON is malformed: "
_MISSING = re.compile(r"Object missing required field `(.+)`", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_CHOICE = re.compile(r"Invalid enum value (.+)", re.DOTALL)
_TYPE = re.compile(r"Expected `([^`]+)`, got `([^`]+)`")


def as_type(value: Any, kind: type[T], **options: Any) -> T:
    """Convert a value to a type; see `msgspec.convert`.

    msgspec reads the annotations of a struct at first use. A second thread that uses the struct meanwhile would crash
    the process, so the first use is under a lock.

    Args:
        value: a value of dictionaries, lists and scalars.
        kind: a struct, or a type that contains structs.
        **options: options of `msgspec.convert`.

    Raises:
        msgspec.ValidationError: the value does not match the type; see `problem`.
    """
    if kind not in _known:
        with _first_use.lock:
            msgspec.json.Decoder(kind)
        _known.add(kind)
    read: T = msgspec.convert(value, kind, **options)
    return read


class Problem(msgspec.Struct, frozen=True):
    """What msgspec says of a value or a text that it cannot read.

    Attributes:
        kind: `missing`, `unknown`: a field of the object at the path; `type`: the value has another type; `choice`: it
            is none of those that its type lists; `refused`: a hook or a struct raised ValueError; `other`: see `text`.
        text: why, as a sentence without the place.
        path: the steps to the value: names of fields, indexes, and `ANY_MEMBER`.
        field: the field that is missing or unknown.
        wanted: the types that the value may have, by msgspec's names, without null.
        given: the type that it has, by msgspec's name; of a choice, the value as Python writes it.
    """

    kind: Literal["missing", "unknown", "type", "choice", "refused", "other"]
    text: str
    path: tuple[str, ...] = ()
    field: str = ""
    wanted: tuple[str, ...] = ()
    given: str = ""


def problem(error: msgspec.DecodeError) -> Problem:
    """What an error of msgspec says: of a value that does not match its type, or of a text that is not JSON."""
    message = str(error).removeprefix(_SYNTAX)
    place = _PLACE.search(message)
    text = message if place is None else message[: place.start()]
    path = () if place is None else tuple(name or index for name, index in _STEP.findall(place[1]))
    if isinstance(error.__cause__, ValueError):
        return Problem("refused", text, path)
    if missing := _MISSING.fullmatch(text):
        return Problem("missing", text, path, field=missing[1])
    if unknown := _UNKNOWN.fullmatch(text):
        return Problem("unknown", text, path, field=unknown[1])
    if choice := _CHOICE.fullmatch(text):
        return Problem("choice", text, path, given=choice[1])
    if kind := _TYPE.fullmatch(text):
        wanted = tuple(name for name in kind[1].split(" | ") if name != "null")
        return Problem("type", text, path, wanted=wanted, given=kind[2])
    return Problem("other", text, path)
