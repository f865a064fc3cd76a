"""Places among the generations of a server, and prompts that are read in one while their grammar is compiled."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from syntagma.generation import Generation

__all__ = ["Places", "PromptAhead"]

T = TypeVar("T")


class Places(ThreadPoolExecutor):
    """Threads that know whether one of them is free.

    Args:
        places: their number.
        name: the beginning of their names.
    """

    def __init__(self, places: int, name: str) -> None:
        super().__init__(max_workers=places, thread_name_prefix=name)
        self._places = places
        self._taken = 0
        self._lock = threading.Lock()

    @property
    def is_free(self) -> bool:
        """Whether work that is submitted now begins at once."""
        return self._taken < self._places

    def submit(self, work: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """See `ThreadPoolExecutor`."""
        future = super().submit(work, *args, **kwargs)
        with self._lock:
            self._taken += 1
        future.add_done_callback(self._left)
        return future

    def _left(self, _: Future[Any]) -> None:
        with self._lock:
            self._taken -= 1


class PromptAhead:
    """A prompt that the model reads while its grammar is compiled. It has a place only until it is read.

    Args:
        places: one is free.
        opens: opens the generation.
    """

    def __init__(self, places: Places, opens: Callable[[], Generation]) -> None:
        self._opened: Future[Generation] = Future()
        places.submit(copy_context().run, self._read, opens)

    def _read(self, opens: Callable[[], Generation]) -> None:
        if not self._opened.set_running_or_notify_cancel():
            return
        try:
            generation = opens()
        except BaseException as error:
            self._opened.set_exception(error)
            return
        self._opened.set_result(generation)
        # What fails here fails again, where the generation is started.
        with contextlib.suppress(Exception):
            generation.read_prompt()

    def generation(self) -> Generation:
        """The generation, to be started, in a thread that may wait.

        Raises:
            SyntagmaError: it cannot be opened.
        """
        return self._opened.result()

    def close(self) -> None:
        """Give it up: the model stops to read."""
        if not self._opened.cancel():
            self._opened.add_done_callback(_close)


def _close(opened: Future[Generation]) -> None:
    if opened.exception() is None:
        opened.result().close()
