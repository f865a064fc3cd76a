"""What a server does under load and under attack: how long others wait, whether anything is lost, and its memory.

A server in a process of its own serves an engine that writes by the clock. While it is attacked from a second process,
other streams go on, read by a third, of which each piece says when it was due. `waiting` is how much later it arrived:
whatever held it up counts, the machine and the reader as well. `reader` is how late the reading process itself was at
worst to wake up from a sleep. `lost` are pieces that did not arrive, and streams that did not end as they must.
`memory` is the most that the server held in the meantime, and `after` what it held some seconds later, both as
multiples of what it held after the warm-up: all attacks once, and more constraints, until the caches are full.

The last table is the CPU time of one event of the server, of all its processes' threads, with parsing, logs and limits;
beside a stream that only puts the same pieces into chunks by msgspec, under the same HTTP server.

Everything is bounded in count and time, on the loopback. Run: `python benchmarks/server_load.py [--quick]`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import multiprocessing
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

from support.load_server import SECONDS
from support.tables import Table, number

OTHERS = 40
"""streams that go on while the server is attacked"""
PAUSE = 0.2
CALM = 12.0
"""seconds after an attack, in which what it took is given back"""
WATCH_S = 0.01
PATIENCE = 120.0
"""seconds after which something is stuck"""
STAMP = re.compile(rb'"content":"(\d+) (\d+\.\d+) ')
SLOW = "(a?){1000}a{1000}"
"""a pattern that takes long"""
FILLING = 4
"""rounds of such constraints that fill the caches"""
FRESH = itertools.count()
"""numbers that make each constraint another one"""


def order(pieces: int, *, pause: float = 0.0, size: int = 24, **fields: Any) -> bytes:
    """A request for so many pieces."""
    content = json.dumps({"pieces": pieces, "pause": pause, "size": size})
    return request({"model": "clockwork", "stream": True, "messages": [{"role": "user", "content": content}], **fields})


def request(body: dict[str, Any], path: str = "/v1/chat/completions") -> bytes:
    return head(path, len(data := json.dumps(body).encode())) + data


def messages_of(items: bytes) -> bytes:
    data = b'{"model":"here","messages":[' + items + b"]}"
    return head("/v1/chat/completions", len(data)) + data


def repeated(value: bytes, size: int) -> bytes:
    return b",".join([value] * (size // (len(value) + 1)))


def head(path: str, length: int) -> bytes:
    return f"POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n".encode()


class Seen:
    """What came of the requests of a phase."""

    def __init__(self) -> None:
        self.waiting: list[float] = []
        """of each piece, milliseconds"""
        self.statuses: Counter[str] = Counter()
        self.lost = 0


class Client:
    """Makes connections to a server.

    Args:
        port: the server's.
    """

    def __init__(self, port: int) -> None:
        self.port = port

    async def cpu(self) -> float:
        """Seconds of CPU time so far, as the process itself counts."""
        reader, writer = await self.connect()
        writer.write(b"GET /cpu HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        answer = await reader.read()
        writer.close()
        return float(re.search(rb"[0-9]+\.[0-9]+", answer.partition(b"\r\n\r\n")[2])[0])  # type: ignore[index]

    async def connect(self, **options: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port, **options)

    async def status(self, data: bytes, seen: Seen) -> str:
        """The status of a whole answer."""
        reader, writer = await self.connect()
        with contextlib.suppress(ConnectionError):
            # In pieces: whoever measures must not wait for itself.
            for start in range(0, len(data), 1 << 17):
                writer.write(data[start : start + (1 << 17)])
                await writer.drain()
        return await self._status(reader, writer, seen)

    async def _status(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Seen) -> str:
        try:
            line = (await reader.read(1 << 20)).split(b"\r\n")[0]
        except ConnectionError:
            line = b""
        writer.close()
        status = line.split(b" ")[1].decode() if line else "closed"
        seen.statuses[status] += 1
        return status

    async def stream(self, pieces: int, seen: Seen, *, pause: float) -> None:
        """Read a stream, and check that all of it comes."""
        reader, writer = await self.connect(limit=1 << 20)
        writer.write(order(pieces, pause=pause))
        expected = 0
        last = b""
        while line := await reader.readline():
            now = time.monotonic()
            if found := STAMP.search(line):
                seen.lost += int(found[1]) != expected
                expected += 1
                seen.waiting.append((now - float(found[2])) * 1e3)
            if line.startswith(b"data: "):
                last = line
        writer.close()
        whole = expected == pieces and last == b"data: [DONE]\n"
        seen.lost += 0 if whole else max(pieces - expected, 1)
        seen.statuses["200" if whole else "cut"] += 1


class Server:
    """The process, what it holds, and those who ask it."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "support.load_server"], stdout=subprocess.PIPE, cwd=os.path.dirname(__file__) or "."
        )
        assert self.process.stdout is not None
        self.client = Client(int(self.process.stdout.readline()))
        # Not this process: whoever measures must not wait for the attack itself.
        self._attacker = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))

    def memory(self) -> int:
        """Resident, bytes."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    async def attack(self, kind: int, count: int) -> Counter[str]:
        """What became of so many attacks of a kind at once."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._attacker, attacked, self.client.port, kind, count)

    def close(self) -> None:
        """End what still runs."""
        self._attacker.shutdown()
        if self.process.poll() is None:
            self.process.kill()


