"""`diagnose` itself: what it is told, servers that answer nonsense or not at all, and the command."""

from __future__ import annotations

import copy
import http.server
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import syntagma as sg
from syntagma.doctor import CHECKS, Result, diagnose
from tests.doctor.faults import FAULTS
from tests.doctor.mock import KEY, MODEL, Ask, Fault, Mock, Refusal, mock

PATIENCE = 60
"""seconds until a test that hangs fails"""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "index", "delta", "x"]), inner),
    max_leaves=6,
)


def named(name: str) -> Fault:
    return next(fault for fault in FAULTS if fault.name == name)


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every path within a value."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for step in value if isinstance(value, dict) else range(len(value)):
            yield from paths_of(value[step], (*path, step))


def replaced(value: Any, draw: int, by: Any) -> Any:
    """A copy in which one thing is another."""
    made = copy.deepcopy(value)
    paths = list(paths_of(made))
    *before, last = paths[draw % len(paths)]
    inner = made
    for step in before:
        inner = inner[step]
    inner[last] = by
    return made


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(draw=st.integers(0, 10**6), by=JSON)
def test_answers_of_any_shape_are_judged(draw: int, by: Any) -> None:
    def whole(_: Any, body: dict[str, Any]) -> None:
        changed = replaced(body, draw, by)
        body.clear()
        body.update(changed)

    fault = Fault("any", "chat.whole", whole=whole, chunks=lambda _, chunks: replaced(chunks, draw, by))
    with mock(fault) as url:
        report = diagnose(url, model=MODEL, api_key=KEY, timeout=PATIENCE)
    assert len(report.results) == len(CHECKS)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(at=st.integers(0, 500), noise=st.binary(max_size=12))
def test_streams_of_any_bytes_are_judged(at: int, noise: bytes) -> None:
    def wire(_: Any, events: list[bytes]) -> list[bytes]:
        sent = b"".join(events)
        return [sent[: at % len(sent)], noise, sent[at % len(sent) :]]

    with mock(Fault("any", "stream.frames", wire=wire)) as url:
        report = diagnose(url, model=MODEL, api_key=KEY, timeout=PATIENCE)
    assert len(report.results) == len(CHECKS)


