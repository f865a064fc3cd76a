"""Figures in the text of pages, each from what it is a figure of: a constant or default of the library, or RESULTS.md.

A page marks the place of a figure with two comments. The first says where the figure comes from, and its unit:

    <!--= syntagma.limits:Limits(schema_bytes) bytes -->2 MiB<!--/-->        the default of a parameter or field
    <!--= syntagma.embedded:MODULE_CONSTANT count -->64<!--/-->              a constant of a module
    <!--= results:captures.py:NAME OF A COLUMN nanoseconds -->…<!--/-->      the last row of a script's first table
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from peers_table import results_table

__all__ = ["insert_figures", "pages_with_figures"]

_PLACE = re.compile(r"(<!--= ([^>]+?) (\w+) -->).*?(<!--/-->)", re.DOTALL)
_ADDRESS = re.compile(r"([\w.]+):(\w+)(?:\((\w+)\))?")


def pages_with_figures(folder: Path) -> Iterator[Path]:
    """The Markdown files below a folder that have places for figures."""
    for page in sorted(folder.rglob("*.md")):
        if page.parent.name != "api" and _PLACE.search(page.read_text(encoding="utf-8")):
            yield page


def insert_figures(text: str) -> str:
    """A page with the figures of today.

    Raises:
        KeyError: a unit, a parameter or a column that there is not.
        AttributeError: a module has no such constant.
    """
    return _PLACE.sub(lambda place: place[1] + _UNITS[place[3]](_value(place[2])) + place[4], text)


def _value(source: str) -> float:
    if source.startswith("results:"):
        _, script, column = source.split(":", 2)
        return float(results_table(script, None, column)[-1][column].replace(",", ""))
    address = _ADDRESS.fullmatch(source)
    if address is None:
        raise KeyError(source)
    named = getattr(importlib.import_module(address[1]), address[2])
    value = named if address[3] is None else inspect.signature(named).parameters[address[3]].default
    return float(value)


def _bytes(value: float) -> str:
    step, unit = next(
        (step, unit) for step, unit in ((1 << 20, "MiB"), (1 << 10, "KiB"), (1, "bytes")) if value >= step
    )
    return f"{value / step:g} {unit}"


def _seconds(value: float) -> str:
    return f"{value:g} second" if value == 1 else f"{value:g} seconds"


def _nanoseconds(value: float) -> str:
    return f"{value:.0f} ns" if value < 1000 else f"{value / 1000:.1f} µs"


_UNITS: dict[str, Callable[[float], str]] = {
    "bytes": _bytes,
    "count": lambda value: f"{value:,.0f}",
    "milliseconds": lambda value: f"{value:g} ms",
    "nanoseconds": _nanoseconds,
    "seconds": _seconds,
}
