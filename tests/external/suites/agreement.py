"""Completions with headers through both readers: the stream parser with the format's file, and that of transcripts.

The cases of both kinds of data are read; whatever each suite expects of its own reader, here the two must agree.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from syntagma import formats
from syntagma.messages import Message
from syntagma.openchatml import harmony

FORMAT = formats.get("harmony")


def run(data: Path) -> Iterator[tuple[str, str | None]]:
    """Every completion, with what the two readers see differently, or None."""
    for name, text in _texts(data):
        wanted = _said(harmony.to_chat(harmony.parse_completion(text).messages))
        problem = None
        for chunks in ([text], list(text), [bytes([byte]) for byte in text.encode()]):
            parser = FORMAT.parser(id_seed="suite")
            for chunk in chunks:
                parser.feed(chunk)
            parser.finish()
            found = _said(parser.message)
            if found != wanted:
                problem = f"{found} by the format, {wanted} by the transcript's reader"
        yield name, problem


def _texts(data: Path) -> Iterator[tuple[str, str]]:
    for case in _lines(data / "openchatml" / "harmony_vectors.jsonl"):
        if case["kind"] in ("parse", "stream"):
            yield case["id"], case.get("input") or ""
    for file, key in (("tool_vectors", "raw"), ("reasoning_vectors", "text")):
        for case in _lines(data / "formats" / f"{file}.jsonl"):
            if case["name"] == FORMAT.name:
                yield f"{file}/{case['id']}", case[key]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def _said(message: Message) -> tuple[Any, ...]:
    calls = [(call.name, call.arguments, call.complete) for call in message.tool_calls]
    return message.content, message.reasoning_content, calls, message.incomplete
