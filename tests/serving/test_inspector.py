"""The inspector as routes of the server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from syntagma import embedded
from syntagma.codec import ChatCodec
from syntagma.inspector import Reply, answer
from syntagma.serving import Operations, ServedModel, Settings, create_app, inspecting
from syntagma.serving.keys import key_of
from tests.inspector.asking import request

SECRET = "secret-of-mine"


def served() -> ServedModel:
    model = embedded.load()
    return ServedModel(model, ChatCodec.from_pretrained(model.path))


def test_it_is_served_where_it_is_asked_for() -> None:
    with TestClient(create_app(served(), Settings(inspector=True))) as client:
        page = client.get("/inspector")
        assert page.text.startswith("<!doctype html>")
        assert page.url.path == "/inspector/"
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert client.get("/inspector/main.js").headers["content-type"].startswith("text/javascript")
        assert client.post("/inspector/api/look", json=request()).json()["faults"] == {}
        assert client.post("/inspector/api/look", content=b" " * (1 << 21)).status_code == 413
        assert "/inspector" not in client.get("/openapi.json").json()["paths"]


def test_it_is_off_by_itself() -> None:
    with TestClient(create_app(served())) as client:
        assert client.get("/inspector").status_code == 404


@pytest.fixture
def guarded() -> Iterator[TestClient]:
    settings = Settings(inspector=True, operations=Operations(keys=(key_of(SECRET),)))
    with TestClient(create_app(served(), settings)) as client:
        yield client


def test_with_keys_the_page_is_open_and_what_it_asks_is_not(guarded: TestClient) -> None:
    assert guarded.get("/inspector").text.startswith("<!doctype html>")
    assert guarded.get("/inspector/main.js").status_code == 200
    for ask in ("begin", "look", "step", "continue", "nothing", "../../metrics"):
        assert guarded.get(f"/inspector/api/{ask}").status_code == 401
        assert guarded.post(f"/inspector/api/{ask}", json=request()).status_code == 401
    shown = {"authorization": f"Bearer {SECRET}"}
    assert guarded.get("/inspector/api/begin", headers=shown).json()["model"] == "syntagma-2m"
    assert guarded.post("/inspector/api/look", json=request(), headers=shown).json()["faults"] == {}


def test_with_keys_nothing_is_open_where_the_inspector_is_off() -> None:
    settings = Settings(operations=Operations(keys=(key_of(SECRET),)))
    with TestClient(create_app(served(), settings)) as client:
        assert client.get("/inspector/main.js").status_code == 401


def test_bodies_of_very_many_values_are_refused_before_they_are_read() -> None:
    with TestClient(create_app(served(), Settings(inspector=True))) as client:
        reply = client.post("/inspector/api/look", content=b'{"messages": [' + b"{}," * 150_000 + b"{}]}")
        assert (reply.status_code, reply.json()["code"]) == (400, "E-REQUEST-LIMIT")


def test_pages_that_wait_are_bounded_and_hold_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages whose answers take long fill their queue; the model's own clients are answered meanwhile."""
    may_end = threading.Event()

    def slow(*asked: Any) -> Reply:
        assert may_end.wait(60)
        return answer(*asked)

    monkeypatch.setattr(inspecting, "answer", slow)

    async def run() -> tuple[int, list[int]]:
        transport = httpx.ASGITransport(create_app(served(), Settings(inspector=True)))
        async with httpx.AsyncClient(transport=transport, base_url="http://here", timeout=60) as client:
            asked = [asyncio.ensure_future(client.post("/inspector/api/look", json=request())) for _ in range(24)]
            refused, _ = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
            health = await client.get("/health")
            assert len(refused) < len(asked)
            may_end.set()
            return health.status_code, [reply.status_code for reply in await asyncio.gather(*asked)]

    health, statuses = asyncio.run(run())
    assert health == 200
    assert statuses.count(200) == 8
    assert statuses.count(429) == len(statuses) - 8
