"""Recorded answers: bundles in a folder, to find out later what went wrong with one."""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, cast

import msgspec

from syntagma.codec import Turn
from syntagma.errors import RequestError
from syntagma.parsing import StreamParser
from syntagma.recording import Recorder, record_turn
from syntagma.serving.records import Observer, RequestRecord, current_record

__all__ = ["RecordingSettings", "Recordings", "recorded"]

_HEADER: Final = b"x-syntagma-record"
_YES: Final = (b"1", b"true", b"yes")
_SUFFIX: Final = ".recording.json"
_ODD: Final = re.compile(r"[^A-Za-z0-9_-]")
_WAITING: Final = 64
"""answers that may wait to be written; further ones are not recorded"""
_log = logging.getLogger("syntagma.serving")


class RecordingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Which answers are recorded, and where.

    Attributes:
        folder: the folder of their bundles; it is made if it is missing.
        every: whether to record every answer; if not, those of requests with the header `x-syntagma-record: 1`.
        files: the number of bundles to keep; older ones are removed.
        bytes: the bytes that they may have together.
    """

    folder: str
    every: bool = False
    files: int = 1_000
    bytes: int = 256 << 20


class Recordings(Observer):
    """Records answers.

    A bundle holds the prompt and the answer, but none of the request's headers, so no key. Only the owner of the
    process can read the files.

    Args:
        settings: which answers, and where.

    Raises:
        RequestError: `E-REQUEST-FILE`, the folder cannot be made.
    """

    def __init__(self, settings: RecordingSettings) -> None:
        self._settings = settings
        self._folder = Path(settings.folder)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            message = f"cannot be made: {error.strerror}"
            raise RequestError("E-REQUEST-FILE", message, source=settings.folder) from error
        self._open: dict[int, list[Recorder]] = {}
        """the answers of the current requests, by the `id()` of their record"""
        self._waiting = threading.BoundedSemaphore(_WAITING)
        self._writing = ThreadPoolExecutor(max_workers=1, thread_name_prefix="syntagma-record")

    def parser(self, turn: Turn) -> StreamParser:
        """A parser for one answer to the current request; it records the answer if the settings or the request ask."""
        record = current_record()
        if record is None or not (self._settings.every or _asks(record)):
            return turn.parser()
        recorder = record_turn(turn)
        self._open.setdefault(id(record), []).append(recorder)
        return cast("StreamParser", recorder)

    def leaves(self, record: RequestRecord) -> None:
        """See `Observer`."""
        for number, recorder in enumerate(self._open.pop(id(record), ())):
            if not self._waiting.acquire(blocking=False):
                _log.warning("an answer was not recorded: %d wait for the disk already", _WAITING)
                return
            name = f"{time.time_ns():020d}-{_ODD.sub('_', record.id)}-{number}{_SUFFIX}"
            self._writing.submit(self._write, name, recorder)

    def close(self) -> None:
        """Write the answers that wait, and stop."""
        self._writing.shutdown(wait=True)

    def _write(self, name: str, recorder: Recorder) -> None:
        try:
            data = recorder.bundle().to_json()
            if len(data) > self._settings.bytes:
                _log.warning("an answer was not recorded: its %d bytes are more than all may have", len(data))
                return
            self._make_room(len(data))
            part = self._folder / f".{name}.part"
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
                stream.write(data)
            part.replace(self._folder / name)
        except OSError as error:
            _log.warning("an answer was not recorded: %s", error)
        finally:
            self._waiting.release()

    def _make_room(self, size: int) -> None:
        """Remove the oldest bundles, to make room for one of this size. Other workers may do the same."""
        kept = sorted(self._folder.glob(f"*{_SUFFIX}"), key=lambda path: path.name)
        sizes = [_size(path) for path in kept]
        total = sum(sizes)
        for number, path in enumerate(kept):
            if len(kept) - number < self._settings.files and total + size <= self._settings.bytes:
                return
            path.unlink(missing_ok=True)
            total -= sizes[number]


def _asks(record: RequestRecord) -> bool:
    return any(name == _HEADER and value.strip().lower() in _YES for name, value in record.headers)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def recorded(recordings: Recordings | None, turn: Turn) -> StreamParser:
    """A parser for one answer; it records the answer if there are recordings."""
    return turn.parser() if recordings is None else recordings.parser(turn)
