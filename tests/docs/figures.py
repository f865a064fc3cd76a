"""Figures of time, size and speed that a page states without saying where they come from."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["EXCEPTIONS", "unexplained_figures", "unsourced_figures"]

# Figures that nothing measures or sets: each page with the figure, and the reason.
EXCEPTIONS = {
    ("export-verdicts.md", "8 seconds"): "the page is written by `make verdicts`, and this is its bound on a verdict",
}
_GENERATED = re.compile(r"<!--= .*?<!--/-->|<!-- peers:.*?<!-- end of peers -->", re.DOTALL)
_NOT_PROSE = re.compile(r"^( *)(`{3,}).*?^\1\2|(?<!`)(`+)(?!`).+?(?<!`)\3(?!`)|<!--.*?-->", re.MULTILINE | re.DOTALL)
_WORDS = (
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|sixteen|twenty|thirty|half|quarter|tenth|hundred"
    r"|thousand|million)s?(?:\s+(?:of\s+)?an?|\s+(?:million|hundred|thousand))?\s+"
)
_SIGNS = r"(?:[mµun]s\b|s\b(?<=\d s)|%|×|[kKMG]i?B\b)"
_UNITS = (
    r"(?:(?:milli|micro|nano)?seconds?\b|minutes?\b|hours?\b|(?:kilo|mega|giga)bytes?\b|percent\b"
    r"|of\s+the\s+time\b|times\s+(?:as|faster|slower)\b|(?:tokens|rows|chunks|requests)\s+(?:a|per)\s+(?:second|minute)\b)"
)
_FIGURE = re.compile(rf"\d[\d.,]*\s?{_SIGNS}|\d[\d.,]*\s+{_UNITS}|{_WORDS}{_UNITS}", re.IGNORECASE)


def unsourced_figures(text: str) -> list[str]:
    """The figures with a unit in the prose of a page that no comment derives; blocks and code spans are not prose."""
    prose = _NOT_PROSE.sub(" ", _GENERATED.sub(" ", text))
    return [" ".join(found[0].split()) for found in _FIGURE.finditer(prose)]


def unexplained_figures(page: Path) -> list[str]:
    """Those of a page that are no exception."""
    found = unsourced_figures(page.read_text(encoding="utf-8"))
    return [figure for figure in found if (page.name, figure) not in EXCEPTIONS]
