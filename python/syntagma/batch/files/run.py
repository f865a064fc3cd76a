"""`process_file`: a file of rows through a stage, into another file."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
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
"""rows after which a file in which none had the column that is needed is given up"""
_COMMIT_SECONDS = 0.25
"""how much work a run that is killed loses at most, beside the chunks that it was working on"""


class Progress(msgspec.Struct, frozen=True):
    """How far a run is.

    Attributes:
        rows: rows that were read, those of earlier runs included.
        bad_rows: how many of them could not be processed.
        fraction: of the source, from 0 to 1.
    """

    rows: int
    bad_rows: int
    fraction: float


class Summary(msgspec.Struct, frozen=True):
    """What a run did.

    Attributes:
        source: the file that was read.
        target: the file that was written.
        errors: the side file with the rows that could not be processed; None if there was none.
        rows: rows of the source.
        written: rows of the target.
        bad_rows: rows of the side file.
        resumed_rows: rows that earlier runs had processed.
        seconds: how long this run took.
        rows_per_second: what this run processed.
    """

    source: str
    target: str
    errors: str | None
    rows: int
    written: int
    bad_rows: int
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
    """Send every row of a file through a stage, in constant memory; the order stays.

    Called again after it was stopped, however hard, it goes on where it was: no row is lost, and none is there twice.
    The target appears when it is whole; until then the work stands beside it, in `TARGET.partial` and
    `TARGET.journal`.

    Args:
        stage: the step: `Parse`, `Render`, `Constrain` or `Transcript`.
        source: JSON lines (`.jsonl`, `.ndjson`, with `.gz` or `.zst` after it if compressed) or Parquet (`.parquet`).
        target: the same. From JSON lines to Parquet, what is neither text nor number becomes JSON text.
        errors: the side file, JSON lines: the rows that could not be processed, each with its number, from 1 (of JSON
            lines, of the line), its error and its data. None: `TARGET.errors.jsonl`. It appears only if there are any.
        workers: how many processes work; 1: this one. A script that asks for more has its own work under
            `if __name__ == "__main__":`, as for any use of `multiprocessing`.
        chunk_rows: rows of a chunk, the unit of work of a process.
        overwrite: begin anew, and replace files that are there.
        progress: called after every chunk.

    Raises:
        BatchError: `E-BATCH-SUFFIX`, a name does not say what is in a file; `E-BATCH-READ`, the source cannot be read,
            with the row; `E-BATCH-WRITE`; `E-BATCH-EXISTS`, the target is there; `E-BATCH-RESUME`, `E-BATCH-BUSY`, an
            unfinished run with other options has left its work, or another run is writing; `E-BATCH-WORKER`, a process
            died; `E-BATCH-DEPENDENCY`, pyarrow is not installed.
        ArgumentError: `E-BATCH-MISSING`, no row has the column that is needed; `E-ARGUMENT-VALUE`.
    """
    for name, number in (("workers", workers), ("chunk_rows", chunk_rows)):
        if number < 1:
            raise ArgumentError("E-ARGUMENT-VALUE", f"{name} is at least 1, not {number}", pointer=f"/{name}")
    source, target = Path(source), Path(target)
    job = Job(stage, str(source), form_of(source), form_of(target))
    side = Path(errors) if errors is not None else _beside(target, ".errors.jsonl")
    run = _Run(job, source, target, side, overwrite=overwrite)
    try:
        return run.through(workers, chunk_rows, progress)
    except OSError as error:
        raise BatchError("E-BATCH-WRITE", f"cannot be written: {error.strerror}", source=str(target)) from error
    finally:
        run.close()


class _Run:
    """One run: where it is, and the files that it writes."""

    def __init__(self, job: Job, source: Path, target: Path, side: Path, *, overwrite: bool) -> None:
        self._job, self._source, self._target, self._side = job, source, target, side
        self._idle = False
        """whether nothing can come of the run"""
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
            message = f"cannot be written: {error.strerror}"
            raise BatchError("E-BATCH-WRITE", message, source=str(journal)) from error

    def through(self, workers: int, chunk_rows: int, progress: Callable[[Progress], None] | None) -> Summary:
        """Go on to the end."""
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
        """The error of a file in which no row has the column that is needed. Nothing is left of the run."""
        self._idle = True
        hint = "name another one: columns={…} (--column NAME=COLUMN)"
        return ArgumentError("E-BATCH-MISSING", misfit, hint=hint, source=str(self._source))

    def _finish(self) -> None:
        """Give the files their names, the target last. Stopped here, the next run does the rest."""
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
        """Let go of the journal; where nothing came of the run, leave nothing behind."""
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
        raise BatchError("E-BATCH-READ", f"cannot be read: {error.strerror}", source=str(source)) from error
    told = json_of([job.stage.identity(), job.target_form])
    return Header(str(source.resolve()), found.st_size, found.st_mtime_ns, hashlib.sha256(told).hexdigest())


def _cut(path: Path, size: int) -> BinaryIO:
    """A partial file that is as long as the journal says, open after its end.

    Raises:
        BatchError: `E-BATCH-RESUME`, it is shorter.
    """
    if size == 0:
        return path.open("wb")
    file = path.open("r+b")
    if file.seek(0, os.SEEK_END) < size:
        file.close()
        raise BatchError(
            "E-BATCH-RESUME",
            "the partial file is shorter than the journal says",
            hint="begin anew with overwrite (--overwrite)",
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
    )
