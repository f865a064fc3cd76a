"""`return_token_ids` and `prompt_logprobs`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from syntagma import embedded
from syntagma.codec import ChatCodec
from syntagma.decoding import ScoringBackend
from syntagma.decoding.sampling import log_softmax
from syntagma.serving import ServedModel, create_app
from tests.serving.support import CALL, WEATHER, body, client, stream


def tokens(text: str) -> list[int]:
    found: list[int] = client().post("/tokenize", json={"prompt": text}).json()["tokens"]
    return found


def test_a_chat_tells_its_tokens() -> None:
    asked = body(return_token_ids=True, tools=[WEATHER], n=2)
    answer = client(CALL).post("/v1/chat/completions", json=asked).json()
    assert answer["prompt_token_ids"] == client().post("/tokenize", json=asked).json()["tokens"]
    for choice in answer["choices"]:
        assert choice["token_ids"] == tokens(f"{CALL}<end>")
    chunks = stream(CALL, return_token_ids=True, tools=[WEATHER])
    assert chunks[0]["prompt_token_ids"] == answer["prompt_token_ids"]
    assert all("prompt_token_ids" not in chunk for chunk in chunks[1:])
    told = [token for chunk in chunks for token in chunk["choices"][0].get("token_ids", [])]
    assert told == tokens(f"{CALL}<end>")
    assert "token_ids" not in client().post("/v1/chat/completions", json=body()).json()["choices"][0]


@pytest.mark.parametrize("streamed", [False, True])
def test_a_completion_tells_its_tokens(streamed: bool) -> None:
    asked = {"prompt": "ab", "max_tokens": 9, "return_token_ids": True, "temperature": 0, "stream": streamed}
    answer = client("cd").post("/v1/completions", json=asked)
    if streamed:
        lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: {")]
        choices: list[dict[str, Any]] = [json.loads(line)["choices"][0] for line in lines]
    else:
        choices = answer.json()["choices"]
    assert choices[0]["prompt_token_ids"] == tokens("ab")
    assert [token for choice in choices for token in choice.get("token_ids", [])] == tokens("cd<end>")


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions"])
def test_the_shipped_model_tells_what_it_makes_of_a_prompt(path: str) -> None:
    model = embedded.load()
    assert isinstance(model, ScoringBackend)
    served = TestClient(create_app(ServedModel(model, ChatCodec.from_pretrained(model.path))))
    asked: dict[str, Any] = {"prompt_logprobs": 2, "max_tokens": 4, "return_token_ids": True}
    asked |= {"messages": [{"role": "user", "content": "Hi"}]} if "chat" in path else {"prompt": "The weather is"}
    answer = served.post(path, json=asked).json()
    holder = answer if "chat" in path else answer["choices"][0]
    ids, found = holder["prompt_token_ids"], holder["prompt_logprobs"]
    assert found[0] is None
    assert len(found) == len(ids)
    session = model.open()
    logits = session.prefill(ids[:1])
    for token, at in zip(ids[1:], found[1:], strict=True):
        expected = log_softmax(logits)
        assert at[str(token)]["logprob"] == pytest.approx(expected[token], abs=1e-3)
        assert {entry["rank"] for entry in at.values()} >= {1, 2}
        assert np.argmax(expected) == int(min(at, key=lambda one: at[one]["rank"]))
        logits = session.step(token)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"prompt_logprobs": 1}, "prompt_logprobs"),
        ({"prompt_logprobs": 1, "stream": True}, "prompt_logprobs"),
        ({"prompt_logprobs": -1}, "prompt_logprobs"),
        ({"prompt_logprobs": 1000}, "prompt_logprobs"),
    ],
)
def test_what_cannot_be_had_is_refused_by_name(fields: dict[str, Any], param: str) -> None:
    for path, asked in (("/v1/chat/completions", body(**fields)), ("/v1/completions", {"prompt": "a", **fields})):
        answer = client().post(path, json=asked)
        assert answer.status_code == 400
        assert answer.json()["error"]["param"] == param
