"""A model's codec follows the files that it was made from: a change counts from the next request on."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from syntagma.codec import ChatCodec
from syntagma.errors import SyntagmaError
from syntagma.serving.model import ServedModel

__all__ = ["Follower"]

_log = logging.getLogger("syntagma.serving")


class Follower:
    """Watches files, and gives a model a new codec when one of them has changed.

    If a changed file cannot be used, the log says so once, and the model keeps its codec.

    Args:
        served: the model.
        files: the files that its codec was made from.
        make: makes the codec from them again.
    """

    def __init__(self, served: ServedModel, files: Sequence[Path], make: Callable[[], ChatCodec]) -> None:
        self._served = served
        self._files = tuple(files)
        self._make = make
        self._seen = self._stamps()
        self._asked = threading.Event()

    def look(self, *, anyway: bool = False) -> bool:
        """Read the files if one has changed; returns whether the model has a new codec.

        Args:
            anyway: read them whether or not one has changed.
        """
        stamps = self._stamps()
        if stamps == self._seen and not anyway:
            return False
        self._seen = stamps
        names = ", ".join(str(path) for path in self._files)
        try:
            codec = self._make()
        except (SyntagmaError, OSError) as error:
            _log.error(
                "%s cannot be used; %s goes on with what was read before", names, self._served.name, exc_info=error
            )
            return False
        self._served.follow(codec)
        _log.warning("%s goes on with %s, which has changed", self._served.name, names)
        return True

    def ask(self) -> None:
        """Have the files read soon, whether or not one has changed. A signal handler may call it."""
        self._asked.set()

    def start(self, every: float) -> None:
        """Look repeatedly, in a thread that ends with the process.

        Args:
            every: the interval, seconds.
        """

        def watch() -> None:
            while True:
                asked = self._asked.wait(every)
                self._asked.clear()
                self.look(anyway=asked)

        threading.Thread(target=watch, name="syntagma-follow", daemon=True).start()

    def _stamps(self) -> tuple[tuple[int, int] | None, ...]:
        return tuple(_stamp(path) for path in self._files)


def _stamp(path: Path) -> tuple[int, int] | None:
    """When a file was written (nanoseconds) and its size (bytes); None: there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
