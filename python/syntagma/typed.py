"""Values read as types of msgspec, by any number of threads."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from syntagma.forks import ForkSafeLock

__all__ = ["as_type"]

T = TypeVar("T")
_first_use = ForkSafeLock(lambda: None)
_known: set[Any] = set()
"""types whose annotations were read"""


def as_type(value: Any, kind: type[T], **options: Any) -> T:
    """A value as a type; see `msgspec.convert`.

    msgspec reads the annotations of a struct when it first needs them. A second thread would meanwhile work with what
    is half read, and end the process; so one thread reads, and others wait.

    Args:
        value: made of dictionaries, lists and scalars.
        kind: struct, or a type made of structs.
        **options: of `msgspec.convert`.

    Raises:
        msgspec.ValidationError: it is no such value.
    """
    if kind not in _known:
        with _first_use.lock:
            msgspec.json.Decoder(kind)
        _known.add(kind)
    read: T = msgspec.convert(value, kind, **options)
    return read
