"""JSON pointers (RFC 6901): a place in a document, as errors name it and as a schema's `$ref` does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["follow", "pointer_of", "referred", "steps_of"]


def pointer_of(*steps: object) -> str:
    """The pointer that takes these keys and indexes, one after the other: `pointer_of("a/b", 0)` is `/a~1b/0`."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def steps_of(pointer: str) -> list[str]:
    """The keys and indexes that a pointer takes, as text; none for the whole document."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def follow(document: Any, pointer: str) -> Any:
    """What a pointer leads to.

    Raises:
        LookupError: nothing stands there.
    """
    for step in steps_of(pointer):
        if isinstance(document, Mapping) and step in document:
            document = document[step]
        elif isinstance(document, list | tuple) and step.isdecimal() and int(step) < len(document):
            document = document[int(step)]
        else:
            raise LookupError(f"nothing stands at {pointer}")
    return document


def referred(reference: Any, schema: Any) -> Any:
    """The part of `schema`, a whole JSON Schema, that the `$ref` of one of its parts means.

    Raises:
        LookupError: the reference leads to another document, or nowhere.
    """
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        raise LookupError(f"the reference {reference!r} leads outside")
    try:
        return follow(schema, reference[1:])
    except LookupError:
        raise LookupError(f"the reference {reference!r} leads nowhere") from None
