"""An engine without a model: it speaks an engine's wire format, and keeps to the constraint that it is given.

What it writes under a constraint is the shortest text of it, read by our own readers; without one it is `PLAIN`. A
token is `TOKEN` characters of that text.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["PLAIN", "TOKEN", "MockEngine", "Wire", "pieces"]

PLAIN = "All is well, “quite” well."
TOKEN = 4
ENDLESS_PAUSE = 0.01


class Wire(Protocol):
    """The wire format of one engine."""

    @property
    def path(self) -> str:
        """Where texts are asked for."""
        ...

    @property
    def facts(self) -> dict[str, Any]:
        """Answers to other requests, by path."""
        ...

    def read(self, body: dict[str, Any]) -> tuple[str, int | None]:
        """The text that a request is answered with, and how many tokens it may have."""
        ...

    def lines(self, written: list[str], reason: str | None) -> Iterator[bytes]:
        """What goes out for the tokens, and for the reason why they ended."""
        ...


def pieces(text: str, most: int | None) -> tuple[list[str], str]:
    """The tokens of a text, and why it ends."""
    cut = [text[at : at + TOKEN] for at in range(0, len(text), TOKEN)] or [""]
    if most is not None and len(cut) > most:
        return cut[:most], "length"
    return cut, "stop"


@dataclass
class MockEngine:
    """The engine, listening while it is used as a context.

    Attributes:
        wire: its wire format.
        status: what it answers with.
        error: the body of an answer with another status than 200.
        drop_after: lines after which it breaks the connection off; None: it does not.
        silent: it takes requests and does not answer.
        endless: it writes its first token for ever.
        closes_after_each: it closes the connection when the next request on it comes, as if it had done so before.
        texts: what it writes instead of what it is asked for, one text after another; the last one again and again.
        bodies: the requests for texts so far.
        left: how many clients left while it wrote.
    """

    wire: Wire
    status: int = 200
    error: bytes = b'{"error": {"message": "no"}}'
    drop_after: int | None = None
    silent: bool = False
    endless: bool = False
    closes_after_each: bool = False
    texts: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    left: int = 0
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> MockEngine:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)))
        self._thread.start()
        assert ready.wait(30)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        # The port stays the same, so that an engine can go down and come back.
        server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                again = False
                while await self._answer(reader, writer, again=again):
                    again = True
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
            self._tasks.discard(task)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, again: bool) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        if again and self.closes_after_each:
            return False
        path = head[0].split()[1]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if self.silent:
            await asyncio.sleep(3600)
        if path != self.wire.path:
            known = self.status == 200 and path in self.wire.facts
            await self._whole(
                writer, 200 if known else 404, json.dumps(self.wire.facts[path]).encode() if known else self.error
            )
            return True
        self.bodies.append(json.loads(body))
        self.headers.append(headers)
        if self.status != 200:
            await self._whole(writer, self.status, self.error)
            return True
        return await self._stream(reader, writer)

    async def _whole(self, writer: asyncio.StreamWriter, status: int, body: bytes) -> None:
        head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()

    async def _stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        text, most = self.wire.read(self.bodies[-1])
        if self.texts:
            text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        written, reason = pieces(text, most)
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        if self.endless:
            await self._for_ever(reader, writer, next(self.wire.lines(written[:1], None)))
            return False
        for number, line in enumerate(self.wire.lines(written, reason)):
            if number == self.drop_after:
                writer.transport.abort()
                return False
            # Cut anywhere: a line may come in two chunks.
            for part in (line[:7], line[7:]):
                writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
                await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _for_ever(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: bytes) -> None:
        gone = asyncio.ensure_future(reader.read(1))
        try:
            while not gone.done():
                writer.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
                await writer.drain()
                await asyncio.sleep(ENDLESS_PAUSE)
        finally:
            self.left += gone.done()
            gone.cancel()
