"""A schema's pattern that is not regular is enforced as far as it goes: no text that it matches is lost.

What is left out is named.
"""

import json
import random
import re

import pytest

import syntagma as sg
from tests.grammars.walks import accepts, byte_compiler

ATOMS = ["a", "b", "[ab]", ".", "a|b", "ab", ""]
LETTERS = "abc"


def drawn(rng: random.Random, depth: int, groups: list[int]) -> str:
    """A pattern; groups: how many are closed before it, which it may refer to."""
    kind = rng.randrange(9) if depth else 0
    inner = lambda: drawn(rng, depth - 1, groups)  # noqa: E731
    if kind <= 2:
        return rng.choice(ATOMS[:4])
    if kind == 3:
        text = f"({inner()})"
        groups[0] += 1
        return text
    if kind == 4 and groups[0]:
        # A number is only certain where groups are closed in the order in which they open.
        return f"\\{rng.randint(1, groups[0])}"
    if kind == 5:
        return f"(?:{inner()}|{inner()})"
    if kind == 6:
        return f"(?:{inner()}){rng.choice(['*', '+', '?', '{2}', '{1,3}'])}"
    if kind == 7:
        return f"(?{rng.choice(['=', '!', '<=', '<!'])}{rng.choice(ATOMS[:4])}){inner()}"
    return inner() + inner()


def accepted(grammar: sg.Grammar, text: str) -> bool:
    return accepts(byte_compiler().compile(grammar), json.dumps(text))


@pytest.mark.parametrize("seed", range(40))
def test_no_text_that_matches_is_lost(seed: int) -> None:
    rng = random.Random(seed)
    wider = 0
    while wider < 5:
        pattern = drawn(rng, 5, [0])
        pattern = rng.choice([f"^{pattern}$", f"^(?:{pattern})$", pattern])
        try:
            compiled = re.compile(pattern)
        except re.error:
            continue  # of variable width behind, or a reference to an open group: Python alone refuses these
        try:
            sg.Grammar.from_regex(pattern, dialect="ecma")
            continue
        except sg.GrammarError as error:
            if error.code != "E-REGEX-UNSUPPORTED":
                continue
        try:
            grammar = sg.Grammar.from_json_schema({"type": "string", "pattern": pattern})
        except sg.UnsupportedSchema:
            grammar = sg.Grammar.from_json_schema({"const": None})
        else:
            assert grammar.report.status == "widened", pattern
            wider += "the rest of the pattern is enforced" in str(grammar.report.pointers)
        for _ in range(60):
            text = "".join(rng.choices(LETTERS, k=rng.randint(0, 7)))
            if compiled.search(text):
                assert accepted(grammar, text), (pattern, text)


@pytest.mark.parametrize(
    ("pattern", "out", "kept", "refused"),
    [
        (r"^(?:\d+(?:\.(?!$)|$)){4}$", "$ at column 19 is left out", "1.2.3.4", "hello"),
        (r"^(['\"])[a-z]+\1$", r"\1 at column 15 is any text of its group", "'abc\"", "'abc"),
        (r"^(a)?b\1$", r"\1 at column 7", "ba", "bb"),
        (r"^(?:(a)|b)\1c$", r"\1 at column 11", "bac", "bbc"),
        (r"^(?:([a-z])(?!\1))+$", "(?!…) at column 12 is left out: back-references", "aab", "a1"),
        (r"^(?<q>x|y)-\k<q>$", r"\k<q> at column 12", "x-y", "x-z"),
        (r"^(?P<q>x|y)-(?P=q)$", "(?P=q) at column 13", "x-y", "x-z"),
        (r"^(x)(y)(z)(a)(b)(c)(d)(e)(f)(g)-\10$", r"\10 at column 33", "xyzabcdefg-g", "xyzabcdefg-x0"),
        (r"^((a{300}){300}){3000}$", "{300} at column 11 has no count", "a" * 300, "b"),
        (r"^(?=(?:(?:a{200}){200}){200})[ab]+$", "(?=…) at column 2 is left out: regex_expansion", "b", "c"),
    ],
)
def test_what_is_left_out_is_named_and_the_rest_holds(pattern: str, out: str, kept: str, refused: str) -> None:
    grammar = sg.Grammar.from_json_schema({"type": "string", "pattern": pattern})
    reason = grammar.report.pointers["/pattern"]
    assert out in reason
    assert reason.endswith("the rest of the pattern is enforced")
    assert not accepted(grammar, refused)
    if pattern != r"^((a{300}){300}){3000}$":
        assert accepted(grammar, kept)


@pytest.mark.parametrize(
    "schema",
    [
        {"not": {"type": "string", "pattern": r"^(a|b)\1$"}},
        {"type": "object", "patternProperties": {r"^(a|b)\1$": {"type": "integer"}}},
    ],
)
def test_where_wider_would_be_narrower_all_of_it_is_reported(schema: dict[str, object]) -> None:
    grammar = sg.Grammar.from_json_schema(schema)
    assert grammar.report.status == "widened"
    assert "the rest" not in str(grammar.report.pointers)
    assert accepted(grammar, "ab") if "not" in schema else grammar.accepts('{"aa": 1, "ab": "x"}')


def test_names_and_strings_are_held_alike() -> None:
    schema = {"type": "object", "propertyNames": {"pattern": r"^(['_])[a-z]+\1$"}}
    grammar = sg.Grammar.from_json_schema(schema)
    assert grammar.report.status == "widened"
    assert grammar.accepts('{"_a_": 1}')
    assert not grammar.accepts('{"a": 1}')
