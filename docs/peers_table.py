"""The README's table beside the peers, from what `make bench` wrote last."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

__all__ = ["insert_peers_table", "peers_table", "results_table"]

RESULTS = Path(__file__).parents[1] / "benchmarks" / "RESULTS.md"
PEERS = ("xgrammar", "llguidance", "outlines-core")
_PLACE = re.compile(r"(<!-- peers: written by `make docs` -->\n).*?(<!-- end of peers -->)", re.DOTALL)
_Table = list[dict[str, str]]


def insert_peers_table(readme: str) -> str:
    """The README with the table of today."""
    text, count = _PLACE.subn(lambda place: place[1] + peers_table() + place[2], readme)
    if count != 1:
        raise ValueError("the README has no place for the table beside the peers")
    return text


def peers_table() -> str:
    """Masks, compiling and correctness: ours, and each peer's."""
    masks = results_table("masks.py", "llama3", "pass")
    times = {row["engine"]: row for row in results_table("compile_times.py", "llama3", "compiled")}
    right = {row["engine"]: row for row in results_table("schema_correctness.py", None, "all right")}
    both = {peer: _beside(masks, peer) for peer in PEERS}
    rows = [
        ("first masks, total time", "1", [both[peer]["first"] + " ×" for peer in PEERS]),
        ("repeated masks, total time", "1", [both[peer]["again"] + " ×" for peer in PEERS]),
        ("99th percentile of first masks (ours), µs", "", [both[peer]["p99"] for peer in PEERS]),
        ("schemas that compile", _compiled(times["syntagma"]), [_compiled(times[peer]) for peer in PEERS]),
        ("compile time, median, µs", times["syntagma"]["p50"], [times[peer]["p50"] for peer in PEERS]),
        (
            "schemas enforced correctly",
            _right(right, "syntagma"),
            [_right(right, peer) for peer in PEERS],
        ),
    ]
    head = f"| | Syntagma | {' | '.join(PEERS)} |\n|:--|--:|{'--:|' * len(PEERS)}\n"
    return head + "".join(f"| {what} | {ours} | {' | '.join(theirs)} |\n" for what, ours, theirs in rows)


def _beside(masks: _Table, peer: str) -> dict[str, str]:
    """What a peer took, on the schemas that both hold; the rows of ours stand right before the peer's."""
    found = {}
    for ours, theirs in itertools.pairwise(masks):
        if theirs["engine"] == peer:
            found[theirs["pass"]] = theirs["÷ ours"]
            if theirs["pass"] == "first":
                found["p99"] = f"{theirs['p99']} ({ours['p99']})"
    return found


def _compiled(row: dict[str, str]) -> str:
    tried = sum(int(row[what].replace(",", "")) for what in ("compiled", "refused", "timeout"))
    return f"{row['compiled']} of {tried}"


def _right(rows: dict[str, dict[str, str]], engine: str) -> str:
    if engine not in rows:
        return "not measured"
    row = rows[engine]
    return f"{row['all right']} of {int(row['exact']) + int(row['widened']) + int(row['refused'])}"


def results_table(script: str, part: str | None, column: str) -> _Table:
    """The first table with a column in a section of the results, or in one of its parts."""
    text = _below(RESULTS.read_text(encoding="utf-8"), f"## {script}", "\n## ")
    if part is not None:
        text = _below(text, f"### {part}", "\n### ")
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        head, _, *rows = ([cell.strip() for cell in line.strip("| \n").split("|")] for line in block.splitlines())
        if column in head:
            return [dict(zip(head, row, strict=False)) for row in rows]
    raise ValueError(f"the results of {script} have no table with the column {column!r}")


def _below(text: str, heading: str, next_heading: str) -> str:
    begin = text.index("\n" + heading) + 1
    end = text.find(next_heading, begin)
    return text[begin : end if end != -1 else len(text)]
