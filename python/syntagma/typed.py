"""Converts values to msgspec types, safely for several threads."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from syntagma.forks import ForkSafeLock

__all__ = ["as_type"]

T = TypeVar("T")
_first_use = ForkSafeLock(lambda: None)
_known: set[Any] = set()
"""types whose annotations msgspec has read"""


def as_type(value: Any, kind: type[T], **options: Any) -> T:
    """Convert a value to a type; see `msgspec.convert`.

    msgspec reads the annotations of a struct at first use. A second thread that uses the struct meanwhile would crash
    the process, so the first use is under a lock.

    Args:
        value: a value of dictionaries, lists and scalars.
        kind: a struct, or a type that contains structs.
        **options: options of `msgspec.convert`.

    Raises:
        msgspec.ValidationError: the value does not match the type.
    """
    if kind not in _known:
        with _first_use.lock:
            msgspec.json.Decoder(kind)
        _known.add(kind)
    read: T = msgspec.convert(value, kind, **options)
    return read
