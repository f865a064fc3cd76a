"""Grammars in KBNF, drawn at random, read by the package `kbnf` and here.

::

    python -m tests.grammars.kbnf_draws 2500 --from 0

needs `kbnf` (0.4.2). A text is compared by its outcome: refused at a byte, ended at a byte, or neither. kbnf ends a
text at the first place where the grammar is matched, so the first such place is taken here as well; its `#ex` matches
one character or more, so the empty text is taken away from it here. `kbnf_differences.toml` lists every other
difference that is known, with its reason; one that is not is printed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from syntagma.decoding import GrammarCompiler, GrammarMatcher
from syntagma.decoding.byte_vocabulary import byte_vocabulary
from syntagma.errors import SyntagmaError
from syntagma.grammars import Grammar

__all__ = ["differences", "draw", "outcome_here", "outcome_there"]

KNOWN = tomllib.loads((Path(__file__).parent / "kbnf_differences.toml").read_text())["difference"]
_EXCEPT = re.compile(r"#ex'[^']*'|#ex\"[^\"]*\"")
_ALPHABET = "ab-"
_PATTERNS = ("a+", "[ab]", "a|ab", "b*a", "(ab)+", "[^a]", "a?b", "ab{1,2}", "-[a-b]*")
_EXCEPTED = ("a", "ab", "b-", "a-|-a")
_PLACED = ("^a", "b$", "\\bb", "(?m)^-")
_STRINGS = ("a", "b", "-", "ab", "\\x61", "\\u0062", "\\141", "\\n", "-a")


def draw(seed: int) -> tuple[str, list[str]]:
    """A grammar, and texts to try on it."""
    rng = random.Random(seed)
    names = ["start", *rng.sample(["x", "y", "z"], rng.randint(0, 3))]
    define = rng.choice(("::=", "="))
    rules = [f"{name} {define} {_choice(rng, names[at + 1 :], 2)};" for at, name in enumerate(names)]
    texts = ["".join(rng.choice(_ALPHABET) for _ in range(rng.randint(0, 6))) for _ in range(6)]
    return "\n".join(rules), texts


def _choice(rng: random.Random, names: list[str], depth: int) -> str:
    return " | ".join(_sequence(rng, names, depth) for _ in range(rng.choice((1, 1, 2))))


def _sequence(rng: random.Random, names: list[str], depth: int) -> str:
    return rng.choice((" ", ", ")).join(_item(rng, names, depth) for _ in range(rng.choice((1, 1, 2))))


def _item(rng: random.Random, names: list[str], depth: int) -> str:
    kinds = ["string", "string", "pattern", "except", "name"]
    if depth:
        kinds += ["group", "option", "repetition", "postfix"]
    quote = rng.choice("'\"")
    match rng.choice(kinds):
        case "string":
            return quote + rng.choice(_STRINGS) + quote
        case "pattern":
            return f"#{quote}{rng.choice(_PATTERNS)}{quote}"
        case "except":
            pattern = rng.choice(_EXCEPTED if rng.random() < 0.8 else _PLACED)
            return f"#ex{quote}{pattern}{quote}".replace("\\", "\\\\")
        case "name":
            return rng.choice(names) if names else "'b'"
        case "group":
            return f"({_choice(rng, names, depth - 1)})"
        case "option":
            return f"[{_choice(rng, names, depth - 1)}]"
        case "repetition":
            return f"{{{_choice(rng, names, depth - 1)}}}"
        case _:
            return f"({_choice(rng, names, depth - 1)}){rng.choice('?*+')}"


def outcome_here(grammar: Grammar, text: str) -> str:
    """What becomes of a text here."""
    matcher = GrammarMatcher(GrammarCompiler(byte_vocabulary()).compile(grammar))
    for at, byte in enumerate(text.encode()):
        if not matcher.accept_bytes(bytes([byte])):
            return f"refused at {at}"
        if matcher.is_accepting():
            return f"ended at {at}"
    return "goes on"


def outcome_there(kbnf: Any, source: str, text: str) -> str:
    """What becomes of it in kbnf."""
    tokens = {value: kbnf.Token(bytes([value])) for value in range(256)}
    engine = kbnf.Engine(source, kbnf.Vocabulary(tokens, {value: chr(value) for value in range(256)}))
    for at, byte in enumerate(text.encode()):
        try:
            engine.try_accept_new_token(byte)
        except ValueError as error:
            return "ended before" if "finished" in str(error) else f"refused at {at}"
        if engine.is_finished():
            return f"ended at {at}"
    return "goes on"


def differences(kbnf: Any, seed: int) -> list[tuple[str, str]]:
    """For each difference that one drawn grammar shows: the reason if it is known, else an empty text; and itself."""
    source, texts = draw(seed)
    try:
        grammar = Grammar.from_ebnf(_EXCEPT.sub(r"(\g<0> & ~'')", source))
        GrammarCompiler(byte_vocabulary()).compile(grammar)
    except SyntagmaError as error:
        grammar, refusal = None, error.code
    found = []
    for text in texts:
        try:
            there = outcome_there(kbnf, source, text)
        except ValueError as error:
            there = f"refused: {str(error)[:60]}"
        here = f"refused: {refusal}" if grammar is None else outcome_here(grammar, text)
        if here != there and not (here.startswith("refused: ") and there.startswith("refused: ")):
            reason = next((one["reason"] for one in KNOWN if _is(one, source, here, there)), "")
            found.append((reason, f"{seed}: {source!r} {text!r}: here {here}, there {there}"))
    return found


def _is(known: dict[str, str], source: str, here: str, there: str) -> bool:
    return all(
        re.search(known[key], value) is not None
        for key, value in (("source", source), ("here", here), ("there", there))
        if key in known
    )


def main() -> int:
    """Draw grammars and count the differences."""
    arguments = argparse.ArgumentParser(description=main.__doc__)
    arguments.add_argument("count", type=int)
    arguments.add_argument("--from", dest="first", type=int, default=0)
    given = arguments.parse_args()
    import kbnf

    reasons: Counter[str] = Counter()
    unknown = 0
    for seed in range(given.first, given.first + given.count):
        for reason, difference in differences(kbnf, seed):
            reasons[reason] += 1
            if not reason:
                unknown += 1
                print(difference)
    for reason, count in reasons.most_common():
        print(f"{count:>8} {reason or 'not known'}")
    print(f"{given.count} grammars, {unknown} differences that are not known")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
