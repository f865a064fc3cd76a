"""Named formats: one file each, read on first use."""

from __future__ import annotations

import difflib
import hashlib
import importlib.metadata
import importlib.resources
import os
import pathlib
import re
from collections.abc import Iterator
from importlib.resources.abc import Traversable

import msgspec

from syntagma.errors import ArgumentError, FormatError
from syntagma.forks import ForkSafeLock
from syntagma.format_schema import FormatFile, FormatSpec, Tables
from syntagma.format_schema.styles import StyleSpec
from syntagma.formats.usable import check_usable

__all__ = ["PLUGIN_GROUP", "FormatRegistry", "registry"]

PLUGIN_GROUP = "syntagma.formats"
"""the entry-point group; each entry names a package whose `.toml` files are formats"""


class FormatRegistry:
    """Formats by name and alias. Threads may share it.

    The library's own formats come first, then those of installed plug-ins. Plug-ins are loaded only if a name is not
    one of the library's own, or if all names are requested.
    """

    def __init__(self) -> None:
        self._guard = ForkSafeLock(self._read_anew)
        self._files: dict[str, FormatFile] | None = None
        self._owners: dict[str, str] = {}
        """name or alias → the name of the file"""
        self._plugins_loaded = False
        self._of_plugins: set[str] = set()
        self._registered: dict[str, FormatFile] = {}
        self._specs: dict[str, FormatSpec] = {}
        self._digest: str | None = None

    def names(self) -> tuple[str, ...]:
        """All names, sorted, without aliases."""
        with self._guard.lock:
            self._load_plugins()
            return tuple(sorted(self._own()))

    def digest(self) -> str:
        """A hash of the names and contents of all formats, to see whether results for other formats are out of date."""
        with self._guard.lock:
            self._load_plugins()
            if self._digest is None:
                contents = {name: file.tables for name, file in self._own().items()}
                self._digest = hashlib.sha256(msgspec.json.encode(contents, order="sorted")).hexdigest()
            return self._digest

    def canonical(self, name: str) -> str:
        """The name of the format with this name or alias.

        Raises:
            FormatError: `E-FORMAT-UNKNOWN`, with names that are similar, or of a family that the name speaks of.
        """
        with self._guard.lock:
            found = self._find(name)
            if found is None:
                self._load_plugins()
                found = self._find(name)
            if found is not None:
                return found
            files = self._own()
        words = {*re.findall(r"[a-z]+|[0-9]+", name.lower()), *re.findall(r"[a-z0-9]+", name.lower())}
        kin = [key for key, file in files.items() if words.intersection(file.families)]
        known = [*(key for file in files.values() for key in file.aliases), *files]
        near = dict.fromkeys([*kin, *difflib.get_close_matches(name, known, n=4, cutoff=0.75 if kin else 0.5)])
        hint = f"similar names: {', '.join(near)}" if near else "`formats.names()` lists them"
        raise FormatError("E-FORMAT-UNKNOWN", f"there is no format {name!r}", hint=hint)

    def spec(self, name: str) -> FormatSpec:
        """A format by name or alias, with inheritance resolved.

        Raises:
            FormatError: `E-FORMAT-UNKNOWN`, or an error in the file.
        """
        with self._guard.lock:
            key = self.canonical(name)
            if key not in self._specs:
                file = self._own()[key]
                # Registered formats are checked when they are added, the library's own by its tests.
                self._specs[key] = file.spec(self.tables, check_usable if key in self._of_plugins else None)
            return self._specs[key]

    def style(self, name: str) -> StyleSpec:
        """A style of structural tags by its name.

        Raises:
            KeyError: no format has it.
        """
        with self._guard.lock:
            self._load_plugins()
            for file in self._own().values():
                if name in file.tables.get("styles", {}):
                    return file.styles[name]
        raise KeyError(name)

    def tables(self, name: str) -> Tables:
        """The raw tables of a file, for `from`.

        Raises:
            KeyError: there is no such format.
        """
        try:
            key = self.canonical(name)
        except FormatError as error:
            raise KeyError(name) from error
        with self._guard.lock:
            return self._own()[key].tables

    def register(self, path_or_text: str | os.PathLike[str], *, name: str | None = None) -> str:
        """Add a format.

        Args:
            path_or_text: a path, or the TOML text itself (a string with a line break or `=` is text).
            name: its name; by default the file's name without `.toml`, for text its first alias.

        Returns:
            The name.

        Raises:
            FormatError: `E-FORMAT-READ`, the file cannot be read; or it has an error.
            ArgumentError: `E-FORMAT-NAME`, text without a name; `E-FORMAT-DUPLICATE`, the name or an alias is taken.
        """
        if isinstance(path_or_text, str) and ("\n" in path_or_text or "=" in path_or_text):
            text, source, given = path_or_text, name or "<string>", name
        else:
            path = pathlib.Path(path_or_text)
            text, source, given = _read(path), str(path), name or path.stem
        file = FormatFile.parse(text, source)
        spec = file.spec(self.tables, check_usable)
        key = given or next(iter(spec.aliases), None)
        if key is None:
            raise ArgumentError("E-FORMAT-NAME", "a format given as text needs a name or an alias")
        with self._guard.lock:
            self._load_plugins()
            self._add(key, file)
            self._registered[key] = file
        return key

    def _read_anew(self) -> None:
        """Read the files again, and add the registered formats again."""
        self._files = None
        self._owners = {}
        self._plugins_loaded = False
        self._specs = {}
        self._digest = None

    def _own(self) -> dict[str, FormatFile]:
        """The files by name; reads the library's own on first use."""
        if self._files is None:
            self._files = {}
            for name, file in _files_in(importlib.resources.files("syntagma.formats") / "data"):
                self._add(name, file)
            for name, file in self._registered.items():
                self._add(name, file)
        return self._files

    def _find(self, name: str) -> str | None:
        self._own()
        return self._owners.get(name)

    def _add(self, name: str, file: FormatFile) -> None:
        files = self._own()
        for taken in (name, *file.aliases):
            owner = self._owners.get(taken)
            if owner is not None:
                raise ArgumentError(
                    "E-FORMAT-DUPLICATE", f"the name {taken!r} of {file.source} is taken by the format {owner!r}"
                )
        files[name] = file
        self._digest = None
        self._owners |= dict.fromkeys((name, *file.aliases), name)

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
                self._of_plugins.add(name)


def _files_in(folder: Traversable) -> Iterator[tuple[str, FormatFile]]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.name.endswith(".toml"):
            yield item.name.removesuffix(".toml"), FormatFile.parse(_read(item), item.name)


def _read(path: Traversable) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError("E-FORMAT-READ", f"cannot be read: {error}", source=str(path)) from error


registry = FormatRegistry()
"""the registry that `syntagma.formats.get` reads"""
