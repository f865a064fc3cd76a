"""Our server in front of llama.cpp's: every case with the openai client, whole and streamed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from openai import APITimeoutError, BadRequestError, OpenAI

from syntagma import upstreams
from syntagma.serving import ServedModel, create_app
from tests.docs.blocks import run_blocks
from tests.engines.cases import CUT_NAME, LEFT_NAME, record
from tests.engines.conftest import llamacpp_server
from tests.serving.live import listening
from tests.upstreams.cases import CASES, CUT, ENDLESS, Case, ask, check

MODEL = "tiny"


@pytest.fixture(scope="module")
def engine(gguf_file: Path) -> Any:
    """llama.cpp as most people start it: it hides control tokens."""
    return llamacpp_server(gguf_file, show_control_tokens=False)


@pytest.fixture(scope="module", params=["text", "ids"])
def client(engine: Any, folder: Path, request: pytest.FixtureRequest) -> Iterator[OpenAI]:
    """Our server; prompts go out as text, or as ids by the tokenizer of the model's folder."""
    model = folder if request.param == "ids" else None
    loaded = upstreams.load(f"llamacpp:{engine.listening_address}", model=model)
    assert (loaded[0].tokenizer_info is None) == (model is None)
    app = create_app(ServedModel(*loaded, name=MODEL))
    with listening(app) as base_url, OpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=120) as made:
        yield made


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case(client: OpenAI, case: Case, stream: bool) -> None:
    check(case, ask(client, MODEL, case.fields, stream=stream))
    record("llamacpp", case, stream=stream)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_answer_that_is_cut(client: OpenAI, stream: bool) -> None:
    answer = ask(client, MODEL, CUT, stream=stream)
    assert answer.finish_reason == "length"
    assert answer.completion_tokens == CUT["max_tokens"]
    record("llamacpp", CUT_NAME, stream=stream)


def test_a_client_that_leaves_frees_the_engine(client: OpenAI, engine: Any) -> None:
    def begin() -> Any:
        messages: Any = [{"role": "user", "content": "Write."}]
        fields: Any = ENDLESS
        return client.chat.completions.create(
            model=MODEL, messages=messages, stream=True, temperature=0, max_tokens=900, **fields
        )

    began = time.monotonic()
    for _ in begin():
        pass
    whole = time.monotonic() - began
    with begin() as stream:
        for _, chunk in zip(range(5), stream, strict=False):
            assert chunk.choices
        assert busy(engine)
    left = time.monotonic()
    while busy(engine):
        time.sleep(0.005)
    assert time.monotonic() - left < min(1, whole / 2), "the engine went on"
    record("llamacpp", LEFT_NAME, stream=True)


def test_a_client_that_does_not_wait_frees_the_engine(client: OpenAI, engine: Any) -> None:
    messages: Any = [{"role": "user", "content": "Write."}]
    fields: Any = ENDLESS
    with pytest.raises(APITimeoutError):
        client.with_options(timeout=0.2).chat.completions.create(
            model=MODEL, messages=messages, max_tokens=100_000, **fields
        )
    left = time.monotonic()
    while busy(engine):
        assert time.monotonic() - left < 1, "the engine went on"
        time.sleep(0.005)
    record("llamacpp", LEFT_NAME, stream=False)


def busy(engine: Any) -> bool:
    slots = httpx.get(engine.listening_address + "/slots").json()
    return any(slot["is_processing"] for slot in slots)


def test_what_a_user_writes_adds_no_turn(client: OpenAI) -> None:
    def tokens(content: str) -> int:
        answer = client.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": content}], temperature=0, max_tokens=1
        )
        assert answer.usage is not None
        return answer.usage.prompt_tokens

    # As a control token the marker would be one token; as text it is spelled.
    assert tokens("Hi<|im_end|>") > tokens("Hi") + 1


def test_log_probabilities(client: OpenAI) -> None:
    answer = client.chat.completions.create(
        model=MODEL,
        messages=[{"role": "user", "content": "Hello there"}],
        temperature=0,
        max_tokens=8,
        logprobs=True,
        top_logprobs=3,
    )
    logprobs = answer.choices[0].logprobs
    assert logprobs is not None
    assert logprobs.content
    for entry in logprobs.content:
        assert entry.logprob <= 0
        assert entry.token == entry.top_logprobs[0].token
        assert len(entry.top_logprobs) == 3


def test_penalties_reach_the_engine(client: OpenAI) -> None:
    def said(**fields: Any) -> str | None:
        answer = client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": "Write."}],
            temperature=0,
            max_tokens=40,
            response_format={"type": "grammar", "grammar": 'root ::= ("a" | "b" | "c")+'},  # type: ignore[arg-type]
            **fields,
        )
        return answer.choices[0].message.content

    once = said()
    assert once == said()
    assert once != said(frequency_penalty=-2.0)


def test_the_page_runs(engine: Any, tmp_path: Path) -> None:
    page = tmp_path / "llama-cpp.md"
    written = (Path(__file__).parents[2] / "docs" / "engines" / "llama-cpp.md").read_text(encoding="utf-8")
    page.write_text(written.replace("http://127.0.0.1:8080", engine.listening_address), encoding="utf-8")
    run_blocks(page)


def test_the_tutorial_runs(engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[2] / "docs" / "tutorials" / "own-model.md"
    port = int(engine.listening_address.rpartition(":")[2])
    names = run_blocks(page, here={"llamacpp"}, ports={"8080": port})
    assert "elsewhere" in names, "the page has no block for an engine that runs"


def test_a_conversation_that_is_too_long(client: OpenAI) -> None:
    with pytest.raises(BadRequestError) as raised:
        client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "word " * 5000}])
    assert raised.value.code == "context_length_exceeded"
