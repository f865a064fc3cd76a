"""Admission: bounds on the requests that are answered at once, and on the memory of their bodies."""

from __future__ import annotations

import asyncio
import contextlib
import zlib
from collections.abc import Iterator
from typing import Final

from starlette.requests import Request

from syntagma.errors import RequestError
from syntagma.limits import Limits

__all__ = ["Admission"]

_EITHER: Final = zlib.MAX_WBITS | 32
"""gzip or zlib, as the data says"""


class Admission:
    """Limits the concurrent requests and the total bytes of their bodies. For one event loop.

    Args:
        limits: the bounds.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._active = 0
        self._bytes = 0

    @property
    def active(self) -> int:
        """The number of requests that have a place."""
        return self._active

    @contextlib.contextmanager
    def place(self) -> Iterator[None]:
        """A place among the requests, for as long as the context lasts.

        Raises:
            RequestError: `E-REQUEST-BUSY`, 429: all places are taken.
        """
        if self._active >= self._limits.server_streams:
            raise _busy("too many requests are being served")
        self._active += 1
        try:
            yield
        finally:
            self._active -= 1

    async def body(self, request: Request, held: contextlib.ExitStack) -> bytes:
        """The body of a request; it counts until `held` is closed.

        Raises:
            RequestError: `E-REQUEST-BODY`, 413: it is too large, unpacked if it is packed; 415 or 400: it is packed in
                another way than gzip or deflate, or wrongly; `E-REQUEST-SLOW`, 408: it does not come in time;
                `E-REQUEST-BUSY`, 429: the bodies of other requests are too large.
            ClientDisconnect: the client has left.
        """
        allowed = self._limits.server_body_bytes
        unpack = _unpacker(request.headers.get("content-encoding", "identity"))
        announced = request.headers.get("content-length", "")
        if announced.isdecimal() and (len(announced) > 18 or int(announced) > allowed):
            raise _too_large(allowed)
        body = bytearray()
        counted = [0]
        held.callback(self._give_back, counted)
        try:
            async with asyncio.timeout(self._limits.server_body_seconds):
                async for sent in request.stream():
                    piece = sent if unpack is None else _unpacked(unpack, sent, allowed + 1 - len(body))
                    if len(body) + len(piece) > allowed:
                        raise _too_large(allowed)
                    if self._bytes + len(piece) > self._limits.server_bodies_bytes:
                        raise _busy("the bodies of the requests that are being served are too large together")
                    body += piece
                    counted[0] = len(body)
                    self._bytes += len(piece)
        except TimeoutError:
            raise RequestError(
                "E-REQUEST-SLOW",
                f"the body was not there after {self._limits.server_body_seconds:g} seconds",
                status=408,
            ) from None
        if unpack is not None and not unpack.eof:
            raise _badly_packed()
        return bytes(body)

    def _give_back(self, counted: list[int]) -> None:
        self._bytes -= counted[0]


def _unpacker(encoding: str) -> zlib._Decompress | None:
    match encoding.strip().lower():
        case "identity" | "":
            return None
        case "gzip" | "x-gzip" | "deflate":
            return zlib.decompressobj(_EITHER)
    message = f"a body in the encoding {encoding[:32]!r} is not read"
    raise RequestError("E-REQUEST-BODY", message, hint="send it plain, or as gzip", status=415)


def _unpacked(unpack: zlib._Decompress, sent: bytes, most: int) -> bytes:
    """What a piece holds, at most so many bytes: what is longer is too large, and is never unpacked."""
    try:
        return unpack.decompress(sent, most)
    except zlib.error as error:
        raise _badly_packed() from error


def _badly_packed() -> RequestError:
    return RequestError("E-REQUEST-BODY", "the body is not what its content-encoding says", status=400)


def _busy(message: str) -> RequestError:
    return RequestError("E-REQUEST-BUSY", message, status=429)


def _too_large(allowed: int) -> RequestError:
    return RequestError("E-REQUEST-BODY", f"the body is larger than {allowed} bytes", status=413)
