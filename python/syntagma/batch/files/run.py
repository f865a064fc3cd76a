"""`process_file`: runs a stage over the rows of a file, and writes the results to another file."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import msgspec

from syntagma.batch.files.form import form_of
from syntagma.batch.files.journal import Header, Journal, Place, synced
from syntagma.batch.files.processing import Block, Job
from syntagma.batch.files.reading import Chunk, chunks
from syntagma.batch.files.work import write_parquet
from syntagma.batch.files.workers import blocks
from syntagma.batch.stage import Stage
from syntagma.batch.values import json_of
from syntagma.entry import strict_entry
from syntagma.errors import ArgumentError, BatchError

__all__ = ["Progress", "Summary", "process_file"]

_FITTING = 100
"""a run is given up if none of this many rows has the required column"""
_COMMIT_SECONDS = 0.25
"""seconds between commits: the work that a killed run loses, in addition to unfinished chunks"""


class Progress(msgspec.Struct, frozen=True):
    """The progress of a run.

    Attributes:
        rows: number of rows read, including those of earlier runs.
        bad_rows: number of rows with errors.
        fraction: the fraction of the source that was read, from 0 to 1.
    """

    rows: int
    bad_rows: int
    fraction: float


class Summary(msgspec.Struct, frozen=True):
    """The summary of a run.

    Attributes:
        source: path of the source.
        target: path of the target.
        errors: path of the side file with the rows that could not be processed; None if there were none.
        rows: number of rows in the source.
        written: number of rows in the target.
        bad_rows: number of rows in the side file.
        diagnosed_rows: number of rows in the target whose text was malformed, so that they have diagnostics.
        codes: number of rows by code, the most frequent first: that of the error, or those of the diagnostics.
        resumed_rows: number of rows processed by earlier runs.
        seconds: duration of this run in seconds.
        rows_per_second: rows per second of this run.
    """

    source: str
    target: str
    errors: str | None
    rows: int
    written: int
    bad_rows: int
    diagnosed_rows: int
    codes: dict[str, int]
    resumed_rows: int
    seconds: float
    rows_per_second: float


@strict_entry
def process_file(
    stage: Stage,
    source: str | Path,
    target: str | Path,
    *,
    errors: str | Path | None = None,
    workers: int = 1,
    chunk_rows: int = 1000,
    overwrite: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Run a stage over every row of a file, in constant memory. The order of rows is kept.

    If it is stopped or killed, the same call resumes the run: no row is lost, and none is written twice. The target
    appears when it is complete. Until then, the results are in `TARGET.partial`, and the progress is in
    `TARGET.journal`.

    Args:
        stage: the stage: `Parse`, `Render`, `Constrain` or `Transcript`.
        source: the source: JSON lines (`.jsonl`, `.ndjson`, with `.gz` or `.zst` after it if compressed) or Parquet
            (`.parquet`).
        target: the target, of the same types. From JSON lines to Parquet, values other than strings and numbers become
            JSON text.
        errors: the side file, JSON lines: the rows that could not be processed, each with its number, counted from 1
            (for JSON lines, the line number), its error and its data. None: `TARGET.errors.jsonl`. It is written only
            if there are such rows.
        workers: number of processes; 1: only this one. With more, a script must have its own code under
            `if __name__ == "__main__":`, as for any use of `multiprocessing`.
        chunk_rows: largest number of rows in a chunk, the unit of work of a process.
        overwrite: discard an unfinished run, and replace existing files.
        progress: called after every chunk.

    Raises:
        BatchError: `E-BATCH-SUFFIX`, the type of a file is unknown; `E-BATCH-READ`, the source cannot be read;
            `E-BATCH-WRITE`, a file cannot be written; `E-BATCH-EXISTS`, the target or side file exists;
            `E-BATCH-RESUME`, there is an unfinished run with other options; `E-BATCH-BUSY`, another run is writing the
            same files; `E-BATCH-WORKER`, a process died; `E-BATCH-DEPENDENCY`, pyarrow is not installed.
        ArgumentError: `E-BATCH-MISSING`, no row has the required column; `E-ARGUMENT-VALUE`, a number is not positive.
    """
    for name, number in (("workers", workers), ("chunk_rows", chunk_rows)):
        if number < 1:
            raise ArgumentError("E-ARGUMENT-VALUE", f"{name} must be at least 1, not {number}", pointer=f"/{name}")
    source, target = Path(source), Path(target)
    job = Job(stage, str(source), form_of(source), form_of(target))
    side = Path(errors) if errors is not None else _beside(target, ".errors.jsonl")
    run = _Run(job, source, target, side, overwrite=overwrite)
    try:
        return run.through(workers, chunk_rows, progress)
    except OSError as error:
        message = f"the file cannot be written: {error.strerror}"
        raise BatchError("E-BATCH-WRITE", message, source=str(target)) from error
    finally:
        run.close()


