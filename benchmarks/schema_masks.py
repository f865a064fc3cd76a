"""Masks along the documents of many JSON Schemas, on a 128k vocabulary, beside llguidance where it is installed.

Each schema is new to the engine when its documents are first read; what the compiler has learnt from earlier schemas
stays, as it would in a server. Times are CPU time of the thread for one mask, called from Python, in microseconds;
compiling goes from the schema's text to the start of a matcher. Documents stop at the first token that is refused.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import syntagma as sg

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "engine"
SHARES = (50, 75, 90, 99, 99.9, 100)

Matcher = tuple[Callable[[], Any], Callable[[int], bool]]
"""Fills a mask; takes a token."""


class Ours:
    """This library, through its public names."""

    def __init__(self, tokenizer: Path) -> None:
        info = sg.TokenizerInfo.from_tokenizer_json(tokenizer, eos_token_ids=[0])
        self.compiler = sg.GrammarCompiler(info, cache=False)
        self.bitmask = sg.allocate_token_bitmask(1, info.vocab_size)

    def compile(self, schema: str) -> Callable[[], Matcher]:
        compiled = self.compiler.compile(sg.Grammar.from_json_schema(schema))

        def start() -> Matcher:
            matcher = sg.GrammarMatcher(compiled)
            return lambda: matcher.fill_next_token_bitmask(self.bitmask), matcher.accept_token

        start()
        return start


class Llguidance:
    """llguidance through its NumPy bitmask."""

    def __init__(self, tokenizer: Path) -> None:
        import llguidance
        import llguidance.numpy

        self.library = llguidance
        self.tokenizer = llguidance.LLTokenizer(str(tokenizer))
        self.bitmask = llguidance.numpy.allocate_token_bitmask(1, self.tokenizer.vocab_size)

    def compile(self, schema: str) -> Callable[[], Matcher]:
        grammar = self.library.LLMatcher.grammar_from_json_schema(schema)

        def start() -> Matcher:
            matcher = self.library.LLMatcher(self.tokenizer, grammar)
            if matcher.is_error():
                raise ValueError(matcher.get_error())
            fill = self.library.numpy.fill_next_token_bitmask
            return lambda: fill(matcher, self.bitmask, 0), matcher.consume_token

        start()
        return start


def cases() -> Iterator[tuple[str, list[list[int]]]]:
    """Schemas with the tokens of their documents."""
    tokens = msgspec.msgpack.decode((DATA / "tokens" / "schemas.llama3.msgpack").read_bytes())
    for line in (DATA / "schemas.jsonl").read_text().splitlines():
        case = json.loads(line)
        yield json.dumps(case["schema"]), tokens[case["id"]]


def measure(engine: Any) -> tuple[dict[str, list[float]], int]:
    """Times by what they are of, and how many schemas were refused."""
    times: dict[str, list[float]] = {"compile": [], "first": [], "again": []}
    refused = 0
    clock = time.thread_time_ns
    for schema, documents in cases():
        begin = clock()
        try:
            start = engine.compile(schema)
        except Exception:  # a refusal is a result, whatever its type
            refused += 1
            continue
        times["compile"].append((clock() - begin) / 1e3)
        for kind in ("first", "again"):
            for document in documents:
                fill, take = start()
                for token in document:
                    begin = clock()
                    fill()
                    times[kind].append((clock() - begin) / 1e3)
                    if not take(token):
                        break
    return times, refused


def table() -> str:
    shares = " | ".join("max" if share == 100 else f"p{share}" for share in SHARES)
    rows = [f"| engine | what | n | mean | {shares} |", "|:--|:--|" + "--:|" * (len(SHARES) + 2)]
    path = DATA / "vocabs" / "llama3.tokenizer.json"
    for name, make in (("syntagma", Ours), ("llguidance", Llguidance)):
        try:
            engine = make(path)
        except ImportError:
            rows.append(f"| {name} | not installed |" + " |" * (len(SHARES) + 2))
            continue
        times, refused = measure(engine)
        for kind, values in times.items():
            label = f"{kind} ({refused} refused)" if kind == "compile" else f"mask, {kind} time"
            cells = [f"{np.mean(values):,.1f}", *(f"{value:,.1f}" for value in np.percentile(values, SHARES))]
            rows.append(f"| {name} | {label} | {len(values):,} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


if __name__ == "__main__":
    if not DATA.is_dir():
        sys.exit(f"the schemas are not at {DATA}")
    print(table())
