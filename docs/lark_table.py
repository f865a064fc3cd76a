"""The table of Lark's features in its page, from the cases of the suite `lark`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

__all__ = ["insert_lark_table"]

FEATURES = Path(__file__).parents[1] / "tests" / "external" / "lark.toml"
_PLACE = re.compile(r"(<!-- features: written by `make docs` -->\n).*?(<!-- end of features -->)", re.DOTALL)


def insert_lark_table(page: str) -> str:
    """The page with the table of today."""
    table = "".join(_rows())
    text, count = _PLACE.subn(lambda place: place[1] + table + place[2], page)
    if count != 1:
        raise ValueError("the page has no place for the table of features")
    return text


def _rows() -> Iterator[str]:
    yield "| of | feature | here |\n|:--|:--|:--|\n"
    for feature in tomllib.loads(FEATURES.read_text(encoding="utf-8"))["feature"]:
        said = feature["verdict"] + (f": {feature['why']}" if "why" in feature else "")
        cells = [feature["owner"], feature["name"], said]
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
