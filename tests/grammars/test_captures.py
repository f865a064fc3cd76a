"""Where the labelled parts of a text lie: compared with all readings, and kept by all that a matcher does."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pytest

import syntagma as sg

INFO = sg.testing.byte_vocabulary()
Span = tuple[int, int, str]


class Part(NamedTuple):
    """An expression: a character, or an operation on expressions."""

    kind: str
    inner: tuple[Any, ...]


class Reading(NamedTuple):
    """One way to read a text: up to where, the labelled parts that are complete, and whether all of it was read."""

    end: int
    spans: tuple[Span, ...]
    whole: bool


def drawn(draw: random.Random, depth: int = 4) -> Part:
    kind = draw.choice(["char", "seq", "seq", "alt", "many", "maybe", "label"]) if depth else "char"
    if kind == "char":
        return Part(kind, (draw.choice("ab"),))
    count = draw.randint(2, 3) if kind in ("seq", "alt") else 1
    inner = tuple(drawn(draw, depth - 1) for _ in range(count))
    return Part(kind, (*inner, draw.choice("xyz")) if kind == "label" else inner)


def source(part: Part) -> str:
    inner = part.inner
    match part.kind:
        case "char":
            return f'"{inner[0]}"'
        case "label":
            return f"@{inner[1]}({source(inner[0])})"
        case "many" | "maybe":
            return f"({source(inner[0])}){'*' if part.kind == 'many' else '?'}"
        case kind:
            return "(" + (" | " if kind == "alt" else " ").join(map(source, inner)) + ")"


def readings(part: Part, text: str, at: int) -> Iterator[Reading]:
    """All readings from an index on, also those in which the text ends in the middle."""
    inner = part.inner
    match part.kind:
        case "char":
            if at == len(text):
                yield Reading(at, (), whole=False)
            elif text[at] == inner[0]:
                yield Reading(at + 1, (), whole=True)
        case "label":
            for end, spans, whole in readings(inner[0], text, at):
                yield Reading(end, ((at, end, inner[1]), *spans) if whole else spans, whole)
        case "seq":
            yield from sequence(inner, text, at)
        case "alt":
            for one in inner:
                yield from readings(one, text, at)
        case _:
            yield Reading(at, (), whole=True)
            for end, spans, whole in readings(inner[0], text, at):
                rest = whole and end > at and part.kind == "many"
                yield from follow(readings(part, text, end), spans) if rest else [Reading(end, spans, whole)]


def sequence(parts: Sequence[Part], text: str, at: int) -> Iterator[Reading]:
    for end, spans, whole in readings(parts[0], text, at):
        rest = whole and len(parts) > 1
        yield from follow(sequence(parts[1:], text, end), spans) if rest else [Reading(end, spans, whole)]


def follow(rest: Iterator[Reading], spans: tuple[Span, ...]) -> Iterator[Reading]:
    return (Reading(end, spans + more, whole) for end, more, whole in rest)


def best(found: list[Reading]) -> dict[str, list[tuple[int, int]]]:
    def order(reading: Reading) -> list[tuple[float, float, str]]:
        return [(start, -end, label) for start, end, label in reading.spans] + [(math.inf, 0, "")]

    spans: dict[str, list[tuple[int, int]]] = {}
    for start, end, label in min(found, key=order).spans:
        spans.setdefault(label, []).append((start, end))
    return spans


@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_all_readings_is_told(seed: int) -> None:
    draw = random.Random(seed)
    compared = 0
    for _ in range(50):
        part = drawn(draw)
        grammar = sg.Grammar.from_ebnf(f"start ::= {source(part)} ;")
        matcher = sg.GrammarMatcher(sg.GrammarCompiler(INFO).compile(grammar))
        text = ""
        while len(text) < 7:
            found = [one for one in readings(part, text, 0) if one.end == len(text)]
            complete = [one for one in found if one.whole]
            assert matcher.is_accepting() == bool(complete)
            # A part that is empty may come before or after what begins where it does: that is not compared.
            if not any(start == end for one in found for start, end, _ in one.spans):
                told = {label: spans for label, spans in matcher.captures().items() if spans}
                assert told == best(complete or found), (source(part), text)
                compared += 1
            following = [char for char in "ab" if matcher.accepts(ord(char))]
            if not following:
                break
            text += draw.choice(following)
            assert matcher.accept_token(ord(text[-1]))
    assert compared > 40


PAIRS = 'start ::= pair (";" pair)* ; pair ::= @key(#"[a-zü]+") "=" @value(#"[0-9]+") ;'


def test_a_match_tells_code_points() -> None:
    match = sg.Grammar.from_ebnf(PAIRS).match("aü=1;b=22")
    assert match is not None
    assert match.captures == {"key": [(0, 2), (5, 6)], "value": [(3, 4), (7, 9)]}
    assert match.texts("key") == ["aü", "b"]
    assert match.texts("value") == ["1", "22"]


@pytest.mark.parametrize("text", ["", "a=", "a=1;", "A=1"])
def test_a_text_that_is_not_accepted_matches_nothing(text: str) -> None:
    assert sg.Grammar.from_ebnf(PAIRS).match(text) is None


def test_every_label_has_an_entry() -> None:
    match = sg.Grammar.from_ebnf('start ::= "a" | @rare("b") ;').match("a")
    assert match is not None
    assert match.captures == {"rare": []}
    nothing = sg.Grammar.from_regex("a").match("a")
    assert nothing is not None
    assert nothing.captures == {}


def test_lark_names_captures_too() -> None:
    grammar = sg.Grammar.from_lark('start: word ("," word)*\nword[capture="w"]: /[a-z]+/\n')
    match = grammar.match("ab,c")
    assert match is not None
    assert match.texts("w") == ["ab", "c"]


def test_parts_inside_of_parts_come_after_them() -> None:
    match = sg.Grammar.from_ebnf('start ::= @list("(" start* ")") ;').match("(()(()))")
    assert match is not None
    assert match.captures == {"list": [(0, 8), (1, 3), (3, 7), (4, 6)]}


def test_special_tokens_count_with_their_texts() -> None:
    tokens = [*(bytes([byte]) for byte in range(256)), b"<end>", b"<call>", b"12"]
    info = sg.TokenizerInfo.from_tokens(tokens, eos_token_ids=[256], special_token_ids=[256, 257])
    grammar = sg.Grammar.from_ebnf('start ::= @call(@token("<call>") @n(#"[0-9]+")) "!" ;')
    matcher = sg.GrammarMatcher(sg.GrammarCompiler(info).compile(grammar))
    for token in (257, 258, ord("3"), ord("!"), 256):
        assert matcher.accept_token(token)
    assert matcher.is_terminated()
    assert matcher.captures() == {"call": [(0, 9)], "n": [(6, 9)]}
    match = grammar.match("<call>123!")
    assert match is not None
    assert match.captures == {"call": [(0, 9)], "n": [(6, 9)]}


def test_captures_go_with_rollback_fork_and_saved_states() -> None:
    compiled = sg.GrammarCompiler(INFO).compile(sg.Grammar.from_ebnf(PAIRS))
    matcher = sg.GrammarMatcher(compiled)
    assert matcher.accept_bytes(b"a=1;")
    fork = matcher.fork()
    assert matcher.accept_bytes(b"b=22")
    assert fork.captures() == {"key": [(0, 1)], "value": [(2, 3)]}
    assert fork.accept_bytes(b"cc=3")
    assert fork.captures() == {"key": [(0, 1), (4, 6)], "value": [(2, 3), (7, 8)]}
    whole = {"key": [(0, 1), (4, 5)], "value": [(2, 3), (6, 8)]}
    assert matcher.captures() == whole
    assert sg.GrammarMatcher.from_state_bytes(compiled, matcher.state_bytes()).captures() == whole
    matcher.rollback(1)
    assert matcher.captures() == {"key": [(0, 1)], "value": [(2, 3)]}
    matcher.reset()
    assert matcher.captures() == {"key": [], "value": []}


def test_too_many_readings_fail_the_question_and_not_the_matcher() -> None:
    grammar = sg.Grammar.from_ebnf('start ::= @a("a") start | "a" ;')
    compiled = sg.GrammarCompiler(INFO, limits=sg.Limits(step_fuel=20_000)).compile(grammar)
    matcher = sg.GrammarMatcher(compiled)
    for _ in range(1_000):
        assert matcher.accept_token(ord("a"))
    with pytest.raises(sg.LimitError) as caught:
        matcher.captures()
    assert caught.value.code == "E-LIMIT-STEP"
    assert matcher.accept_token(ord("a"))


def test_bounded_parts_are_captured_as_well() -> None:
    grammar = sg.Grammar.from_ebnf('start ::= @reasoning(#"[a-z]*") "." ;')
    compiled = sg.GrammarCompiler(INFO).compile(grammar)
    matcher = sg.GrammarMatcher(compiled, budgets=sg.Budgets(reasoning_tokens=3))
    assert matcher.accept_bytes(b"ab")
    assert matcher.accept_bytes(b".")
    assert matcher.captures() == {"reasoning": [(0, 2)]}
