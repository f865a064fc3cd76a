"""Texts that models wrote and that some engine read wrongly, from public reports, in three chunkings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from syntagma import formats
from syntagma.formats import ChatFormat

__all__ = ["run"]


def run(data: Path) -> Iterator[tuple[str, str | None]]:
    """Each case of `wild/parse.jsonl`, and what is wrong with its reading; content and reasoning up to whitespace."""
    for line in (data / "wild" / "parse.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        calls, _, reasoning = case["format"].partition("+")
        yield case["id"], _problem(formats.get(calls, reasoning=reasoning or None), case)


def _problem(fmt: ChatFormat, case: dict[str, Any]) -> str | None:
    whole = "".join(case["chunks"])
    for chunks in (case["chunks"], [whole], list(whole)):
        parser = fmt.parser(case["tools"])
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
        message = parser.message
        if not (message.diagnostics or case["expected"].get("calls")):
            return "nothing is told"
        read: dict[str, Any] = {
            "content": (message.content or "").strip(),
            "reasoning": (message.reasoning_content or "").strip(),
            "calls": [[call.name, json.loads(call.arguments), call.complete] for call in message.tool_calls],
        }
        for key, value in case["expected"].items():
            expected = (
                [[name, _decoded(arguments), True] for name, arguments in value] if key == "calls" else value.strip()
            )
            if read[key] != expected:
                return f"{key}: {read[key]!r}, not {expected!r}"
    return None


def _decoded(arguments: Any) -> Any:
    return json.loads(arguments) if isinstance(arguments, str) else arguments
