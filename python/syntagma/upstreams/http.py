"""The base class of engines over HTTP: connections, lines of JSON, errors. Subclasses know paths, bodies and fields."""

from __future__ import annotations

import asyncio
import re
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
"""converts one decoded line of a stream to pieces; each stream has its own"""

_CONNECT_S = 5.0
_CHECK_S = 5.0
# Engines close idle connections after five seconds. Reusing one at that moment would cost a retry.
_IDLE_S = 2.0
_SHOWN = 500
"""number of characters of an engine's message that are passed on"""
_TOO_LONG = ("exceed_context_size", "context length", "context size", "longer than the maximum")
_BUSY = (429, 503)
_KEY = (401, 403)
_ASKED_WRONG = (400, 413, 422)
_NO_ROUTE = (404, 405)
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|hf|gsk|xai|api|key|Bearer)[-_ ][A-Za-z0-9_\-.]{8,}")


class Request(NamedTuple):
    """A request to an engine: path and JSON body."""

    path: str
    body: dict[str, Any]


class HttpUpstream(ABC):
    """An engine over HTTP that answers in lines of JSON, either server-sent events or one value per line.

    Args:
        url: the engine's URL. A `#name` at its end sets `model`.
        model: the model to use, if the engine has several; None: the one that the engine reports.
        api_key: sent as a bearer token.
        timeout: longest silence of the engine in seconds, including the time to read a prompt.
        tokenizer_info: the engine's vocabulary, to send prompts as token ids; None: prompts are sent as text.

    Raises:
        UpstreamError: `E-UPSTREAM-URL`, the URL is invalid.
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
        """The engine's URL, without the model."""
        return self._url

    @property
    def model_name(self) -> str:
        """The model to use; `model` if it is not known yet."""
        return self.model or "model"

    def holds(self, constraint: Constraint) -> bool:  # noqa: ARG002 - most languages are enforced completely
        """Whether it can enforce a constraint completely; see `Upstream.holds`."""
        return True

    @abstractmethod
    def request(self, asked: Completion) -> Request:
        """The HTTP request for a streamed text."""

    @abstractmethod
    def reader(self, asked: Completion) -> Reader:
        """A reader for the lines of that stream."""

    @abstractmethod
    async def describe(self) -> EngineFacts:
        """Ask the engine for facts about itself; see `Upstream.describe`."""

    async def stream(self, asked: Completion) -> AsyncGenerator[Piece, None]:
        """Generate a text; see `Upstream.stream`."""
        reader, request = self.reader(asked), self.request(asked)
        content = msgspec.json.encode(request.body)
        made = self._client().build_request("POST", self._url + request.path, content=content)
        wrote = ended = False
        async with self._answer(made) as response, aclosing(_lines(response)) as lines:
            try:
                # Read the response to its end, so that the connection can be reused.
                async for line in lines:
                    for piece in self._read(reader, line):
                        yield piece
                        wrote = True
                        ended = ended or piece.finish_reason is not None
            except httpx.HTTPError as error:
                if not ended:
                    raise self._failed(error, again=not wrote) from error
        if not ended:
            raise self._error("E-UPSTREAM-BROKEN", "the engine's stream ended without a finish reason", again=not wrote)

    def tokenizing(self, text: str) -> Request | None:  # noqa: ARG002 - most engines have no such endpoint
        """The request for the token ids of a text; None: the engine has no such endpoint."""
        return None

    async def tokenize(self, text: str) -> list[int] | None:
        """The engine's token ids of a text, in which the text of a special token means this token; None: it tells none.

        Raises:
            UpstreamError: the engine cannot be reached, or its answer is unusable.
        """
        request = self.tokenizing(text)
        if request is None:
            return None
        answer = await self.ask("POST", request.path, request.body)
        ids = answer.get("tokens") if isinstance(answer, Mapping) else None
        if not isinstance(ids, list) or not all(isinstance(token, int) for token in ids):
            raise self._error("E-UPSTREAM-ANSWER", "the engine's tokens are no list of numbers")
        return ids

    async def check(self) -> None:
        """Check that the engine can answer now; see `Upstream.check`."""
        await self.ask("GET", self.health_path, timeout=_CHECK_S)

    async def close(self) -> None:
        """Close the connections of this event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    async def ask(self, method: str, path: str, body: Any = None, *, timeout: float | None = None) -> Any:
        """Send a request and return its whole answer as a JSON value; None if the answer is not JSON.

        Raises:
            UpstreamError: the engine cannot be reached or answers with an error.
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
        """The response to a request, after a check of its status."""
        client = self._client()
        try:
            try:
                response = await client.send(made, stream=True)
            except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                # Most likely the engine closed an idle connection just when it was reused.
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
            raise self._error("E-UPSTREAM-ANSWER", f"the engine's stream is not JSON: {error}") from error
        if isinstance(event, Mapping) and event.get("error"):
            raise self._refused(500, _text_of(event["error"]))
        try:
            yield from reader(event)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            message = f"the engine's stream has unexpected fields: {error!r}"
            raise self._error("E-UPSTREAM-ANSWER", message) from error

    def _client(self) -> httpx.AsyncClient:
        """The HTTP client of this event loop. Connections belong to the loop that opened them."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=64, keepalive_expiry=_IDLE_S)
            headers = {"content-type": "application/json", **self._headers}
            self._clients[loop] = httpx.AsyncClient(timeout=self._timeout, limits=limits, headers=headers)
        return self._clients[loop]

    def _without_keys(self, text: str) -> str:
        """The text without anything that looks like a key, which some engines repeat."""
        own = self._headers.get("authorization", "").removeprefix("Bearer ")
        return _KEY_LIKE.sub("…", text.replace(own, "…") if own else text)

    def _error(self, code: str, message: str, **options: Any) -> UpstreamError:
        return UpstreamError(code, message, source=self._url, **options)

    def _failed(self, error: httpx.HTTPError, *, again: bool) -> UpstreamError:
        """The error for a failed connection."""
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            hint = "start the engine, or correct its address"
            return self._error("E-UPSTREAM-CONNECT", "the engine cannot be reached", status=503, again=again, hint=hint)
        if isinstance(error, httpx.TimeoutException):
            # The engine may still be working, so another attempt would only add load.
            return self._error("E-UPSTREAM-TIMEOUT", "the engine was silent for too long", status=504)
        return self._error("E-UPSTREAM-BROKEN", f"the connection to the engine broke off: {error}", again=again)

    def _refused(self, status: int, message: str) -> SyntagmaError:
        """What an answer with an error means."""
        shown = self._without_keys(" ".join(message.split()))[:_SHOWN]
        if any(words in message.lower() for words in _TOO_LONG):
            return ModelError("E-MODEL-CONTEXT", f"the prompt is too long: {shown}")
        if status in _ASKED_WRONG:
            return self._error("E-UPSTREAM-REFUSED", f"the engine rejects the request: {shown}", status=400)
        if status in _BUSY:
            return self._error("E-UPSTREAM-BUSY", f"the engine is busy or not ready: {shown}", status=503, again=True)
        if status in _KEY:
            return self._error("E-UPSTREAM-KEY", f"the engine rejects the API key: {shown}")
        if status < 500:
            hint = "another server may listen at this address" if status in _NO_ROUTE else None
            return self._error("E-UPSTREAM-REFUSED", f"the engine answers {status}: {shown}", hint=hint)
        return self._error("E-UPSTREAM-FAILED", f"the engine failed: {shown}", again=True)


def _address(url: str) -> tuple[str, str | None]:
    """The URL without a trailing slash, and the model after its `#`, or None."""
    plain, _, model = url.partition("#")
    try:
        parsed = httpx.URL(plain)
    except (httpx.InvalidURL, TypeError):
        parsed = httpx.URL()
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise UpstreamError("E-UPSTREAM-URL", f"{url!r} is not a URL", hint="for example http://127.0.0.1:8080")
    return plain.rstrip("/"), model or None


async def _lines(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The data of each line, without empty lines. Only line feeds end a line: JSON may contain other line breaks."""
    rest: list[bytes] = []  # the pieces of a line that has no end yet
    async for chunk in response.aiter_bytes():
        first, *lines = chunk.split(b"\n")
        rest.append(first)
        for line in lines:
            if data := _data(b"".join(rest)):
                yield data
            rest = [line]
    if data := _data(b"".join(rest)):
        yield data


def _data(line: bytes) -> bytes:
    """The data of a line: the value of `data:`, or a whole line of JSON; empty for other lines."""
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
    """The error message in the body of a response."""
    try:
        value = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return body.decode("utf-8", "replace")
    if isinstance(value, Mapping):
        return _text_of(value.get("error") or value.get("detail") or value)
    return str(value)


def _text_of(error: Any) -> str:
    """The message of an error, with its type if it has one."""
    if not isinstance(error, Mapping):
        return str(error)
    message = error.get("message", error)
    return f"{message} ({error['type']})" if error.get("type") else str(message)
