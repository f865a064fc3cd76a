"""What all engines over HTTP share: connections, lines of JSON, errors. A dialect says paths, bodies and fields."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import httpx
import msgspec

from syntagma.decoding.tokenizer_info import TokenizerInfo
from syntagma.decoding.upstream import Completion, Constraint, EngineFacts, Piece
from syntagma.errors import ModelError, SyntagmaError, UpstreamError

__all__ = ["HttpUpstream", "Reader", "Request"]

Reader = Callable[[Any], Iterable[Piece]]
"""What a line of the stream says; made anew for each stream"""

_CONNECT_S = 5.0
_CHECK_S = 5.0
# Engines close idle connections after five seconds; a connection that is closed while it is taken costs a retry.
_IDLE_S = 2.0
_SHOWN = 500
"""characters of an engine's message that are passed on"""
_TOO_LONG = ("exceed_context_size", "context length", "context size", "longer than the maximum")
_BUSY = (429, 503)
_KEY = (401, 403)
_ASKED_WRONG = (400, 413, 422)
_NO_ROUTE = (404, 405)


class Request(NamedTuple):
    """What goes out."""

    path: str
    body: dict[str, Any]


class HttpUpstream(ABC):
    """An engine over HTTP that answers in lines of JSON, as server-sent events or one value a line.

    Args:
        url: where it is; `#name` at its end is `model`.
        model: the model to ask for, where it has several; None: what it says.
        api_key: goes out as a bearer token.
        timeout: seconds that it may be silent, the reading of a prompt included.
        tokenizer_info: its vocabulary, so that prompts go out as ids; None: prompts are text.

    Raises:
        UpstreamError: `E-UPSTREAM-URL`, this is no address.
    """

    languages: ClassVar[tuple[str, ...]] = ()
    takes_ids: ClassVar[bool] = False
    """whether a prompt may be a list of token ids"""
    health_path: ClassVar[str] = "/health"

    def __init__(
        self,
        url: str,
        *,
        model: str | None = None,
        api_key: str | None = None,
        timeout: float = 600.0,
        tokenizer_info: TokenizerInfo | None = None,
    ) -> None:
        self._url, named = _address(url)
        self.model = model or named
        self.tokenizer_info = tokenizer_info if self.takes_ids else None
        self._headers = {} if api_key is None else {"authorization": f"Bearer {api_key}"}
        self._timeout = httpx.Timeout(timeout, connect=min(_CONNECT_S, timeout))
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()

    @property
    def address(self) -> str:
        """Its URL."""
        return self._url

    @property
    def model_name(self) -> str:
        """The model that is asked for."""
        return self.model or "model"

    def holds(self, constraint: Constraint) -> bool:  # noqa: ARG002 - of most languages all is held
        """Whether it can enforce all of a constraint; see `Upstream.holds`."""
        return True

    @abstractmethod
    def request(self, asked: Completion) -> Request:
        """The request that asks for a streamed text."""

    @abstractmethod
    def reader(self, asked: Completion) -> Reader:
        """What reads the lines of that stream."""

    @abstractmethod
    async def describe(self) -> EngineFacts:
        """What the engine says of itself."""

    async def stream(self, asked: Completion) -> AsyncGenerator[Piece, None]:
        """Write a text; see `Upstream.stream`."""
        reader, request = self.reader(asked), self.request(asked)
        content = msgspec.json.encode(request.body)
        made = self._client().build_request("POST", self._url + request.path, content=content)
        wrote = ended = False
        async with self._answer(made) as response, aclosing(_lines(response)) as lines:
            try:
                # Read to its end, so that the connection can be used again.
                async for line in lines:
                    for piece in self._read(reader, line):
                        yield piece
                        wrote = True
                        ended = ended or piece.finish_reason is not None
            except httpx.HTTPError as error:
                if not ended:
                    raise self._failed(error, again=not wrote) from error
        if not ended:
            raise self._error("E-UPSTREAM-BROKEN", "the engine's stream ended before the text did", again=not wrote)

    async def check(self) -> None:
        """Whether it would answer now; see `Upstream.check`."""
        await self.ask("GET", self.health_path, timeout=_CHECK_S)

    async def close(self) -> None:
        """Close the connections of this event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    async def ask(self, method: str, path: str, body: Any = None, *, timeout: float | None = None) -> Any:
        """One request whose answer comes whole: its JSON, or None if it is none.

        Raises:
            UpstreamError: it did not come.
        """
        content = None if body is None else msgspec.json.encode(body)
        limit = self._timeout if timeout is None else httpx.Timeout(timeout)
        made = self._client().build_request(method, self._url + path, content=content, timeout=limit)
        async with self._answer(made) as response:
            try:
                return msgspec.json.decode(await response.aread())
            except msgspec.DecodeError:
                return None
            except httpx.HTTPError as error:
                raise self._failed(error, again=True) from error

    @asynccontextmanager
    async def _answer(self, made: httpx.Request) -> AsyncIterator[httpx.Response]:
        """The response to a request, once its status says that it went well."""
        client = self._client()
        try:
            try:
                response = await client.send(made, stream=True)
            except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                # Most likely the engine closed a connection just as it was taken from the idle ones.
                response = await client.send(made, stream=True)
        except httpx.HTTPError as error:
            raise self._failed(error, again=True) from error
        try:
            if not response.is_success:
                raise self._refused(response.status_code, _message(await _body(response)))
            yield response
        finally:
            await response.aclose()

    def _read(self, reader: Reader, line: bytes) -> Iterable[Piece]:
        try:
            event = msgspec.json.decode(line)
        except msgspec.DecodeError as error:
            raise self._error("E-UPSTREAM-ANSWER", f"the engine's stream is no JSON: {error}") from error
        if isinstance(event, Mapping) and event.get("error"):
            raise self._refused(500, _text_of(event["error"]))
        try:
            yield from reader(event)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            message = f"the engine's stream has other fields than were expected: {error!r}"
            raise self._error("E-UPSTREAM-ANSWER", message) from error

    def _client(self) -> httpx.AsyncClient:
        """The client of this event loop: connections belong to the loop that opened them."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=64, keepalive_expiry=_IDLE_S)
            headers = {"content-type": "application/json", **self._headers}
            self._clients[loop] = httpx.AsyncClient(timeout=self._timeout, limits=limits, headers=headers)
        return self._clients[loop]

    def _error(self, code: str, message: str, **options: Any) -> UpstreamError:
        return UpstreamError(code, message, source=self._url, **options)

    def _failed(self, error: httpx.HTTPError, *, again: bool) -> UpstreamError:
        """What went wrong with a connection."""
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            hint = "start the engine, or correct its address"
            return self._error("E-UPSTREAM-CONNECT", "the engine cannot be reached", status=503, again=again, hint=hint)
        if isinstance(error, httpx.TimeoutException):
            # It may still be at work, so another attempt would only add to that.
            return self._error("E-UPSTREAM-TIMEOUT", "the engine was silent for too long", status=504)
        return self._error("E-UPSTREAM-BROKEN", f"the connection to the engine broke off: {error}", again=again)

    def _refused(self, status: int, message: str) -> SyntagmaError:
        """What an answer with an error means."""
        shown = " ".join(message.split())[:_SHOWN]
        if any(words in message.lower() for words in _TOO_LONG):
            return ModelError("E-MODEL-CONTEXT", f"the prompt is too long: {shown}")
        if status in _ASKED_WRONG:
            return self._error("E-UPSTREAM-REFUSED", f"the engine refuses the request: {shown}", status=400)
        if status in _BUSY:
            return self._error("E-UPSTREAM-BUSY", f"the engine is busy or not ready: {shown}", status=503, again=True)
        if status in _KEY:
            return self._error("E-UPSTREAM-KEY", f"the engine refuses the key: {shown}")
        if status < 500:
            hint = "another server may listen at this address" if status in _NO_ROUTE else None
            return self._error("E-UPSTREAM-REFUSED", f"the engine answers {status}: {shown}", hint=hint)
        return self._error("E-UPSTREAM-FAILED", f"the engine failed: {shown}", again=True)


