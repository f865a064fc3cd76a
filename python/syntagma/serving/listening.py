"""The HTTP server under the application: no connection is held for nothing, and its end is bounded in time.

What the application itself cannot see is kept here: heads of requests that never end, clients that read nothing, and
connections that ask for nothing.
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
"""open files that are left to everything but connections"""
_SWITCH_S = 0.001
"""after so long a thread lets the event loop go on"""
_UNREAD_BYTES = 64 << 10
"""what the system keeps for a client that does not read, beside what the client's own system has taken: with as much as
it takes by itself, some hundred clients fill the memory"""
_REST_BYTES = 64 << 20
_REST_S = 10.0
"""what is still taken of a body after its answer"""
_LAST_WORDS_S = 2.0
"""what streams that are cut off have to say so"""


def serve(app: ASGIApp, listener: socket.socket, *, limits: Limits, shutdown_s: int, **options: Any) -> None:
    """Serve an application until a signal ends it.

    The first SIGTERM or SIGINT ends it when what is being answered is answered, at the latest after `shutdown_s`: then
    what is left is cut off, and the process ends with status 1. A second signal ends the process at once.

    Args:
        app: the application.
        listener: bound, or listening.
        limits: bounds on connections.
        shutdown_s: seconds.
        **options: further ones of `uvicorn.Config`, such as certificates.
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
    # What is there already stays: looking through it for garbage would only hold up the event loop.
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(_SWITCH_S)
    server.run(sockets=[listener])
    if server.cut_off:
        # Threads may still be at work, for which an interpreter would wait.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)


class _Server(uvicorn.Server):
    """Ends at the second signal, whichever it is; and not by the signal itself where it has ended well.

    Attributes:
        cut_off: whether something was still being answered at its end.
    """

    cut_off = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take a signal."""
        if self.should_exit:
            os._exit(128 + sig)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let what is being answered end, and cut off what does not."""
        await super().shutdown(sockets)
        late = set(self.server_state.tasks)
        if late:
            self.cut_off = True
            await asyncio.wait(late, timeout=_LAST_WORDS_S)
        # It has ended as it was told to: raising SIGTERM again would only kill the process.
        self._captured_signals = [one for one in self._captured_signals if one != signal.SIGTERM]


class _Connection(H11Protocol):
    """A connection that is closed when its client does not go on.

    Args:
        limits: how long a client may be silent, or read nothing.
        most: connections at once; a further one is closed.
        **given: as for `H11Protocol`.
    """

    def __init__(self, *, limits: Limits, most: int, **given: Any) -> None:
        super().__init__(**given)
        self._limits = limits
        self._most = most
        self._asking: asyncio.TimerHandle | None = None
        """runs while a request is on its way, and none is being answered"""
        self._reading: asyncio.TimerHandle | None = None
        """runs while the client leaves something unread"""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; see `asyncio.Protocol`."""
        super().connection_made(transport)
        # Whatever the client does not read at once counts: an answer waits for it, and so does its end.
        # With TLS, a limit of nothing would be reached by nothing, and the answer would wait for ever.
        transport.set_write_buffer_limits(high=1)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNREAD_BYTES)
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
        # The client has left, whatever became of its connection.
        self._unset_keepalive_if_required()
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
        """The client leaves something unread; see `asyncio.Protocol`."""
        super().pause_writing()
        self._await_reader()

    def resume_writing(self) -> None:
        """The client has read everything; see `asyncio.Protocol`."""
        _stop(self._reading)
        self._reading = None
        super().resume_writing()

    def _await_request(self) -> None:
        """Close the connection if no request is there in time, however often a part of one comes."""
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
    """A transport by which an answer reaches a client that is still sending when the connection is closed.

    Closing it at once would throw away what the client has not read of the answer. So the answer ends, and what the
    client still sends is dropped, for a while and up to a bound.

    Args:
        transport: of the connection.
        conn: its state.
    """

    def __init__(self, transport: asyncio.Transport, conn: h11.Connection) -> None:
        self._transport = transport
        self._conn = conn
        self._left = _REST_BYTES
        self.has_ended = False
        """whether nothing but dropping the rest is left to do"""
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
        except OSError:  # the client has left, which nobody has been told yet
            self._transport.abort()
            return
        self._transport.resume_reading()
        asyncio.get_running_loop().call_later(_REST_S, self._transport.abort)

    def drop(self, size: int) -> None:
        """So many bytes came that nobody reads."""
        self._left -= size
        if self._left < 0:
            self._transport.abort()


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def _connections(wanted: int) -> int:
    """How many connections there may be; the limit of open files is raised for them as far as it may be."""
    try:
        import resource
    except ImportError:  # where there is no such limit
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _FILES_FOR_OTHERS
    if soft != resource.RLIM_INFINITY and soft < needed:
        most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return wanted if soft == resource.RLIM_INFINITY else min(wanted, max(soft - _FILES_FOR_OTHERS, 1))
