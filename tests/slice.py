"""What CI runs of what is long for a commit: a part of each kind, chosen by its number, so that all come round.

    python -m tests.slice [PART]    print the commands, one on a line; without PART, those of HEAD

After `PARTS` commits one after the other, every target of fuzzing, engine, client, agent program and long test has been
run.
"""

from __future__ import annotations

import sys

from tests.agents.run import SUITE as AGENTS
from tests.changes import commit_number
from tests.clients.run import SUITE as CLIENTS
from tests.engines.run import SUITE as ENGINES
from tests.tiers import PARTS

__all__ = ["commands"]

FUZZ = ("regex", "schema", "tokens", "ebnf", "gbnf", "lark", "formats", "completions")
INSPECTOR = 4
"""the part in which Chromium runs, which has one client"""
CRATES = 5
"""the part in which the core crates are packed"""
JAVASCRIPT = 2
"""the part in which the engine is built for WebAssembly, which takes minutes"""


def commands(part: int) -> list[str]:
    """The targets of the Makefile that a part consists of, with their arguments."""
    # Begun at the second, so that what takes longest is not in one part with another that does.
    engines, clients, agents = (
        " ".join([*suite.usual()[1:], suite.usual()[0]][part::PARTS]) for suite in (ENGINES, CLIENTS, AGENTS)
    )
    found = [f"make test-part PART={part}", f"make fuzz-{FUZZ[part]} FUZZ_SECONDS=30"]
    if engines:
        found.append(f'make test-engines ENGINES="--jobs 2 --minutes 5 {engines}"')
    if clients:
        found.append(f'make test-clients CLIENTS="--jobs 2 --minutes 4 {clients}"')
    if agents:
        found.append(f'make test-agents AGENTS="--minutes 3 {agents}"')
    if part == CRATES:
        found.append("make crates")
    if part == INSPECTOR:
        found.append('make test-inspector INSPECTOR="--minutes 3"')
    if part == JAVASCRIPT:
        found.append("make test-js")
    return found


if __name__ == "__main__":
    print(*commands(int(sys.argv[1]) if sys.argv[1:] else commit_number() % PARTS), sep="\n")
