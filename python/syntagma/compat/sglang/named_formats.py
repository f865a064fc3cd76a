"""Formats by name, and their detector classes."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, MutableMapping
from functools import cache
from importlib import resources
from typing import Any, Literal, TypeAlias, TypeVar

from syntagma import formats
from syntagma.errors import ArgumentError, ArgumentTypeError, FormatError
from syntagma.formats import ChatFormat

__all__ = ["DetectorMap", "Part", "format_with"]

Part: TypeAlias = Literal["reasoning", "tools"]
"""the part of a format that a detector reads"""

_Detector = TypeVar("_Detector")


def format_with(part: Part, given: ChatFormat | str | None) -> ChatFormat:
    """A format with a certain part, given itself or by its name.

    Raises:
        ArgumentError: `E-FORMAT-UNKNOWN`, an unknown format; `E-ARGUMENT-FORMAT`, a format without this part, or none.
        ArgumentTypeError: neither a format nor a name.
    """
    if given is None:
        raise ArgumentError("E-ARGUMENT-FORMAT", "a detector needs a format, or the name of one")
    found = _named(given) if isinstance(given, str) else given
    if not isinstance(found, ChatFormat):
        raise ArgumentTypeError("E-ARGUMENT-TYPE", f"must be a format or its name, not a {type(given).__name__}")
    if getattr(found.spec, part) is None:
        missing = "calls" if part == "tools" else "reasoning"
        raise ArgumentError(
            "E-ARGUMENT-FORMAT",
            f"the format {given!r} has no {missing}",
            hint="ReasoningParser.DetectorMap and FunctionCallParser.ToolCallParserEnum list the formats that do",
        )
    return found


def _named(name: str) -> ChatFormat:
    """A format by name; an unknown name raises a `ValueError`, as callers expect."""
    try:
        return formats.get(name)
    except FormatError as error:
        if error.code != "E-FORMAT-UNKNOWN":
            raise
        raise ArgumentError(error.code, error.message, hint=error.hint) from error


@cache
def _class_names() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("detectors.toml").read_text(encoding="utf-8"))


def _class_name(part: Part, name: str, format_name: str) -> str | None:
    """The name of the class for a format name: the one listed for it, else one for another name of the format."""
    listed = _class_names()[part]
    shared = (found for found, names in _class_names()["families"].get(part, {}).items() if name in names)
    exact = (found for found, of in listed.items() if of == name)
    alike = (found for found, of in listed.items() if formats.get(of).name == format_name)
    return next(exact, None) or next(shared, None) or next(alike, None)


def _family(part: Part, format_name: str) -> str | None:
    """The class that SGLang has for a format together with others; None: it has none, or the class is for this one."""
    listed = _class_names()
    for found, names in listed["families"].get(part, {}).items():
        if formats.get(listed[part][found]).name != format_name and format_name in map(_canonical, names):
            return str(found)
    return None


@cache
def _canonical(name: str) -> str | None:
    return formats.get(name).name


class DetectorMap(MutableMapping[str, "type[_Detector]"]):
    """Names of formats, and names that users register → detector classes.

    It has every name and alias of a format with the part, including those of plug-ins and `formats.register`. A class
    registered under such a name replaces it; deleting the class restores the format.

    Args:
        part: the part of a format that the detectors read.
        base: the base of the classes for formats; it reads its attribute `format`.
    """

    def __init__(self, part: Part, base: type[_Detector]) -> None:
        self._part = part
        self._base = base
        self._registered: dict[str, type[_Detector]] = {}
        self._made: dict[tuple[str, str], type[_Detector]] = {}

    def __getitem__(self, name: str) -> type[_Detector]:
        if name in self._registered:
            return self._registered[name]
        try:
            fmt = format_with(self._part, name)
        except ArgumentError as error:
            raise KeyError(name) from error
        assert fmt.name is not None
        named = _class_name(self._part, name, fmt.name) or _family(self._part, fmt.name)
        return self._over(fmt.name, named or self._base.__name__)

    def __setitem__(self, name: str, detector: type[_Detector]) -> None:
        if not isinstance(name, str) or not callable(detector):
            raise ArgumentTypeError("E-ARGUMENT-TYPE", "a detector must be registered as a class, under a name")
        self._registered[name] = detector

    def __delitem__(self, name: str) -> None:
        del self._registered[name]

    def __iter__(self) -> Iterator[str]:
        known = dict.fromkeys(self._registered)
        for name in formats.names():
            spec = formats.get(name).spec
            if getattr(spec, self._part) is not None:
                known |= dict.fromkeys((name, *spec.aliases))
        return iter(known)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def class_named(self, module: str) -> Callable[[str], Any]:
        """The `__getattr__` of a module with the classes of `detectors.toml`, each made when it is first used."""

        def get(name: str) -> Any:
            try:
                fmt = _named(_class_names()[self._part][name])
            except KeyError as error:
                raise AttributeError(f"module {module!r} has no attribute {name!r}") from error
            assert fmt.name is not None
            return self._over(fmt.name, name)

        return get

    def _over(self, format_name: str, class_name: str) -> type[_Detector]:
        """The class of this name for a named format."""
        key = format_name, class_name
        if key not in self._made:
            text = f"A detector for the format {format_name}."
            body = {"format": format_name, "__module__": self._base.__module__, "__doc__": text}
            family = _family(self._part, format_name)
            base = self._base if family is None else self._over(_class_names()[self._part][family], family)
            self._made[key] = type(class_name, (base,), body)
        return self._made[key]
