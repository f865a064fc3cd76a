"""The forms of files: JSON lines or Parquet, and how they are compressed; a file's name says which."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from syntagma.errors import BatchError

__all__ = ["FileForm", "arrow", "form_of"]

_ROWS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet"}
_COMPRESSIONS = {".gz": "gz", ".zst": "zst"}


class FileForm(msgspec.Struct, frozen=True):
    """The form of a file.

    Attributes:
        rows: `jsonl`, one JSON object a line, or `parquet`.
        compression: of JSON lines; None: not compressed, or by Parquet itself.
    """

    rows: Literal["jsonl", "parquet"]
    compression: Literal["gz", "zst"] | None = None


def form_of(path: Path) -> FileForm:
    """The form that the suffixes of a file's name say.

    Raises:
        BatchError: `E-BATCH-SUFFIX`, they say none; `E-BATCH-DEPENDENCY`, it needs pyarrow.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = _COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    named = suffixes[:-1] if compression else suffixes
    rows = _ROWS.get(named[-1]) if named else None
    if rows is None or (compression and rows != "jsonl"):
        raise BatchError(
            "E-BATCH-SUFFIX",
            "the file's name does not say what it holds",
            hint="a name ends in .jsonl or .ndjson, with .gz or .zst after it if compressed, or in .parquet",
            source=str(path),
        )
    if rows == "parquet" or compression == "zst":
        arrow(str(path))
    return FileForm(rows, compression)  # type: ignore[arg-type]  # words of the tables above


def arrow(source: str | None = None) -> Any:
    """The module `pyarrow`.

    Raises:
        BatchError: `E-BATCH-DEPENDENCY`, it is not installed.
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise BatchError(
            "E-BATCH-DEPENDENCY",
            "Parquet and zstandard need pyarrow, which is not installed",
            hint="pip install 'syntagma[batch]'",
            source=source,
        ) from error
    return pa
