"""The page of the checks of `syntagma doctor`, made from the checks themselves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from syntagma.doctor import CHECKS

__all__ = ["doctor_page"]

HEAD = """# Checks of `syntagma doctor`

Every rule that [`syntagma doctor`](../doctor.md) checks: the request that tests it, the harm that a fault does, and
how to fix it. `--only` and `--skip` take the names of checks and of families.
"""


def doctor_page() -> str:
    """The page."""
    return HEAD + "".join(_families())


def _families() -> Iterator[str]:
    for family, checks in groupby(CHECKS, key=lambda check: check.id.partition(".")[0]):
        yield f"\n## {family}\n\n| check | rule | request | harm of a fault | fix |\n|:--|:--|:--|:--|:--|\n"
        for check in checks:
            cells = (f"`{check.id}`", check.title, check.asks, check.harm, check.mend)
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
