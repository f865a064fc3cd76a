"""Types that several threads need for the first time."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
from __future__ import annotations
import threading, time, msgspec
from syntagma.typed import as_type

def slowly():
    time.sleep(0.05)
    return int

class Inner(msgspec.Struct):
    one: int
    two: slowly()
    three: str

class Outer(msgspec.Struct):
    inner: list[Inner]

results, at_once = [], threading.Barrier(4)

def read(kind):
    at_once.wait()
    results.append(as_type({"inner": [{"one": 1, "two": 2, "three": "3"}]}, kind))

threads = [threading.Thread(target=read, args=(Outer,)) for _ in range(4)]
for one in threads:
    one.start()
for one in threads:
    one.join()
print(len(results), len(set(map(repr, results))))
"""


def test_the_first_use_of_a_type_by_several_threads_is_safe() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["4", "1"]), done.stderr
