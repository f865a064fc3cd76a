"""Cases of the named formats and of the shapes of our own, and every way to cut their text into chunks."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from syntagma import formats
from syntagma.formats import ChatFormat

FOLDER = Path(__file__).resolve().parents[2] / "conformance" / "formats"
SHAPES = FOLDER.parent / "shapes"
TOOLS: list[dict[str, Any]] = json.loads((FOLDER / "tools.json").read_text())


DIAGNOSTICS: dict[str, list[str]] = {
    case: expected["codes"]
    for expected in tomllib.loads((Path(__file__).parent / "diagnostics.toml").read_text())["expected"]
    for case in expected["cases"]
}
"""codes of what the parser reports about a case; a case that is not listed has none"""


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
    template_kwargs: dict[str, Any] | None = None
    content: str = ""
    reasoning: str = ""
    calls: list[WantedCall] = []
    odd: bool | None = None
    accepted: bool = False
    refused: list[str] = []
    diagnostics: list[str] = []


class CaseFile(msgspec.Struct, forbid_unknown_fields=True):
    case: list[Case]
    format: str | None = None
    shape: str | None = None
    reasoning: str | None = None


class Loaded(NamedTuple):
    """A case, with the format that it is of and its place in the file, as tests name it."""

    id: str
    fmt: ChatFormat
    case: Case
    place: str


def shape_of(path: Path) -> ChatFormat:
    """The format of our own that a file of `conformance/shapes` holds."""
    return ChatFormat.from_toml(tomllib.loads(path.read_text())["shape"], source=path.name)


def load() -> Iterator[Loaded]:
    """Every case. A file that cannot be read stops here, with its name."""
    for path in (*sorted(FOLDER.glob("*.toml")), *sorted(SHAPES.glob("*.toml"))):
        text = path.read_text()
        try:
            file = msgspec.convert(tomllib.loads(text), CaseFile)
        except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
            raise ValueError(f"{path.relative_to(FOLDER.parents[1])}: {error}") from None
        fmt = shape_of(path) if file.shape else formats.get(file.format or path.stem, file.reasoning)
        starts = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == "[[case]]"]
        for line, case in zip(starts, file.case, strict=True):
            place = f"{path.relative_to(FOLDER.parents[1])}:{line}"
            prefix = "shape " if file.shape else ""
            yield Loaded(f"{prefix}{path.stem}: {case.name}", fmt, case, place)


def chunkings(text: str) -> Iterator[list[str]]:
    """Whole, one character at a time, and every split into two."""
    yield [text]
    yield list(text)
    for cut in range(1, len(text)):
        yield [text[:cut], text[cut:]]
