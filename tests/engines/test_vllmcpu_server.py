"""A real server of vLLM on the CPU with the shipped model: our parsers, and our grammars in its structured outputs; and
our server in front of it, which is asked the table of cases.

All is asked by OpenAI's client, each whole and streamed. With `SYNTAGMA_VLLM_BACKEND=1` in the environment,
the engine's grammars are ours, too. `VLLM_SERVER` names a server that runs already, `http://127.0.0.1:8000`.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import jsonschema
import pytest

from syntagma import upstreams
from syntagma.serving import ServedModel, create_app
from tests.engines.cases import CUT_NAME, LEFT_NAME, record
from tests.engines.model_files import write_folder
from tests.serving.live import listening
from tests.upstreams.cases import CASES, CUT, ENDLESS, Case, check
from tests.upstreams.cases import ask as ask_case

pytest.importorskip("vllm")
openai = pytest.importorskip("openai")

START_SECONDS = 600
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "set_reminder",
        "parameters": {
            "type": "object",
            "properties": {"name": {"type": "string", "maxLength": 20}, "hour": {"type": "integer", "maximum": 23}},
            "required": ["name", "hour"],
            "additionalProperties": False,
        },
    },
}
SCHEMA = {
    "type": "object",
    "properties": {"who": {"enum": ["Emma", "Ida"]}, "days": {"type": "integer", "minimum": 1, "maximum": 30}},
    "required": ["who", "days"],
    "additionalProperties": False,
}
THINKING = {"chat_template_kwargs": {"enable_thinking": True}}
CUT_CASE = Case(CUT_NAME, CUT, None)
NAMED = {"type": "function", "function": {"name": "set_reminder"}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
SCENARIOS: dict[str, tuple[dict[str, Any], str]] = {
    "auto": ({"tools": [TOOL]}, "any"),
    "required": ({"tools": [TOOL], "tool_choice": "required"}, "call"),
    "named": ({"tools": [TOOL], "tool_choice": NAMED}, "call"),
    "none": ({"tools": [TOOL], "tool_choice": "none"}, "text"),
    "thinking": ({"tools": [TOOL], "tool_choice": "required", "extra_body": THINKING}, "thoughts and call"),
    "schema": ({"response_format": FORMAT}, "object"),
    "hot": ({"tools": [TOOL], "tool_choice": "required", "temperature": 2.0, "seed": 3}, "call"),
}
"""name → fields of the request, and what the answer must be"""


class Answer(NamedTuple):
    reasoning: str
    content: str
    calls: list[tuple[str, str]]
    finish_reason: str | None


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the model."""
    return write_folder(tmp_path_factory.mktemp("vllm") / "model")


@pytest.fixture(scope="module")
def engine(model: Path) -> Iterator[str]:
    """Where the server is."""
    running = os.environ.get("VLLM_SERVER")
    if running:
        yield running
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = model.parent / "server.log"
    with log.open("wb") as out:
        server = subprocess.Popen(_command(model, port), env=_environment(), stdout=out, stderr=subprocess.STDOUT)
    try:
        _wait(server, f"http://127.0.0.1:{port}/health", log)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(60)


@pytest.fixture(scope="module")
def client(engine: str) -> Iterator[Any]:
    """Asks that server."""
    with openai.OpenAI(base_url=f"{engine}/v1", api_key="none", max_retries=0, timeout=300) as made:
        yield made


@pytest.fixture(scope="module")
def fronted(engine: str, model: Path) -> Iterator[Any]:
    """Asks our server, which stands in front of that one."""
    app = create_app(ServedModel(*upstreams.load(f"vllm:{engine}", model=model), name="m"))
    with (
        listening(app) as base_url,
        openai.OpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=300) as made,
    ):
        yield made


def _command(model: Path, port: int) -> list[str]:
    options = {"model": model, "served-model-name": "m", "host": "127.0.0.1", "port": port, "dtype": "float32"}
    options |= {
        "max-model-len": 1024,
        "max-num-seqs": 4,
        "tool-call-parser": "syntagma",
        "reasoning-parser": "syntagma",
    }
    flags = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    # The command `vllm` asks for the version of a package that the build for the CPU does not have.
    server = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
    return [*server, *flags, "--enforce-eager", "--enable-auto-tool-choice"]


def _environment() -> dict[str, str]:
    quiet = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1"}
    small = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "1"}
    return {**os.environ, **quiet, **small}


