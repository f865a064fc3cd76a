"""A process that forks while its threads compile and fill. Run by `test_fork.py` in a process of its own.

Its argument is how many children there are. It prints what became of the first one that does not end well, and ends
with 1 if there is one.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time

import numpy as np

from syntagma.decoding import (
    GrammarCompiler,
    GrammarMatcher,
    TokenizerInfo,
    accept_token_batch,
    fill_next_token_bitmask_batch,
)
from syntagma.grammars import Grammar

WORDS = [f"{stem}{number}".encode() for stem in ("na", ' "', '":', ',"', "x") for number in range(300)]
INFO = TokenizerInfo.from_tokens([*(bytes([byte]) for byte in range(256)), *WORDS, b"<e>"], eos_token_ids=[256])
COMPILER = GrammarCompiler(INFO)
WIDTH = (INFO.vocab_size + 31) // 32
ROWS = 10
SECONDS = 20
"""how long a child may take; it takes some ten milliseconds"""


def grammar(rng: random.Random) -> Grammar:
    """A grammar that nobody has compiled."""
    number = rng.randrange(10**9)
    properties = {
        f"at{number}": {"type": "string", "format": rng.choice(["date-time", "email", "uuid", "ipv4"])},
        f"of{number}": {"type": "string", "pattern": f"^[a-z]{{{number % 30}}}x*$"},
    }
    return Grammar.from_json_schema({"type": "object", "properties": properties, "required": [f"of{number}"]})


def work(rng: random.Random) -> None:
    """Compile, fill, accept; one by one and in a batch with threads."""
    row = np.zeros((1, WIDTH), np.int32)
    matcher = GrammarMatcher(COMPILER.compile(grammar(rng)))
    for byte in b'{"':
        matcher.fill_next_token_bitmask(row)
        assert row[0, byte // 32] >> byte % 32 & 1
        assert matcher.accept_token(byte)
    rows = np.zeros((ROWS, WIDTH), np.int32)
    matchers = [GrammarMatcher(COMPILER.compile(grammar(rng))) for _ in range(ROWS)]
    fill_next_token_bitmask_batch(matchers, rows, threads=3)
    assert (rows[:, ord("{") // 32] >> ord("{") % 32 & 1).all()
    assert all(accept_token_batch(matchers, [ord("{")] * ROWS, threads=3))


def work_on(seed: int) -> None:
    """Work for ever, as the parent's threads do."""
    rng = random.Random(seed)
    while True:
        work(rng)


def in_child(number: int, older: GrammarMatcher) -> None:
    """What must work in a child: what is new, what is older than the fork, threads, the background."""
    work(random.Random(-1 - number))
    row = np.zeros((1, WIDTH), np.int32)
    older.fill_next_token_bitmask(row)
    assert older.accept_token(ord("{"))
    older.fill_next_token_bitmask(row)
    thread = threading.Thread(target=work, args=(random.Random(-number),))
    thread.start()
    thread.join()
    assert COMPILER.compile_async(grammar(random.Random(number))).result() is not None


def forked(number: int, older: GrammarMatcher) -> int:
    """The status of a child."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        try:
            in_child(number, older)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", flush=True)
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def main() -> int:
    older = GrammarMatcher(COMPILER.compile(Grammar.json()))
    COMPILER.compile_async(Grammar.json()).result()
    for seed in range(4):
        threading.Thread(target=work_on, args=(seed,), daemon=True).start()
    time.sleep(0.2)
    for number in range(int(sys.argv[1])):
        status = forked(number, older)
        if status:
            print(f"child {number} ended with {status}", flush=True)
            return 1
    return 0


if __name__ == "__main__":
    os._exit(main())