def _address(url: str) -> tuple[str, str | None]:
    """The URL without a slash at its end, and the model that it names."""
    plain, _, model = url.partition("#")
    try:
        parsed = httpx.URL(plain)
    except (httpx.InvalidURL, TypeError):
        parsed = httpx.URL()
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise UpstreamError("E-UPSTREAM-URL", f"{url!r} is no address", hint="such as http://127.0.0.1:8080")
    return plain.rstrip("/"), model or None


async def _lines(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The lines that hold data. Split at line feeds alone: JSON may hold other characters that end lines in text."""
    rest = b""
    async for chunk in response.aiter_bytes():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if data := _data(line):
                yield data
    if data := _data(rest):
        yield data


def _data(line: bytes) -> bytes:
    """What a line says: the value of `data:`, or the whole line where it is JSON; nothing for other lines."""
    line = line.strip()
    if line.startswith(b"data:"):
        line = line[5:].strip()
    elif not line.startswith(b"{"):
        return b""
    return b"" if line == b"[DONE]" else line


async def _body(response: httpx.Response) -> bytes:
    try:
        return await response.aread()
    except httpx.HTTPError:
        return b""


def _message(body: bytes) -> str:
    """What an error's body says."""
    try:
        value = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return body.decode("utf-8", "replace")
    if isinstance(value, Mapping):
        return _text_of(value.get("error") or value.get("detail") or value)
    return str(value)


def _text_of(error: Any) -> str:
    """The message of an error, with its type, which says what it is about."""
    if not isinstance(error, Mapping):
        return str(error)
    message = error.get("message", error)
    return f"{message} ({error['type']})" if error.get("type") else str(message)
