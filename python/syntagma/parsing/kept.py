"""What was compiled of a format, kept for the formats last used."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from syntagma.format_schema import FormatSpec

__all__ = ["Kept"]

Made = TypeVar("Made")

_MOST = 64


class Kept(Generic[Made]):
    """Makes something of a format once, and keeps it as long as the format is among those last used."""

    def __init__(self, make: Callable[[FormatSpec], Made]) -> None:
        self._make = make
        self._made: OrderedDict[int, tuple[FormatSpec, Made]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, spec: FormatSpec) -> Made:
        """What was made of this format; raises what making raises."""
        with self._lock:
            kept = self._made.get(id(spec))
            if kept is not None:
                self._made.move_to_end(id(spec))
                return kept[1]
        made = self._make(spec)
        with self._lock:
            # The format itself is kept beside it, so that its identity is not given to another one.
            self._made[id(spec)] = (spec, made)
            if len(self._made) > _MOST:
                self._made.popitem(last=False)
        return made