@contextmanager
def answering(body: bytes, status: int = 200) -> Iterator[str]:
    """A server that answers everything with one thing."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.do_GET()

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join(PATIENCE)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"[" * 100_000, b"null", b'{"choices": 3}', b"\xff"])
@pytest.mark.parametrize("status", [200, 500])
def test_what_is_no_such_server_is_told_once(body: bytes, status: int) -> None:
    with answering(body, status) as url:
        report = diagnose(url)
    assert report.url == f"{url}/v1"
    verdicts = {result.id: result.verdict for result in report.results}
    assert verdicts["models.list"] == verdicts["chat.whole"] == verdicts["stream.answered"] == "fault"
    if status == 500:
        others = {name for name, verdict in verdicts.items() if verdict == "fault"}
        assert others <= {"chat.whole", "stream.answered", "models.list", "models.asked", "models.by-name"}


def test_a_server_without_the_paths_is_told_at_once() -> None:
    with answering(b"not here", 404) as url, pytest.raises(sg.UpstreamError) as raised:
        diagnose(url)
    assert raised.value.code == "E-UPSTREAM-REFUSED"


def test_a_model_that_is_not_there_is_told_at_once() -> None:
    def wrong(ask: Ask, _: Mock) -> None:
        if ask.body.get("model") != MODEL:
            raise Refusal(404, "no such model")

    with mock(Fault("other models", "models.asked", valid=wrong)) as url:
        with pytest.raises(sg.UpstreamError) as raised:
            diagnose(url, model="another", api_key=KEY)
        assert (raised.value.code, MODEL in (raised.value.hint or "")) == ("E-UPSTREAM-MODEL", True)
        assert diagnose(url, model=MODEL, api_key=KEY, only=["models.asked"]).counts["held"] == 1


def test_an_address_is_a_base_url() -> None:
    for url in ("", "localhost", "ftp://localhost", "http://", "http://[", "http://a b", "http://ä"):
        with pytest.raises(sg.UpstreamError) as raised:
            diagnose(url)
        assert raised.value.code == "E-UPSTREAM-URL"


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(sg.UpstreamError) as raised:
        diagnose(f"http://127.0.0.1:{port}")
    assert raised.value.code == "E-UPSTREAM-CONNECT"


def test_a_server_that_is_silent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(sg.UpstreamError) as raised:
        diagnose(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2)
    assert raised.value.code == "E-UPSTREAM-CONNECT"
    assert "in time" in raised.value.message


@pytest.mark.parametrize(
    "options",
    [
        {"only": ["nothing"]},
        {"skip": ["stream.nothing"]},
        {"timeout": 0},
        {"timeout": float("nan")},
        {"limit": -1},
        {"max_tokens": 0},
        {"api_key": "a\nb"},
        {"api_key": "ä"},
    ],
)
def test_wrong_arguments(options: dict[str, Any]) -> None:
    with pytest.raises(sg.errors.ArgumentError):
        diagnose("http://127.0.0.1:9/v1", **options)


def without(*names: str) -> Fault:
    """A server that refuses some fields."""

    def valid(ask: Ask, _: Mock) -> None:
        if any(name in ask.body for name in names):
            raise Refusal(400, "this field is not supported")

    return Fault("refuses fields", "chat.whole", valid=valid)


def test_a_server_that_does_not_take_every_field() -> None:
    with mock(without("temperature")) as url:
        report = diagnose(url, api_key=KEY, skip=["errors"])
    assert report.faults == ()
    assert "max_tokens alone" in report.results[3].said
    with mock(without("temperature", "max_tokens")) as url:
        report = diagnose(url, api_key=KEY, skip=["errors"])
    assert report.faults == ()
    verdicts = {result.id: result.verdict for result in report.results}
    assert verdicts["ends.max-completion-tokens"] == "held"
    assert verdicts["ends.length"] == "not offered"


def test_what_a_server_does_not_offer_is_no_fault() -> None:
    with mock(without("tools", "response_format", "n", "logprobs", "stop", "chat_template_kwargs")) as url:
        report = diagnose(url, api_key=KEY)
    assert report.faults == ()
    assert report.counts["not offered"] > 40


def test_a_schema_that_is_not_held_is_no_other_fault() -> None:
    def unread(ask: Ask, _: Mock) -> None:
        ask.body.pop("response_format", None)

    with mock(Fault("no schemas", "schema.whole", valid=unread)) as url:
        report = diagnose(url, api_key=KEY, skip=["errors"])
    assert {fault.id.partition(".")[0] for fault in report.faults} == {"schema"}


def test_a_server_that_asks_to_wait() -> None:
    asked: list[float] = []

    def busy(ask: Ask, _: Mock) -> None:
        asked.append(time.monotonic())
        if len(asked) % 3 == 1 and ask.plain:
            raise Refusal(429, "wait")

    with mock(Fault("busy", "chat.whole", valid=busy)) as url:
        report = diagnose(url, api_key=KEY, only=["chat.whole", "chat.usage"])
    assert {result.verdict for result in report.results} == {"held"}
    with mock(Fault("busy", "chat.whole", valid=lambda *_: busy_for_ever())) as url:
        report = diagnose(url, api_key=KEY, only=["chat", "stream"], limit=2)
    assert report.faults == ()


def busy_for_ever() -> None:
    raise Refusal(429, "wait")


def test_a_key_that_is_refused() -> None:
    with mock() as url:
        for key in (None, "another-key"):
            with pytest.raises(sg.UpstreamError) as raised:
                diagnose(url, api_key=key)
            assert raised.value.code == "E-UPSTREAM-KEY"


def test_only_and_skip() -> None:
    with mock() as url:
        report = diagnose(url, api_key=KEY, only=["stream", "chat.whole"], skip=["stream.done"])
    ids = [result.id for result in report.results]
    assert ids[0] == "chat.whole"
    assert "stream.role" in ids
    assert "stream.done" not in ids
    assert {name.partition(".")[0] for name in ids[1:]} == {"stream"}
    assert report.model == MODEL


def test_results_come_as_they_are_there() -> None:
    seen: list[Result] = []
    with mock(named("the role in every chunk")) as url:
        report = diagnose(url, api_key=KEY, only=["stream"], on_result=seen.append)
    assert tuple(seen) == report.results
    assert [result.id for result in report.faults] == ["stream.role"]
    assert report.counts == {"held": len(seen) - 1, "fault": 1, "not offered": 0, "unsure": 0}


def test_a_limit_ends_it() -> None:
    began = time.monotonic()
    with mock(named("clients that leave keep their place")) as url:
        report = diagnose(url, api_key=KEY, limit=0.3)
    assert time.monotonic() - began < PATIENCE
    assert report.faults == ()
    assert report.results[-1].verdict == "unsure"
    assert "over" in report.results[-1].said


def test_the_request_shows_the_fault() -> None:
    """What is shown can be run as it stands, and brings the fault about."""
    with mock(named("a wrong total")) as url:
        (fault,) = diagnose(url, api_key=KEY, only=["chat.usage"]).faults
        done = subprocess.run(
            ["bash", "-c", fault.request],
            capture_output=True,
            text=True,
            check=True,
            env={"API_KEY": KEY, "PATH": "/usr/bin:/bin"},
        )
    assert json.loads(done.stdout)["usage"] == json.loads(fault.came)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "syntagma", "doctor", *arguments], capture_output=True, text=True, check=False
    )


def test_the_command_tells_of_faults() -> None:
    with mock(named("the role in every chunk")) as url:
        done = command(url, "--api-key", KEY, "--only", "stream", "--only", "chat")
    assert done.returncode == 1, done.stderr
    assert "stream.role" in done.stdout
    assert "1 fault" in done.stdout
    assert "curl -sS -N" in done.stdout
    assert KEY not in done.stdout


def test_the_command_writes_json() -> None:
    with mock() as url:
        done = command(url, "--api-key", KEY, "--json", "--skip", "injection")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["counts"]["fault"] == 0
    assert {result["verdict"] for result in report["results"]} == {"held"}


def test_the_command_refuses_what_it_cannot_do() -> None:
    done = command("http://127.0.0.1:9/v1", "--only", "nothing")
    assert done.returncode == 2
    assert "E-ARGUMENT-VALUE" in done.stderr
