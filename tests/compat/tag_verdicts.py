"""The structural tags of all shipped formats, read back here and by xgrammar: verdicts on the same texts, as a page.

It needs xgrammar: `make tags` runs it in the environment of the benchmarks, and writes the page. With `--show FORMAT`
it prints the texts of a format on which the two differ.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from syntagma.formats import older_structural_tag
from syntagma.formats.call_frame import call_frame, has_fixed_frame
from syntagma.grammars import Grammar
from tests.constraints.tag_draws import (
    CALLING,
    FORMATS,
    REQUESTS,
    Drawn,
    accepted,
    damaged,
    drawn,
    random_call,
    tag_of,
)
from tests.constraints.walks import hints
from tests.formats.cases import TOOLS

__all__ = ["PAGE", "Row", "row_of", "status_of"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "structural-tag-formats.md"
_TEXTS = 8
"""drawn texts of a request, and as many written ones; each is damaged, too"""
_HEAD = """<!-- Written by `make tags`; change what it describes instead. -->

# Structural tags of the shipped formats

Each format with calls, and those of `conformance/shapes`, with {requests} requests: {asked}.
Texts are drawn from the grammar of the request, written from drawn calls, and damaged; {count} are accepted by the
grammar.

* *tag*: whether it accepts more than the grammar ([what `wider` means](structural-tag.md)), and requests without a tag
* *grammar text*: how many different parts no format could say
* *same here*, *same there*: verdicts that are those of the grammar, by the tag read back and by xgrammar {version}
* *less*, *more*: texts that only the grammar accepts, and that only xgrammar accepts
* *older form*: texts with calls as the format writes them, and damaged ones, on which the tag with `structures` and
  `triggers` means the same here and there; – where that form cannot say what a call is

| format | tag | grammar text | texts | same here | same there | less | more | older form |
|---|---|---|---|---|---|---|---|---|
"""
_FOOT = """
What xgrammar refuses and the grammar accepts are texts with the integer `-0`, which its grammar of integers lacks.
"""


class Row(NamedTuple):
    """A format in the table."""

    name: str
    status: str
    embedded: int
    texts: int
    accepted: int
    same_here: int
    same_there: int
    only_ours: int
    only_theirs: int
    older: str

    def __str__(self) -> str:
        counts = (self.embedded, self.texts, self.same_here, self.same_there, self.only_ours, self.only_theirs)
        return f"| {self.name} | {self.status} | {' | '.join(map(str, counts))} | {self.older} |"


def row_of(name: str, peer: Peer | None, *, show: bool = False) -> Row:
    """One row; without a peer its counts are 0."""
    parts: set[str] = set()
    counts = [0] * 6
    for request in REQUESTS:
        found = drawn(FORMATS[name], request, _TEXTS, seed=f"{name} verdicts")
        if isinstance(found, tuple):
            parts |= set(_grammar_texts(found.tag))
            counts = [one + more for one, more in zip(counts, _compared(found, peer, show), strict=True)]
    return Row(name, status_of(name), len(parts), *counts, _older(name, peer))


def _older(name: str, peer: Peer | None) -> str:
    """On how many texts the older form means the same here and there."""
    fmt, rng = FORMATS[name], random.Random(f"older {name}")
    if not has_fixed_frame(fmt):
        return "–"
    tag = json.dumps(older_structural_tag(fmt, TOOLS))
    given: list[str] = []
    for _ in range(_TEXTS):
        calls = [(call_frame(fmt, call.name), call) for call in (random_call(rng), random_call(rng))]
        whole = "so ".join(f"{frame.begin}{call.arguments}{frame.end}" for frame, call in calls)
        given += [whole, damaged(whole, rng, hints(fmt))]
    here = accepted(Grammar.from_structural_tag(tag), given)
    there = peer.accepted(tag, given) if peer is not None else here
    return f"{sum(one == other for one, other in zip(here, there, strict=True))} of {len(given)}"


def status_of(name: str) -> str:
    """Whether the tags of a format are exact, and which requests have none."""
    wider, refused = False, []
    for request in REQUESTS:
        made = tag_of(FORMATS[name], request)
        if isinstance(made, tuple):
            wider = wider or bool(made[1].wider)
        elif made is not None:
            refused.append(f"{request} (`{made.code}`)")
    status = "wider" if wider else "exact"
    return f"{status}; no: {', '.join(refused)}" if refused else status


def _grammar_texts(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if node.get("type") == "grammar":
            yield node["grammar"]
        for inner in node.values():
            yield from _grammar_texts(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _grammar_texts(inner)


def _compared(found: Drawn, peer: Peer | None, show: bool) -> Sequence[int]:
    """Texts, accepted ones, equal verdicts here and there, and what only one of the two accepts."""
    wanted = accepted(found.grammar, found.texts)
    here = accepted(Grammar.from_structural_tag(json.dumps(found.tag)), found.texts)
    there = peer.accepted(json.dumps(found.tag), found.texts) if peer is not None else wanted
    pairs = list(zip(wanted, there, strict=True))
    for text, (one, other) in zip(found.texts, pairs, strict=True):
        if show and one != other:
            print(f"{'only the grammar' if one else 'only xgrammar'}: {text!r}", file=sys.stderr)
    same = [sum(one == other for one, other in zip(wanted, got, strict=True)) for got in (here, there)]
    return len(wanted), sum(wanted), *same, pairs.count((True, False)), pairs.count((False, True))


class Peer:
    """xgrammar over a vocabulary of the 256 bytes."""

    def __init__(self) -> None:
        import xgrammar

        self._library = xgrammar
        info = xgrammar.TokenizerInfo(
            [*(bytes([byte]) for byte in range(256)), b"</s>"], xgrammar.VocabType.RAW, stop_token_ids=[256]
        )
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def accepted(self, tag: str, texts: Sequence[str]) -> list[bool]:
        """For each text whether the tag accepts it."""
        value = json.loads(tag)
        if "structures" in value:
            items = [self._library.StructuralTagItem(**structure) for structure in value["structures"]]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compiled = self._compiler.compile_structural_tag(items, value["triggers"])
        else:
            compiled = self._compiler.compile_structural_tag(tag)
        found = []
        for text in texts:
            matcher = self._library.GrammarMatcher(compiled)
            found.append(bool(matcher.accept_string(text) and matcher.is_completed()))
        return found


def main() -> None:
    """Write the page, or show where verdicts differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", metavar="FORMAT", choices=CALLING)
    shown = parser.parse_args().show
    peer = Peer()
    if shown:
        print(row_of(shown, peer, show=True))
        return
    rows = [row_of(name, peer) for name in CALLING]
    total = Row("**all**", "", *(sum(row[at] for row in rows) for at in range(2, len(Row._fields) - 1)), "")  # type: ignore[arg-type,misc]
    head = _HEAD.format(
        requests=len(REQUESTS),
        asked=", ".join(REQUESTS),
        count=f"{total.accepted:,} of {total.texts:,}",
        version=version("xgrammar"),
    )
    PAGE.write_text(head + "\n".join(map(str, [*rows, total])) + "\n" + _FOOT)


if __name__ == "__main__":
    main()
