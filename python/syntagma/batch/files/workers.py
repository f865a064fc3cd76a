"""Processes chunks in several processes, and returns the results in the order of the chunks."""

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
"""number of chunks per process that may be finished ahead of the next one in order"""


def blocks(job: Job, chunks: Iterator[Chunk], workers: int) -> Generator[tuple[Chunk, Block]]:
    """Every chunk with its results, in order.

    Args:
        job: the parameters of the run.
        chunks: the chunks; some are read ahead.
        workers: number of processes; 1: only this one.

    Raises:
        BatchError: `E-BATCH-WORKER`, a process died; the message has its rows.
        SyntagmaError: an error of a chunk.
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
    """The worker processes, each with its own pipe.

    A process has one chunk at a time, so that neither side blocks on writing to the other. It ends when its pipe is
    closed, which also happens if this process is killed.
    """

    def __init__(self, job: Job, workers: int) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy locks held by threads of libraries
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
        """Every chunk with its results, in order."""
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
            f"a process died while it worked on rows {chunk.first} to {chunk.first + chunk.rows - 1}",
            hint="memory may have run out: use fewer workers or smaller chunks; run the same command to resume",
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
    """Process chunks until the pipe is closed."""
    gc.freeze()  # loaded objects stay, so the garbage collector can skip them
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles interrupts
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