def attacked(port: int, kind: int, count: int) -> Counter[str]:
    """Attack, in this process; see `Server.attack`."""
    seen, one = Seen(), ATTACKS[kind][2]

    async def attack() -> None:
        async with asyncio.timeout(2 * PATIENCE):
            await asyncio.gather(*(one(Client(port), seen, index) for index in range(count)))

    asyncio.run(attack())
    return seen.statuses


async def disconnect(client: Client, seen: Seen, index: int) -> None:
    """Leave a stream after some pieces."""
    await asyncio.sleep(index / 100)
    reader, writer = await client.connect()
    writer.write(order(1000, pause=0.01))
    with contextlib.suppress(ConnectionError):
        for _ in range(index % 7):
            await reader.readline()
    writer.transport.abort()
    seen.statuses["left"] += 1


async def never_read(client: Client, seen: Seen, _: int) -> None:
    """Ask for a lot, and read nothing of it until the server gives up."""
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    one.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(one, ("127.0.0.1", client.port))
    await loop.sock_sendall(one, order(400, pause=0.01, size=64 << 10))
    await asyncio.sleep(SECONDS + 6)
    got = b""
    try:
        async with asyncio.timeout(PATIENCE):
            while piece := await loop.sock_recv(one, 1 << 20):
                got = got or piece
    except ConnectionError:
        pass
    one.close()
    status = got.split(b" ")[1].decode() if got else "closed"
    seen.statuses["cut off" if status == "200" else status] += 1


async def half_a_body(client: Client, seen: Seen, _: int) -> None:
    """Send half of a body, and wait."""
    reader, writer = await client.connect()
    writer.write(head("/v1/chat/completions", 1 << 20) + b"x" * (1 << 19))
    await client._status(reader, writer, seen)


