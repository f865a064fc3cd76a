"""The HTTP server under the application: idle connections are closed, and its shutdown is bounded in time.

It handles what the application cannot see: request headers that never end, clients that read nothing, and connections
without requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import socket
import sys
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from syntagma.limits import Limits

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["serve"]

_FILES_FOR_OTHERS = 128
"""open files that are left for other uses than connections"""
_SWITCH_S = 0.001
"""seconds after which another thread lets the event loop run"""
_UNREAD_BYTES = 64 << 10
"""bytes that the system buffers here for a client that does not read; with its default, some hundred such clients would
fill the memory"""
_READ_BYTES = 16 << 10
"""bytes that are read of one connection before others have a turn; with asyncio's 256 KiB, some hundred large bodies at
once would hold up everything else"""
_REST_BYTES = 64 << 20
_REST_S = 10.0
"""seconds in which the rest of a body is still received after the answer"""
_LAST_WORDS_S = 2.0
"""seconds for a stream that is cut off to send its error"""


def serve(app: ASGIApp, listener: socket.socket, *, limits: Limits, shutdown_s: int, **options: Any) -> None:
    """Serve an application until a signal ends it.

    After the first SIGTERM or SIGINT it finishes the requests that are being answered, and ends. Those that take longer
    than `shutdown_s` are cut off, and the process ends with status 1. A second signal ends the process at once.

    Args:
        app: the application.
        listener: a bound or listening socket.
        limits: bounds on connections.
        shutdown_s: seconds that answers may take after the signal.
        **options: further options of `uvicorn.Config`, such as certificates.
    """
    most = _connections(limits.server_connections)
    config = uvicorn.Config(
        app,
        http=partial(_Connection, limits=limits, most=most),  # type: ignore[arg-type]  # it is called as a class is
        ws="none",
        log_level="warning",
        access_log=False,
        h11_max_incomplete_event_size=limits.server_header_bytes,
        timeout_graceful_shutdown=shutdown_s,
        **options,
    )
    server = _Server(config)
    # The objects made so far stay alive: to collect among them would only hold up the event loop.
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(_SWITCH_S)
    server.run(sockets=[listener])
    if server.cut_off:
        # Threads may still be at work, and the interpreter would wait for them.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)


class _Server(uvicorn.Server):
    """A server that ends at once at the second signal, and does not raise SIGTERM again after a clean shutdown.

    Attributes:
        cut_off: whether requests were still being answered at its end.
    """

    cut_off = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take a signal."""
        if self.should_exit:
            os._exit(128 + sig)
        if sig == signal.SIGTERM:
            # `super` would raise it again after the shutdown, which it asks for: that would only kill the process.
            self.should_exit = True
        else:
            super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let answers end, and cut off those that take too long."""
        await super().shutdown(sockets)
        late = set(self.server_state.tasks)
        if late:
            self.cut_off = True
            await asyncio.wait(late, timeout=_LAST_WORDS_S)


class _Connection(H11Protocol):
    """A connection that is closed when its client does not go on.

    Args:
        limits: how long a client may be silent, or read nothing.
        most: connections at once; further ones are closed.
        **given: as for `H11Protocol`.
    """

    def __init__(self, *, limits: Limits, most: int, **given: Any) -> None:
        super().__init__(**given)
        self._limits = limits
        self._most = most
        self._asking: asyncio.TimerHandle | None = None
        """runs while no request is being answered, until the next one is complete"""
        self._reading: asyncio.TimerHandle | None = None
        """runs while the client has not read all that was sent"""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; see `asyncio.Protocol`."""
        super().connection_made(transport)
        # One unread byte is enough to pause: an answer, and its end, wait until the client has read all.
        # With TLS, a limit of 0 is reached by an empty buffer, and the answer would wait for ever.
        transport.set_write_buffer_limits(high=1)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNREAD_BYTES)
        if hasattr(transport, "max_size"):  # transports of asyncio without TLS
            transport.max_size = _READ_BYTES
        if len(self.connections) > self._most:
            transport.abort()
            return
        self.transport = self._closing = _Closing(transport, self.conn)  # type: ignore[assignment]  # used as one
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """End; see `asyncio.Protocol`."""
        _stop(self._asking)
        self._asking = None
        _stop(self._reading)
        self._reading = None
        # The client has left, however the connection ended.
        _stop(self.timeout_keep_alive_task)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request; see `asyncio.Protocol`."""
        if self._closing.has_ended:
            self._closing.drop(len(data))
            return
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            _stop(self._asking)
            self._asking = None
        else:
            self._await_request()

    def pause_writing(self) -> None:
        """The client has not read everything; see `asyncio.Protocol`."""
        super().pause_writing()
        self._await_reader()

    def resume_writing(self) -> None:
        """The client has read everything; see `asyncio.Protocol`."""
        _stop(self._reading)
        self._reading = None
        super().resume_writing()

    def _await_request(self) -> None:
        """Close the connection if no request is complete in time, even if parts of one keep coming."""
        if self._asking is None:
            self._asking = self.loop.call_later(self._limits.server_header_seconds, self._no_request)

    def _no_request(self) -> None:
        self._asking = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()

    def _await_reader(self) -> None:
        left = self.transport.get_write_buffer_size()
        self._reading = self.loop.call_later(self._limits.server_write_seconds, self._no_reader, left)

    def _no_reader(self, left: int) -> None:
        if self.transport.get_write_buffer_size() < left:
            self._await_reader()
        else:
            self.transport.abort()


class _Closing:
    """A transport that delivers the answer even if the client is still sending when the connection is closed.

    To close it at once would discard the unread part of the answer. So only our side is closed, and what the client
    still sends is dropped, up to a bound of bytes and time.

    Args:
        transport: the connection's transport.
        conn: the connection's state.
    """

    def __init__(self, transport: asyncio.Transport, conn: h11.Connection) -> None:
        self._transport = transport
        self._conn = conn
        self._left = _REST_BYTES
        self.has_ended = False
        """whether our side is closed, so that all further bytes are dropped"""
        self.write = transport.write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        """See `asyncio.Transport`."""
        return self.has_ended or self._transport.is_closing()

    def close(self) -> None:
        """See `asyncio.Transport`."""
        if self.has_ended or self._conn.their_state is not h11.SEND_BODY or not self._transport.can_write_eof():
            self._transport.close()
            return
        self.has_ended = True
        try:
            self._transport.write_eof()
        except OSError:  # the client has left, which asyncio has not reported yet
            self._transport.abort()
            return
        self._transport.resume_reading()
        asyncio.get_running_loop().call_later(_REST_S, self._transport.abort)

    def drop(self, size: int) -> None:
        """Count `size` bytes that were received and dropped; too many close the connection."""
        self._left -= size
        if self._left < 0:
            self._transport.abort()


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def _connections(wanted: int) -> int:
    """The number of connections that are allowed; the limit of open files is raised for them as far as possible."""
    try:
        import resource
    except ImportError:  # the system has no such limit
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _FILES_FOR_OTHERS
    if soft != resource.RLIM_INFINITY and soft < needed:
        most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return wanted if soft == resource.RLIM_INFINITY else min(wanted, max(soft - _FILES_FOR_OTHERS, 1))
