"""Reads a file in chunks of rows, from a given position, in constant memory."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from syntagma.batch.files.form import FileForm, arrow
from syntagma.errors import BatchError

__all__ = ["LINE_BYTES", "Chunk", "chunks"]

CHUNK_BYTES = 4 << 20
"""a chunk ends after this many bytes, even if it has few rows"""
LINE_BYTES = 64 << 20
"""a longer line is not read as a row"""
_PIECE = 1 << 20


class Chunk(msgspec.Struct, frozen=True):
    """Consecutive rows.

    Attributes:
        first: number of the first row, counted from 1; for JSON lines, the number of its line.
        rows: number of rows or lines.
        data: the lines, or the rows as an Arrow stream.
        end: position in the file after the last row: for JSON lines in uncompressed bytes, for Parquet in rows.
        too_long: indexes of lines longer than `LINE_BYTES`, of which `data` contains only the beginning.
        fraction: the fraction of the file that was read, from 0 to 1.
    """

    first: int
    rows: int
    data: bytes
    end: int
    fraction: float
    too_long: tuple[int, ...] = ()


def chunks(path: Path, form: FileForm, *, position: int, row: int, most: int) -> Iterator[Chunk]:
    """The rows of a file from a position on, in chunks.

    Args:
        path: the file.
        form: the type of the file.
        position: `Chunk.end` of the last chunk read before; 0: the beginning.
        row: number of rows before the position.
        most: largest number of rows in a chunk.

    Raises:
        BatchError: `E-BATCH-READ`, the file cannot be read; `line` is the number of the next row.
    """
    read = _lines if form.rows == "jsonl" else _batches
    done = row
    try:
        for chunk in read(path, form, position, row, most):
            yield chunk
            done = chunk.first + chunk.rows - 1
    except (OSError, EOFError, zlib.error, ValueError) as error:  # pyarrow's errors are among these
        words = getattr(error, "strerror", None) or str(error)
        message = f"the file cannot be read after row {done}: {words}" if done else f"the file cannot be read: {words}"
        raise BatchError("E-BATCH-READ", message, source=str(path), line=done + 1) from error


def _lines(path: Path, form: FileForm, position: int, row: int, most: int) -> Iterator[Chunk]:
    size = max(1, path.stat().st_size)
    with path.open("rb") as raw, _decompressed(raw, form) as file:
        _skip(file, position, seekable=form.compression is None)
        while True:
            lines: list[bytes] = []
            too_long: list[int] = []
            taken = 0
            while len(lines) < most and taken < CHUNK_BYTES and (line := file.readline(LINE_BYTES)):
                taken += len(line)
                if len(line) == LINE_BYTES and not line.endswith(b"\n"):
                    too_long.append(len(lines))
                    line = line[:1000] + b"\n"
                    while (rest := file.readline(_PIECE)) and not rest.endswith(b"\n"):
                        taken += len(rest)
                    taken += len(rest)
                lines.append(line)
            if not lines:
                return
            position += taken
            fraction = min(1.0, raw.tell() / size)
            yield Chunk(row + 1, len(lines), b"".join(lines), position, fraction, tuple(too_long))
            row += len(lines)


def _decompressed(raw: BinaryIO, form: FileForm) -> Any:
    if form.compression is None:
        return io.BufferedReader(raw, _PIECE)
    if form.compression == "gz":
        return io.BufferedReader(gzip.GzipFile(fileobj=raw), _PIECE)
    return io.BufferedReader(arrow().CompressedInputStream(raw, "zstd"), _PIECE)


def _skip(file: Any, count: int, *, seekable: bool) -> None:
    if seekable:
        file.seek(count)
        return
    while count > 0:
        read = len(file.read(min(count, _PIECE)))
        if not read:
            raise EOFError("the file is shorter than before")
        count -= read


def _batches(path: Path, _form: FileForm, position: int, row: int, most: int) -> Iterator[Chunk]:
    pa = arrow(str(path))
    import pyarrow.parquet as pq

    # These options make pyarrow read large row groups in pieces.
    with pq.ParquetFile(path, pre_buffer=False, buffer_size=_PIECE) as file:
        meta = file.metadata
        total = max(1, meta.num_rows)
        weight = sum(meta.row_group(at).total_byte_size for at in range(meta.num_row_groups)) / total
        most = max(1, min(most, int(CHUNK_BYTES / max(1.0, weight))))
        groups, skipped = _groups_from(meta, position)
        for batch in file.iter_batches(batch_size=most, row_groups=groups):
            if skipped >= batch.num_rows:
                skipped -= batch.num_rows
                continue
            rest = batch.slice(skipped)
            skipped = 0
            position += rest.num_rows
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, rest.schema) as stream:
                stream.write_batch(rest)
            yield Chunk(row + 1, rest.num_rows, sink.getvalue().to_pybytes(), position, position / total)
            row += rest.num_rows


def _groups_from(meta: Any, position: int) -> tuple[list[int], int]:
    """The row groups from the one with row `position` on, and the number of its rows before that row."""
    at = 0
    while at < meta.num_row_groups and position >= meta.row_group(at).num_rows:
        position -= meta.row_group(at).num_rows
        at += 1
    return list(range(at, meta.num_row_groups)), position
