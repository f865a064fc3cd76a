"""Processes that work on chunks; what they make comes back in the order of the chunks."""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Generator, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

from syntagma.batch.files.processing import Block, Job, process
from syntagma.batch.files.reading import Chunk
from syntagma.errors import BatchError, SyntagmaError

__all__ = ["blocks"]

_AHEAD = 4
"""chunks for each process that may be done before the one whose turn it is"""


def blocks(job: Job, chunks: Iterator[Chunk], workers: int) -> Generator[tuple[Chunk, Block]]:
    """Every chunk with what came of it, in order.

    Args:
        job: what is done with a chunk.
        chunks: the chunks; some more are read than are done.
        workers: how many processes; 1: this one.

    Raises:
        BatchError: `E-BATCH-WORKER`, a process ended; with the rows that it was working on.
        SyntagmaError: what a chunk raises.
    """
    if workers == 1:
        for chunk in chunks:
            yield chunk, process(job, chunk)
        return
    crew = _Crew(job, workers)
    try:
        yield from crew.work(chunks)
    finally:
        crew.stop()


class _Crew:
    """Processes, each with a pipe of its own.

    A process has one chunk at a time, so that neither side ever waits to write to the other. It ends when its pipe
    does, which is also how it notices that this process was killed.
    """

    def __init__(self, job: Job, workers: int) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy locks that threads of a library hold
        self._source = job.source
        self._processes = []
        self._idle: list[Connection[Any, Any]] = []
        self._busy: dict[Connection[Any, Any], tuple[int, Chunk]] = {}
        for _ in range(workers):
            ours, theirs = context.Pipe()
            process_ = context.Process(target=_serve, args=(theirs, job), daemon=True)
            process_.start()
            theirs.close()
            self._processes.append(process_)
            self._idle.append(ours)

    def work(self, chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk, Block]]:
        """Every chunk with its block, in order."""
        done: dict[int, tuple[Chunk, Block]] = {}
        given = taken = 0
        waiting = next(chunks, None)
        while waiting is not None or self._busy:
            while waiting is not None and self._idle and given - taken < _AHEAD * len(self._processes):
                self._give(given, waiting)
                given += 1
                waiting = next(chunks, None)
            for pipe in wait(list(self._busy)):
                number, chunk = self._busy[pipe]  # type: ignore[index]  # they are all pipes
                done[number] = chunk, self._take(pipe, chunk)  # type: ignore[arg-type]
            while taken in done:
                yield done.pop(taken)
                taken += 1

    def _give(self, number: int, chunk: Chunk) -> None:
        pipe = self._idle.pop()
        self._busy[pipe] = number, chunk
        try:
            pipe.send(chunk)
        except OSError as error:
            raise self._lost(chunk) from error

    def _take(self, pipe: Connection[Any, Any], chunk: Chunk) -> Block:
        try:
            found = pipe.recv()
        except (EOFError, OSError) as error:
            raise self._lost(chunk) from error
        del self._busy[pipe]
        self._idle.append(pipe)
        if isinstance(found, Block):
            return found
        raise found

    def _lost(self, chunk: Chunk) -> BatchError:
        return BatchError(
            "E-BATCH-WORKER",
            f"a process ended while it worked on rows {chunk.first} to {chunk.first + chunk.rows - 1}",
            hint="memory may have run out: fewer workers, or smaller chunks; the same command goes on",
            source=self._source,
            line=chunk.first,
        )

    def stop(self) -> None:
        """End all processes."""
        for pipe in (*self._idle, *self._busy):
            pipe.close()
        for one in self._processes:
            one.join(timeout=2)
            if one.is_alive():
                one.kill()
                one.join()


def _serve(pipe: Connection[Any, Any], job: Job) -> None:
    """Work on chunks until the pipe ends."""
    gc.freeze()  # what is loaded now stays, and need not be looked at again and again
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that leads decides what an interrupt means
    while True:
        try:
            chunk = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            found: Block | SyntagmaError = process(job, chunk)
        except SyntagmaError as error:
            found = error
        try:
            pipe.send(found)
        except OSError:
            return
