"""The page on this machine: who is answered, and who is not."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator

import pytest

from syntagma.errors import RequestError
from syntagma.inspector import Inspector
from syntagma.inspector.local_server import LocalServer
from syntagma.inspector.pages import BODY_BYTES
from tests.inspector.asking import request


@pytest.fixture(scope="module")
def server(inspector: Inspector) -> Iterator[LocalServer]:
    with LocalServer(inspector) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def ask(
    server: LocalServer, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
    connection.request(method, path, body, headers or {})
    reply = connection.getresponse()
    read = reply.status, reply.read()
    connection.close()
    return read


def test_the_page_and_what_it_asks(server: LocalServer) -> None:
    assert ask(server, "GET", "/")[1].startswith(b"<!doctype html>")
    assert json.loads(ask(server, "GET", "/api/begin")[1])["model"] == "syntagma-2m"
    status, body = ask(server, "POST", "/api/look", json.dumps(request()).encode())
    assert status == 200
    assert json.loads(body)["faults"] == {}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:80"}, 200),
        ({"Host": "[::1]:80"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": ""}, 403),
        ({"Host": "localhost:80", "Origin": "http://localhost:80"}, 200),
        ({"Host": "localhost:80", "Origin": "http://localhost:81"}, 403),
        ({"Host": "localhost:80", "Origin": "https://evil.example"}, 403),
        ({"Host": "localhost:80", "Origin": "null"}, 403),
    ],
)
def test_only_the_page_itself_is_answered(server: LocalServer, headers: dict[str, str], status: int) -> None:
    assert ask(server, "GET", "/api/begin", headers=headers)[0] == status


def test_bodies_have_a_bound_and_a_length(server: LocalServer) -> None:
    assert ask(server, "POST", "/api/look", headers={"Content-Length": str(BODY_BYTES + 1)})[0] == 413
    assert ask(server, "POST", "/api/look", headers={"Transfer-Encoding": "chunked"})[0] == 411


def test_a_port_that_is_taken_is_told(server: LocalServer, inspector: Inspector) -> None:
    with pytest.raises(RequestError, match="E-REQUEST-ADDRESS"):
        LocalServer(inspector, server.server_address[1])
