"""Ids of requests, logs, metrics and traces: what operators see of what clients ask."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from syntagma.serving import Settings, create_app
from syntagma.serving.keys import key_of
from syntagma.serving.logs import JsonLines, TextLines
from syntagma.serving.operations import Operations
from syntagma.serving.records import Choice, Observer, RequestRecord
from tests.serving.live import listening
from tests.serving.support import CALL, WEATHER, body, model

SECRET = "a-long-secret-key"
SHOWN = {"authorization": f"Bearer {SECRET}"}


class Seen(Observer):
    """An observer that keeps the records, and the order of what it was told."""

    def __init__(self) -> None:
        self.records: list[RequestRecord] = []
        self.told: list[tuple[str, str]] = []

    def came(self, record: RequestRecord) -> None:
        self.told.append(("came", record.id))

    def waits(self, record: RequestRecord) -> None:
        self.told.append(("waits", record.id))

    def begins(self, record: RequestRecord) -> None:
        self.told.append(("begins", record.id))

    def wrote(self, record: RequestRecord, seconds: float) -> None:
        assert seconds >= 0
        if self.told[-1] != ("wrote", record.id):
            self.told.append(("wrote", record.id))

    def ended(self, record: RequestRecord, choice: Choice) -> None:
        assert record.choices[-1] is choice
        self.told.append(("ended", record.id))

    def leaves(self, record: RequestRecord) -> None:
        self.told.append(("leaves", record.id))

    def finished(self, record: RequestRecord) -> None:
        self.told.append(("finished", record.id))
        self.records.append(record)


def fail(step: int) -> None:
    if step == 2:
        raise RuntimeError("the accelerator is on fire")


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What is logged as JSON."""
    logger, stream = logging.getLogger("syntagma"), io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield stream
    logger.removeHandler(handler)
    logger.setLevel(before)


def served(script: str = "hello", seen: Observer | None = None, **backend: Any) -> Any:
    settings = Settings(operations=Operations(keys=(key_of(SECRET, "team"),)))
    return create_app(model(script, **backend), settings, observers=() if seen is None else (seen,))


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/nowhere", "/health"])
def test_an_id_comes_back(path: str) -> None:
    with listening(served()) as address, httpx.Client(base_url=address.removesuffix("/v1"), headers=SHOWN) as client:
        asked = client.post(path, json=body(), headers={"x-request-id": "of-the-client/7"})
        assert asked.headers["x-request-id"] == "of-the-client/7"
        made = {client.post(path, json=body()).headers["x-request-id"] for _ in range(3)}
        assert len(made) == 3
        for bad in ("two words", "x" * 129, 'a"b'):
            assert client.post(path, headers={"x-request-id": bad}).headers["x-request-id"] != bad
        streamed = client.post("/v1/chat/completions", json=body(stream=True), headers={"x-request-id": "s"})
        assert streamed.headers["x-request-id"] == "s"


def test_a_record_of_each_request() -> None:
    seen = Seen()
    with listening(served(CALL, seen)) as address, httpx.Client(base_url=address, headers=SHOWN) as client:
        assert client.post("/chat/completions", json=body(tools=[WEATHER], n=2)).status_code == 200
        assert client.get("/models/scripted").status_code == 200
        assert client.post("/chat/completions", json=body(model="other")).status_code == 404
        assert httpx.get(f"{address}/models").status_code == 401
    asked, looked, wrong, refused = seen.records
    assert (asked.method, asked.route, asked.status, asked.code) == ("POST", "/v1/chat/completions", 200, None)
    assert (asked.key, asked.model) == ("team", "scripted")
    assert [choice.result.index for choice in asked.choices] == [0, 1]
    assert asked.first is not None
    assert 0 < asked.first <= asked.seconds
    assert 0 < asked.parse_seconds < asked.seconds
    assert [name for name, _, _ in asked.stages] == ["render"]
    assert (looked.route, looked.model) == ("/v1/models/{name}", None)
    assert (wrong.status, wrong.code) == (404, "E-REQUEST-MODEL")
    assert (refused.status, refused.code, refused.key, refused.route) == (401, "E-REQUEST-KEY", None, None)
    first = ["came", "waits", "begins", "wrote", "ended", "wrote", "ended", "leaves", "finished"]
    assert seen.told[: len(first)] == [(word, asked.id) for word in first]


def test_lines_of_the_log_are_json(lines: io.StringIO) -> None:
    with listening(served()) as address, httpx.Client(base_url=address, headers=SHOWN) as client:
        client.post("/chat/completions", json=body(), headers={"x-request-id": "one"})
        client.post("/chat/completions", json=body(temperature=9), headers={"x-request-id": "two"})
        client.get("/nowhere%0aFORGED", headers={"x-request-id": "three"})
    written = {line["request_id"]: line for line in map(json.loads, lines.getvalue().splitlines())}
    assert list(written) == ["one", "two", "three"]
    good = written["one"]
    assert (good["level"], good["logger"], good["key"]) == ("info", "syntagma.access", "team")
    assert (good["status"], good["model"], good["finish_reasons"]) == (200, "scripted", ["stop"])
    assert good["completion_tokens"] > 0
    assert good["first_seconds"] <= good["seconds"]
    assert written["two"]["code"] == "E-REQUEST-FIELD"
    assert written["three"]["status"] == 404
    # Whatever a client sends, it is one line, and no secret stands in it.
    assert SECRET not in lines.getvalue()


