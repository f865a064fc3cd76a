"""Masks and compilation on the vocabularies at hand, beside the peers that are installed.

For each grammar: compile, then walk a text token by token; a mask and an accept for each token, twice (first pass
with everything cold, second pass warm). Times are CPU time of the thread, in microseconds. Peers run in the same
process, one after the other on the same texts; a peer that is not installed leaves an empty column and its reason.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import syntagma as sg

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "engine" / "vocabs"
SHIPPED = ROOT / "python" / "syntagma" / "embedded" / "data" / "tokenizer.json"

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string", "maxLength": 40},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}, "gift": {"type": "boolean"}},
                "required": ["sku", "count"],
                "additionalProperties": False,
            },
        },
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["id", "name", "items"],
    "additionalProperties": False,
}
DOCUMENT = json.dumps(
    {
        "id": 7,
        "name": 'Łódź – a "quoted" name',
        "tags": ["red", "blue"],
        "items": [{"sku": f"A-{i}", "count": i, "gift": i % 2 == 0} for i in range(8)],
        "note": None,
    },
    ensure_ascii=False,
)


class Ours:
    """This library, through its public names."""

    def __init__(self, path: Path) -> None:
        self.info = sg.TokenizerInfo.from_tokenizer_json(path, eos_token_ids=[0] if path.parent == DATA else None)
        self.bitmask = sg.allocate_token_bitmask(1, self.info.vocab_size)

    def compile(self, schema: dict[str, Any]) -> Callable[[], Any]:
        compiled = sg.GrammarCompiler(self.info, cache=False).compile(sg.Grammar.from_json_schema(schema))
        return lambda: sg.GrammarMatcher(compiled)

    def step(self, matcher: Any, token: int) -> bool:
        matcher.fill_next_token_bitmask(self.bitmask)
        return bool(matcher.accept_token(token))


class Llguidance:
    """llguidance through its NumPy bitmask."""

    def __init__(self, path: Path) -> None:
        import llguidance
        import llguidance.numpy

        self.library = llguidance
        self.tokenizer = llguidance.LLTokenizer(str(path))
        self.bitmask = llguidance.numpy.allocate_token_bitmask(1, self.tokenizer.vocab_size)

    def compile(self, schema: dict[str, Any]) -> Callable[[], Any]:
        grammar = self.library.LLMatcher.grammar_from_json_schema(json.dumps(schema))
        self.library.LLMatcher(self.tokenizer, grammar)
        return lambda: self.library.LLMatcher(self.tokenizer, grammar)

    def step(self, matcher: Any, token: int) -> bool:
        self.library.numpy.fill_next_token_bitmask(matcher, self.bitmask, 0)
        return bool(matcher.consume_token(token))


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Microseconds of this thread's CPU, and what came back."""
    start = time.thread_time_ns()
    value = call()
    return (time.thread_time_ns() - start) / 1e3, value


def greedy(info: sg.TokenizerInfo, text: bytes) -> list[int]:
    """A tokenisation by longest match: the same tokens for every engine."""
    longest: dict[bytes, int] = {}
    for token in range(info.vocab_size):
        if token not in info.special_token_ids and (data := info.token_bytes(token)):
            longest.setdefault(data, token)
    most = max(map(len, longest))
    ids = []
    while text:
        size = next(n for n in range(min(most, len(text)), 0, -1) if text[:n] in longest)
        ids.append(longest[text[:size]])
        text = text[size:]
    return ids


def measure(engine: Any, ids: Sequence[int]) -> list[str]:
    compile_us = statistics.median(timed(lambda: engine.compile(SCHEMA))[0] for _ in range(5))
    make = engine.compile(SCHEMA)
    cells = [f"{compile_us:,.0f}"]
    for _ in ("cold", "warm"):
        matcher = make()
        times = []
        for token in ids:
            spent, accepted = timed(lambda matcher=matcher, token=token: engine.step(matcher, token))
            if not accepted:
                return [*cells, "refused its own document", "", "", ""][:5]
            times.append(spent)
        cells += [f"{statistics.median(times):,.1f}", f"{np.percentile(times, 99):,.0f}"]
    return cells


def table() -> str:
    rows = [
        "| vocabulary | engine | compile | cold p50 | cold p99 | warm p50 | warm p99 |",
        "|:--|:--|--:|--:|--:|--:|--:|",
    ]
    for path in [SHIPPED, *sorted(DATA.glob("*.tokenizer.json"))]:
        label = "shipped" if path == SHIPPED else path.name.split(".")[0]
        ours = Ours(path)
        ids = greedy(ours.info, DOCUMENT.encode())
        rows.append(f"| {label} ({ours.info.vocab_size:,}) | syntagma | " + " | ".join(measure(ours, ids)) + " |")
        try:
            peer = Llguidance(path)
        except ImportError:
            rows.append("| | llguidance | not installed | | | | |")
        except Exception as error:  # a peer's own refusal is a result, too
            rows.append(f"| | llguidance | {type(error).__name__} | | | | |")
        else:
            rows.append("| | llguidance | " + " | ".join(measure(peer, ids)) + " |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
