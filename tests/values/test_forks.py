"""Locks in a forked child."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os, signal, threading
from syntagma import formats
from syntagma.forks import ForkSafeLock
from syntagma.formats.registry import registry

forgotten = []
guards = [ForkSafeLock(lambda: forgotten.append("free")), ForkSafeLock(lambda: forgotten.append("held"))]
name = registry.register('[tools]\\ncall = "<c>{name}{arguments}</c>"', name="own")
before = formats.names()
held, forked = threading.Event(), threading.Event()

def hold():
    with guards[1].lock, registry._guard.lock:
        held.set()
        forked.wait()

thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
    for guard in guards:
        with guard.lock, guard.lock:
            pass
    ok = forgotten == ["held"] and formats.names() == before and registry.spec("own").tools is not None
    os._exit(0 if ok else 1)
status = os.waitpid(child, 0)[1]
forked.set()
thread.join()
assert not forgotten
os._exit(status and 1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_finds_locks_free_and_what_they_guard_in_order() -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