def test_faults_are_logged_with_the_id_of_their_request(lines: io.StringIO) -> None:
    with listening(served(on_step=fail)) as address:
        answer = httpx.post(f"{address}/chat/completions", json=body(), headers={**SHOWN, "x-request-id": "burns"})
        assert answer.status_code == 500
    told = [json.loads(line) for line in lines.getvalue().splitlines()]
    fault = next(line for line in told if line["level"] == "error")
    assert fault["request_id"] == "burns"
    assert "the accelerator is on fire" in fault["traceback"]
    assert next(line for line in told if line["logger"] == "syntagma.access")["status"] == 500


def test_what_is_left_out_is_logged_with_the_id_of_its_request(lines: io.StringIO) -> None:
    with listening(served()) as address:
        asked = body(tools=[{"type": "telepathy"}])
        answer = httpx.post(f"{address}/chat/completions", json=asked, headers={**SHOWN, "x-request-id": "asks"})
        assert answer.status_code == 200
    told = [json.loads(line) for line in lines.getvalue().splitlines()]
    left = next(line for line in told if "left out" in line["message"])
    assert (left["request_id"], left["level"]) == ("asks", "warning")


def test_what_people_read_is_one_line() -> None:
    record = logging.LogRecord("syntagma.x", logging.WARNING, "", 0, "engine %s left", ("far",), None)
    assert TextLines().format(record).endswith(" WARNING engine far left")


def metric(text: str, name: str) -> float:
    """The sum of the samples of a metric."""
    found = [line for line in text.splitlines() if line.split("{")[0].split(" ")[0] == name]
    assert found, name
    return sum(float(line.rsplit(" ", 1)[1]) for line in found)


def test_metrics_count_what_happens() -> None:
    pytest.importorskip("prometheus_client")
    with listening(served(on_step=lambda _: None)) as address, httpx.Client(base_url=address, headers=SHOWN) as client:
        used = client.post("/chat/completions", json=body(n=2)).json()["usage"]
        client.post("/chat/completions", json=body(stream=True))
        client.post("/chat/completions", json=body(model="other"))
        for number in range(20):
            client.get(f"/nowhere/{number}")
        answer = client.get(address.replace("/v1", "/metrics"))
        assert answer.headers["content-type"].startswith("text/plain")
        text = answer.text
    assert metric(text, "syntagma:request_success_total") == 3
    assert metric(text, "syntagma:prompt_tokens_total") == 2 * used["prompt_tokens"]
    assert metric(text, "syntagma:generation_tokens_total") == 1.5 * used["completion_tokens"]
    assert metric(text, "syntagma:time_to_first_token_seconds_count") == 2
    assert metric(text, "syntagma:e2e_request_latency_seconds_count") == 2
    # Three choices of equal length; the last piece of each is what its end leaves to say.
    assert metric(text, "syntagma:inter_token_latency_seconds_count") == 1.5 * used["completion_tokens"]
    assert metric(text, "syntagma:parse_seconds_sum") > 0
    assert metric(text, "syntagma:num_requests_running") == 0
    assert metric(text, "syntagma:num_requests_waiting") == 0
    assert 'syntagma:request_errors_total{code="E-REQUEST-MODEL",route="/v1/chat/completions"} 1.0' in text
    # Paths that lead nowhere make no series of their own.
    assert "nowhere" not in text


def test_requests_that_fail_leave_no_trace_in_what_runs() -> None:
    pytest.importorskip("prometheus_client")
    with listening(served(on_step=fail)) as address, httpx.Client(base_url=address, headers=SHOWN) as client:
        client.post("/chat/completions", json=body())
        client.post("/chat/completions", json=body(stream=True))
        text = client.get(address.replace("/v1", "/metrics")).text
    assert metric(text, "syntagma:num_requests_running") == 0
    assert metric(text, "syntagma:num_requests_waiting") == 0
    assert 'status="500"' in text


def test_spans_of_a_request() -> None:
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from syntagma.serving.tracing import Tracing

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace = "0af7651916cd43dd8448eb211c80319c"
    with listening(served(CALL, Tracing(provider))) as address:
        sent = {**SHOWN, "traceparent": f"00-{trace}-b7ad6b7169203331-01"}
        httpx.post(f"{address}/chat/completions", json=body(tools=[WEATHER]), headers=sent)
        httpx.post(f"{address}/chat/completions", json=body(model="other"), headers=SHOWN)
    spans = exporter.get_finished_spans()
    root = next(span for span in spans if span.context.trace_id == int(trace, 16) and span.name.startswith("POST"))
    assert root.name == "POST /v1/chat/completions"
    assert root.attributes["gen_ai.request.model"] == "scripted"
    assert list(root.attributes["gen_ai.response.finish_reasons"]) == ["tool_calls"]
    children = {span.name: span for span in spans if span.parent and span.parent.span_id == root.context.span_id}
    assert set(children) == {"render", "prefill", "generate", "parse"}
    for child in children.values():
        assert root.start_time <= child.start_time <= child.end_time <= root.end_time
    failed = next(span for span in spans if span.attributes.get("error.type") == "E-REQUEST-MODEL")
    assert failed.attributes["http.response.status_code"] == 404
