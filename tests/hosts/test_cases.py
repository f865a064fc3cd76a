"""The cases that every host runs say what Python does."""

from __future__ import annotations

import json
from typing import Any

import pytest

import syntagma as sg
from tests.hosts.cases import CASES, VOCABULARIES, info_of, run

LINES: list[dict[str, Any]] = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
FOUND = [line for line in LINES if "name" in line]


def test_vocabularies_are_those_of_the_script() -> None:
    assert [line for line in LINES if "name" not in line] == list(VOCABULARIES.values())
    assert CASES.stat().st_size < 300_000


def test_every_notation_is_read_and_refused() -> None:
    notations = {"ebnf", "gbnf", "json_schema", "lark", "regex", "structural_tag", "xgrammar"}
    assert {line.get("notation", "saved") for line in FOUND if "masks" in line} == {*notations, "saved"}
    assert {line["notation"] for line in FOUND if "error" in line} >= notations
    assert sum(line.get("notation") == "json_schema" and "masks" in line for line in FOUND) >= 200


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_python_gives_the_same_masks(vocabulary: str) -> None:
    compiler = sg.GrammarCompiler(info_of(VOCABULARIES[vocabulary]))
    for line in FOUND:
        if line["vocabulary"] == vocabulary:
            found = run(line, compiler)
            expected = {name: line[name] for name in found}
            assert found == expected, line["name"]
