"""JSON pointers (RFC 6901): places in a document, in errors and in `$ref`s of a schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["follow", "pointer_of", "referred", "steps_of"]


def pointer_of(*steps: object) -> str:
    """The pointer with these keys and indexes as steps: `pointer_of("a/b", 0)` is `/a~1b/0`."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def steps_of(pointer: str) -> list[str]:
    """The steps of a pointer, keys and indexes, as text; empty for the whole document."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def follow(document: Any, pointer: str) -> Any:
    """The value at a pointer.

    Raises:
        LookupError: there is no value.
    """
    for step in steps_of(pointer):
        if isinstance(document, Mapping) and step in document:
            document = document[step]
        elif isinstance(document, list | tuple) and step.isdecimal() and int(step) < len(document):
            document = document[int(step)]
        else:
            raise LookupError(f"there is no value at {pointer}")
    return document


def referred(reference: Any, schema: Any) -> Any:
    """The part of `schema`, a whole JSON Schema, to which a `$ref` in it refers.

    Raises:
        LookupError: the reference points to another document, or to nothing.
    """
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        raise LookupError(f"the reference {reference!r} points to another document")
    try:
        return follow(schema, reference[1:])
    except LookupError:
        raise LookupError(f"the reference {reference!r} points to nothing") from None
