"""The server that is looked at: sends requests, keeps what came, and asks no question twice."""

from __future__ import annotations

import contextlib
import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from syntagma.doctor.exchange import Exchange

__all__ = ["Endpoint"]

_MOST_BYTES = 1 << 24
"""of one answer"""
_CHUNK = 1 << 16
_PATH: Final = "/chat/completions"
_ATTEMPTS = 4
_LONGEST_WAIT_S = 20.0
"""for a server that asks to be left alone for a while"""
_BOUNDS: Final = frozenset({"max_tokens", "max_completion_tokens"})
_WAYS: Final = (("temperature", "max_tokens"), ("max_tokens",), ("max_completion_tokens",))
"""fields that questions have beside those of a check; some servers refuse the first or the second for some models"""


class _Statuses(urllib.request.HTTPErrorProcessor):
    """Takes every status as an answer, redirections included."""

    def http_response(self, _request: Any, response: Any) -> Any:
        return response

    def https_response(self, _request: Any, response: Any) -> Any:
        return response


class Endpoint:
    """A server at a base URL.

    Args:
        url: the base URL, without a slash at its end.
        model: the model to ask for; None: none is named.
        api_key: goes out as a bearer token.
        timeout: seconds that one answer may take.
        deadline: when the time for everything is over, on the monotonic clock.
        max_tokens: tokens of an answer whose length does not matter.
    """

    def __init__(
        self,
        url: str,
        *,
        model: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        deadline: float | None = None,
        max_tokens: int = 512,
    ) -> None:
        self.url = url
        self.model = model
        self.note: str | None = None
        """what questions lack, as the server does not take it"""
        self.has_key = api_key is not None
        self._usual: dict[str, Any] = {}
        self._max_tokens = max_tokens
        self._ask_with(_WAYS[0])
        self._key = api_key
        self._timeout = timeout
        self._deadline = deadline
        self._opener = urllib.request.build_opener(_Statuses)
        self._kept: dict[tuple[str, str, bytes | None], Exchange] = {}
        self.exchanges: list[Exchange] = []
        """all, in their order"""

    @property
    def time_is_over(self) -> bool:
        """Whether nothing more may be asked."""
        return self._deadline is not None and time.monotonic() >= self._deadline

    @property
    def answers(self) -> bool:
        """Whether any question was answered so far, in whatever form."""
        return any(one.status == 200 for one in self.exchanges if one.url.endswith(_PATH))

    def settle(self, body: Mapping[str, Any]) -> Exchange:
        """Find out which fields the server takes beside those of a plain question; returns the answer to that."""
        first = self.ask(body)
        if first.status not in (400, 422):
            return first
        for way in _WAYS[1:]:
            self._ask_with(way)
            exchange = self.ask(body)
            if exchange.status == 200:
                self.note = f"questions go out with {' and '.join(way)} alone, as the server refuses others"
                return exchange
        self._ask_with(_WAYS[0])
        return first

    def _ask_with(self, names: tuple[str, ...]) -> None:
        values = {"temperature": 0, "max_tokens": self._max_tokens, "max_completion_tokens": self._max_tokens}
        self._usual = {name: values[name] for name in names}

    def get(self, path: str) -> Exchange:
        """What stands at a path."""
        return self._once("GET", path, None)

    def ask(self, body: Mapping[str, Any], *, stream: bool = False, again: bool = False) -> Exchange:
        """A chat completion; the same request is sent once, and its answer kept.

        Args:
            body: fields of the request, to which the model, the temperature and a bound on tokens are added.
            stream: whether to ask for a stream; it is read to its end.
            again: send it even if there is an answer.
        """
        return self._once("POST", _PATH, self.encoded(body, stream=stream), again=again)

    def both(self, body: Mapping[str, Any]) -> tuple[Exchange, Exchange]:
        """The answer as a whole, and streamed."""
        return self.ask(body), self.ask(body, stream=True)

    def send(self, method: str, path: str, body: bytes | None, *, key: str | None = None) -> Exchange:
        """Any other request.

        Args:
            method: of HTTP.
            path: after the base URL.
            body: what is sent, as it is.
            key: another key than that of this endpoint.
        """
        return self._patient(method, path, body, key=key)

    def leave(self, body: Mapping[str, Any], events: int) -> Exchange:
        """Ask for a stream, and close the connection after some of its lines."""
        sent = self.encoded(body, stream=True)
        began, received = time.monotonic(), b""
        try:
            with self._open("POST", _PATH, sent, self._key) as response:
                status, kind = response.status, _kind(response)
                while received.count(b"\n\n") < events and (more := response.read1(_CHUNK)):
                    received += more
        except (OSError, http.client.HTTPException) as error:
            return self._keep("POST", _PATH, sent, failed=_reason(error), began=began)
        return self._keep("POST", _PATH, sent, began=began, status=status, content_type=kind, received=received)

    def encoded(self, body: Mapping[str, Any], *, stream: bool = False) -> bytes:
        """The body of a chat completion as it goes out."""
        named = {} if self.model is None else {"model": self.model}
        bounded = not _BOUNDS.isdisjoint(body)
        usual = {name: value for name, value in self._usual.items() if not (bounded and name in _BOUNDS)}
        filled: dict[str, Any] = {**named, **usual, **body}
        if stream:
            filled = {**filled, "stream": True}
            filled.setdefault("stream_options", {"include_usage": True})
        return msgspec.json.encode({name: value for name, value in filled.items() if value is not None})

    def _once(self, method: str, path: str, body: bytes | None, *, again: bool = False) -> Exchange:
        asked = (method, path, body)
        if asked not in self._kept:
            self._kept[asked] = self._patient(method, path, body)
        elif again:
            return self._patient(method, path, body)
        return self._kept[asked]

    def _patient(self, method: str, path: str, body: bytes | None, *, key: str | None = None) -> Exchange:
        """What comes when the server is left alone as long as it asks for, within reason."""
        wait = 1.0
        for attempt in range(_ATTEMPTS):
            exchange = self._exchange(method, path, body, key=key)
            if exchange.status != 429 or attempt == _ATTEMPTS - 1:
                break
            asked = exchange.retry_after if exchange.retry_after is not None else wait
            if asked > _LONGEST_WAIT_S or (self._deadline is not None and time.monotonic() + asked > self._deadline):
                break
            time.sleep(asked)
            wait *= 2
        return exchange

    def _exchange(self, method: str, path: str, body: bytes | None, *, key: str | None = None) -> Exchange:
        began, received, failed = time.monotonic(), bytearray(), None
        status, kind, wait = None, "", None
        end = began + self._timeout
        try:
            with self._open(method, path, body, key or self._key) as response:
                status, kind = response.status, _kind(response)
                wait = _seconds(response.headers.get("retry-after"))
                while more := response.read1(_CHUNK):
                    received += more
                    if time.monotonic() > end or self.time_is_over:
                        failed = "the answer was not over in time"
                        break
                    if len(received) > _MOST_BYTES:
                        failed = f"the answer has more than {_MOST_BYTES} bytes"
                        break
        except (OSError, http.client.HTTPException) as error:
            failed = _reason(error)
        return self._keep(
            method,
            path,
            body,
            began=began,
            status=status,
            content_type=kind,
            received=bytes(received),
            failed=failed,
            retry_after=wait,
            keyed=(key or self._key) is not None,
        )

    def _keep(self, method: str, path: str, body: bytes | None, *, began: float, **came: Any) -> Exchange:
        keyed = came.pop("keyed", self.has_key)
        seconds = time.monotonic() - began
        made = Exchange(method=method, url=self.url + path, body=body, keyed=keyed, seconds=seconds, **came)
        self.exchanges.append(made)
        return made

    @contextlib.contextmanager
    def _open(self, method: str, path: str, body: bytes | None, key: str | None) -> Iterator[Any]:
        headers = {"accept": "*/*", "user-agent": "syntagma-doctor"}
        if body is not None:
            headers["content-type"] = "application/json"
        if key is not None:
            headers["authorization"] = f"Bearer {key}"
        request = urllib.request.Request(self.url + path, data=body, headers=headers, method=method)
        timeout = self._timeout
        if self._deadline is not None:
            timeout = max(0.1, min(timeout, self._deadline - time.monotonic()))
        response = self._opener.open(request, timeout=timeout)
        with contextlib.closing(response):
            yield response


def _kind(response: Any) -> str:
    return str(response.headers.get("content-type") or "").lower()


def _seconds(said: str | None) -> float | None:
    """What `Retry-After` says, where it is a number of seconds."""
    return float(said) if said is not None and said.isascii() and said.isdigit() and len(said) < 9 else None


def _reason(error: Exception) -> str:
    """What went wrong with a connection, in words."""
    inner = getattr(error, "reason", None)
    if isinstance(error, TimeoutError) or isinstance(inner, TimeoutError):
        return "nothing came in time"
    if isinstance(error, http.client.IncompleteRead):
        return "the connection broke off before the answer was over"
    return f"{type(error).__name__}: {inner or error}"
