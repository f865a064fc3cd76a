"""Who may ask, how much, and from where."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from syntagma.errors import RequestError
from syntagma.serving import Settings, create_app
from syntagma.serving.gate import Gate
from syntagma.serving.keys import key_of, key_shown, keys_of_file
from syntagma.serving.operations import Operations
from tests.serving.live import listening
from tests.serving.support import body, model

FIRST, SECOND = "first-secret-key", "second-secret-key"
KEYS = (key_of(FIRST, "first"), key_of(SECOND))
ENDPOINTS = ["/v1/chat/completions", "/v1/responses", "/v1/completions", "/v1/messages", "/tokenize"]


@pytest.fixture(scope="module")
def guarded() -> Iterator[httpx.Client]:
    settings = Settings(operations=Operations(keys=KEYS, origins=("https://page.example",)))
    with (
        listening(create_app(model("hello"), settings)) as address,
        httpx.Client(base_url=address.removesuffix("/v1")) as client,
    ):
        yield client


@pytest.mark.parametrize("secret", [FIRST, SECOND])
@pytest.mark.parametrize("header", ["authorization", "x-api-key"])
def test_every_key_is_accepted_in_both_headers(guarded: httpx.Client, secret: str, header: str) -> None:
    shown = f"Bearer {secret}" if header == "authorization" else secret
    assert guarded.get("/v1/models", headers={header: shown}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer"},
        {"authorization": f"Basic {FIRST}"},
        {"authorization": f"Bearer {FIRST[:-1]}"},
        {"authorization": f"Bearer {FIRST}x"},
        {"x-api-key": ""},
        {"x-api-key": FIRST.upper()},
        {"x-api-key": KEYS[0].digest},
    ],
)
@pytest.mark.parametrize("path", ENDPOINTS)
def test_without_a_key_nothing_is_read(guarded: httpx.Client, path: str, headers: dict[str, str]) -> None:
    answer = guarded.post(path, content=b"not even JSON", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["x-syntagma-error"] == "E-REQUEST-KEY"
    said = answer.json()
    if path == "/v1/messages":
        assert said["type"] == "error"
        assert said["error"]["type"] == "authentication_error"
    else:
        assert said["error"]["code"] == "invalid_api_key"
        assert set(said["error"]) == {"message", "type", "param", "code"}


def test_machines_that_look_after_the_server_need_no_key(guarded: httpx.Client) -> None:
    assert guarded.get("/health").status_code == 200
    assert guarded.get("/ready").status_code == 200
    assert guarded.get("/").status_code == 200
    for path in ("/metrics", "/version", "/openapi.json", "/nowhere"):
        assert guarded.get(path).status_code == 401


def test_the_description_asks_for_keys(guarded: httpx.Client) -> None:
    found = guarded.get("/openapi.json", headers={"x-api-key": FIRST}).json()
    assert found["security"]
    assert found["paths"]["/health"]["get"]["security"] == []
    assert "401" in found["paths"]["/v1/models"]["get"]["responses"]


def test_pages_of_named_origins_may_ask(guarded: httpx.Client) -> None:
    asks = {"origin": "https://page.example", "access-control-request-method": "POST"}
    asks["access-control-request-headers"] = "authorization"
    allowed = guarded.options("/v1/chat/completions", headers=asks)
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == "https://page.example"
    refused = guarded.options("/v1/chat/completions", headers=asks | {"origin": "https://other.example"})
    assert "access-control-allow-origin" not in refused.headers
    # A page can read why it was refused.
    answer = guarded.get("/v1/models", headers={"origin": "https://page.example"})
    assert answer.status_code == 401
    assert answer.headers["access-control-allow-origin"] == "https://page.example"


def test_without_origins_no_page_may_ask() -> None:
    with listening(create_app(model("hello"))) as address:
        answer = httpx.get(f"{address}/models", headers={"origin": "https://page.example"})
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("origin", ["https://page.example/", "page.example", "https://Page.example", "http://a:80", ""])
def test_an_origin_that_no_page_has_is_refused(origin: str) -> None:
    with pytest.raises(RequestError) as refused:
        Operations(origins=("https://page.example:8443", "null", "*", "chrome-extension://abc", origin))
    assert refused.value.code == "E-REQUEST-ARGUMENT"
    assert repr(origin) in refused.value.message


def test_a_key_that_asks_too_often_is_told_when_to_come_back() -> None:
    settings = Settings(operations=Operations(keys=KEYS, rate=3))
    with listening(create_app(model("hello"), settings)) as address, httpx.Client(base_url=address) as client:

        def ask(secret: str, path: str = "/chat/completions") -> httpx.Response:
            return client.post(path, json=body(), headers={"authorization": f"Bearer {secret}"})

        assert [ask(FIRST).status_code for _ in range(3)] == [200] * 3
        refused = ask(FIRST)
        assert refused.status_code == 429
        assert 1 <= int(refused.headers["retry-after"]) <= 20
        assert refused.json()["error"]["type"] == "rate_limit_error"
        assert refused.json()["error"]["code"] == "E-REQUEST-RATE"
        assert ask(FIRST, "/messages").json()["error"]["type"] == "rate_limit_error"
        # Looking costs nothing, and others have their own allowance.
        assert client.get("/models", headers={"x-api-key": FIRST}).status_code == 200
        assert ask(SECOND).status_code == 200


def test_an_allowance_grows_again() -> None:
    now = 0.0

    async def answer(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    gate = Gate(answer, Operations(keys=KEYS, rate=60), clock=lambda: now)

    def ask() -> int:
        scope = {"type": "http", "method": "POST", "path": "/x", "headers": [(b"x-api-key", FIRST.encode())]}
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(gate(scope, None, send))  # type: ignore[arg-type]
        status: int = sent[0]["status"]
        return status

    assert [ask() for _ in range(61)].count(200) == 60
    now = 0.5
    assert ask() == 429
    now = 2.6
    assert [ask(), ask(), ask()] == [200, 200, 429]
    now = 10_000.0
    assert [ask() for _ in range(61)].count(200) == 60


def test_a_key_has_so_many_requests_at_once() -> None:
    reached, go_on = threading.Event(), threading.Event()

    def block(_: int) -> None:
        reached.set()
        assert go_on.wait(60)

    settings = Settings(operations=Operations(keys=KEYS, concurrency=1))
    with listening(create_app(model("hello", on_step=block), settings)) as address:

        def ask(secret: str) -> httpx.Response:
            shown = {"authorization": f"Bearer {secret}"}
            return httpx.post(f"{address}/chat/completions", json=body(), headers=shown, timeout=60)

        answers: list[httpx.Response] = []
        others = [threading.Thread(target=lambda key=key: answers.append(ask(key))) for key in (FIRST, SECOND)]
        others[0].start()
        assert reached.wait(60)
        refused = ask(FIRST)
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "1"
        others[1].start()
        go_on.set()
        for thread in others:
            thread.join(60)
        assert [answer.status_code for answer in answers] == [200, 200]
        assert ask(FIRST).status_code == 200


def test_keys_of_a_file() -> None:
    keys = keys_of_file(f"# ours\n\n{FIRST}\n  second {SECOND}\n", "keys.txt")
    assert keys == (key_of(FIRST), key_of(SECOND, "second"))
    assert FIRST not in repr(keys)
    assert key_shown([(b"x-api-key", SECOND.encode())], keys) == keys[1]


@pytest.mark.parametrize("text", ["", "# nothing\n", "a b c\n", "short\n", "näme-with-umlaut\n"])
def test_files_without_good_keys_are_refused(text: str) -> None:
    with pytest.raises(RequestError) as raised:
        keys_of_file(text, "keys.txt")
    assert raised.value.code == "E-REQUEST-ARGUMENT"
    assert raised.value.source == "keys.txt"


def test_bounds_without_keys_and_names_twice_are_refused() -> None:
    with pytest.raises(RequestError, match="need keys"):
        Operations(rate=1)
    with pytest.raises(RequestError, match="two keys"):
        Operations(keys=(KEYS[0], key_of(SECOND, "first")))
