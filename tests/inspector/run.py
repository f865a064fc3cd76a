"""Runs the tests of the inspector's page in Chromium, in an environment of their own.

    python -m tests.inspector.run

Chromium is the system's; where there is none, the tests are skipped and say so. With the variable `SYNTAGMA_PICTURES`
they leave pictures of the page in the folder that it names.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.environments import Suite, main

SUITE = Suite(Path(__file__).resolve().parent, needs=("pytest>=8",))

if __name__ == "__main__":
    sys.exit(main(SUITE, __doc__ or ""))
