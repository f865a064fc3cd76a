"""Lark, feature by feature: what `lark.toml` says of each, text by text."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from syntagma.errors import SyntagmaError
from syntagma.grammars import Grammar

__all__ = ["run"]

CASES = Path(__file__).resolve().parents[1] / "lark.toml"


def run(data: Path) -> Iterator[tuple[str, str | None]]:
    """Each text of each case, and what is wrong with the answer."""
    del data
    for feature in tomllib.loads(CASES.read_text(encoding="utf-8"))["feature"]:
        for number, case in enumerate(feature["case"]):
            yield from _verdicts(f"{feature['name']}/{number}", case)


def _verdicts(name: str, case: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    wanted = case.get("error")
    try:
        grammar = Grammar.from_lark(case["grammar"])
    except SyntagmaError as error:
        yield f"{name}/read", None if error.code == wanted else f"{error.code}: {error.message}, not {wanted}"
        return
    if wanted is not None:
        yield f"{name}/read", f"is read, and not refused with {wanted}"
    codes = [warning.code for warning in grammar.warnings]
    if "warns" in case:
        yield f"{name}/warns", None if case["warns"] in codes else f"{codes}, without {case['warns']}"
    for key, accepted in (("accepts", True), ("refuses", False)):
        for text in case.get(key, ()):
            answer = grammar.accepts(text)
            yield f"{name}/{key} {text!r}", None if answer is accepted else ("refused" if accepted else "accepted")
