"""Patterns of JSON Schema against Python's `re`, on patterns that both read alike; and as JSON writes the strings."""

from __future__ import annotations

import json
import os
import random
import re
import string
from collections.abc import Callable
from typing import Literal

import pytest

import syntagma as sg
from syntagma.errors import ArgumentError

PATTERNS = int(os.environ.get("REGEX_CASES", "150"))
TEXTS = 30
LETTERS = ["a", "b", "-", " ", '"', "\\", "\n", "é", "1"]


@pytest.fixture(scope="module")
def compiler() -> sg.GrammarCompiler:
    tokens = [*(bytes([byte]) for byte in range(256)), b""]
    return sg.GrammarCompiler(sg.TokenizerInfo.from_tokens(tokens, eos_token_ids=[256]), cache=False)


class Writer:
    """Random patterns, each as ECMA-262 and as Python have it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def leaf(self, *, inside: bool) -> tuple[str, str]:
        pick = self.random.random()
        if pick < 0.6:
            letter = re.escape(self.random.choice(LETTERS)).replace("\n", "n")
            return letter, letter
        same = [".", "[^a]", "[ab-]", r"\w", r"\d", r"\W", r"[^\d]", r"[\w-]"]
        if pick < 0.85 or inside:
            text = self.random.choice(same)
            return text, text
        return self.random.choice([("^", r"\A"), ("$", r"\Z"), (r"\b", r"\b"), (r"\B", r"\B")])

    def pattern(self, depth: int = 3, *, inside: bool = False) -> tuple[str, str]:
        """`inside` a look-behind only what has one length, as Python asks."""
        if depth == 0:
            return self.leaf(inside=inside)
        kind = self.random.choice("ssssrrlla" if not inside else "sss")
        if kind == "s":
            parts = [self.pattern(depth - 1, inside=inside) for _ in range(self.random.randint(1, 4))]
            return "".join(part[0] for part in parts), "".join(part[1] for part in parts)
        ecma, python = self.pattern(depth - 1, inside=inside)
        if kind == "r":
            sign = self.random.choice(["?", "*", "+", "{2}", "{0,2}", "{1,}", "*?"])
            return f"(?:{ecma}){sign}", f"(?:{python}){sign}"
        if kind == "a":
            other = self.pattern(depth - 1)
            return f"(?:{ecma}|{other[0]})", f"(?:{python}|{other[1]})"
        sign = self.random.choice(["?=", "?!", "?<=", "?<!"])
        if "<" in sign:
            ecma, python = self.pattern(1, inside=True)
        return f"({sign}{ecma})", f"({sign}{python})"

    def text(self) -> str:
        # Not empty: Python before 3.14 finds no `\B` in an empty text.
        return "".join(self.random.choices(LETTERS, k=self.random.randint(1, 8)))


def found(matcher: sg.GrammarMatcher, text: str) -> bool:
    matcher.reset()
    document = json.dumps(text, ensure_ascii=False).encode()
    return matcher.accept_bytes(document) and matcher.is_accepting()


def test_patterns_find_what_python_finds(compiler: sg.GrammarCompiler) -> None:
    writer = Writer(4)
    refused = pairs = 0
    for _ in range(PATTERNS):
        ecma, python = writer.pattern()
        try:
            theirs = re.compile(python, re.ASCII)
        except re.error:
            continue
        try:
            grammar = sg.Grammar.from_json_schema({"type": "string", "pattern": ecma})
            matcher = sg.GrammarMatcher(compiler.compile(grammar))
        except (sg.UnsupportedSchema, sg.GrammarError) as error:
            if error.code not in {"E-SCHEMA-UNSATISFIABLE", "E-GRAMMAR-EMPTY"}:
                raise
            matcher = None
        if matcher is not None and grammar.report.status != "exact":
            refused += 1
            continue
        for _ in range(TEXTS):
            text = writer.text()
            assert (matcher is not None and found(matcher, text)) == bool(theirs.search(text)), (ecma, text)
            pairs += 1
    print(f"{pairs} pairs, {refused} of {PATTERNS} refused")
    assert refused * 4 < PATTERNS


PROBES = [
    (r"\d", ["5", "٣"]),
    (r"\w", ["a", "é"]),
    (r"\s", [" ", "\ufeff"]),
    (".", ["a", "\n", "\r"]),
    (r"\<a\>", ["<a>", "a"]),
    ("^a$", ["a"]),
    (r"\Aa\z", ["a"]),
    (r"a\Z", []),
    ("[^]", []),
    ("[ab&&a]", ["a", "b"]),
    ("[a[bc]]", ["b", "a]"]),
    (r"\-\u0041\u{1F600}", ["-A😀"]),
    (r"\cA", []),
    ("(?<n>a)(?P<m>b)", ["ab"]),
    ("(?i)a", ["A"]),
    ("(?i:a)b", ["Ab", "AB"]),
    ("(?x)a b", ["ab", "a b"]),
    ("a++", ["aa"]),
    ("(?>a)", []),
    (r"\p{Greek}", ["α", "a"]),
    ("a{,2}", []),
    ("(?=a)[ab]c", ["ac", "bc"]),
    (r"(a)\1", []),
    ("a{2000000}", []),
    ("(?:a{200}){200}", []),
    ("(?:ab(?=cde))*x", []),
]


@pytest.mark.parametrize(("pattern", "texts"), PROBES)
def test_one_reader_serves_all_notations_but_schemas(pattern: str, texts: list[str]) -> None:
    tag = {"type": "structural_tag", "format": {"type": "regex", "pattern": pattern}}
    readers: list[Callable[[], sg.Grammar]] = [
        lambda: sg.Grammar.from_regex(pattern),
        lambda: sg.Grammar.from_ebnf(f'start ::= #"{pattern}";'.replace("\\", "\\\\")),
        lambda: sg.Grammar.from_lark(f"start: /{pattern}/"),
        lambda: sg.Grammar.from_structural_tag(tag),
    ]

    def verdict(read: Callable[[], sg.Grammar]) -> list[bool] | str:
        try:
            grammar = read()
        except (sg.GrammarError, sg.LimitError) as error:
            return error.code
        return [grammar.accepts(text) for text in texts]

    first, *others = [verdict(read) for read in readers]
    assert all(other == first for other in others), (first, others)
    assert isinstance(first, list) == bool(texts)


def test_patterns_read_values_however_json_escapes_them(compiler: sg.GrammarCompiler) -> None:
    grammar = sg.Grammar.from_json_schema({"type": "string", "pattern": r'^(?=.*")(?!.*\\).{2,4}$', "maxLength": 3})
    matcher = sg.GrammarMatcher(compiler.compile(grammar))
    for text in ('a"', '"""', 'é"'):
        assert found(matcher, text), text
    for text in ("ab", '"\\', 'ab"c', '"', '"\n', "", *(string.ascii_letters[:size] for size in range(6))):
        assert not found(matcher, text), text


def test_the_dialect_decides_what_a_pattern_means(compiler: sg.GrammarCompiler) -> None:
    def matches(pattern: str, dialect: Literal["rust", "ecma"], text: str) -> bool:
        matcher = sg.GrammarMatcher(compiler.compile(sg.Grammar.from_regex(pattern, dialect=dialect)))
        return matcher.accept_bytes(text.encode()) and matcher.is_accepting()

    for pattern, text, rust, ecma in (
        (r"\d", "٣", True, False),
        (r".", "\r", True, False),
        (r"[ab&&a]", "b", False, True),
        (r"(?=.*1)\w+", "a1", True, True),
    ):
        assert matches(pattern, "rust", text) is rust, pattern
        assert matches(pattern, "ecma", text) is ecma, pattern
    with pytest.raises(sg.GrammarError, match="look-around"):
        sg.Grammar.from_regex("(ab(?=cde))*x", dialect="ecma")
    with pytest.raises(ArgumentError) as caught:
        sg.Grammar.from_regex("a", dialect="perl")  # type: ignore[arg-type]
    assert caught.value.code == "E-REGEX-DIALECT"
