"""Lark grammars and structural tags beside the engines whose notations they are: compiling, and masks along texts.
Where a peer is ahead: masks of `features` are nearly all first ones, and xgrammar computes its own while it compiles,
in many times our time; for `calls` in Lark, what lazy terminals leave to each other is worked out pair by pair when the
grammar is read, which is most of our time, and none of it is needed for the same as a tag.

`features` are the grammars and tags of `tests/external` that show each construct once, with the texts that they accept.
`languages` are the two of `plain_grammars.py`. `calls` are requests of three tools, whose parameters are schemas of the
data folder: free text, then each call with its valid documents. In Lark a call begins with a lazy terminal; as a tag it
has a trigger. llguidance gets the tag by its own class, which writes Lark.

Every row of a peer stands under ours over the same: the inputs that both compile, and of their texts those that both
read to the end. `compile` is milliseconds of CPU time, with a vocabulary that the engine knows; masks are microseconds,
with everything new (`first`) and a second time; `÷ ours` divides the totals.

Run: `python benchmarks/dialects.py [--quick]`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

from support.arguments import arguments, there
from support.cases import cases
from support.languages import LANGUAGES
from support.replay import Replay, common, replay
from support.tables import Table, names_of, number, percentiles
from support.vocabularies import ROOT, Vocabulary
from support.workers import Failed, Worker, started

ENGINES = ("syntagma", "llguidance", "xgrammar")
EXTERNAL = ROOT / "tests" / "external"
SECONDS = 20
TOOLS = 3
"""tools of a request"""
QUICK = 4
"""every n-th request only, with --quick"""
SHARES = (50, 90, 99)
SIZE = 6_000
"""characters of a text in a language"""
_TOKEN = re.compile("⟨[0-9]+⟩")


class Source(NamedTuple):
    """A grammar in one notation, with texts as tokens."""

    group: str
    kind: str
    text: str
    documents: list[list[int]]


def sources(tokens: Vocabulary, every: int) -> Iterator[Source]:
    """All that is measured, group by group."""
    for feature in tomllib.loads((EXTERNAL / "lark.toml").read_text(encoding="utf-8"))["feature"]:
        for case in feature["case"]:
            if texts := case.get("accepts"):
                yield Source("Lark, features", "lark", case["grammar"], _tokens(tokens, texts))
    for language in LANGUAGES.values():
        yield Source("Lark, languages", "lark", language.lark, _tokens(tokens, [language.text(SIZE)]))
    requests = list(_requests(tokens))[::every]
    for tools, documents in requests:
        yield Source("Lark, calls", "lark", _lark_of(tools), documents)
    for case in tomllib.loads((EXTERNAL / "suites" / "structural_tag.toml").read_text(encoding="utf-8"))["case"]:
        texts = [text for text in case.get("accepts", ()) if not _TOKEN.search(text)]
        if texts and "format" in case:
            tag = {"type": "structural_tag", "format": json.loads(case["format"], strict=False)}
            yield Source("tags, features", "structural_tag", json.dumps(tag), _tokens(tokens, texts))
    for tools, documents in requests:
        yield Source("tags, calls", "structural_tag", json.dumps(_tag_of(tools)), documents)


def _tokens(tokens: Vocabulary, texts: list[str]) -> list[list[int]]:
    return [tokens.greedy(text.encode()) for text in texts if text]


def _requests(tokens: Vocabulary) -> Iterator[tuple[dict[str, str], list[list[int]]]]:
    """Tools, name → schema as text, and for each round of documents a text with a call of each tool."""
    before, after = tokens.greedy(b"Let me look that up. "), tokens.greedy(b"</function>\n")
    known = [case for case in cases(tokens) if case.documents]
    for at in range(0, len(known) - TOOLS + 1, TOOLS):
        tools = {f"tool_{number}": case for number, case in enumerate(known[at : at + TOOLS])}
        heads = {name: tokens.greedy(f"<function={name}>".encode()) for name in tools}
        texts = []
        for turn in range(min(2, *(len(case.documents) for case in tools.values()))):
            calls = [[*heads[name], *case.documents[turn], *after] for name, case in tools.items()]
            texts.append([*before, *(token for call in calls for token in call)])
        yield {name: case.schema for name, case in tools.items()}, texts


def _lark_of(tools: dict[str, str]) -> str:
    """Text and calls as llguidance's documents write them: a lazy terminal holds the text up to a call."""
    rules = [f"start: ({' | '.join(tools)})* rest", "rest: TEXT", "TEXT: /(.|\\n)*/"]
    for name, schema in tools.items():
        rules += [f'{name}: {name}_head %json {schema} "</function>"', f'{name}_head[lazy]: TEXT "<function={name}>"']
    return "\n".join(rules) + "\n"


def _tag_of(tools: dict[str, str]) -> dict[str, Any]:
    tags = [
        {
            "type": "tag",
            "begin": f"<function={name}>",
            "content": {"type": "json_schema", "json_schema": json.loads(schema)},
            "end": "</function>",
        }
        for name, schema in tools.items()
    ]
    return {
        "type": "structural_tag",
        "format": {"type": "triggered_tags", "triggers": ["<function="], "tags": tags},
    }


def compare(
    group: str, found: list[dict[str, Replay]], refused: dict[str, int], peers: list[str], table: Table
) -> None:
    """The rows of one group: for each peer ours, and its own under it."""
    for peer in peers:
        pair = ("syntagma", peer)
        both = [done for done in found if all(name in done for name in pair)]
        if not both:
            table.row(group, peer, 0, refused[peer])
            continue
        turns = [common(both, pair, turn)[0] for turn in (0, 1)]
        totals = [sum(float(turn[at].sum()) for turn in turns) for at in (0, 1)]
        for at, name in enumerate(pair):
            times = [done[name].compile / 1e3 for done in both]
            masks = [cell for turn in turns for cell in percentiles(turn[at], SHARES)]
            ratio = number(totals[at] / totals[0]) if totals[0] else ""
            table.row(
                group,
                name,
                len(both),
                refused[name],
                *percentiles(times, SHARES),
                f"{turns[0][at].size:,}",
                *masks,
                ratio,
            )


def main() -> None:
    options = arguments(__doc__)
    vocabulary = there()[0]
    tokens = Vocabulary(vocabulary)
    workers = started(ENGINES, vocabulary)
    print()
    shares = names_of(SHARES)
    columns = [*(f"compile {share}" for share in shares), "masks"]
    columns += [f"{turn} {share}" for turn in ("first", "again") for share in shares]
    table = Table(["inputs", "engine", "both", "refused", *columns, "÷ ours"], texts=2)
    groups: dict[str, list[Source]] = {}
    for source in sources(tokens, QUICK if options.quick else 1):
        groups.setdefault(source.group, []).append(source)
    for group, members in groups.items():
        refused = dict.fromkeys((worker.name for worker in workers), 0)
        found = [_turn(workers, source, refused) for source in members]
        compare(group, found, refused, [worker.name for worker in workers[1:]], table)
    for worker in workers:
        worker.stop()


def _turn(workers: list[Worker], source: Source, refused: dict[str, int]) -> dict[str, Replay]:
    done: dict[str, Replay] = {}
    for worker in workers:
        result = worker.run(replay, source.kind, source.text, source.documents, passes=2, seconds=SECONDS)
        if isinstance(result, Failed):
            refused[worker.name] += 1
        else:
            done[worker.name] = result
    return done


if __name__ == "__main__":
    main()
