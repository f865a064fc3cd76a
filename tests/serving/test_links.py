"""`/` leads a person, or a program, to what the server has."""

from __future__ import annotations

import re
from urllib.parse import urljoin

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from syntagma import embedded
from syntagma.codec import ChatCodec
from syntagma.serving import Operations, ServedModel, Settings, create_app
from syntagma.serving.keys import key_of
from tests.serving.support import client, model

SECRET = "secret-of-mine"
BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


def test_every_link_leads_somewhere() -> None:
    caller = client()
    answer = caller.get("/")
    assert (answer.headers["content-type"], answer.headers["vary"]) == ("application/json", "accept")
    links = answer.json()["links"]
    assert {"health", "models", "openapi"} <= set(links)
    assert "inspector" not in links
    for address in links.values():
        assert caller.get("/" + address).status_code == 200, address


def test_a_browser_gets_a_page_with_the_same_links() -> None:
    caller = client()
    page = caller.get("/", headers=BROWSER)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.text.startswith("<!doctype html>")
    assert re.findall(r'href="([^"]*)"', page.text) == list(caller.get("/").json()["links"].values())


def test_the_inspector_is_named_where_it_is_on() -> None:
    loaded = embedded.load()
    served = ServedModel(loaded, ChatCodec.from_pretrained(loaded.path))
    with TestClient(create_app(served, Settings(inspector=True))) as caller:
        address = caller.get("/").json()["links"]["inspector"]
        assert caller.get("/" + address).text.startswith("<!doctype html>")
        assert f'href="{address}"' in caller.get("/", headers=BROWSER).text


@pytest.mark.parametrize("headers", [{}, BROWSER])
def test_with_keys_it_is_open_and_says_nothing_of_models_or_keys(headers: dict[str, str]) -> None:
    settings = Settings(operations=Operations(keys=(key_of(SECRET, "name-of-a-key"),)))
    answer = client(settings=settings).get("/", headers=headers)
    assert answer.status_code == 200
    assert not re.search("secret|name-of-a-key|scripted", answer.text)


def test_links_hold_behind_a_prefix() -> None:
    settings = Settings(operations=Operations(keys=(key_of(SECRET),)))
    whole = Starlette(routes=[Mount("/models/small", create_app(model("hello"), settings))])
    caller = TestClient(whole, headers={"x-api-key": SECRET})
    opened = caller.get("/models/small", headers={"x-api-key": ""})
    assert (opened.status_code, opened.url.path) == (200, "/models/small/")
    for address in opened.json()["links"].values():
        assert caller.get(urljoin(str(opened.url), address)).status_code == 200, address
