"""A server in a process of its own: how it ends, and how connections end that are held for nothing."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.serving.support import body

PATIENCE = 60
"""seconds until a test that hangs fails"""


class Process:
    """The server, and what it has written."""

    def __init__(self, **options: Any) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.serving.live_process", json.dumps(options)],
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}/v1/chat/completions"

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def wait(self) -> int:
        return self.process.wait(PATIENCE)

    def end(self) -> str:
        """What it has said about faults."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()
        with self._log as log:
            log.seek(0)
            return log.read().decode()


@contextlib.contextmanager
def serving(**options: Any) -> Iterator[Process]:
    """A server, which must not have said anything of a traceback at its end."""
    server = Process(**options)
    try:
        yield server
    finally:
        said = server.end()
    assert "Traceback" not in said, said


def asked(how: str, **fields: Any) -> dict[str, Any]:
    return body(messages=[{"role": "user", "content": how}], **fields)


def raw(request: dict[str, Any]) -> bytes:
    data = json.dumps(request).encode()
    return b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(data) + data


def closed(connection: socket.socket) -> bool:
    """Whether the other side has closed, once it has."""
    try:
        while connection.recv(1 << 16):
            pass
    except ConnectionError:
        pass
    return True


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
class TestEnd:
    def test_what_is_being_answered_is_answered(self) -> None:
        with serving() as server:
            with httpx.stream("POST", server.url, json=asked("slowly", stream=True), timeout=PATIENCE) as answer:
                lines = answer.iter_lines()
                next(lines)
                server.process.send_signal(signal.SIGTERM)
                rest = list(lines)
            assert "data: [DONE]" in rest
            assert server.wait() == 0
            with pytest.raises(OSError):  # noqa: PT011 - whichever the system says
                server.connect()

    def test_what_does_not_end_in_time_is_cut_off_and_told_so(self) -> None:
        with serving(shutdown_s=1) as server:
            with httpx.stream("POST", server.url, json=asked("endlessly", stream=True), timeout=PATIENCE) as answer:
                lines = answer.iter_lines()
                next(lines)
                server.process.send_signal(signal.SIGTERM)
                events = [line for line in lines if line.startswith("data: ")]
            assert json.loads(events[-1].removeprefix("data: "))["error"]["code"] == "E-REQUEST-SHUTDOWN"
            assert server.wait() == 1

    def test_a_second_signal_ends_it_at_once(self) -> None:
        with serving() as server:
            with (
                contextlib.suppress(httpx.TransportError),
                httpx.stream("POST", server.url, json=asked("endlessly", stream=True), timeout=PATIENCE) as answer,
            ):
                lines = answer.iter_lines()
                next(lines)
                server.process.send_signal(signal.SIGTERM)
                # It has taken the first signal once it no longer listens.
                with pytest.raises(OSError):  # noqa: PT012, PT011
                    while True:
                        server.connect().close()
                server.process.send_signal(signal.SIGTERM)
                list(lines)
            assert server.wait() == 128 + signal.SIGTERM


class TestConnections:
    def test_a_head_that_never_ends_is_not_waited_for(self) -> None:
        with serving(limits={"server_header_seconds": 0.3}) as server:
            silent, begun = server.connect(), server.connect()
            with silent, begun:
                begun.sendall(b"GET /health HTTP/1.1\r\nx: ")
                assert closed(silent)
                assert closed(begun)
            assert httpx.get(f"http://127.0.0.1:{server.port}/health").status_code == 200

    def test_a_second_head_that_never_ends_is_not_waited_for(self) -> None:
        with serving(limits={"server_header_seconds": 0.3}) as server, server.connect() as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
            connection.sendall(b"GET /hea")
            assert closed(connection)

    @pytest.mark.parametrize("closing", [True, False])
    def test_who_sends_too_much_reads_the_answer(self, *, closing: bool) -> None:
        with serving() as server, server.connect() as connection:
            head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n" % (50 << 20)
            connection.sendall(head + b"connection: close\r\n" * closing + b"\r\n")
            for _ in range(50):
                connection.sendall(b"x" * (1 << 20))
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 413")

    def test_what_is_sent_too_much_is_bounded(self) -> None:
        with serving() as server, server.connect() as connection:
            head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
            connection.sendall(head % (1 << 40))
            with pytest.raises(ConnectionError):
                connection.sendall(b"x" * (400 << 20))

    def test_a_head_that_is_too_long_is_refused(self) -> None:
        with serving(limits={"server_header_bytes": 4096}) as server, server.connect() as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nx: " + b"y" * 8192)
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 400")

    def test_connections_that_are_too_many_are_closed(self) -> None:
        with serving(limits={"server_connections": 2, "server_header_seconds": 600.0}) as server:
            held = [server.connect(), server.connect()]
            with server.connect() as third:
                assert closed(third)
            for connection in held:
                connection.close()

    def test_a_client_that_reads_nothing_gives_its_place_back(self) -> None:
        with serving(limits={"server_write_seconds": 0.5, "server_streams": 1}) as server:
            connection = socket.socket()
            with connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                connection.connect(("127.0.0.1", server.port))
                connection.sendall(raw(asked("much", stream=True)))
                connection.recv(1)
                # The place is taken until the server gives up.
                statuses = []
                while not statuses or statuses[-1] == 429:
                    statuses.append(httpx.post(server.url, json=asked("hi"), timeout=PATIENCE).status_code)
                assert statuses[-1] == 200
                assert closed(connection)

    @pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux tells what a connection holds")
    def test_little_is_kept_for_a_client_that_reads_nothing(self) -> None:
        with serving() as server, server.connect() as connection:
            connection.sendall(raw(asked("much", stream=True)))
            place = f":{server.port:04X} 0100007F:{connection.getsockname()[1]:04X} "
            kept = [0] * 20
            while kept[-1] == 0 or kept[-1] > kept[-20]:
                time.sleep(0.05)
                line = next(line for line in Path("/proc/net/tcp").read_text().splitlines() if place in line)
                kept.append(int(line.split()[4].split(":")[0], 16))
            assert kept[-1] <= 1 << 18

    def test_requests_on_one_connection_are_answered_in_their_order(self) -> None:
        with serving() as server, server.connect() as connection:
            connection.sendall(b"GET /version HTTP/1.1\r\nhost: x\r\n\r\n" + raw(asked("hi")) + raw(asked("slowly")))
            connection.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            received = b""
            while piece := connection.recv(1 << 16):
                received += piece
            assert received.count(b"HTTP/1.1 200") == 4
            assert received.index(b'"version"') < received.index(b"x" * 40) < received.rindex(b'"status":"ok"')