async def large_body(client: Client, seen: Seen, index: int) -> None:
    """Send 50 MB, announced or in chunks."""
    reader, writer = await client.connect()
    piece = b"x" * (1 << 20)
    with contextlib.suppress(ConnectionError):
        if index % 2:
            writer.write(head("/v1/chat/completions", 50 << 20))
        else:
            writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
        for _ in range(50):
            writer.write(piece if index % 2 else b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
    await client._status(reader, writer, seen)


LONG_MESSAGES = [
    messages_of(b'{"role":"user","content":"' + text * (7_900_000 // len(text)) + b'"}')
    for text in (b"It may rain in the hills. ", b"<end>", "é".encode(), rb"\\")
]
SMALL_VALUES = [
    messages_of(repeated(value, size))
    for value, size in (
        (b"[]", 8_000_000),
        (b'{"role":"user","content":""}', 2_800_000),
        (b"{}", 290_000),
        (b'{"role":"user","content":""}', 8_000_000),
        (b"0", 1_900_000),
        (b'"\\u00e9"', 8_000_000),
    )
]


async def long_message(client: Client, seen: Seen, index: int) -> None:
    """A message of 8 MB, for a model with a small context."""
    await client.status(LONG_MESSAGES[index % len(LONG_MESSAGES)], seen)


async def many_values(client: Client, seen: Seen, index: int) -> None:
    """A body that is as many small values as there may be, or millions of them."""
    await client.status(SMALL_VALUES[index % len(SMALL_VALUES)], seen)


async def slow_schema(client: Client, seen: Seen, index: int) -> None:
    """A constraint that takes long to compile, each another one."""
    fresh = next(FRESH)
    kinds: tuple[dict[str, Any], ...] = (
        {"type": "regex", "regex": SLOW * 20 + str(fresh)},
        {"type": "json_schema", "json_schema": {"name": "x", "schema": nested(60, fresh)}},
        {"type": "choice", "choice": [f"{fresh} {word}" for word in range(40_000)]},
    )
    body = {"model": "here", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 4}
    await client.status(request(body | {"response_format": kinds[index % 3]}), seen)


def nested(depth: int, index: int) -> dict[str, Any]:
    """A schema whose parts multiply."""
    inner: dict[str, Any] = {"type": "string", "pattern": f"^[a-z]{{1,{index + 3}}}$"}
    for level in range(depth):
        keys = {f"k{level}_{number}": {"enum": [f"{level}", number]} for number in range(20)}
        inner = {"anyOf": [inner, {"type": "object", "properties": keys | {"next": inner}}]} if level < 6 else inner
    return inner


class Phase(NamedTuple):
    """What became of the others and of an attack.

    Attributes:
        others: those that only read.
        statuses: of the attack.
        late: how late the reading process woke up at worst, milliseconds.
        most, after: the memory of the server in the meantime and some seconds later, bytes.
    """

    others: Seen
    statuses: Counter[str]
    late: float
    most: int
    after: int


async def measured(server: Server, attack: Awaitable[Counter[str]] | None, others: int, seconds: float) -> Phase:
    """One attack, while others go on."""
    seen, statuses, most, late = Seen(), Counter[str](), 0, 0.0

    async def watch() -> None:
        nonlocal most, late
        while True:
            most = max(most, server.memory())
            asleep = time.monotonic()
            await asyncio.sleep(WATCH_S)
            late = max(late, (time.monotonic() - asleep - WATCH_S) * 1e3)

    watching = asyncio.ensure_future(watch())
    pieces = round(seconds / PAUSE)
    streams = [asyncio.ensure_future(server.client.stream(pieces, seen, pause=PAUSE)) for _ in range(others)]
    async with asyncio.timeout(seconds + 2 * PATIENCE):
        await asyncio.sleep(1)
        if attack is not None:
            statuses = await attack
        await asyncio.gather(*streams)
    watching.cancel()
    await asyncio.sleep(CALM)
    return Phase(seen, statuses, late, most, server.memory())


async def warm_up(server: Server) -> int:
    """Memory after all kinds of requests, with so many constraints that the caches of grammars are full."""
    for kind, (_, count, one) in enumerate(ATTACKS):
        for _ in range(FILLING if one is slow_schema else 1):
            await server.attack(kind, count)
    await asyncio.gather(*(server.client.stream(20, Seen(), pause=0.05) for _ in range(200)))
    await asyncio.sleep(CALM)
    return server.memory()


ATTACKS: tuple[tuple[str, int, Callable[[Client, Seen, int], Awaitable[Any]]], ...] = (
    ("that leave", 300, disconnect),
    ("that never read", 256, never_read),
    ("half bodies", 200, half_a_body),
    ("bodies of 50 MB", 8, large_body),
    ("messages of 8 MB", 8, long_message),
    ("bodies of many values", 6, many_values),
    ("slow constraints", 18, slow_schema),
)


async def terminated(server: Server, others: int) -> Seen:
    """SIGTERM amid streams."""
    seen = Seen()
    streams = [asyncio.ensure_future(server.client.stream(15, seen, pause=PAUSE)) for _ in range(others)]
    await asyncio.sleep(1)
    server.process.send_signal(signal.SIGTERM)
    await asyncio.wait_for(asyncio.gather(*streams), PATIENCE)
    return seen


def read_all(port: int, data: bytes) -> None:
    """Ask, and do nothing but read: a reader that is slower than the server would spare it waking the reader up."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(data)
        while connection.recv(1 << 16):
            pass


async def event_cost(client: Client, pieces: int, rounds: int) -> tuple[float, float]:
    """Microseconds of CPU of one event: the server's, and a bare one's. The least of some rounds, taken in turn."""
    paths = ("/v1/chat/completions", "/bare")
    found: dict[str, list[float]] = {path: [] for path in paths}
    for _ in range(rounds):
        for path in paths:
            before = await client.cpu()
            data = order(pieces).replace(b"/v1/chat/completions", path.encode(), 1)
            await asyncio.to_thread(read_all, client.port, data)
            found[path].append((await client.cpu() - before) / pieces * 1e6)
    ours, bare = (min(found[path]) for path in paths)
    return ours, bare


def row(table: Table, name: str, statuses: str, others: Seen, late: str, *memory: str) -> None:
    waits = sorted(others.waiting) or [0.0]
    worst, p99 = waits[-1], waits[min(int(len(waits) * 0.99), len(waits) - 1)]
    waiting = (number(one) for one in (waits[len(waits) // 2], p99, worst))
    table.row(name, statuses, *waiting, late, str(others.lost), *memory)


def phase_row(table: Table, name: str, phase: Phase, before: int) -> None:
    statuses = ", ".join(f"{count} {status}" for status, count in sorted(phase.statuses.items()))
    memory = (f"{held / before:.2f}" for held in (phase.most, phase.after))
    row(table, name, statuses, phase.others, number(phase.late), *memory)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    share = 10 if quick else 1
    server = Server()
    try:
        await server.client.stream(1, Seen(), pause=0)
        fresh, before = server.memory(), await warm_up(server)
        columns = ["", "answers", "waiting p50, ms", "p99", "worst", "reader", "lost", "memory", "after"]
        table = Table(columns, texts=2, title=f"Others, {OTHERS} streams, while there are")
        phase_row(table, "200 streams instead, nothing else", await measured(server, None, 200, 60 / share), before)
        for kind, (name, count, _) in enumerate(ATTACKS):
            asked = max(count // share, 2)
            phase = await measured(server, server.attack(kind, asked), OTHERS, 15 / min(share, 3))
            phase_row(table, f"{asked} {name}", phase, before)
        ours, bare = await event_cost(server.client, 20_000 // share, 3)
        seen = await terminated(server, 50)
        status = server.process.wait(60)
        row(table, "SIGTERM", f"status {status}", seen, "", "", "")
        print(f"\nAfter its start it held {fresh / 2**20:,.0f} MiB, after the warm-up {before / 2**20:,.0f} MiB.")
        table = Table(["one event", "CPU, µs"])
        table.row("of the server", number(ours))
        table.row("bare", number(bare))
        table.row("ratio", number(ours / bare))
        print(f"\nLoad average at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs.")
    finally:
        server.close()


if __name__ == "__main__":
    asyncio.run(main())