class _Run:
    """One run: its progress, and the files that it writes."""

    def __init__(self, job: Job, source: Path, target: Path, side: Path, *, overwrite: bool) -> None:
        self._job, self._source, self._target, self._side = job, source, target, side
        self._idle = False
        """whether the run was given up, so that its files are removed"""
        self._partial, self._partial_side = _beside(target, ".partial"), _beside(side, ".partial")
        journal = _beside(target, ".journal")
        header = _header(job, source)
        for path in (target, side):
            if path.exists() and not overwrite and not journal.exists():
                raise BatchError(
                    "E-BATCH-EXISTS", "the file exists", hint="overwrite (--overwrite) replaces it", source=str(path)
                )
        try:
            self._journal = Journal(journal, header, anew=overwrite)
        except OSError as error:
            message = f"the file cannot be written: {error.strerror}"
            raise BatchError("E-BATCH-WRITE", message, source=str(journal)) from error

    def through(self, workers: int, chunk_rows: int, progress: Callable[[Progress], None] | None) -> Summary:
        """Run to the end."""
        begun, first = time.monotonic(), self._journal.place
        if not first.ended:
            self._work(workers, chunk_rows, progress)
        self._finish()
        last, seconds = self._journal.place, time.monotonic() - begun
        bad_rows = last.rows - last.good
        return Summary(
            source=str(self._source),
            target=str(self._target),
            errors=str(self._side) if bad_rows else None,
            rows=last.rows,
            written=last.good,
            bad_rows=bad_rows,
            diagnosed_rows=last.diagnosed,
            codes=dict(Counter(last.codes).most_common()),
            resumed_rows=first.rows,
            seconds=round(seconds, 3),
            rows_per_second=round((last.rows - first.rows) / seconds, 1) if seconds else 0.0,
        )

    def _work(self, workers: int, chunk_rows: int, progress: Callable[[Progress], None] | None) -> None:
        place = self._journal.place
        misfit: str | None = None
        with _cut(self._partial, place.output) as output, _cut(self._partial_side, place.bad) as bad:
            read = chunks(self._source, self._job.source_form, position=place.position, row=place.row, most=chunk_rows)
            committed = time.monotonic()
            with contextlib.closing(blocks(self._job, read, workers)) as found:
                for chunk, block in found:
                    misfit = block.misfit if place.rows == 0 or misfit is not None else None
                    output.write(block.output)
                    bad.write(block.bad)
                    place = _after(place, chunk, block)
                    if time.monotonic() - committed >= _COMMIT_SECONDS:
                        synced(output)
                        synced(bad)
                        self._journal.commit(place)
                        committed = time.monotonic()
                    if misfit is not None and place.rows >= _FITTING:
                        break
                    if progress is not None:
                        progress(Progress(place.rows, place.rows - place.good, chunk.fraction))
            if misfit is not None:
                raise self._unfit(misfit)
            synced(output)
            synced(bad)
        self._journal.commit(msgspec.structs.replace(place, ended=True))

    def _unfit(self, misfit: str) -> ArgumentError:
        """The error for a file in which no row has the required column. Marks the run as given up."""
        self._idle = True
        hint = "name the column: columns={…} (--column NAME=COLUMN)"
        return ArgumentError("E-BATCH-MISSING", misfit, hint=hint, source=str(self._source))

    def _finish(self) -> None:
        """Rename the files, the target last. If the run is stopped here, the next run does the rest."""
        if self._partial_side.exists():
            if self._journal.place.bad:
                os.replace(self._partial_side, self._side)
            else:
                self._side.unlink(missing_ok=True)
                self._partial_side.unlink()
        if self._partial.exists():
            if self._job.target_form.rows == "parquet":
                made = _beside(self._target, ".finishing")
                results = self._job.stage.written
                del results[self._job.stage.error_column]
                write_parquet(self._partial, made, results)
                os.replace(made, self._target)
                self._partial.unlink()
            else:
                os.replace(self._partial, self._target)
        self._journal.close(remove=True)

    def close(self) -> None:
        """Close the journal. If the run has no results, remove its files."""
        idle = self._idle or self._journal.place == Place()
        if idle:
            for path in (self._partial, self._partial_side):
                path.unlink(missing_ok=True)
        self._journal.close(remove=idle)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _header(job: Job, source: Path) -> Header:
    try:
        found = source.stat()
    except OSError as error:
        raise BatchError("E-BATCH-READ", f"the file cannot be read: {error.strerror}", source=str(source)) from error
    told = json_of([job.stage.identity(), job.target_form])
    return Header(str(source.resolve()), found.st_size, found.st_mtime_ns, hashlib.sha256(told).hexdigest())


def _cut(path: Path, size: int) -> BinaryIO:
    """Open a partial file at its end, cut to the size in the journal.

    Raises:
        BatchError: `E-BATCH-RESUME`, the file is shorter.
    """
    if size == 0:
        return path.open("wb")
    file = path.open("r+b")
    if file.seek(0, os.SEEK_END) < size:
        file.close()
        raise BatchError(
            "E-BATCH-RESUME",
            "the partial file is shorter than the journal says",
            hint="discard the unfinished run with overwrite (--overwrite)",
            source=str(path),
        )
    file.seek(size)
    file.truncate()
    return file


def _after(place: Place, chunk: Chunk, block: Block) -> Place:
    return Place(
        position=chunk.end,
        row=chunk.first + chunk.rows - 1,
        rows=place.rows + block.rows,
        good=place.good + block.good,
        output=place.output + len(block.output),
        bad=place.bad + len(block.bad),
        diagnosed=place.diagnosed + block.diagnosed,
        codes=dict(Counter(place.codes) + Counter(block.codes)),
    )
