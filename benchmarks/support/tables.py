"""Percentiles and Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

SHARES = (50, 75, 90, 99, 99.9, 100)
"""Percentiles of latencies; 100 is the maximum."""


def percentiles(values: Iterable[float], shares: Sequence[float] = SHARES) -> list[str]:
    """The values at these shares, as cells; the nearest value that was measured, never one between two."""
    measured = np.asarray(values if isinstance(values, np.ndarray) else list(values), dtype=float)
    if not measured.size:
        return ["" for _ in shares]
    return [number(value) for value in np.percentile(measured, shares, method="higher")]


def number(value: float) -> str:
    """Three significant digits where a value is small, none behind the point where it is large."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def names_of(shares: Sequence[float] = SHARES) -> list[str]:
    return ["max" if share == 100 else f"p{share:g}" for share in shares]


class Table:
    """A Markdown table that is printed row by row; the first `texts` columns are text, the others numbers."""

    def __init__(self, columns: Sequence[str], *, texts: int = 1, title: str = "") -> None:
        if title:
            print(f"\n**{title}**\n")
        print("| " + " | ".join(columns) + " |")
        print("|" + ":--|" * texts + "--:|" * (len(columns) - texts), flush=True)
        self._width = len(columns)

    def row(self, *cells: Any) -> None:
        filled = [str(cell) for cell in cells] + [""] * (self._width - len(cells))
        print("| " + " | ".join(filled) + " |", flush=True)
