"""Raw outputs of many models through the named formats: calls and the text beside them.

Texts are compared after stripping, a blank run between calls may stay or go, calls by number, order, name and arguments
as JSON values. Every case must give the same whole, by characters, by bytes and in seeded random pieces.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from syntagma import formats
from syntagma.errors import SyntagmaError
from syntagma.formats import ChatFormat

_BLANKS = re.compile(r"\s+")


def run(data: Path, files: str) -> Iterator[tuple[str, str | None]]:
    """Every case that counts, with what is wrong or None."""
    tools = json.loads((data / f"{files}tools.json").read_text(encoding="utf-8"))
    with (data / f"{files}tool_vectors.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            if case["verdict"] in ("agree", "sglang-bug", "vllm-bug", "vllm-policy"):
                yield case["id"], _problem(case, tools[case["tools"]])


def _problem(case: dict[str, Any], tools: Any) -> str | None:
    try:
        fmt = formats.get(case["name"])
        results = [_read(fmt, tools, chunks) for chunks in _chunkings(case["raw"], random.Random(case["id"]))]
    except SyntagmaError as error:
        return f"{error.code}: {error.message}"
    if any(result != results[0] for result in results):
        return "the result depends on the chunking"
    text, calls = results[0]
    right = case["right"]
    if _BLANKS.sub(" ", text) != _BLANKS.sub(" ", right["normal_text"].strip()):
        return f"text {text[:200]!r} instead of {right['normal_text'][:200]!r}"
    if len(calls) != len(right["calls"]):
        return f"{len(calls)} calls instead of {len(right['calls'])}"
    for (name, arguments), wanted in zip(calls, right["calls"], strict=True):
        if name != wanted["name"]:
            return f"call of {name!r} instead of {wanted['name']!r}"
        try:
            same = _same(json.loads(arguments), wanted["parameters"])
        except ValueError:
            same = False  # the call is incomplete
        if not same:
            return f"arguments {arguments[:200]} instead of {wanted['parameters']!r}"
    return None


def _read(fmt: ChatFormat, tools: Any, chunks: list[str] | list[bytes]) -> tuple[str, list[tuple[str, str]]]:
    parser = fmt.parser(tools, reasoning_format="none", id_seed="suite")
    for chunk in chunks:
        parser.feed(chunk)
    parser.finish()
    message = parser.message
    return (message.content or "").strip(), [(call.name, call.arguments) for call in message.tool_calls]


def _chunkings(text: str, source: random.Random) -> Iterator[list[str] | list[bytes]]:
    yield [text]
    yield list(text)
    yield [bytes([byte]) for byte in text.encode()]
    pieces: list[str] = []
    at = 0
    while at < len(text):
        size = source.randint(1, 7)
        pieces.append(text[at : at + size])
        at += size
    yield pieces


def _same(found: Any, wanted: Any) -> bool:
    """Equal as JSON values: 2 is 2.0, and true is not 1."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if isinstance(found, dict) and isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(_same(found[key], wanted[key]) for key in found)
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(_same, found, wanted))
    return bool(found == wanted)
