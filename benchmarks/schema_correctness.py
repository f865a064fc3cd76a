"""Who holds JSON Schemas right: valid instances rejected and invalid ones accepted, engine by engine, in one run.

The schemas are those of the data folder, each with instances that are valid and instances that are not. Every engine
reads single bytes as tokens and is asked with its own defaults; an instance is written as `json.dumps` writes it, and
its properties mostly stand in the order of the schema. A peer that is not installed is left out. `of these reported`
are invalid instances of schemas that the engine itself says it does not hold in full.

Run: `python benchmarks/schema_correctness.py [--quick]`.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from support.arguments import arguments
from support.tables import Table
from support.vocabularies import ENGINE_DATA, has_data

import syntagma as sg

QUICK = 8
_END = 256
_TOKENS = [bytes([value]) for value in range(_END)] + [b"<end>"]

Accepts = Callable[[str], bool]
"""whether a whole text is in the language"""
Engine = Callable[[Any], tuple[Accepts, bool]]
"""reads a schema, or raises: what accepts, and whether it is said to be exact"""


def syntagma(order: Any) -> Engine:
    """This library, with one order of properties."""
    compiler = sg.GrammarCompiler(sg.TokenizerInfo.from_tokens(_TOKENS, eos_token_ids=[_END]), cache=False)

    def read(schema: Any) -> tuple[Accepts, bool]:
        grammar = sg.Grammar.from_json_schema(schema, order=order)
        compiled = compiler.compile(grammar)

        def accepts(text: str) -> bool:
            matcher = sg.GrammarMatcher(compiled)
            return matcher.accept_bytes(text.encode()) and matcher.is_accepting()

        return accepts, grammar.report.status == "exact"

    return read


def llguidance() -> Engine:
    """llguidance, with its own tokenizer of bytes."""
    import llguidance  # type: ignore[import-not-found, unused-ignore]

    tokenizer = llguidance.LLTokenizer("byte")

    def read(schema: Any) -> tuple[Accepts, bool]:
        grammar = llguidance.LLMatcher.grammar_from_json_schema(schema)
        first = llguidance.LLMatcher(tokenizer, grammar)
        if first.is_error():
            raise ValueError(first.get_error())

        def accepts(text: str) -> bool:
            matcher = llguidance.LLMatcher(tokenizer, grammar)
            return all(matcher.consume_token(byte) for byte in text.encode()) and matcher.is_accepting()

        return accepts, True

    return read


def xgrammar() -> Engine:
    """xgrammar, not strict: as it reads schemas by the specification."""
    import xgrammar  # type: ignore[import-not-found, unused-ignore]

    info = xgrammar.TokenizerInfo(_TOKENS, stop_token_ids=[_END])
    compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def read(schema: Any) -> tuple[Accepts, bool]:
        compiled = compiler.compile_json_schema(json.dumps(schema), strict_mode=False)

        def accepts(text: str) -> bool:
            matcher = xgrammar.GrammarMatcher(compiled)
            return bool(matcher.accept_string(text.encode()) and matcher.accept_token(_END))

        return accepts, True

    return read


ENGINES: dict[str, Callable[[], Engine]] = {
    "syntagma": lambda: syntagma("declared"),
    "syntagma, any order": lambda: syntagma("any"),
    "llguidance": llguidance,
    "xgrammar": xgrammar,
}

COLUMNS = (
    "exact",
    "widened",
    "refused",
    "valid rejected",
    "invalid accepted",
    "of these reported",
    "all right",
    "CPU s",
)


def measure(engine: Engine, rows: list[dict[str, Any]]) -> Counter[str]:
    """Offer every instance of every schema."""
    told: Counter[str] = Counter()
    begin = time.thread_time()
    for row in rows:
        try:
            accepts, exact = engine(row["schema"])
        except Exception:  # an engine's way to refuse is its own
            told["refused"] += 1
            continue
        told["exact" if exact else "widened"] += 1
        wrong = 0
        for test in row["tests"]:
            accepted = accepts(json.dumps(test["data"], ensure_ascii=False))
            wrong += accepted != test["valid"]
            told["valid rejected"] += test["valid"] and not accepted
            told["invalid accepted"] += accepted and not test["valid"]
            told["of these reported"] += accepted and not test["valid"] and not exact
        told["all right"] += wrong == 0
    told["CPU s"] = round(time.thread_time() - begin)
    return told


def main() -> None:
    options = arguments(__doc__)
    if not has_data():
        return
    lines = (ENGINE_DATA / "schemas.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines[:: QUICK if options.quick else 1]]
    print(f"{len(rows)} schemas, {sum(len(row['tests']) for row in rows)} instances\n")
    table = Table(["engine", *COLUMNS])
    for name, make in ENGINES.items():
        try:
            engine = make()
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)
            continue
        told = measure(engine, rows)
        table.row(name, *(told[column] for column in COLUMNS))


if __name__ == "__main__":
    main()
