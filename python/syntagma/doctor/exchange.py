"""One request, and what came back."""

from __future__ import annotations

import shlex
from typing import Any

import msgspec

__all__ = ["Exchange", "shortened"]

_SHOWN = 600
"""characters of an answer that are shown"""
_SHOWN_BODY = 4_000
"""characters of a request's body that are shown; none of ours is as long, but those that are wrong by being large"""


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """One request, and what came back.

    Attributes:
        method: of HTTP.
        url: the whole address.
        body: what was sent, or None.
        keyed: whether a key was sent, which is never shown.
        status: the status of the answer, or None: there is none.
        content_type: as the server says it, in small letters.
        received: the body of the answer.
        failed: what went wrong with the connection, or None.
        retry_after: seconds for which the server asks to be left alone.
        seconds: wall-clock time.
    """

    method: str
    url: str
    body: bytes | None = None
    keyed: bool = False
    status: int | None = None
    content_type: str = ""
    received: bytes = b""
    failed: str | None = None
    retry_after: float | None = None
    seconds: float = 0.0

    @property
    def is_stream(self) -> bool:
        """Whether a stream was asked for."""
        return bool(self.body) and b'"stream":true' in (self.body or b"")

    @property
    def text(self) -> str:
        """The body of the answer as text."""
        return self.received.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body of the answer as JSON; None where it is none."""
        try:
            return msgspec.json.decode(self.received)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None

    def curl(self) -> str:
        """The request as a command for a shell; a key stands there as `$API_KEY`."""
        words = ["curl", "-sS"]
        if self.is_stream:
            words.append("-N")
        if self.method != "POST" or self.body is None:
            words += [] if self.method == "GET" else ["-X", self.method]
        words.append(shlex.quote(self.url))
        if self.keyed:
            words += ["-H", '"Authorization: Bearer $API_KEY"']
        if self.body is not None:
            body = shortened(self.body.decode("utf-8", "replace"), _SHOWN_BODY)
            words += ["-H", "'Content-Type: application/json'", "-d", shlex.quote(body)]
        return " ".join(words)

    def came(self) -> str:
        """The status and the beginning of what came, for people."""
        if self.status is None:
            return self.failed or "nothing"
        said = [f"{self.status} {self.content_type}".rstrip(), shortened(self.text, _SHOWN)]
        return "\n".join([*said, *([self.failed] if self.failed else [])])


def shortened(text: str, most: int = _SHOWN) -> str:
    """A text, with its middle left out where it is long."""
    if len(text) <= most:
        return text
    return f"{text[: most * 2 // 3]} … {text[-most // 3 :]}"
