"""Multiples of numbers: what a schema of them accepts is what the numbers say."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import syntagma as sg
from syntagma.testing import byte_vocabulary

COMPILER = sg.GrammarCompiler(byte_vocabulary(["<|eos|>"]))

NUMBERS = [str(number) for number in range(-460, 460)]
NUMBERS += [
    "4199",
    "-4199",
    "4199.0",
    "221.00",
    "221.5",
    "-0.5",
    "0.0",
    "13.0000",
    "26.1300",
    "0.13",
    "-0.26",
    "0.0221",
]


def divides(factor: str, number: str) -> bool:
    return (Fraction(number) / Fraction(factor)).denominator == 1


@pytest.mark.parametrize(
    "factors", [("13", "17", "19"), ("13", "17"), ("7", "14", "21"), ("0.13", "0.17"), ("2.5", "0.4")]
)
def test_exactly_one_multiple(factors: tuple[str, ...]) -> None:
    branches = ",".join(f'{{"multipleOf":{factor}}}' for factor in factors)
    grammar = sg.Grammar.from_json_schema(f'{{"type":"number","oneOf":[{branches}]}}')
    assert grammar.report.status == "exact"
    compiled = COMPILER.compile(grammar)
    for number in NUMBERS:
        matcher = sg.GrammarMatcher(compiled)
        accepted = matcher.accept_bytes(number.encode()) and matcher.is_accepting()
        assert accepted == (sum(divides(factor, number) for factor in factors) == 1), number


@pytest.mark.parametrize(
    ("schema", "allowed"),
    [
        (
            {"multipleOf": 7, "not": {"enum": [7, 14.0, 15, -21, 0]}},
            lambda n: divides("7", n) and Fraction(n) not in (7, 14, -21, 0),
        ),
        (
            {"not": {"multipleOf": 7}, "minimum": -30, "exclusiveMaximum": 100},
            lambda n: not divides("7", n) and -30 <= Fraction(n) < 100,
        ),
        (
            {"multipleOf": 0.13, "exclusiveMinimum": 0, "maximum": 26.13},
            lambda n: divides("0.13", n) and 0 < Fraction(n) <= Fraction("26.13"),
        ),
        ({"multipleOf": 3, "maximum": -9}, lambda n: divides("3", n) and Fraction(n) <= -9),
        ({"multipleOf": 7, "minimum": 0, "maximum": 0}, lambda n: Fraction(n) == 0),
    ],
)
def test_multiples_beside_other_conditions(schema: dict[str, Any], allowed: Any) -> None:
    grammar = sg.Grammar.from_json_schema({"type": "number"} | schema)
    assert grammar.report.status == "exact"
    compiled = COMPILER.compile(grammar)
    for number in NUMBERS:
        matcher = sg.GrammarMatcher(compiled)
        accepted = matcher.accept_bytes(number.encode()) and matcher.is_accepting()
        assert accepted == allowed(number), number
