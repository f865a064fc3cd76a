"""Cases of the named formats, and every way to cut their text into chunks."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from syntagma import formats
from syntagma.formats import ChatFormat

FOLDER = Path(__file__).resolve().parents[2] / "conformance" / "formats"
TOOLS: list[dict[str, Any]] = json.loads((FOLDER / "tools.json").read_text())


class WantedCall(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    arguments: str
    id: str | None = None
    complete: bool = True


class Case(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    raw: str
    write: bool = False
    prompt: str | None = None
    content: str = ""
    reasoning: str = ""
    calls: list[WantedCall] = []
    odd: bool | None = None


class CaseFile(msgspec.Struct, forbid_unknown_fields=True):
    case: list[Case]
    format: str | None = None
    reasoning: str | None = None


def load() -> Iterator[tuple[str, ChatFormat, Case]]:
    """Every case: its id, its format, itself."""
    for path in sorted(FOLDER.glob("*.toml")):
        file = msgspec.convert(tomllib.loads(path.read_text()), CaseFile)
        fmt = formats.get(file.format or path.stem, file.reasoning)
        for case in file.case:
            yield f"{path.stem}: {case.name}", fmt, case


def chunkings(text: str) -> Iterator[list[str]]:
    """Whole, one character at a time, and every split into two."""
    yield [text]
    yield list(text)
    for cut in range(1, len(text)):
        yield [text[:cut], text[cut:]]
