"""The types of files, JSON lines or Parquet, and their compression, from the suffixes of their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from syntagma.errors import BatchError

__all__ = ["FileForm", "arrow", "form_of"]

_ROWS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet"}
_COMPRESSIONS = {".gz": "gz", ".zst": "zst"}


class FileForm(msgspec.Struct, frozen=True):
    """The type of a file.

    Attributes:
        rows: `jsonl`, one JSON object per line, or `parquet`.
        compression: compression of JSON lines; None: not compressed, or compressed by Parquet itself.
    """

    rows: Literal["jsonl", "parquet"]
    compression: Literal["gz", "zst"] | None = None


def form_of(path: Path) -> FileForm:
    """The type of a file, from the suffixes of its name.

    Raises:
        BatchError: `E-BATCH-SUFFIX`, the suffixes are unknown; `E-BATCH-DEPENDENCY`, the type needs pyarrow.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = _COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    named = suffixes[:-1] if compression else suffixes
    rows = _ROWS.get(named[-1]) if named else None
    if rows is None or (compression and rows != "jsonl"):
        raise BatchError(
            "E-BATCH-SUFFIX",
            "the type of the file is unknown from its name",
            hint="use a name that ends in .jsonl or .ndjson, with .gz or .zst after it if compressed, or in .parquet",
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
