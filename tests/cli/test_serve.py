"""`syntagma serve` as operators run it: options from files and under other servers' names, TLS, workers, signals."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from syntagma import formats
from syntagma.cli.app import app
from tests.upstreams.mock import MockEngine
from tests.upstreams.wires import TEMPLATE, WIRES

PATIENCE = 60
"""seconds until a test that hangs fails"""
ASK = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 8, "temperature": 0}
SECRET = "the-key-of-a-team"
POSIX = pytest.mark.skipif(os.name != "posix", reason="workers share a socket as POSIX has it")


class Server:
    """A server that was started as a command; it listens on a free port."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._log = folder / "log.txt"
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "syntagma", "serve", "--port", "0", "--json", *arguments],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        said = ""
        while (line := self.process.stdout.readline()) and line != "}\n":
            said += line
        assert line, self.log()
        self.said: dict[str, Any] = json.loads(said + line)
        if "error" in self.said:
            self.process.wait(PATIENCE)
            self.process.stdout.close()
            raise AssertionError(self.said["error"])
        self.url: str = self.said["base_url"]

    def log(self) -> str:
        return self._log.read_text()

    def awaits(self, true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.05)


@contextlib.contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Server]:
    server = Server(folder, *arguments)
    try:
        yield server
    finally:
        server.process.terminate()
        try:
            server.process.wait(PATIENCE)
        finally:
            server.process.kill()
            assert server.process.stdout is not None
            server.process.stdout.close()


def refused(*arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["serve", "--port", "0", "--json", *arguments])
    assert done.exit_code == 2, done.output
    error: dict[str, Any] = json.loads(done.stdout)["error"]
    return error


def test_options_come_from_a_file_and_the_command_line_counts_before_it(tmp_path: Path) -> None:
    (tmp_path / "keys.txt").write_text(f"team {SECRET}\n")
    config = tmp_path / "serve.toml"
    config.write_text(
        f'served-model-name = "of-the-file"\nmax_tokens = 3\ncors = "https://page.example"\n'
        f'api-keys = "{tmp_path}/keys.txt"\nlog-format = "json"\nlog-level = "info"\nrate = 1000\ncomplete = false\n'
    )
    with serving(tmp_path, "--config", str(config), "--name", "of-the-line") as server:
        assert server.said["models"] == ["of-the-line"]
        assert httpx.get(f"{server.url}/models").status_code == 401
        shown = {"x-api-key": SECRET, "x-request-id": "seen", "origin": "https://page.example"}
        request = {name: value for name, value in ASK.items() if name != "max_tokens"}
        answer = httpx.post(f"{server.url}/chat/completions", json=request, headers=shown, timeout=PATIENCE)
        assert answer.json()["usage"]["completion_tokens"] <= 3
        assert answer.headers["access-control-allow-origin"] == "https://page.example"
        server.awaits(lambda: "seen" in server.log())
        lines = [json.loads(line) for line in server.log().splitlines()]
        line = next(line for line in lines if line.get("request_id") == "seen")
        assert (line["status"], line["key"], line["model"]) == (200, "team", "of-the-line")
        assert SECRET not in server.log()


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("port = ", "E-REQUEST-CONFIG", "not TOML"),
        ("max-token = 5", "E-REQUEST-CONFIG", "max-tokens"),
        ("[server]\nport = 1", "E-REQUEST-CONFIG", "server"),
        ("config = 'x'", "E-REQUEST-CONFIG", "config"),
        ("complete = 'no'", "E-REQUEST-CONFIG", "true or false"),
        ("upstream = 5", "E-REQUEST-CONFIG", "list"),
        ("model = ['a']", "E-REQUEST-CONFIG", "a string or a number"),
        ("max-tokens = 'many'", "E-REQUEST-CONFIG", "'max-tokens': "),
        ("workers = 0", "E-REQUEST-CONFIG", "'workers': "),
        ("name = 'a'\nserved-model-name = 'b'", "E-REQUEST-CONFIG", "twice"),
        ("enforce = 'strange'", "E-REQUEST-ARGUMENT", "--enforce"),
    ],
)
def test_mistakes_of_a_file_are_told(tmp_path: Path, text: str, code: str, said: str) -> None:
    config = tmp_path / "serve.toml"
    config.write_text(text)
    for arguments in (["--config", str(config)], ["--config", str(config), "--json"]):
        error = refused(*arguments)
        assert error["code"] == code
        assert said in error["message"] + error.get("hint", "")
        assert code != "E-REQUEST-CONFIG" or error["source"] == str(config)
    assert refused("--config", str(tmp_path / "nowhere.toml"))["code"] == "E-REQUEST-FILE"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--rate", "5"], "E-REQUEST-ARGUMENT"),
        (["--api-key", "short"], "E-REQUEST-ARGUMENT"),
        (["--api-keys", "/nowhere"], "E-REQUEST-FILE"),
        (["--tls-key", "/nowhere"], "E-REQUEST-ARGUMENT"),
        (["--tls-cert", "/nowhere"], "E-REQUEST-FILE"),
        (["--log-format", "xml"], "E-REQUEST-ARGUMENT"),
        (["--require", "certain"], "E-REQUEST-ARGUMENT"),
        (["--workers", "2"], "E-REQUEST-ARGUMENT"),
        (["--record-all"], "E-REQUEST-ARGUMENT"),
        (["--record-dir", "/proc/nowhere/recordings"], "E-REQUEST-FILE"),
        (["--workers", "2", "--stored-bytes", "0", "--api-key", SECRET, "--rate", "5"], "E-REQUEST-ARGUMENT"),
        (["--workers", "2", "--stored-bytes", "0", "--api-key", SECRET, "--concurrency", "5"], "E-REQUEST-ARGUMENT"),
        # Other servers' names of options.
        (["--model-path", "/nowhere"], "E-MODEL-SOURCE"),
        (["--tool-call-parser", "no-such"], "E-FORMAT-UNKNOWN"),
        (["--reasoning-parser", "no-such"], "E-FORMAT-UNKNOWN"),
        (["--format", "/nowhere.toml"], "E-REQUEST-FILE"),
        (["--ssl-certfile", "/nowhere"], "E-REQUEST-FILE"),
    ],
)
def test_what_does_not_go_together_is_refused_at_the_start(arguments: list[str], code: str) -> None:
    assert refused(*arguments)["code"] == code