def _wait(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(1)
    pytest.fail(f"the server did not start:\n{log.read_text(errors='replace')[-4000:]}")


def ask(client: Any, *, stream: bool, **fields: Any) -> Answer:
    messages = [{"role": "user", "content": "Set a reminder for Emma at 9."}]
    request = {"model": "m", "messages": messages, "max_tokens": 200, "temperature": 0, **fields}
    answer = client.chat.completions.create(stream=stream, **request)
    if not stream:
        message = answer.choices[0].message
        calls = [(call.function.name, call.function.arguments) for call in message.tool_calls or []]
        reasoning = getattr(message, "reasoning", None) or ""
        return Answer(reasoning, message.content or "", calls, answer.choices[0].finish_reason)
    reasoning, content, finish_reason = "", "", None
    parts: list[list[str]] = []
    for chunk in answer:
        for choice in chunk.choices:
            reasoning += getattr(choice.delta, "reasoning", None) or ""
            content += choice.delta.content or ""
            finish_reason = choice.finish_reason or finish_reason
            for call in choice.delta.tool_calls or []:
                if call.index == len(parts):
                    assert call.id
                    parts.append([call.function.name, ""])
                parts[call.index][1] += call.function.arguments or ""
    return Answer(reasoning, content, [(name, arguments) for name, arguments in parts], finish_reason)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(client: Any, name: str, stream: bool) -> None:
    fields, kind = SCENARIOS[name]
    answer = ask(client, stream=stream, **fields)
    if kind == "object":
        jsonschema.validate(json.loads(answer.content), SCHEMA)
        assert not answer.calls
    elif kind == "text":
        assert answer.content
        assert not answer.calls
    elif kind == "any":
        assert answer.content or answer.calls
    else:
        assert len(answer.calls) >= 1, answer
        # OpenAI's API says so where the model was free to choose.
        assert answer.finish_reason == ("stop" if name == "named" else "tool_calls")
        assert bool(answer.reasoning) == (kind == "thoughts and call"), answer
    for called, arguments in answer.calls:
        assert called == "set_reminder"
        jsonschema.validate(json.loads(arguments), TOOL["function"]["parameters"])
    assert "<" not in answer.reasoning, "a marker in the reasoning"


@pytest.mark.parametrize("name", ["auto", "required", "thinking", "schema"])
def test_a_stream_is_the_whole_answer(client: Any, name: str) -> None:
    fields, _ = SCENARIOS[name]
    assert ask(client, stream=True, **fields) == ask(client, stream=False, **fields)


@pytest.mark.parametrize(
    ("asked", "texts"),
    [
        ({"choice": ["red", "blue"]}, ["red", "blue"]),
        ({"regex": "[ab]{3}"}, None),
        ({"grammar": 'root ::= "x"'}, ["x"]),
    ],
    ids=str,
)
def test_structured_outputs_of_the_client_are_held(client: Any, asked: dict[str, Any], texts: list[str] | None) -> None:
    answer = ask(client, stream=False, extra_body={"structured_outputs": asked})
    assert answer.content in texts if texts else set(answer.content) <= {"a", "b"} and len(answer.content) == 3


def test_a_cut_call_is_not_lost(client: Any) -> None:
    answer = ask(client, stream=True, tools=[TOOL], tool_choice="required", max_tokens=16)
    assert answer.calls
    assert answer.calls[0][1].startswith("{")


def test_what_cannot_be_held_is_refused(client: Any) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "$ref": "http://x/y"}}}
    with pytest.raises(openai.BadRequestError, match="E-"):
        ask(client, stream=False, tools=[tool], tool_choice="required")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("case", [*CASES, CUT_CASE], ids=lambda case: case.name)
def test_a_case_by_the_plug_in(client: Any, case: Case, stream: bool) -> None:
    answer = ask_case(client, "m", case.fields, stream=stream)
    if case is CUT_CASE:
        assert answer.finish_reason == "length"
    else:
        # OpenAI's API says otherwise of a call of the function that was named.
        check(case, answer._replace(finish_reason="tool_calls") if case.name == "named" else answer)
    record("plugin-vllm", case, stream=stream)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_through_our_server(fronted: Any, case: Case, stream: bool) -> None:
    check(case, ask_case(fronted, "m", case.fields, stream=stream))
    record("vllm", case, stream=stream)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_answer_that_is_cut_through_our_server(fronted: Any, stream: bool) -> None:
    answer = ask_case(fronted, "m", CUT, stream=stream)
    assert answer.finish_reason == "length"
    assert answer.completion_tokens == CUT["max_tokens"]
    record("vllm", CUT_NAME, stream=stream)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_client_that_leaves_our_server_frees_the_engine(fronted: Any, engine: str, stream: bool) -> None:
    messages = [{"role": "user", "content": "Write."}]
    asked: dict[str, Any] = {"model": "m", "messages": messages, "max_tokens": 900, **ENDLESS}
    if stream:
        with fronted.chat.completions.create(stream=True, **asked) as chunks:
            for _ in zip(range(3), chunks, strict=False):
                pass
            assert running(engine)
    else:
        with pytest.raises(openai.APITimeoutError):
            fronted.with_options(timeout=0.5).chat.completions.create(**asked)
    end = time.monotonic() + 3
    while running(engine):
        assert time.monotonic() < end, "the engine goes on"
        time.sleep(0.02)
    record("vllm", LEFT_NAME, stream=stream)


def running(engine: str) -> float:
    """How many answers the engine is writing, by its own count."""
    told = re.findall(r"^vllm:num_requests_running\{.*\} (\S+)$", httpx.get(engine + "/metrics").text, re.MULTILINE)
    return sum(map(float, told))
