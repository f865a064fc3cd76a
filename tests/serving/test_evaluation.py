"""What evaluation programs ask for: prompts that come back with log-probabilities, several prompts, the tokenizer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

import syntagma as sg
from syntagma import upstreams
from syntagma.limits import Limits
from syntagma.serving import ServedModel, Settings, create_app
from tests.serving.support import client
from tests.upstreams.mock import MockEngine
from tests.upstreams.wires import CODEC, WIRES

PATH = "/v1/completions"


@pytest.fixture(scope="module")
def server() -> TestClient:
    """The shipped model, which can score a text."""
    engine, codec = sg.backends.load("embedded")
    return TestClient(create_app(ServedModel(engine, codec)))


def ask(server: TestClient, **fields: Any) -> dict[str, Any]:
    answer = server.post(PATH, json={"temperature": 0, "max_tokens": 4, **fields})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_prompt_comes_back_with_its_log_probabilities(server: TestClient) -> None:
    prompt = "The weather in Oslo is fine."
    (choice,) = ask(server, prompt=prompt, echo=True, logprobs=2, max_tokens=1)["choices"]
    told = choice["logprobs"]
    assert choice["text"].startswith(prompt)
    assert told["token_logprobs"][0] is told["top_logprobs"][0] is None
    assert all(value <= 1e-6 for value in told["token_logprobs"][1:])
    assert "".join(told["tokens"]) == choice["text"]
    assert [
        choice["text"][at:][: len(text)] for at, text in zip(told["text_offset"], told["tokens"], strict=True)
    ] == told["tokens"]
    assert len(told["tokens"]) == len(told["top_logprobs"]) == len(told["text_offset"])
    # They are those that vLLM's field gives.
    scored = ask(server, prompt=prompt, prompt_logprobs=0, max_tokens=1, return_token_ids=True)["choices"][0]
    own = [
        scored["prompt_logprobs"][at][str(token)]["logprob"]
        for at, token in enumerate(scored["prompt_token_ids"])
        if at
    ]
    assert told["token_logprobs"][1 : 1 + len(own)] == pytest.approx(own)


def test_only_the_prompt_may_come_back(server: TestClient) -> None:
    answer = ask(server, prompt="The weather", echo=True, logprobs=1, max_tokens=0)
    (choice,) = answer["choices"]
    assert (choice["text"], choice["finish_reason"]) == ("The weather", "length")
    assert "".join(choice["logprobs"]["tokens"]) == "The weather"
    assert answer["usage"]["completion_tokens"] == 0
    refused = server.post(PATH, json={"prompt": "x", "max_tokens": 0})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "max_tokens")


def test_token_ids_come_back_as_their_text(server: TestClient) -> None:
    ids = server.post("/tokenize", json={"prompt": "The weather"}).json()["tokens"]
    (choice,) = ask(server, prompt=ids, echo=True)["choices"]
    assert choice["text"].startswith("The weather")


@pytest.mark.parametrize("streams", [False, True])
def test_choices_of_several_prompts_are_numbered_prompt_by_prompt(server: TestClient, streams: bool) -> None:
    prompts = ["The weather", "Two and two", "Oslo"]
    alone = [ask(server, prompt=prompt)["choices"][0]["text"] for prompt in prompts]
    fields = {"temperature": 0, "max_tokens": 4, "prompt": prompts, "n": 2, "echo": True}
    if streams:
        text = server.post(PATH, json={**fields, "stream": True}).text
        found: dict[int, str] = {}
        for event in text.split("\n\n")[:-2]:
            for choice in json.loads(event.removeprefix("data: "))["choices"]:
                found[choice["index"]] = found.get(choice["index"], "") + choice["text"]
        texts = [found[index] for index in sorted(found)]
    else:
        answer = server.post(PATH, json=fields).json()
        texts = [choice["text"] for choice in answer["choices"]]
        assert [choice["index"] for choice in answer["choices"]] == list(range(6))
        single = [ask(server, prompt=prompt)["usage"]["prompt_tokens"] for prompt in prompts]
        assert answer["usage"]["prompt_tokens"] == sum(single)
    assert texts == [prompt + text for prompt, text in zip(prompts, alone, strict=True) for _ in range(2)]


def test_lists_of_tokens_are_prompts_too(server: TestClient) -> None:
    ids = [server.post("/tokenize", json={"prompt": text}).json()["tokens"] for text in ("The weather", "Oslo")]
    together = [choice["text"] for choice in ask(server, prompt=ids)["choices"]]
    assert together == [ask(server, prompt=one)["choices"][0]["text"] for one in ids]


@pytest.mark.parametrize(
    ("prompt", "param"), [(["a", ""], "prompt[1]"), ([], "prompt"), (["a", 5], "prompt[1]"), ([[1], []], "prompt[1]")]
)
def test_a_wrong_prompt_is_named(server: TestClient, prompt: Any, param: str) -> None:
    refused = server.post(PATH, json={"prompt": prompt})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, param)


def test_the_number_of_prompts_is_bounded() -> None:
    few = client(settings=Settings(limits=Limits(server_prompts=2)))
    assert few.post(PATH, json={"prompt": ["a", "b"]}).status_code == 200
    refused = few.post(PATH, json={"prompt": ["a", "b", "c"]})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "E-REQUEST-LIMIT")


def test_the_tokenizer_is_told(server: TestClient) -> None:
    facts = server.get("/tokenizer_info").json()
    assert facts["tokenizer_class"] == "PreTrainedTokenizerFast"
    assert "<|im_end|>" in facts["additional_special_tokens"]
    assert facts["vocab_size"] > 256
    assert facts["chat_template"]
    assert server.get("/tokenizer_info?model=none").status_code == 404


def test_vllm_scores_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    told = (
        {"logprob": -0.5, "rank": 2, "decoded_token": " Oslo"},
        {"logprob": -0.1, "rank": 1, "decoded_token": " Lima"},
    )
    scored = {"choices": [{"prompt_logprobs": [None, {"7": told[0], "9": told[1]}]}]}
    bodies: list[dict[str, Any]] = []

    async def ask(_: Any, method: str, path: str, body: Any = None, **__: Any) -> Any:
        bodies.append({"method": method, "path": path, **body})
        return scored

    monkeypatch.setattr("syntagma.upstreams.http.HttpUpstream.ask", ask)
    with MockEngine(WIRES["vllm"]) as engine:
        upstream = upstreams.connect(f"vllm:{engine.url}#tiny")
        with TestClient(create_app(ServedModel(upstream, CODEC, name="m"))) as server:
            answer = server.post(PATH, json={"prompt": "In Oslo", "echo": True, "logprobs": 1, "max_tokens": 3})
            assert answer.status_code == 200, answer.text
            logprobs = answer.json()["choices"][0]["logprobs"]
            assert logprobs["tokens"][:2] == ["In", " Oslo"]
            assert logprobs["token_logprobs"][:2] == [None, -0.5]
            assert logprobs["top_logprobs"][1] == {" Lima": -0.1}
            assert (bodies[0]["prompt"], bodies[0]["prompt_logprobs"], bodies[0]["max_tokens"]) == ("In Oslo", 1, 1)
            plain = server.post(PATH, json={"prompt": "In Oslo", "prompt_logprobs": 1}).json()["choices"][0]
            assert plain["prompt_logprobs"] == [None, {"7": told[0], "9": told[1]}]
    with MockEngine(WIRES["llamacpp"]) as engine:
        upstream = upstreams.connect(f"llamacpp:{engine.url}")
        with TestClient(create_app(ServedModel(upstream, CODEC, name="m"))) as server:
            refused = server.post(PATH, json={"prompt": "In Oslo", "echo": True, "logprobs": 1})
            assert (refused.status_code, refused.json()["error"]["param"]) == (400, "echo")