def test_a_format_that_is_guessed_is_refused_where_more_is_required(tmp_path: Path) -> None:
    file = tmp_path / "chat.jinja"
    file.write_text(
        "{{ tools }}{% for m in messages %}{{ '<' + m.role + '>' + m.content + '<end>' }}{% endfor %}<assistant>"
    )
    error = refused("--chat-template", str(file), "--format", "auto", "--require", "supported")
    assert error["code"] == "E-FORMAT-UNSURE"
    assert "no calls are read" in error["message"]


def test_recorded_answers_of_the_shipped_model_are_parsed_again(tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    asks = {"x-syntagma-record": "1", "authorization": f"Bearer {SECRET}"}
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = {"type": "function", "function": {"name": "weather", "parameters": schema}}
    called = {**ASK, "max_tokens": 60, "tools": [tool], "tool_choice": "required"}
    with serving(tmp_path, "--record-dir", str(folder), "--api-key", SECRET) as server:
        for request in (ASK, called, {**called, "stream": True}):
            answer = httpx.post(f"{server.url}/chat/completions", json=request, headers=asks, timeout=PATIENCE)
            assert answer.status_code == 200
    kept = sorted(folder.iterdir())
    assert len(kept) == 3
    for path in kept:
        assert SECRET not in path.read_text()
        for chunks in ("as-came", "whole", "each-character"):
            done = CliRunner().invoke(app, ["replay", str(path), "--chunks", chunks, "--json"])
            assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["message"]["tool_calls"][0]["name"] == "weather"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("certificates are made by openssl")
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    made += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(made, check=True, capture_output=True)
    return certificate, key


def test_a_server_with_a_certificate(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    cert, key = map(str, certificate)
    with serving(tmp_path, "--tls-cert", cert, "--tls-key", key) as server:
        assert server.url.startswith("https://")
        trusting = ssl.create_default_context(cafile=cert)
        answer = httpx.post(f"{server.url}/chat/completions", json=ASK, verify=trusting, timeout=PATIENCE)
        assert answer.status_code == 200
        with pytest.raises(httpx.HTTPError):
            httpx.get(server.url.replace("https", "http") + "/models")
    assert refused("--tls-cert", key, "--tls-key", key)["code"] == "E-REQUEST-FILE"


def counted(server: Server) -> float:
    """Requests that all workers together have answered."""
    text = httpx.get(server.url.replace("/v1", "/metrics")).text
    name = 'syntagma:http_requests_total{method="POST",route="/v1/chat/completions",status="200"}'
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name))


def children(server: Server) -> list[int]:
    """The workers' numbers."""
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(server.process.pid)], capture_output=True, text=True, check=False
    )
    return [int(word) for word in found.stdout.split()]


