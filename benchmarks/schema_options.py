"""What properties in any order and lists of different items cost, beside the same schemas without.

The first table is every schema of the data folder, with `order="declared"` and with `order="any"`, which takes turns in
being first: milliseconds of CPU time to read and compile it, microseconds of each mask of its documents (those that
both take), and for how many schemas a keyword is reported as not enforced.

The second is a list of words out of so many, with `uniqueItems` and without: milliseconds to read and compile it, and
microseconds of the masks of a list of half of the words.

Run: `python benchmarks/schema_options.py [--quick]`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from support.arguments import arguments, there
from support.cases import cases
from support.replay import new_row, read
from support.tables import Table, number
from support.vocabularies import Vocabulary

import syntagma as sg

QUICK = 10
"""a quick run sees every n-th schema"""
WORDS = (6, 10, 20, 50, 100)
SHARES = (50, 90, 99, 100)

_Made = TypeVar("_Made")


class Cost(NamedTuple):
    """Of one schema: milliseconds to compile it, the microseconds of its masks by document, whether it is exact."""

    compile: float
    masks: list[list[float]]
    exact: bool


def timed(make: Callable[[], _Made]) -> tuple[_Made, float]:
    """What is made, and the milliseconds of CPU time of the process."""
    begun = time.process_time()
    made = make()
    return made, (time.process_time() - begun) * 1e3


def cost(
    vocabulary: Vocabulary, info: sg.TokenizerInfo, schema: str, documents: Sequence[Sequence[int]], order: str
) -> Cost:
    """Compile a schema by a compiler without a memory, and read its documents."""
    compiler = sg.GrammarCompiler(info)
    grammar, reading = timed(lambda: sg.Grammar.from_json_schema(schema, order=order))
    compiled, compiling = timed(lambda: compiler.compile(grammar))
    row = new_row(vocabulary)
    masks = []
    for tokens in documents:
        matcher = sg.GrammarMatcher(compiled)
        done = read(
            lambda matcher=matcher: matcher.fill_next_token_bitmask(row.reshape(1, -1)), matcher.accept_token, tokens
        )
        masks.append(done.fills.tolist() if done.whole else [])
    return Cost(reading + compiling, masks, grammar.report.status == "exact")


def orders(vocabulary: Vocabulary, info: sg.TokenizerInfo, every: int) -> None:
    """Print the table of `order`."""
    declared, free = [], []
    refused = 0
    for at, case in enumerate(cases(vocabulary, every)):
        turns = ("declared", "any") if at % 2 else ("any", "declared")
        try:
            pair = {order: cost(vocabulary, info, case.schema, case.documents, order) for order in turns}
        except (sg.UnsupportedSchema, sg.LimitError):
            refused += 1
            continue
        declared.append(pair["declared"])
        free.append(pair["any"])
    both = [
        [bool(ours and theirs) for ours, theirs in zip(left.masks, right.masks, strict=True)]
        for left, right in zip(declared, free, strict=True)
    ]
    columns = ["order", "schemas", "reported", *(f"compile p{share}" for share in SHARES), "mask, mean"]
    table = Table([*columns, *(f"p{share}" for share in SHARES)], title=f"Properties in any order, {vocabulary.name}")
    for name, costs in (("declared", declared), ("any", free)):
        fills = np.concatenate(
            [
                masks
                for one, taken in zip(costs, both, strict=True)
                for masks, yes in zip(one.masks, taken, strict=True)
                if yes
            ]
        )
        compiles = np.percentile([one.compile for one in costs], SHARES)
        table.row(
            name,
            str(len(costs)),
            str(sum(not one.exact for one in costs)),
            *map(number, compiles),
            number(float(fills.mean())),
            *map(number, np.percentile(fills, SHARES)),
        )
    if refused:
        print(f"\n{refused} schemas are refused, or take too much fuel, in one of both orders.")


def lists(vocabulary: Vocabulary, info: sg.TokenizerInfo) -> None:
    """Print the table of `uniqueItems`."""
    table = Table(
        ["words", "compile, without", "with", "mask, without", "with", "largest, without", "with"],
        title=f"Lists of different words, {vocabulary.name}",
    )
    for count in WORDS:
        words = [f"word{at * 7919 % 997}" for at in range(count)]
        document = vocabulary.greedy(json.dumps(words[: count // 2]).encode())
        schema = {"type": "array", "items": {"enum": words}}
        pair = [
            cost(vocabulary, info, json.dumps(one), [document], "declared")
            for one in (schema, {**schema, "uniqueItems": True})
        ]
        assert all(one.exact for one in pair)
        cells = [
            figure
            for pick in (lambda one: one.compile, lambda one: np.mean(one.masks[0]), lambda one: max(one.masks[0]))
            for figure in map(pick, pair)
        ]
        table.row(str(count), *map(number, cells))


def main() -> None:
    """Print both tables."""
    options = arguments(__doc__)
    for name in there():
        vocabulary = Vocabulary(name)
        info = sg.TokenizerInfo.from_tokens(
            vocabulary.tokens, eos_token_ids=vocabulary.eos, special_token_ids=vocabulary.special
        )
        orders(vocabulary, info, QUICK if options.quick else 1)
        lists(vocabulary, info)


if __name__ == "__main__":
    main()
