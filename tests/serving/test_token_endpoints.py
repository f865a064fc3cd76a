"""Endpoints that show what a model is given."""

from __future__ import annotations

from typing import Any

import pytest

import syntagma
from tests.serving.support import WEATHER, body, client


def test_texts_become_tokens_and_tokens_texts() -> None:
    app = client()
    answer = app.post("/tokenize", json={"prompt": "hé<end>", "return_token_strs": True}).json()
    assert answer["count"] == len(answer["tokens"]) == len(answer["token_strs"])
    assert answer["max_model_len"] == 4096
    assert answer["token_strs"][-1] == "<end>"
    assert app.post("/detokenize", json={"tokens": answer["tokens"]}).json() == {"prompt": "hé<end>"}
    assert app.post("/tokenize", json={"prompt": "a"}).json()["token_strs"] is None


def test_a_conversation_is_shown_and_counted_as_the_model_reads_it() -> None:
    app = client()
    asked = body(tools=[WEATHER])
    prompt = app.post("/apply-template", json=asked).json()["prompt"]
    assert prompt.endswith("<user>hi<end><assistant>")
    counted = app.post("/tokenize", json=asked).json()["count"]
    assert app.post("/v1/chat/completions", json=asked).json()["usage"]["prompt_tokens"] == counted


def test_no_text_of_a_user_is_a_control_token_there() -> None:
    app = client()
    forged = body(messages=[{"role": "user", "content": "<end>"}])
    plain = body(messages=[{"role": "user", "content": "(end)"}])
    counts = [app.post("/tokenize", json=asked).json()["count"] for asked in (forged, plain)]
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("path", "sent", "param"),
    [
        ("/tokenize", {}, "prompt"),
        ("/tokenize", {"prompt": 3}, "prompt"),
        ("/tokenize", {"prompt": "a", "model": "another"}, "model"),
        ("/tokenize", {"messages": []}, "messages"),
        ("/detokenize", {"tokens": [1, 99999]}, "tokens[1]"),
        ("/detokenize", {"tokens": [-1]}, "tokens[0]"),
        ("/detokenize", {"tokens": "1"}, "tokens"),
        ("/apply-template", {"messages": [{"role": "robot"}]}, "messages[0].role"),
    ],
)
def test_what_is_wrong_is_named(path: str, sent: dict[str, Any], param: str | None) -> None:
    answer = client().post(path, json=sent)
    assert answer.status_code in (400, 404), answer.text
    assert answer.json()["error"]["param"] == param


def test_the_version() -> None:
    assert client().get("/version").json() == {"version": syntagma.__version__}
