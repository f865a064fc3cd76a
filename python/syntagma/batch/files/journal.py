"""The journal of a run: how far it is, so that another run goes on from there.

A run appends what it makes to partial files. When these are on the disk, it appends a line to the journal, with the
position in the source and the sizes of the partial files. Whatever stands after those sizes was written by a run that
was stopped before the next line, and is cut off by the run that goes on: no row is lost, and none is there twice.
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
    """The first line: what the run is about. A run with another one cannot go on.

    Attributes:
        source: path of the file that is read.
        size: its size, bytes.
        changed: when it was changed, nanoseconds.
        job: fingerprint of what is done with it.
        version: of the journal.
    """

    source: str
    size: int
    changed: int
    job: str
    version: int = _VERSION


class Place(msgspec.Struct, frozen=True):
    """How far a run is.

    Attributes:
        position: in the source, see `Chunk.end`.
        row: number of the last row that was read; of JSON lines, of its line.
        rows: how many rows were read.
        good: how many of them were processed.
        output: bytes of the partial target.
        bad: bytes of the partial side file.
        ended: all rows were read.
    """

    position: int = 0
    row: int = 0
    rows: int = 0
    good: int = 0
    output: int = 0
    bad: int = 0
    ended: bool = False


class Journal:
    """A journal on the disk, open for one run at a time.

    Attributes:
        place: what the last line said; the beginning if there is none.
    """

    def __init__(self, path: Path, header: Header, *, anew: bool) -> None:
        """Open or begin a journal.

        Args:
            path: the file.
            header: what this run is about.
            anew: forget what is there.

        Raises:
            BatchError: `E-BATCH-BUSY`, another run has it open; `E-BATCH-RESUME`, it is of a run about something else.
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
        self._file.truncate(sum(map(len, lines)))  # a line that is not whole was being written when the run stopped
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
        what = "of another format of journals"
        if found is not None and found.version == _VERSION:
            what = "with other options" if found.job != header.job else "of another file, or of one that has changed"
        raise BatchError(
            "E-BATCH-RESUME",
            f"an unfinished run {what} has left its work there",
            hint="go on as that run was begun, or begin anew with overwrite (--overwrite)",
            source=str(self._path),
        )

    def commit(self, place: Place) -> None:
        """Note how far the run is; what `place` says must be on the disk already."""
        self._append(msgspec.json.encode(place))
        self.place = place

    def _append(self, line: bytes) -> None:
        self._file.seek(0, os.SEEK_END)
        self._file.write(line + b"\n")
        synced(self._file)

    def close(self, *, remove: bool = False) -> None:
        """Close the journal, and remove it if the run is over."""
        if remove:
            self._path.unlink(missing_ok=True)
        self._file.close()


def synced(file: BinaryIO) -> None:
    """Bring what was written to the disk."""
    file.flush()
    os.fsync(file.fileno())


def _lock(file: BinaryIO, path: Path) -> None:
    """Refuse a file that another process has locked; the lock ends with the process, however that ends."""
    try:
        import fcntl
    except ImportError:  # a system without such locks
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise BatchError("E-BATCH-BUSY", "another run is writing this file", source=str(path)) from error
