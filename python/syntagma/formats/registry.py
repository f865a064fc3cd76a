"""Named formats: one file a name, read when first asked for."""

from __future__ import annotations

import difflib
import importlib.metadata
import importlib.resources
import os
import pathlib
import threading
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources.abc import Traversable
from typing import Any

import msgspec

from syntagma.errors import ArgumentError, FormatError
from syntagma.format_schema import FormatSpec, read_toml

__all__ = ["PLUGIN_GROUP", "FormatRegistry", "registry"]

PLUGIN_GROUP = "syntagma.formats"
"""entry-point group; each entry names a package whose `.toml` files are formats"""


class _File(msgspec.Struct, frozen=True):
    """One format file: its text, where it came from, and its tables."""

    text: str
    source: str
    tables: dict[str, Any]

    @property
    def aliases(self) -> tuple[str, ...]:
        listed = self.tables.get("aliases", [])
        return tuple(alias for alias in listed if isinstance(alias, str)) if isinstance(listed, list) else ()


class FormatRegistry:
    """Formats by name and alias. Threads may share it.

    The library's own formats come first, then those of installed plug-ins; the latter are looked for only when a name
    is not among the former, or when all names are asked for.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._files: dict[str, _File] | None = None
        self._plugins_loaded = False
        self._specs: dict[str, FormatSpec] = {}

    def names(self) -> tuple[str, ...]:
        """All names, sorted, without aliases."""
        with self._lock:
            self._load_plugins()
            return tuple(sorted(self._own()))

    def canonical(self, name: str) -> str:
        """The name of the file that `name` or alias stands for.

        Raises:
            FormatError: `E-FORMAT-UNKNOWN`, with names that are near.
        """
        with self._lock:
            found = self._find(name)
            if found is None:
                self._load_plugins()
                found = self._find(name)
            if found is not None:
                return found
            known = [key for file in self._own().values() for key in file.aliases] + list(self._own())
        near = difflib.get_close_matches(name, known, n=4, cutoff=0.5)
        hint = f"near: {', '.join(near)}" if near else "`formats.names()` lists them"
        raise FormatError("E-FORMAT-UNKNOWN", f"there is no format {name!r}", hint=hint)

    def spec(self, name: str) -> FormatSpec:
        """A format by name or alias, inheritance resolved.

        Raises:
            FormatError: `E-FORMAT-UNKNOWN`, or what the file has wrong.
        """
        with self._lock:
            key = self.canonical(name)
            if key not in self._specs:
                file = self._own()[key]
                self._specs[key] = read_toml(file.text, source=file.source, base=self.tables)
            return self._specs[key]

    def tables(self, name: str) -> Mapping[str, Any]:
        """The raw tables of a file, for `from`.

        Raises:
            KeyError: there is no such format.
        """
        try:
            key = self.canonical(name)
        except FormatError as error:
            raise KeyError(name) from error
        with self._lock:
            return self._own()[key].tables

    def register(self, path_or_text: str | os.PathLike[str], *, name: str | None = None) -> str:
        """Add a format.

        Args:
            path_or_text: a path, or the TOML text itself (text that holds a line break or `=` is no path).
            name: its name; by default the file's name without `.toml`, for text its first alias.

        Returns:
            The name.

        Raises:
            FormatError: `E-FORMAT-READ`, the file cannot be read; or what it has wrong.
            ArgumentError: `E-FORMAT-NAME`, text without a name; `E-FORMAT-DUPLICATE`, the name or an alias is taken.
        """
        if isinstance(path_or_text, str) and ("\n" in path_or_text or "=" in path_or_text):
            text, source, given = path_or_text, name or "<string>", name
        else:
            path = pathlib.Path(path_or_text)
            text, source, given = _read(path), str(path), name or path.stem
        spec = read_toml(text, source=source, base=self.tables)
        key = given or next(iter(spec.aliases), None)
        if key is None:
            raise ArgumentError("E-FORMAT-NAME", "a format that is given as text needs a name or an alias")
        with self._lock:
            self._load_plugins()
            self._add(key, _File(text, source, tomllib.loads(text)))
        return key

    def _own(self) -> dict[str, _File]:
        """The files that are known; reads the library's own first."""
        if self._files is None:
            self._files = {}
            for name, file in _files_in(importlib.resources.files("syntagma.formats") / "data"):
                self._add(name, file)
        return self._files

    def _find(self, name: str) -> str | None:
        files = self._own()
        if name in files:
            return name
        return next((key for key, file in files.items() if name in file.aliases), None)

    def _add(self, name: str, file: _File) -> None:
        for taken in (name, *file.aliases):
            owner = self._find(taken)
            if owner is not None:
                raise ArgumentError(
                    "E-FORMAT-DUPLICATE", f"the name {taken!r} of {file.source} is taken by the format {owner!r}"
                )
        self._own()[name] = file

    def _load_plugins(self) -> None:
        if self._plugins_loaded:
            return
        self._plugins_loaded = True
        for entry in importlib.metadata.entry_points(group=PLUGIN_GROUP):
            try:
                folder = importlib.resources.files(entry.load())
                found = list(_files_in(folder))
            except Exception as error:
                raise FormatError(
                    "E-FORMAT-PLUGIN", f"the plug-in {entry.name!r} ({entry.value}) does not load: {error}"
                ) from error
            for name, file in found:
                self._add(name, file)


def _files_in(folder: Traversable) -> Iterator[tuple[str, _File]]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.name.endswith(".toml"):
            text = _read(item)
            yield item.name.removesuffix(".toml"), _File(text, item.name, _tables(text, item.name))


def _read(path: Traversable) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError("E-FORMAT-READ", f"cannot be read: {error}", source=str(path)) from error


def _tables(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FormatError("E-FORMAT-TOML", str(error), source=source) from error


registry = FormatRegistry()
"""the registry behind `syntagma.formats.get`"""
