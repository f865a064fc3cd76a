"""The middleware around the endpoints of every application: records, rules for web pages, keys."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Final

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from syntagma.serving.gate import OPEN_PATHS, Gate
from syntagma.serving.inspecting import PAGE_PATHS
from syntagma.serving.logs import AccessLog
from syntagma.serving.metrics import Metrics
from syntagma.serving.noticed import NoticedLog
from syntagma.serving.recordings import Recordings
from syntagma.serving.records import Observer, Recording
from syntagma.serving.settings import Settings
from syntagma.serving.tracing import Tracing

__all__ = ["ServerMiddleware"]

_SHOWN: Final = ("x-request-id", "x-syntagma-ignored", "x-syntagma-error", "retry-after")
"""headers of answers that web pages may read"""


class ServerMiddleware:
    """The middleware of one application, and the observers that it reports to.

    Args:
        settings: the settings of the server.
        observers: further observers.

    Attributes:
        observers: hear of requests.
        metrics: the metrics; None: prometheus-client is not installed.
        recordings: record answers; None: none is recorded.
    """

    def __init__(self, settings: Settings, observers: Sequence[Observer]) -> None:
        self._operations = settings.operations
        self._open_paths = OPEN_PATHS | PAGE_PATHS if settings.inspector else OPEN_PATHS
        self.metrics: Metrics | None = None
        found: list[Observer] = [AccessLog(), NoticedLog()]
        with contextlib.suppress(ImportError):
            self.metrics = Metrics()
            found.append(self.metrics)
        with contextlib.suppress(ImportError):
            found.append(Tracing())
        self.recordings = None if settings.recording is None else Recordings(settings.recording)
        if self.recordings is not None:
            found.append(self.recordings)
        self.observers: tuple[Observer, ...] = (*found, *observers)

    def middleware(self) -> list[Middleware]:
        """The middleware, the outermost first."""
        around = [Middleware(Recording, observers=self.observers)]
        if self._operations.origins:
            around.append(
                Middleware(
                    CORSMiddleware,
                    allow_origins=list(self._operations.origins),
                    allow_methods=["*"],
                    allow_headers=["*"],
                    expose_headers=_SHOWN,
                )
            )
        return [*around, Middleware(Gate, operations=self._operations, open_paths=self._open_paths)]
