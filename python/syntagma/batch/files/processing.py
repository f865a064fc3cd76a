"""Processes one chunk: reads its rows, runs the stage, and encodes the results."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from syntagma.batch.files.form import FileForm, arrow
from syntagma.batch.files.reading import LINE_BYTES, Chunk
from syntagma.batch.files.work import table_bytes, table_of
from syntagma.batch.stage import Stage
from syntagma.batch.values import json_of, plain

__all__ = ["Block", "Job", "process"]

Problem: TypeAlias = Mapping[str, str]
"""code and message of an error"""


class Block(msgspec.Struct, frozen=True):
    """The results of one chunk.

    Attributes:
        rows: number of rows.
        good: number of rows processed without an error.
        output: the processed rows, encoded for the target.
        bad: the lines for the side file.
        misfit: the first error message, if no row had the required column; else None.
        diagnosed: number of processed rows with diagnostics.
        codes: number of rows by code: that of the error, or those of the diagnostics.
    """

    rows: int
    good: int
    output: bytes
    bad: bytes
    misfit: str | None = None
    diagnosed: int = 0
    codes: Mapping[str, int] = {}

    @property
    def bad_rows(self) -> int:
        """The number of rows with errors."""
        return self.rows - self.good


class Job(msgspec.Struct, frozen=True):
    """The parameters of a run, for the processing of chunks.

    Attributes:
        stage: the stage.
        source: the name of the source.
        source_form: the type of the source.
        target_form: the type of the target.
    """

    stage: Stage
    source: str
    source_form: FileForm
    target_form: FileForm


def process(job: Job, chunk: Chunk) -> Block:
    """Process the rows of a chunk.

    Raises:
        ArgumentError: `E-BATCH-MISSING`, a Parquet file does not have the required column.
    """
    return _process_lines(job, chunk) if job.source_form.rows == "jsonl" else _process_table(job, chunk)


def _process_lines(job: Job, chunk: Chunk) -> Block:
    column = job.stage.error_column
    good: list[dict[str, Any]] = []
    bad: list[bytes] = []
    problems: list[Problem] = []
    for number, text, row, unread in _rows(chunk):
        found = job.stage.row(row) if unread is None else {column: unread}
        problem = found.pop(column)
        if problem is None:
            good.append(found)
        else:
            problems.append(problem)
            bad.append(_bad_row(job, number, problem, {"text": text} if row is None else {"data": row}))
    rows = len(good) + len(bad)
    name = job.stage.diagnostics_column
    diagnosed, codes = _counted(problems, [row[name] for row in good] if name is not None else [])
    misfit = None if good else _misfit(problems)
    return Block(rows, len(good), _written(job, good), b"".join(bad), misfit, diagnosed, codes)


def _rows(chunk: Chunk) -> Iterator[tuple[int, str, Any, Problem | None]]:
    """Number, text, value and error of each line that is not only whitespace. With an error, the value is None."""
    for at, line in enumerate(chunk.data.split(b"\n")):
        raw = line.strip()
        if chunk.first + at == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        if raw:
            row, message = _decoded(raw) if at not in chunk.too_long else (None, f"more than {LINE_BYTES:,} bytes")
            problem = None if message is None else {"code": "E-BATCH-LINE", "message": message}
            yield chunk.first + at, "" if message is None else raw.decode("utf-8", "replace"), row, problem


def _decoded(raw: bytes) -> tuple[Any, str | None]:
    try:
        row = _DECODER.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return None, f"not JSON: {error}"
    return (row, None) if isinstance(row, dict) else (None, "the line is not a JSON object")


def _counted(problems: Iterable[Problem | None], diagnostics: Iterable[Any]) -> tuple[int, dict[str, int]]:
    """How many rows have diagnostics, and how many have each code; of a row, each code counts once."""
    found = [{one["code"] for one in told} for told in diagnostics if told]
    codes = Counter(problem["code"] for problem in problems if problem is not None)
    codes.update(code for one in found for code in one)
    return len(found), dict(codes)


def _misfit(problems: list[Problem]) -> str | None:
    read = [problem for problem in problems if problem["code"] != "E-BATCH-LINE"]
    missing = [problem for problem in read if problem["code"] == "E-BATCH-MISSING"]
    return missing[0]["message"] if missing and len(missing) == len(read) else None


def _bad_row(job: Job, number: int, problem: Problem, row: Mapping[str, Any]) -> bytes:
    return json_of({"source": job.source, "row": number, "error": problem, **row}) + b"\n"


def _process_table(job: Job, chunk: Chunk) -> Block:
    pa = arrow(job.source)
    column = job.stage.error_column
    with pa.ipc.open_stream(chunk.data) as stream:
        given = stream.read_all()
    table = job.stage(given)
    problems = table.column(column).to_pylist()
    bad_at = [at for at, problem in enumerate(problems) if problem is not None]
    bad = [
        _bad_row(job, chunk.first + at, problems[at], {"data": _top(given.slice(at, 1).to_pylist()[0])})
        for at in bad_at
    ]
    good = table.drop_columns([column]).filter([problem is None for problem in problems])
    if job.target_form.rows == "parquet":
        output = table_bytes(good) if good.num_rows else b""
    else:
        output = _lines(job, map(_top, good.to_pylist()))
    name = job.stage.diagnostics_column
    diagnosed, codes = _counted(problems, good.column(name).to_pylist() if name is not None else [])
    return Block(len(problems), good.num_rows, output, b"".join(bad), diagnosed=diagnosed, codes=codes)


def _top(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a table as JSON data, without the null members that Arrow adds to structures."""
    return {name: plain(value) for name, value in row.items()}


def _written(job: Job, rows: list[dict[str, Any]]) -> bytes:
    if job.target_form.rows == "jsonl":
        return _lines(job, rows)
    return table_bytes(table_of(rows, job.stage.written)) if rows else b""


def _lines(job: Job, rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Rows as lines. Each call gives a complete compressed stream, and such streams can be concatenated."""
    plain_text = b"".join(json_of(row) + b"\n" for row in rows)
    if not plain_text or job.target_form.compression is None:
        return plain_text
    if job.target_form.compression == "gz":
        return gzip.compress(plain_text, compresslevel=6, mtime=0)
    return bytes(arrow().Codec("zstd").compress(plain_text, asbytes=True))


_DECODER = msgspec.json.Decoder()
