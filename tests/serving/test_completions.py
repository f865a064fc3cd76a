"""`/v1/completions`: a prompt goes on as plain text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai.types import Completion
from starlette.testclient import TestClient

from syntagma.serving import create_app
from syntagma.testing import ScriptedBackend
from tests.serving.support import client, model

URL = "/v1/completions"
SCRIPT = "<note>well</note> hello"


def body(**fields: Any) -> dict[str, Any]:
    return {"model": "scripted", "prompt": "Say:", "temperature": 0, "max_tokens": 60, **fields}


def ask(script: str = SCRIPT, **fields: Any) -> dict[str, Any]:
    answer = client(script).post(URL, json=body(**fields))
    assert answer.status_code == 200, answer.text
    read = Completion.model_validate_json(answer.content, strict=True)
    assert read.object == "text_completion"
    data: dict[str, Any] = answer.json()
    return data


def chunks(script: str = SCRIPT, **fields: Any) -> list[dict[str, Any]]:
    answer = client(script).post(URL, json=body(stream=True, **fields))
    assert answer.status_code == 200, answer.text
    events = answer.text.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    return [json.loads(event.removeprefix("data: ")) for event in events[:-2]]


def test_the_text_is_the_model_s_own_with_all_its_markers() -> None:
    (choice,) = ask()["choices"]
    assert (choice["text"], choice["finish_reason"], choice["logprobs"]) == (SCRIPT, "stop", None)
    found = chunks()
    assert "".join(chunk["choices"][0]["text"] for chunk in found) == SCRIPT
    assert [chunk["choices"][0]["finish_reason"] for chunk in found[-2:]] == [None, "stop"]


def test_nothing_is_added_to_the_prompt_and_it_may_be_token_ids() -> None:
    served = model("ok")
    app = TestClient(create_app(served))
    assert isinstance(served.engine, ScriptedBackend)
    text = "<user>hi<end><assistant>"
    ids = app.post("/tokenize", json={"prompt": text}).json()["tokens"]
    for prompt in (text, [text], ids, [ids]):
        answer = app.post(URL, json=body(prompt=prompt)).json()
        assert answer["choices"][0]["text"] == "ok"
        assert answer["usage"]["prompt_tokens"] == len(ids)
        assert served.engine.prompts[-1] == text


def test_lengths_choices_echo_and_usage() -> None:
    cut = ask("hello", max_tokens=3)["choices"][0]
    assert (cut["text"], cut["finish_reason"]) == ("hel", "length")
    assert len(ask("x" * 30, max_tokens=None)["choices"][0]["text"]) == 16
    several = ask("hello", n=3)
    assert [choice["index"] for choice in several["choices"]] == [0, 1, 2]
    assert several["usage"]["completion_tokens"] == 3 * 6
    assert ask("hello", echo=True)["choices"][0]["text"] == "Say:hello"
    found = chunks("hello", echo=True, stream_options={"include_usage": True})
    assert "".join(chunk["choices"][0]["text"] for chunk in found[:-1]) == "Say:hello"
    assert (found[-1]["choices"], found[-1]["usage"]["completion_tokens"]) == ([], 6)
    assert ask("hello", stop=["l"])["choices"][0]["text"] == "he"


def test_log_probabilities() -> None:
    logprobs = ask("hello", logprobs=2)["choices"][0]["logprobs"]
    assert logprobs["tokens"] == list("hello")
    assert logprobs["text_offset"] == [0, 1, 2, 3, 4]
    assert all(len(top) == 2 for top in logprobs["top_logprobs"])
    streamed = [chunk["choices"][0]["logprobs"] for chunk in chunks("hello", logprobs=2)]
    assert [token for one in streamed if one for token in one["tokens"]] == list("hello")
    assert [at for one in streamed if one for at in one["text_offset"]] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "fields",
    [
        {"response_format": {"type": "choice", "choice": ["yes", "no"]}},
        {"structured_outputs": {"choice": ["yes", "no"]}},
        {"guided_regex": "yes|no"},
        {"grammar": 'root ::= "yes" | "no"'},
    ],
)
def test_the_text_is_held_to_a_shape(fields: dict[str, Any]) -> None:
    assert ask("hello", **fields)["choices"][0]["text"] in ("yes", "no")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"prompt": ""}, "prompt"),
        ({"prompt": []}, "prompt"),
        ({"prompt": [[1], [2, 99999]]}, "prompt[1][1]"),
        ({"prompt": [1, 99999]}, "prompt[1]"),
        ({"prompt": [-1]}, "prompt[0]"),
        ({"prompt": {}}, "prompt"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"logprobs": 21}, "logprobs"),
        ({"suffix": "x"}, "suffix"),
        ({"best_of": 2}, "best_of"),
        ({"echo": True, "logprobs": 1}, "echo"),
        ({"guided_regex": "("}, "guided_regex"),
    ],
)
@pytest.mark.parametrize("streams", [False, True])
def test_what_is_wrong_is_named(fields: dict[str, Any], param: str, streams: bool) -> None:
    answer = client("hello").post(URL, json=body(stream=streams, **fields))
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"] == param
