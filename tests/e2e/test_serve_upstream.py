"""`syntagma serve --upstream` as a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.upstreams.mock import PLAIN, MockEngine
from tests.upstreams.wires import TEMPLATE, WIRES

COMMAND = [sys.executable, "-c", "from syntagma.cli import main; main()", "serve", "--port", "0", "--json"]
MESSAGES = [{"role": "user", "content": "hi"}]


@contextlib.contextmanager
def serving(*options: str, **environment: str) -> Iterator[dict[str, Any]]:
    """What the command announces, while it serves."""
    with subprocess.Popen(
        [*COMMAND, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | environment
    ) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        lines: list[str] = []
        while not lines or lines[-1].rstrip() != "}":
            line = server.stdout.readline()
            assert line, server.stderr.read()
            lines.append(line)
        try:
            yield json.loads("".join(lines))
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=60)


def ask(announced: dict[str, Any], **fields: Any) -> httpx.Response:
    return httpx.post(announced["base_url"] + "/chat/completions", json={"messages": MESSAGES, **fields}, timeout=60)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "chat_template.jinja"
    path.write_text(TEMPLATE, encoding="utf-8")
    return path


def test_several_models_and_several_engines_of_one(template: Path) -> None:
    with contextlib.ExitStack() as stack:
        first, second, other = (
            stack.enter_context(MockEngine(WIRES[name])) for name in ("llamacpp", "llamacpp", "ollama")
        )
        options = [f"small=llamacpp:{first.url}", f"small=llamacpp:{second.url}", f"large=ollama:{other.url}"]
        flags = [part for one in options for part in ("--upstream", one)]
        serve = serving(*flags, "--chat-template", str(template), SYNTAGMA_UPSTREAM_KEY="secret")
        announced = stack.enter_context(serve)
        assert announced["models"] == ["small", "large"]
        for _ in range(4):
            assert ask(announced, model="small").json()["choices"][0]["message"]["content"] == PLAIN
        assert len(first.bodies) == len(second.bodies) == 2
        assert ask(announced, model="large").json()["model"] == "large"
        assert other.headers[0]["authorization"] == "Bearer secret"
        refused = ask(announced)
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, "model")
        held = {"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "required"}
        assert ask(announced, model="large", **held).json()["error"]["code"] == "E-UPSTREAM-CONSTRAINT"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--upstream", "sglang:{url}"], "E-UPSTREAM-TEMPLATE"),
        (["--upstream", "a=sglang:{url}", "--thinking-tokens", "3"], "E-REQUEST-ARGUMENT"),
        (["--upstream", "odd:{url}"], "E-UPSTREAM-KIND"),
        (["--upstream", "sglang:{url}", "--unheld", "odd"], "E-REQUEST-ARGUMENT"),
        (["--enforce", "odd"], "E-REQUEST-ARGUMENT"),
    ],
)
def test_options_that_cannot_be(options: list[str], code: str) -> None:
    with MockEngine(WIRES["sglang"]) as engine:
        given = [one.format(url=engine.url) for one in options]
        done = subprocess.run([*COMMAND, *given], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] == code


def test_a_template_and_a_format_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "own.jinja"
    path.write_text("{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]", encoding="utf-8")
    with MockEngine(WIRES["openai-completions"]) as engine:
        flags = ["--upstream", f"openai-completions:{engine.url}", "--chat-template", str(path), "--format", "hermes"]
        with serving(*flags) as announced:
            assert announced["model"] == "tiny"
            engine.texts = ['<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>']
            tools = [{"type": "function", "function": {"name": "f"}}]
            answer = ask(announced, tools=tools).json()["choices"][0]
            assert answer["finish_reason"] == "tool_calls"
        assert engine.bodies[-1]["prompt"] == "[user]hi[assistant]"
