"""Answers as the types of OpenAI's and Anthropic's own clients list them, member by member."""

from __future__ import annotations

import functools
import json
from typing import Any

from pydantic import BaseModel, TypeAdapter

__all__ = ["DOCUMENTED", "read", "streamed", "unlisted"]

DOCUMENTED = {
    # What other servers have made common.
    "reasoning_content",
    "reasoning",
    "extra",
    # How sure the format of a model is.
    "format",
    "format_level",
    # What Open Responses requires.
    "frequency_penalty",
    "presence_penalty",
    "store",
}
"""members that `docs/reference/server.md` names, beside those of the types"""


def unlisted(value: Any) -> set[str]:
    """Names of members, at any depth, that the client's types do not list."""
    if isinstance(value, BaseModel):
        found = set(value.model_extra or {})
        for name in type(value).model_fields:
            found |= unlisted(getattr(value, name))
        return found
    if isinstance(value, dict):
        return {name for item in value.values() for name in unlisted(item)}
    if isinstance(value, list):
        return {name for item in value for name in unlisted(item)}
    return set()


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Kept, since making one takes longer than reading with it."""
    return TypeAdapter(kind)


def read(kind: Any, data: str | bytes) -> Any:
    """JSON as a type of a client, without conversions, and without members that nobody lists."""
    value = _adapter(kind).validate_json(data, strict=True)
    assert unlisted(value) <= DOCUMENTED, unlisted(value) - DOCUMENTED
    return value


def streamed(kind: Any, text: str) -> list[Any]:
    """The events of a stream, each as a type of a client; the name of an event is that which its data has."""
    found = []
    for event in text.removesuffix("data: [DONE]\n\n").split("\n\n")[:-1]:
        lines = event.split("\n")
        data = lines[-1].removeprefix("data: ")
        found.append(read(kind, data))
        assert lines[:-1] in ([], [f"event: {json.loads(data).get('type')}"])
    return found
