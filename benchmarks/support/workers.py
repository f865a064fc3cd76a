"""One process for each engine, so that a peer that crashes, hangs or eats the memory costs one cell and not the run."""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

MEMORY = 9 << 30
"""address space of a worker, bytes"""
START_SECONDS = 300


class Failed(NamedTuple):
    """Why a job has no result: `refused` (an error of the engine), `timeout`, `crash`."""

    kind: str
    message: str


class Worker:
    """An engine with a vocabulary in a process of its own.

    Attributes:
        missing: why the engine cannot be measured at all, or None.
        version: of the engine's package.
    """

    def __init__(self, engine: str, vocabulary: str) -> None:
        self.name = engine
        self._made_of = (engine, vocabulary)
        self._process: Any = None
        self._pipe: Connection | None = None
        self.version = ""
        self.missing = self._start()

    def _start(self) -> str | None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, *self._made_of), daemon=True)
        self._process.start()
        theirs.close()
        try:
            if not self._pipe.poll(START_SECONDS):
                self.stop()
                return "did not start"
            kind, value = self._pipe.recv()
        except EOFError:
            self.stop()
            return "died while starting"
        if kind != "ready":
            self.stop()
            return str(value)
        self.version = value
        return None

    def run(self, job: Callable[..., Any], *arguments: Any, seconds: float, **named: Any) -> Any:
        """What `job(engine, vocabulary, *arguments, **named)` gives, or `Failed`; `seconds` bounds the CPU time."""
        if self._process is None and (missing := self._start()) is not None:
            return Failed("crash", missing)
        assert self._pipe is not None
        self._pipe.send((job.__module__, job.__qualname__, arguments, named))
        begun, spent = time.monotonic(), self._cpu()
        try:
            while not self._pipe.poll(0.2):
                if self._cpu() - spent > seconds or time.monotonic() - begun > 6 * seconds + 10:
                    self.stop()
                    return Failed("timeout", f"more than {seconds:g} s")
            kind, value = self._pipe.recv()
        except (EOFError, ConnectionError):
            self.stop()
            return Failed("crash", "the process ended")
        return value if kind == "done" else Failed(kind, value)

    def _cpu(self) -> float:
        """CPU seconds of the worker, all threads; wall time where the system does not say."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return time.monotonic()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def started(engines: Sequence[str], vocabulary: str) -> list[Worker]:
    """Workers of those engines that can be measured; the others are named in the results."""
    workers = [Worker(engine, vocabulary) for engine in engines]
    for worker in workers:
        if worker.missing:
            print(f"{worker.name} was not measured: {worker.missing}\n")
    found = [worker for worker in workers if not worker.missing]
    versions = ", ".join(f"{worker.name} {worker.version}" for worker in found)
    print(f"Vocabulary {vocabulary}; {versions}.")
    return found


def _serve(pipe: Connection, engine: str, vocabulary: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    from support.engines import ENGINES
    from support.vocabularies import Vocabulary

    try:
        tokens = Vocabulary(vocabulary)
        made = ENGINES[engine](tokens)
    except BaseException as error:
        pipe.send(("missing", f"{type(error).__name__}: {error}"))
        return
    pipe.send(("ready", made.version))
    gc.disable()
    while True:
        module, name, arguments, named = pipe.recv()
        if module == "__main__":
            module = "__mp_main__"
        job = getattr(sys.modules.get(module) or importlib.import_module(module), name)
        gc.collect()
        try:
            answer = ("done", job(made, tokens, *arguments, **named))
        except MemoryError:
            answer = ("crash", "out of memory")
        except Exception as error:
            answer = ("refused", f"{type(error).__name__}: {error}"[:400])
        pipe.send(answer)
