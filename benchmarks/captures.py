"""What captures cost: a list of numbers, with labels and without, and where all labelled parts of it lie.

`accepting` is the CPU time in which a matcher takes the text in pieces of a thousand bytes, nanoseconds a byte; labels
alone cost what stands in the second column more than in the first. `captures()` reads the whole text again, for whoever
asks. `2n : n` is its cost for the longest text over that for its half: 2 is linear.

Run: `python benchmarks/captures.py [--quick]`.
"""

from __future__ import annotations

import statistics
import time

from support.arguments import arguments
from support.tables import Table, number

import syntagma as sg

LENGTHS = (1_000, 10_000, 100_000, 200_000)
PIECE = 1_000
RUNS = 5
WITHOUT = 'start ::= "[" (n ("," n)*)? "]" ; n ::= #"[0-9]+" ;'
LABELLED = 'start ::= "[" (n ("," n)*)? "]" ; n ::= @number(#"[0-9]+") ;'


def numbers(length: int) -> bytes:
    """A list of numbers of about so many bytes."""
    return b"[" + b",".join(b"%d" % (at * 7919 % 10_000) for at in range(length // 5)) + b"]"


def measured(compiled: sg.CompiledGrammar, text: bytes) -> tuple[float, float]:
    """Seconds of accepting a text and of asking for its captures: medians."""
    accepts, asks = [], []
    for _ in range(RUNS):
        matcher = sg.GrammarMatcher(compiled)
        begun = time.thread_time()
        for at in range(0, len(text), PIECE):
            assert matcher.accept_bytes(text[at : at + PIECE])
        accepted = time.thread_time()
        matcher.captures()
        accepts.append(accepted - begun)
        asks.append(time.thread_time() - accepted)
    return statistics.median(accepts), statistics.median(asks)


def main() -> None:
    """Print the table."""
    lengths = LENGTHS[:-2] if arguments(__doc__).quick else LENGTHS
    compiler = sg.GrammarCompiler(sg.testing.byte_vocabulary())
    plain, labelled = (compiler.compile(sg.Grammar.from_ebnf(source)) for source in (WITHOUT, LABELLED))
    table = Table(["bytes", "accepting, ns a byte", "with labels", "captures(), ns a byte", "2n : n"])
    before = 0.0
    for length in lengths:
        text = numbers(length)
        (without, _), (accepting, asking) = measured(plain, text), measured(labelled, text)
        costs = (number(1e9 * seconds / len(text)) for seconds in (without, accepting, asking))
        doubled = length == 2 * lengths[max(0, lengths.index(length) - 1)]
        table.row(f"{len(text):,}", *costs, f"{asking / before:.2f}" if doubled else "")
        before = asking


if __name__ == "__main__":
    main()
