"""Runs the tests of each engine in an environment of its own, and says in a line for each what came of it.

    python -m tests.engines.run              every engine but those whose requirements say: only when named
    python -m tests.engines.run NAME …       some of them
    python -m tests.engines.run --list       their names
    python -m tests.engines.run --record     also note in docs/engines/tried.json which cases were held
    python -m tests.engines.run --install …  only make the environments
    python -m tests.engines.run --minutes N  skip by name what is not made after N minutes; --jobs 2: two at a time

`tests/environments.py` says what belongs to an engine. An engine that does not install is skipped, with the reason;
where tests fail, the exit status is 1.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.environments import Suite, main

SUITE = Suite(Path(__file__).resolve().parent, needs=("hypothesis>=6.100", "pytest>=8"))

if __name__ == "__main__":
    sys.exit(main(SUITE, __doc__ or ""))
