"""A model follows the files that its codec was made of."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from syntagma.codec import ChatCodec
from syntagma.formats import ChatFormat
from syntagma.serving import create_app
from syntagma.serving.following import Follower
from syntagma.templates import ChatTemplate
from tests.serving.support import FORMAT, NO_REASONING, TEMPLATE, body, model

WRITTEN = "<note>hm</note>hello"


def test_the_next_request_is_read_as_the_file_says(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "made.toml"
    path.write_text(FORMAT)
    served = model(WRITTEN)

    def make() -> ChatCodec:
        return ChatCodec.from_format(ChatFormat.from_toml(path.read_text()), ChatTemplate(TEMPLATE))

    follower = Follower(served, [path], make)
    client = TestClient(create_app(served))

    def content() -> str:
        answer = client.post("/v1/chat/completions", json=body())
        text: str = answer.json()["choices"][0]["message"]["content"]
        return text

    assert not follower.look()
    assert content() == "hello"
    path.write_text(NO_REASONING)
    assert follower.look()
    assert content() == WRITTEN
    # A file that cannot be used changes nothing, and is told once.
    caplog.clear()
    path.write_text(FORMAT + "\n[no such table\n")
    assert not follower.look()
    assert not follower.look()
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert content() == WRITTEN
    path.unlink()
    assert not follower.look()
    assert content() == WRITTEN
    path.write_text(FORMAT)
    os.utime(path, (1, 1))
    assert follower.look()
    assert content() == "hello"
    assert not follower.look()
    assert follower.look(anyway=True)