@POSIX
def test_workers_share_an_address_and_what_they_count(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2", "--stored-bytes", "0", "--reasoning-parser", "qwen3") as server:
        for _ in range(6):
            assert httpx.post(f"{server.url}/chat/completions", json=ASK, timeout=PATIENCE).status_code == 200
        if find_spec("prometheus_client") is not None:
            # Whichever worker is asked knows of all.
            assert {counted(server) for _ in range(6)} == {6.0}
        workers = children(server)
        assert len(workers) == 2
        # One that ends by itself, once it has served for a while, is replaced.
        time.sleep(10)
        os.kill(workers[0], signal.SIGKILL)
        server.awaits(lambda: "and is replaced" in server.log())
        server.awaits(lambda: len(children(server)) == 2 and workers[0] not in children(server))
        assert httpx.post(f"{server.url}/chat/completions", json=ASK, timeout=PATIENCE).status_code == 200
        workers = children(server)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE) == 0
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


@POSIX
def test_workers_that_cannot_begin_end_the_server() -> None:
    error = refused("--workers", "2", "--stored-bytes", "0", "--model", "/nowhere")
    assert error["code"] == "E-MODEL-SOURCE"


@POSIX
def test_workers_do_not_outlive_their_parent(tmp_path: Path) -> None:
    server = Server(tmp_path, "--workers", "2", "--stored-bytes", "0")
    workers = children(server)
    server.process.kill()
    server.process.wait(PATIENCE)
    assert server.process.stdout is not None
    server.process.stdout.close()
    server.awaits(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no SIGHUP")
def test_a_format_file_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "made.toml"
    good = formats.get("qwen3").to_toml()
    path.write_text(good)
    with serving(tmp_path, "--format", str(path)) as server:

        def answers() -> bool:
            answer = httpx.post(f"{server.url}/chat/completions", json=ASK, timeout=PATIENCE)
            return answer.status_code == 200

        assert answers()
        path.write_text("[reasoning\n")
        server.awaits(lambda: "goes on with what was read before" in server.log())
        assert "E-FORMAT" in server.log()
        assert answers()
        path.write_text(good)
        server.awaits(lambda: "which has changed" in server.log())
        before = server.log().count("which has changed")
        server.process.send_signal(signal.SIGHUP)
        server.awaits(lambda: server.log().count("which has changed") > before)
        assert answers()


def test_a_model_whose_engine_comes_later_is_served_then_and_follows_its_files(tmp_path: Path) -> None:
    template = tmp_path / "chat_template.jinja"
    template.write_text(TEMPLATE, encoding="utf-8")
    late = MockEngine(WIRES["llamacpp"])
    late.__enter__().__exit__()
    with MockEngine(WIRES["llamacpp"]) as early:
        names = (f"early=llamacpp:{early.url}", "--upstream", f"late=llamacpp:{late.url}")
        with serving(tmp_path, "--upstream", *names, "--chat-template", str(template)) as server:

            def asked(model: str) -> httpx.Response:
                return httpx.post(f"{server.url}/chat/completions", json={**ASK, "model": model}, timeout=PATIENCE)

            assert asked("early").status_code == 200
            away = asked("late")
            assert (away.status_code, away.json()["error"]["code"]) == (503, "E-UPSTREAM-CONNECT")
            assert "late is not served until its engine answers" in server.log()
            with late:
                server.awaits(lambda: asked("late").status_code == 200)
                template.write_text(TEMPLATE + "{# changed #}", encoding="utf-8")
                server.awaits(lambda: "late goes on with" in server.log())
                assert "early goes on with" in server.log()
                assert asked("late").status_code == 200


def test_serve_says_how_it_is_asked_and_checked(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "syntagma", "serve", "--model", "embedded", "--port", "0"]
    for more, key in ((["--log-format", "text"], ""), (["--api-key", SECRET], "KEY")):
        with (tmp_path / "said.txt").open("w+") as said, subprocess.Popen([*command, *more], stderr=said) as process:
            text, until = "", time.monotonic() + PATIENCE
            while "check it" not in text and time.monotonic() < until and process.poll() is None:
                time.sleep(0.1)
                text = (tmp_path / "said.txt").read_text()
            try:
                ask = next(line for line in text.splitlines() if "ask it:" in line).partition(":")[2]
                asked = shlex.split(ask.replace("Bearer KEY", f"Bearer {SECRET}"))
                address = re.search(r"syntagma doctor (http://\S+)", text)
                assert address is not None
                assert asked[1] == f"{address[1]}/chat/completions"
                assert ("KEY" in ask, SECRET in text) == (bool(key), False)
                headers = dict(one.split(": ", 1) for one in asked[3:-2:2])
                answer = httpx.post(asked[1], headers=headers, content=asked[-1], timeout=PATIENCE)
                assert answer.status_code == httpx.codes.OK
            finally:
                process.terminate()
