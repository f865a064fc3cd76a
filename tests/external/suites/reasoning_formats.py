"""Raw outputs of many models through the named formats: thoughts and the rest, in which calls stay as they are.

Texts are compared after stripping. Every case must give the same whole, by characters and by bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from syntagma import formats
from syntagma.errors import SyntagmaError


def run(data: Path) -> Iterator[tuple[str, str | None]]:
    """Every case that counts, with what is wrong or None."""
    with (data / "formats" / "reasoning_vectors.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            if case["verdict"] in ("agree", "sglang-bug"):
                yield case["id"], _problem(case)


def _problem(case: dict[str, Any]) -> str | None:
    text, right = case["text"], case["right"]
    try:
        results = [_read(case, chunks) for chunks in ([text], list(text), [bytes([b]) for b in text.encode()])]
    except SyntagmaError as error:
        return f"{error.code}: {error.message}"
    if any(result != results[0] for result in results):
        return "the result depends on the chunking"
    for found, wanted in zip(results[0], (right["reasoning_text"], right["normal_text"]), strict=True):
        if found != (wanted or "").strip():
            return f"{found[:200]!r} instead of {wanted[:200]!r}"
    return None


def _read(case: dict[str, Any], chunks: list[str] | list[bytes]) -> tuple[str, str]:
    flags = case["flags"]
    fmt = formats.get(case["name"])
    reasoning = "open" if flags.get("force_reasoning") and fmt.spec.reasoning is not None else "auto"
    variables = {"reasoning_effort": flags["reasoning_effort"]} if "reasoning_effort" in flags else None
    parser = fmt.parser(
        [],
        reasoning=reasoning,  # type: ignore[arg-type]
        stream_reasoning=flags.get("stream_reasoning", True),
        template_kwargs=variables,
        id_seed="suite",
    )
    for chunk in chunks:
        parser.feed(chunk)
    parser.finish()
    message = parser.message
    return (message.reasoning_content or "").strip(), str(message.content or "").strip()
