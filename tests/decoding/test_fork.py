"""A process may be forked while its threads compile and fill: the child goes on with all that it has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("forks.py")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.long)])
def test_children_forked_while_threads_work(count: int) -> None:
    # Python warns of forks in a process with threads.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", str(SCRIPT), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
