"""Grammars as people get them wrong: each is refused at its place, with the advice that mends it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from syntagma.errors import SyntagmaError
from syntagma.grammars import Grammar

ROOT = Path(__file__).resolve().parents[2]
ROWS = [json.loads(line) for line in (ROOT / "conformance" / "grammars" / "broken.jsonl").read_text().splitlines()]
READERS = {"ebnf": Grammar.from_ebnf, "gbnf": Grammar.from_gbnf, "lark": Grammar.from_lark}


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['dialect']}-{row['source'].strip()[:40]}" for row in ROWS])
def test_a_broken_grammar_is_refused_with_the_hint_that_mends_it(row: dict[str, Any]) -> None:
    with pytest.raises(SyntagmaError) as refusal:
        READERS[row["dialect"]](row["source"])
    error = refusal.value
    assert (error.code, error.line, error.column) == (row["code"], row["line"], row["column"])
    assert row["hint"] in (error.hint or "")
    line = row["source"].split("\n")[row["line"] - 1]
    shown, caret = (error.excerpt or "").split("\n")
    assert shown.strip() == line.strip()
    assert caret.endswith("^")
