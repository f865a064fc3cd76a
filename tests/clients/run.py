"""Runs the tests of each client in an environment of its own beside one server, and says in a line what came of each.

    python -m tests.clients.run              every client
    python -m tests.clients.run NAME …       some of them
    python -m tests.clients.run --list       their names
    python -m tests.clients.run --record     also note in docs/clients.json what held, for docs/clients.md
    python -m tests.clients.run --install …  only make the environments

`tests/environments.py` says what belongs to a client; those of Node are npm's. A client that does not install is
skipped, with the reason; where tests fail, the exit status is 1.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from tests.clients.asks import CASES, MODEL_VARIABLE, URL_VARIABLE
from tests.environments import ROOT, Outcome, Suite, cases_of, main, note_down

TRIED = ROOT / "docs" / "clients.json"
_NAME = "syntagma-2m"
_START_SECONDS = 60
_ADDRESS = re.compile(r"http://[\d.]+:\d+")


@contextlib.contextmanager
def serving() -> Iterator[dict[str, str]]:
    """The shipped model behind its server, as users start it."""
    command = [sys.executable, "-m", "syntagma", "serve", "--model", "embedded", "--name", _NAME, "--port", "0"]
    with tempfile.TemporaryFile("w+") as said, subprocess.Popen(command, cwd=ROOT, stdout=said, stderr=said) as server:
        try:
            yield {URL_VARIABLE: _address(server, said), MODEL_VARIABLE: _NAME}
        finally:
            server.terminate()


def _address(server: subprocess.Popen[bytes], said: TextIO) -> str:
    """Where a server listens, which it says when it does."""
    until = time.monotonic() + _START_SECONDS
    while server.poll() is None and time.monotonic() < until:
        said.seek(0)
        found = _ADDRESS.search(said.read())
        if found is not None:
            return found.group()
        time.sleep(0.1)
    said.seek(0)
    raise RuntimeError(f"the server did not start: {said.read()}")


SUITE = Suite(
    Path(__file__).resolve().parent,
    needs=("pytest>=8",),
    packaged=False,
    at_once=2,
    # What other libraries are warned of is not our business.
    options=("-W", "ignore"),
    around=serving,
)


def record(outcomes: Sequence[Outcome]) -> None:
    """Note the version of each client that ran, and which cases held at which endpoint."""
    note_down(SUITE, TRIED, outcomes, _held)


def _held(report: Path) -> dict[str, Any]:
    held: dict[str, dict[str, bool]] = {}
    for name, result in cases_of(report):
        case, _, rest = name.removeprefix("test_").partition("[")
        endpoint = re.search(r"/v1/[a-z/]+", rest)
        if case in CASES and endpoint is not None:
            cases = held.setdefault(endpoint.group(), {})
            cases[case] = cases.get(case, True) and result == "passed"
    return {"held": held}


if __name__ == "__main__":
    sys.exit(main(SUITE, __doc__ or "", record))
