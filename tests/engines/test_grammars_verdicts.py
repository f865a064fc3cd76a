"""A slice of the comparison that `make verdicts` makes, and its list of differences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

import syntagma as sg
from tests.engines.peers import NEEDS, Judge
from tests.engines.verdicts import KINDS, compare, known_differences, subjects

EVERY = {"schema": 41, "format": 61, "template": 11}
"""how many grammars of a kind are passed over for one that is compared"""
SECONDS = 60.0
MINUS_ZERO = re.compile(r"-0(?![\d.])")
"""what xgrammar's integers lack, see `differences.toml`"""


@pytest.fixture(scope="module", params=NEEDS)
def judge(request: pytest.FixtureRequest) -> Iterator[Judge]:
    found = Judge(request.param, SECONDS)
    if not found.is_there:
        pytest.skip(f"{NEEDS[request.param]} is not installed")
    yield found
    found.close()


@pytest.mark.parametrize("kind", KINDS)
def test_an_engine_says_what_the_grammar_says(judge: Judge, kind: str) -> None:
    compared = 0
    for subject in subjects(kind, every=EVERY[kind]):
        tagged = judge.language == "structural_tag"
        alike = [text for text in subject.texts if not (tagged and MINUS_ZERO.search(text))]
        found = compare(subject._replace(texts=alike), [judge])[judge.language]
        compared += found.texts
        # xgrammar reads schemas in its own way, see `differences.toml`.
        if not (kind == "schema" and tagged):
            assert not found.refused, subject
            assert not found.unsaid, subject
    assert compared


@pytest.mark.parametrize("known", known_differences(), ids=lambda known: known["reason"])
def test_known_differences_are_those_of_the_engine(known: dict[str, Any]) -> None:
    if not Judge("structural_tag", SECONDS).is_there:
        pytest.skip("xgrammar is not installed")
    grammar = sg.Grammar.from_json_schema(known["schema"])
    text = known.get("more", known.get("less"))
    assert isinstance(text, str)
    assert grammar.accepts(text) == ("less" in known)
    for schemas, differs in (("json_schema", True), ("text", False)):
        judge = Judge("structural_tag", SECONDS)
        judge.ask(dict(grammar.to_structural_tag(schemas=schemas)), [text])  # type: ignore[arg-type]
        assert judge.answer() == [grammar.accepts(text) != differs]
        judge.close()
