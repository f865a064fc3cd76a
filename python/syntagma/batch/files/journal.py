"""The journal of a run: its progress, so that a later run can resume it.

A run appends its results to partial files. When these are on the disk, it appends a line to the journal, with the
position in the source and the sizes of the partial files. A run that resumes cuts the partial files to these sizes,
because later data was written after the last line. So no row is lost, and none is written twice.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

import msgspec

from syntagma.errors import BatchError

__all__ = ["Header", "Journal", "Place", "synced"]

_VERSION = 1


class Header(msgspec.Struct, frozen=True):
    """The first line of a journal, which identifies the run. Only a run with an equal header can resume.

    Attributes:
        source: path of the source.
        size: size of the source in bytes.
        changed: modification time of the source in nanoseconds.
        job: fingerprint of the stage and the target's type.
        version: version of the journal's format.
    """

    source: str
    size: int
    changed: int
    job: str
    version: int = _VERSION


class Place(msgspec.Struct, frozen=True):
    """The progress of a run.

    Attributes:
        position: position in the source, see `Chunk.end`.
        row: number of the last row read; for JSON lines, the number of its line.
        rows: number of rows read.
        good: number of rows processed without an error.
        output: size of the partial target in bytes.
        bad: size of the partial side file in bytes.
        ended: all rows were read.
        diagnosed: number of rows with diagnostics.
        codes: number of rows by code, see `Block`.
    """

    position: int = 0
    row: int = 0
    rows: int = 0
    good: int = 0
    output: int = 0
    bad: int = 0
    ended: bool = False
    diagnosed: int = 0
    codes: dict[str, int] = {}


class Journal:
    """A journal file, open for one run at a time.

    Attributes:
        place: the progress in the last line; the beginning if there is none.
    """

    def __init__(self, path: Path, header: Header, *, anew: bool) -> None:
        """Open or create a journal.

        Args:
            path: the file.
            header: the header of this run.
            anew: discard an existing journal.

        Raises:
            BatchError: `E-BATCH-BUSY`, another run has it open; `E-BATCH-RESUME`, it has another header.
        """
        self._path = path
        self._file: BinaryIO = path.open("a+b")
        try:
            _lock(self._file, path)
            self.place = self._begin(header, anew=anew)
        except BaseException:
            self._file.close()
            raise

    def _begin(self, header: Header, *, anew: bool) -> Place:
        self._file.seek(0)
        whole = [line for line in self._file.read().splitlines(keepends=True) if line.endswith(b"\n")]
        lines = [] if anew else whole
        self._file.truncate(sum(map(len, lines)))  # drops an incomplete last line, at which the run was stopped
        if not lines:
            self._append(msgspec.json.encode(header))
            return Place()
        self._check(lines[0], header)
        return msgspec.json.decode(lines[-1], type=Place) if len(lines) > 1 else Place()

    def _check(self, line: bytes, header: Header) -> None:
        try:
            found = msgspec.json.decode(line, type=Header)
        except msgspec.DecodeError:
            found = None
        if found == header:
            return
        what = "of another version"
        if found is not None and found.version == _VERSION:
            what = "with other options" if found.job != header.job else "of another or a changed file"
        raise BatchError(
            "E-BATCH-RESUME",
            f"there is an unfinished run {what}",
            hint="resume it with its own source and options, or discard it with overwrite (--overwrite)",
            source=str(self._path),
        )

    def commit(self, place: Place) -> None:
        """Record the progress of the run. The data up to `place` must already be on the disk."""
        self._append(msgspec.json.encode(place))
        self.place = place

    def _append(self, line: bytes) -> None:
        self._file.seek(0, os.SEEK_END)
        self._file.write(line + b"\n")
        synced(self._file)

    def close(self, *, remove: bool = False) -> None:
        """Close the journal. `remove`: delete it as well."""
        if remove:
            self._path.unlink(missing_ok=True)
        self._file.close()


def synced(file: BinaryIO) -> None:
    """Flush a file to the disk."""
    file.flush()
    os.fsync(file.fileno())


def _lock(file: BinaryIO, path: Path) -> None:
    """Lock a file, or raise if another process has locked it. The lock ends with the process, even if it is killed."""
    try:
        import fcntl
    except ImportError:  # a system without such locks
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise BatchError("E-BATCH-BUSY", "another run is writing this file", source=str(path)) from error
