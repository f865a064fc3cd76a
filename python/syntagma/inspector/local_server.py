"""The page on this machine, by the web server of the standard library."""

from __future__ import annotations

from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import urlsplit

from syntagma.errors import RequestError
from syntagma.inspector.inspector import Inspector
from syntagma.inspector.pages import BODY_BYTES, Reply, answer

__all__ = ["LocalServer"]

_PATIENCE_S: Final = 30.0
"""what a connection may be silent"""
_HERE: Final = frozenset({"127.0.0.1", "localhost", "::1"})


class LocalServer(ThreadingHTTPServer):
    """Hands out the page to browsers of this machine, and to nobody else.

    Args:
        inspector: looks at requests.
        port: 0 takes a free one.

    Raises:
        RequestError: `E-REQUEST-ADDRESS`, the port is taken.
    """

    daemon_threads = True

    def __init__(self, inspector: Inspector, port: int = 0) -> None:
        self.inspector = inspector
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except OSError as error:
            raise RequestError(
                "E-REQUEST-ADDRESS",
                f"cannot listen on port {port}: {error.strerror}",
                hint="choose another --port; 0 takes a free one",
            ) from error

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _PATIENCE_S
    server: LocalServer

    def do_GET(self) -> None:
        """Hand out a file, or what the page begins with."""
        self._answer(None)

    def do_POST(self) -> None:
        """Answer what the page asks."""
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > BODY_BYTES:
            # What is not read cannot be told from a further request.
            self.close_connection = True
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE if length.isdecimal() else HTTPStatus.LENGTH_REQUIRED)
            return
        self._answer(self.rfile.read(int(length)))

    def _answer(self, body: bytes | None) -> None:
        if not self._is_ours():
            self._refuse(HTTPStatus.FORBIDDEN)
            return
        reply = answer(self.server.inspector, urlsplit(self.path).path.removeprefix("/"), body)
        self._send(reply)

    def _is_ours(self) -> bool:
        """Whether the page itself asks: no page from elsewhere, and no name that only leads here."""
        origin = self.headers.get("origin")
        names = [urlsplit(f"//{self.headers.get('host', '')}").hostname]
        if origin is not None:
            names.append(urlsplit(origin).hostname)
            if urlsplit(origin).netloc != self.headers.get("host"):
                return False
        return all(name in _HERE for name in names)

    def _refuse(self, status: HTTPStatus) -> None:
        self._send(Reply(status, {"content-type": "text/plain; charset=utf-8"}, status.phrase.encode()))

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the page tells what is wrong."""
