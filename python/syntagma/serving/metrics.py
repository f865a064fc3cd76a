"""`GET /metrics`: counters and times for Prometheus, with vLLM's names under a prefix of our own.

Several processes that serve one address write to files in one folder (`PROMETHEUS_MULTIPROC_DIR`), and each of them
answers with the counts of all.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Final

from starlette.responses import Response

from syntagma.errors import RequestError
from syntagma.serving.errors import error_response
from syntagma.serving.records import Choice, Observer, RequestRecord

__all__ = ["SHARED_FOLDER", "Metrics", "forget_process", "metrics_response"]

SHARED_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
"""the environment variable with the folder that the processes share"""
_PREFIX: Final = "syntagma"
_SHORT: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 2.5, 5.0, 10.0)
_LONG: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0)
_TINY: Final = (0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1.0)
_TOKENS: Final = tuple(float(step * 10**power) for power in range(6) for step in (1, 2, 5))
_NO_ROUTE: Final = "none"


class Metrics(Observer):
    """An observer that counts requests, tokens and times.

    Raises:
        ImportError: prometheus-client is not installed.
    """

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        # Each application has its own registry, so that several in one process do not mix.
        self._registry = CollectorRegistry()
        model = ("model_name",)

        def times(name: str, help: str, buckets: tuple[float, ...]) -> Histogram:
            return Histogram(f"{_PREFIX}:{name}", help, model, registry=self._registry, buckets=buckets)

        def count(name: str, help: str, labels: tuple[str, ...] = model) -> Counter:
            return Counter(f"{_PREFIX}:{name}", help, labels, registry=self._registry)

        def level(name: str, help: str) -> Gauge:
            return Gauge(f"{_PREFIX}:{name}", help, model, registry=self._registry, multiprocess_mode="livesum")

        self._running = level("num_requests_running", "Requests that a model writes for.")
        self._waiting = level("num_requests_waiting", "Requests that wait for a model's first piece.")
        self._prompt_tokens = count("prompt_tokens", "Tokens of prompts.")
        self._generation_tokens = count("generation_tokens", "Tokens of answers.")
        self._forced_tokens = count("forced_tokens", "Tokens for which the grammar left one way on.")
        self._success = count(
            "request_success", "Choices that ended, by their finish reason.", ("model_name", "finished_reason")
        )
        self._http = count("http_requests", "Requests by endpoint and status.", ("route", "method", "status"))
        self._errors = count("request_errors", "Requests that were refused or failed, by the code.", ("route", "code"))
        self._noticed = count(
            "parse_diagnostics", "What the parser noticed in answers, by its code.", ("model_name", "code")
        )
        self._first = times("time_to_first_token_seconds", "From the request to a model's first piece.", _LONG)
        between = times("inter_token_latency_seconds", "Between two pieces that a model writes.", _SHORT)
        # To look a label up takes longer than to count, and this counts every piece.
        self._between = functools.cache(between.labels)
        self._whole = times("e2e_request_latency_seconds", "From the request to the end of its answer.", _LONG)
        self._render = times("request_render_time_seconds", "Reading the request and rendering its prompt.", _SHORT)
        self._prefill = times("request_prefill_time_seconds", "Reading the prompt by the model.", _LONG)
        self._decode = times("request_decode_time_seconds", "Writing a choice after that.", _LONG)
        self._compile = times("grammar_compile_seconds", "Reading a choice's schema and preparing its grammar.", _SHORT)
        self._mask = times("grammar_mask_seconds", "Mask and acceptance, average of a choice's tokens.", _TINY)
        self._parse = times("parse_seconds", "Reading all that a model wrote for a request.", _SHORT)
        self._prompt_length = times("request_prompt_tokens", "Tokens of a prompt.", _TOKENS)
        self._answer_length = times("request_generation_tokens", "Tokens of a choice.", _TOKENS)

    def waits(self, record: RequestRecord) -> None:
        """See `Observer`."""
        self._waiting.labels(record.model).inc()

    def begins(self, record: RequestRecord) -> None:
        """See `Observer`."""
        self._waiting.labels(record.model).dec()
        self._running.labels(record.model).inc()
        self._first.labels(record.model).observe(record.first or 0.0)

    def wrote(self, record: RequestRecord, seconds: float) -> None:
        """See `Observer`."""
        self._between(record.model).observe(seconds)

    def ended(self, record: RequestRecord, choice: Choice) -> None:
        """See `Observer`."""
        model, metrics = record.model, choice.result.metrics
        if len(record.choices) == 1:
            self._prompt_tokens.labels(model).inc(metrics.prompt_tokens)
            self._prompt_length.labels(model).observe(metrics.prompt_tokens)
        self._generation_tokens.labels(model).inc(metrics.completion_tokens)
        self._answer_length.labels(model).observe(metrics.completion_tokens)
        self._forced_tokens.labels(model).inc(metrics.forced_tokens)
        self._success.labels(model, choice.result.finish_reason).inc()
        for one in choice.result.message.diagnostics:
            self._noticed.labels(model, one.code).inc()
        self._prefill.labels(model).observe(metrics.prefill_s)
        self._decode.labels(model).observe((choice.ended - choice.began) / 1e9)
        self._compile.labels(model).observe(metrics.grammar_init_s)
        self._mask.labels(model).observe(metrics.grammar_per_token_s)

    def leaves(self, record: RequestRecord) -> None:
        """See `Observer`."""
        (self._waiting if record.first is None else self._running).labels(record.model).dec()

    def finished(self, record: RequestRecord) -> None:
        """See `Observer`."""
        # Clients can ask for any number of unknown paths; they share one label.
        route = record.route or _NO_ROUTE
        # Proxies write 499 if the client has left.
        self._http.labels(route, record.method, str(record.status or 499)).inc()
        if record.code is not None:
            self._errors.labels(route, record.code).inc()
        if record.model is not None:
            self._whole.labels(record.model).observe(record.seconds)
            self._parse.labels(record.model).observe(record.parse_seconds)
            for name, began, ended in record.stages:
                if name == "render":
                    self._render.labels(record.model).observe((ended - began) / 1e9)

    def text(self) -> tuple[bytes, str]:
        """The metrics in Prometheus' format, and its media type."""
        from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
        from prometheus_client.multiprocess import MultiProcessCollector

        registry = self._registry
        if SHARED_FOLDER in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)
        return generate_latest(registry), CONTENT_TYPE_LATEST


def forget_process(pid: int, folder: str) -> None:
    """Keep the counts of a process that has ended, and forget its running requests.

    Args:
        pid: the process.
        folder: the folder that the processes share.
    """
    for path in Path(folder).glob(f"gauge_live*_{pid}.db"):
        path.unlink()


def metrics_response(metrics: Metrics | None) -> Response:
    """The answer of `GET /metrics`; None: prometheus-client is not installed, so that there are none."""
    if metrics is None:
        error = RequestError(
            "E-REQUEST-EXTRA",
            "prometheus-client is not installed on the server",
            hint="pip install 'syntagma[serve]'",
            status=501,
        )
        return error_response(error)
    text, media = metrics.text()
    return Response(text, media_type=media)
