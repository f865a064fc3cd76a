"""A real server of vLLM on the CPU with the shipped model: our parsers, and our grammars in its structured outputs.

The scenarios are asked by OpenAI's client, each whole and streamed. With `SYNTAGMA_VLLM_BACKEND=1` in the environment,
the engine's grammars are ours, too. `VLLM_SERVER` names a server that runs already, `http://127.0.0.1:8000`.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest

from tests.engines.model_files import write_folder

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
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    running = os.environ.get("VLLM_SERVER")
    if running:
        yield _client(running)
        return
    folder = tmp_path_factory.mktemp("vllm")
    model = write_folder(folder / "model")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "server.log"
    with log.open("wb") as out:
        server = subprocess.Popen(_command(model, port), env=_environment(), stdout=out, stderr=subprocess.STDOUT)
    try:
        _wait(server, f"http://127.0.0.1:{port}/health", log)
        yield _client(f"http://127.0.0.1:{port}")
    finally:
        server.terminate()
        server.wait(60)


def _client(url: str) -> Any:
    return openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=300)


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
