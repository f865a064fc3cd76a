"""Raw outputs of many models through the named formats: reasoning and the rest, in which calls stay as they are.

Read through `syntagma.compat.sglang.ReasoningParser`, whose arguments the cases give. Texts are compared after
stripping. Every case must give the same whole, by characters and by bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from syntagma.compat.sglang import ReasoningParser
from syntagma.errors import SyntagmaError


def run(data: Path, files: str) -> Iterator[tuple[str, str | None]]:
    """Every case that counts, with what is wrong or None."""
    with (data / f"{files}reasoning_vectors.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            if case["verdict"] in ("agree", "sglang-bug", "vllm-bug", "vllm-policy"):
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
    parser = ReasoningParser(case["name"], **case["flags"])
    parts = [parser.parse_stream_chunk(chunk) for chunk in chunks]
    parts.append(parser.parse_stream_end())
    return "".join(part[0] for part in parts).strip(), "".join(part[1] for part in parts).strip()
