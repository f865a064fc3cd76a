"""Reading a rendered turn back with the real parser, in several chunkings, and comparing it with what was put in."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from syntagma.analysis.conversations import Turn
from syntagma.errors import SyntagmaError
from syntagma.formats import ChatFormat
from syntagma.messages import Message

__all__ = ["Start", "chunkings", "difference", "plain_message", "read_back"]


_BY_CHARACTERS = 2_000


class Start(msgspec.Struct, frozen=True):
    """A prompt, the output behind it, and the state of reasoning between them where the prompt does not say it."""

    name: str
    prompt: str
    output: str
    reasoning: Literal["auto", "open", "closed"] = "auto"


def chunkings(text: str, seed: int) -> Iterator[list[str]]:
    """The text whole, one character at a time, and in one seeded random chunking; long texts not by characters."""
    yield [text]
    if len(text) <= _BY_CHARACTERS:
        yield list(text)
    source = random.Random(seed)
    pieces: list[str] = []
    at = 0
    while at < len(text):
        size = source.randint(1, 7)
        pieces.append(text[at : at + size])
        at += size
    yield pieces


def read_back(
    fmt: ChatFormat, start: Start, chunks: list[str], tools: list[dict[str, Any]] | None, **options: Any
) -> Message | str:
    """The message in the chunks, or what went wrong in words."""
    try:
        parser = fmt.parser(tools, prompt=start.prompt, reasoning=start.reasoning, id_seed="1", **options)
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
    except SyntagmaError as error:
        return str(error)
    return parser.message


def plain_message(message: Message) -> dict[str, Any]:
    """A message as plain data: blanks at the ends of texts do not count, arguments are decoded."""
    content = message.content if isinstance(message.content, str) else ""
    return {
        "reasoning": (message.reasoning_content or "").strip(),
        "content": content.strip(),
        "calls": [[call.name, _decoded(call.arguments), call.id] for call in message.tool_calls],
    }


def _decoded(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def difference(message: Message | str, expected: Turn, *, ids: bool) -> str | None:
    """What is wrong with a message, in words; None if it is what was expected.

    `ids`: whether the wire shows them; a turn's None fields expect nothing.
    """
    if isinstance(message, str):
        return message
    found = plain_message(message)
    wanted: dict[str, Any] = {
        "reasoning": (expected.reasoning or "").strip(),
        "content": (expected.content or "").strip(),
        "calls": [[call.name, call.arguments, call.id] for call in expected.calls],
    }
    if not ids:
        for calls in (found["calls"], wanted["calls"]):
            for call in calls:
                call[2] = ""
    for field, value in wanted.items():
        if not _same(found[field], value):
            return f"{field}: {_short(found[field])} instead of {_short(value)}"
    if message.incomplete:
        return "the message is marked incomplete"
    return None


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:117] + "..."
