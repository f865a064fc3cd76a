"""Jobs of the workers: compile a source, and replay documents token by token."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from support.engines import Engine, Row
from support.vocabularies import Vocabulary

wall, cpu, whole = time.perf_counter_ns, time.thread_time_ns, time.process_time_ns


class Read(NamedTuple):
    """One document: whether it was read to its end, and the microseconds of each mask and each token taken."""

    whole: bool
    fills: NDArray[np.float32]
    takes: NDArray[np.float32]


class Replay(NamedTuple):
    """One source: microseconds of compiling it, of doing so again, and its documents by pass."""

    compile: float
    again: float
    passes: list[list[Read]]


def least(replays: Sequence[Replay]) -> Replay:
    """The least time of each mask and token in replays of the same documents by the same engine."""

    def one(reads: Sequence[Read]) -> Read:
        fills, takes = ([getattr(read, name) for read in reads] for name in ("fills", "takes"))
        return reads[0]._replace(fills=np.minimum.reduce(fills), takes=np.minimum.reduce(takes))

    turns = zip(*(replay.passes for replay in replays), strict=True)
    return replays[0]._replace(passes=[[one(reads) for reads in zip(*turn, strict=True)] for turn in turns])


def common(
    found: Sequence[Mapping[str, Replay]], engines: Sequence[str], turn: int
) -> tuple[list[NDArray[np.float32]], int]:
    """Times of the masks of each engine over the documents that all of them read, and how many sources had one."""
    times: list[list[NDArray[np.float32]]] = [[] for _ in engines]
    sources = 0
    for done in found:
        if not all(engine in done for engine in engines):
            continue
        reads = [done[engine].passes[turn] for engine in engines]
        both = [at for at, documents in enumerate(zip(*reads, strict=True)) if all(one.whole for one in documents)]
        sources += bool(both)
        for engine, documents in zip(times, reads, strict=True):
            engine.extend(documents[at].fills for at in both)
    return [np.concatenate(engine) if engine else np.zeros(0, np.float32) for engine in times], sources


def new_row(vocabulary: Vocabulary) -> Row:
    """A row of a bitmask that begins on a page."""
    buffer = np.zeros(vocabulary.words + 1024, np.int32)
    start = (-buffer.ctypes.data // 4) % 1024
    return buffer[start : start + vocabulary.words]


def read(fill: Callable[[], Any], take: Callable[[int], Any], tokens: Sequence[int]) -> Read:
    """A mask and a step for each token, until one is refused.

    A time is the lesser of wall time and CPU time of the thread: the first holds interruptions by others, the second
    the cost of asking for it.
    """
    fills, takes = np.zeros(len(tokens), np.float32), np.zeros(len(tokens), np.float32)
    for at, token in enumerate(tokens):
        cpu_begun, begun = cpu(), wall()
        fill()
        ended, cpu_ended = wall(), cpu()
        fills[at] = min(ended - begun, cpu_ended - cpu_begun) / 1e3
        cpu_begun, begun = cpu(), wall()
        taken = take(token)
        ended, cpu_ended = wall(), cpu()
        takes[at] = min(ended - begun, cpu_ended - cpu_begun) / 1e3
        if taken is False:
            return Read(False, fills[: at + 1], takes[: at + 1])
    return Read(True, fills, takes)


def compile_twice(engine: Engine, vocabulary: Vocabulary, kind: str, source: str) -> tuple[float, float]:
    """Microseconds (CPU, all threads) from a source to a matcher, the first and the second time."""
    del vocabulary
    times = []
    for _ in range(2):
        begun = whole()
        engine.matcher(engine.compile(kind, source))
        times.append((whole() - begun) / 1e3)
    return times[0], times[1]


def replay(
    engine: Engine, vocabulary: Vocabulary, kind: str, source: str, documents: Sequence[Sequence[int]], *, passes: int
) -> Replay:
    """Compile a source that is new to the engine, and read its documents several times over."""
    begun = whole()
    compiled = engine.compile(kind, source)
    first = (whole() - begun) / 1e3
    row = new_row(vocabulary)
    found = [
        [read(*engine.calls(engine.matcher(compiled), row), tokens) for tokens in documents] for _ in range(passes)
    ]
    begun = whole()
    engine.compile(kind, source)
    return Replay(first, (whole() - begun) / 1e3, found)
