"""Runs whole agent programs against scripted models, each in an environment of its own, and says what came of each.

    python -m tests.agents.run              every program but those whose requirements say: only when named
    python -m tests.agents.run NAME …       some of them
    python -m tests.agents.run --list       their names
    python -m tests.agents.run --record     also note in docs/agents.json what held, for docs/clients.md
    python -m tests.agents.run --install …  only make the environments

`docs/agents.toml` has the programs, and `tests/environments.py` says what belongs to an environment. A program that
does not install is skipped, with the reason; where tests fail, the exit status is 1.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.environments import ROOT, Outcome, Suite, main, note_down, noted_in

TRIED = ROOT / "docs" / "agents.json"

SUITE = Suite(
    Path(__file__).resolve().parent,
    needs=(),
    packaged=False,
    every="test_agents.py",
    options=("-W", "ignore", "--numprocesses", "2"),
)


def record(outcomes: Sequence[Outcome]) -> None:
    """Note the version of each program that ran, where each notation held, and which fields had no effect there."""
    note_down(SUITE, TRIED, outcomes, _held)


def _held(report: Path) -> dict[str, Any]:
    held: dict[str, dict[str, bool]] = {}
    ignored: dict[str, set[str]] = {}
    for name, result, noted in noted_in(report):
        found = re.fullmatch(r"test_loop\[(/v1/[a-z/]+)-([\w-]+)\]", name)
        if found is not None:
            held.setdefault(found[1], {})[found[2]] = result == "passed"
            ignored.setdefault(found[1], set()).update(noted.get("ignored", "").split())
    return {"held": held, "ignored": {endpoint: sorted(names) for endpoint, names in ignored.items()}}


if __name__ == "__main__":
    sys.exit(main(SUITE, __doc__ or "", record))
