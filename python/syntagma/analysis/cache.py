"""Caches of analyses: the last ones in memory, or files in a folder."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, MutableMapping
from pathlib import Path

import msgspec

from syntagma.analysis.result import Analysis
from syntagma.errors import ArgumentError, SyntagmaError

__all__ = ["RECENT", "AnalysisFolder", "RecentAnalyses"]

_MOST = 32
"""analyses that are kept in memory, some hundred kilobytes each"""


class RecentAnalyses(MutableMapping[str, Analysis]):
    """The analyses used last. Threads may share it: each step is one operation of a dictionary."""

    def __init__(self, most: int = _MOST) -> None:
        self._kept: dict[str, Analysis] = {}
        self._most = most

    def __getitem__(self, key: str) -> Analysis:
        return self._kept[key]

    def __setitem__(self, key: str, analysis: Analysis) -> None:
        self._kept[key] = analysis
        while len(self._kept) > self._most:
            for oldest in list(self._kept)[:1]:
                self._kept.pop(oldest, None)

    def __delitem__(self, key: str) -> None:
        del self._kept[key]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._kept))

    def __len__(self) -> int:
        return len(self._kept)


RECENT = RecentAnalyses()
"""the default cache of `analyze`"""


class AnalysisFolder(MutableMapping[str, Analysis]):
    """Analyses as JSON files in a folder, one each. A file that cannot be read counts as absent.

    A file is written under another name and then moved, so that processes may share the folder.

    Args:
        folder: the folder; it is made with the first analysis.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, the name is empty, which would mean the current folder.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        if not os.fspath(folder):
            message = "the folder of kept analyses has no name"
            raise ArgumentError("E-ARGUMENT-VALUE", message, pointer="/cache", hint='"." is the current folder')
        self._folder = Path(folder)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"

    def __getitem__(self, key: str) -> Analysis:
        try:
            return Analysis.from_dict(msgspec.json.decode(self._path(key).read_bytes(), type=dict))
        except (OSError, ValueError, SyntagmaError) as error:
            raise KeyError(key) from error

    def __setitem__(self, key: str, analysis: Analysis) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._folder, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.encode(analysis.to_dict()))
            Path(name).replace(self._path(key))
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise

    def __delitem__(self, key: str) -> None:
        try:
            self._path(key).unlink()
        except OSError as error:
            raise KeyError(key) from error

    def __iter__(self) -> Iterator[str]:
        return (path.stem for path in sorted(self._folder.glob("*.json")))

    def __len__(self) -> int:
        return sum(1 for _ in self)
