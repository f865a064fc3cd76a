"""The inspector as routes of the server."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from syntagma import embedded
from syntagma.codec import ChatCodec
from syntagma.errors import RequestError
from syntagma.serving import Operations, ServedModel, Settings, create_app
from syntagma.serving.keys import key_of
from tests.inspector.asking import request


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


def test_it_is_refused_beside_keys() -> None:
    settings = Settings(inspector=True, operations=Operations(keys=(key_of("secret-of-mine"),)))
    with pytest.raises(RequestError, match="E-REQUEST-ARGUMENT"):
        create_app(served(), settings)
