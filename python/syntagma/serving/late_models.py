"""Models whose engines could not be reached when the server began."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping

from syntagma.errors import SyntagmaError, UpstreamError
from syntagma.serving.model import ServedModel

__all__ = ["LateModels"]

_log = logging.getLogger("syntagma.serving")
_AGAIN_S = 5.0
"""seconds before an engine is tried again"""


class LateModels:
    """Loads models when requests ask for them. Threads may share it.

    Args:
        loaders: what loads each, by name; raises `UpstreamError` where its engine cannot be reached.
    """

    def __init__(self, loaders: Mapping[str, Callable[[], ServedModel]]) -> None:
        self._loaders = dict(loaders)
        self._tried: dict[str, float] = {}
        self._lock = threading.Lock()
        self._loaded: dict[str, ServedModel] = {}

    @property
    def names(self) -> Collection[str]:
        """The models that are not loaded yet."""
        return self._loaders.keys() - self._loaded.keys()

    def load(self, name: str) -> ServedModel:
        """Load a model, or say that its engine does not answer.

        Raises:
            UpstreamError: `E-UPSTREAM-CONNECT`, 503.
        """
        error = UpstreamError("E-UPSTREAM-CONNECT", f"the engine of {name} does not answer yet", status=503, again=True)
        with self._lock:
            if name in self._loaded:
                return self._loaded[name]
            if time.monotonic() - self._tried.get(name, float("-inf")) < _AGAIN_S:
                raise error
            self._tried[name] = time.monotonic()
            try:
                self._loaded[name] = self._loaders[name]()
            except SyntagmaError as failed:
                _log.warning("%s is not served yet: %s", name, " ".join(str(failed).split()))
                raise error from failed
            _log.warning("%s is served now: its engine answers", name)
            return self._loaded[name]
