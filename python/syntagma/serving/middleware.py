"""The middleware around the endpoints of every application: records, rules for web pages, keys."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from typing import Final

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from syntagma.serving.gate import OPEN_PATHS, Gate
from syntagma.serving.inspecting import PAGE_PATHS
from syntagma.serving.logs import AccessLog
from syntagma.serving.metrics import Metrics
from syntagma.serving.recordings import Recordings
from syntagma.serving.records import Choice, Observer, Recording, RequestRecord
from syntagma.serving.settings import Settings
from syntagma.serving.tracing import Tracing

__all__ = ["ServerMiddleware"]

_SHOWN: Final = ("x-request-id", "x-syntagma-ignored", "x-syntagma-error", "retry-after")
"""headers of answers that web pages may read"""
_log = logging.getLogger("syntagma.serving")
_MOST_LINES = 5
"""diagnostics of one choice that have a line of their own"""


class _NoticedLog(Observer):
    """An observer that writes a line for each diagnostic of an answer, at level `warning`, with the request's id."""

    def ended(self, record: RequestRecord, choice: Choice) -> None:
        """See `Observer`."""
        found = choice.result.message.diagnostics
        for one in found[:_MOST_LINES]:
            # The message quotes the model's text: characters that could end the line are escaped.
            text = one.message.encode("unicode_escape").decode()
            _log.warning("%s: %s: %s (at %d of the answer)", record.model, one.code, text, one.span[0])
        if len(found) > _MOST_LINES:
            _log.warning("%s: %d further diagnostics of the same answer", record.model, len(found) - _MOST_LINES)


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
        found: list[Observer] = [AccessLog(), _NoticedLog()]
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
