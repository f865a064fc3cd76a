"""OpenTelemetry's spans: one for each request, with children for its parts. Without the library there are none.

Names of attributes are those of OpenTelemetry's conventions for HTTP and for generative models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from syntagma.errors import RequestError
from syntagma.serving.records import Observer, RequestRecord

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

__all__ = ["Tracing", "export_to"]

_SERVICE: Final = "syntagma"
_NAME: Final = "service.name"
_NAMELESS: Final = "unknown_service"


class Tracing(Observer):
    """An observer that makes spans: `render`, `prefill`, `generate` and `parse` below the request's own.

    Args:
        provider: makes the tracer; None: the provider of the process, which does nothing if none is set.

    Raises:
        ImportError: OpenTelemetry's API is not installed.
    """

    def __init__(self, provider: Any = None) -> None:
        from opentelemetry import propagate, trace

        self._trace = trace
        self._propagate = propagate
        self._tracer: Tracer = trace.get_tracer(_SERVICE, tracer_provider=provider)
        self._spans: dict[int, Span] = {}

    def came(self, record: RequestRecord) -> None:
        """See `Observer`."""
        carried = {name.decode("latin-1"): value.decode("latin-1") for name, value in record.headers}
        self._spans[id(record)] = self._tracer.start_span(
            record.method,
            context=self._propagate.extract(carried),
            kind=self._trace.SpanKind.SERVER,
            attributes={
                "http.request.method": record.method,
                "url.path": record.path,
                "http.request.header.x-request-id": record.id,
            },
        )

    def finished(self, record: RequestRecord) -> None:
        """See `Observer`."""
        span = self._spans.pop(id(record))
        if span.is_recording():
            span.update_name(record.method if record.route is None else f"{record.method} {record.route}")
            span.set_attributes(_attributes(record))
            if record.status is None or record.status >= 500 or record.broken:
                span.set_status(self._trace.StatusCode.ERROR)
            for name, began, ended, attributes in _parts(record):
                child = self._tracer.start_span(
                    name,
                    context=self._trace.set_span_in_context(span),
                    start_time=began,
                    attributes=attributes,
                )
                child.end(ended)
        span.end()


def _attributes(record: RequestRecord) -> dict[str, Any]:
    known: dict[str, Any] = {
        "http.route": record.route,
        "http.response.status_code": record.status,
        "error.type": record.code,
        "gen_ai.request.model": record.model,
        "gen_ai.server.time_to_first_token": record.first,
    }
    if record.choices:
        metrics = [one.result.metrics for one in record.choices]
        known["gen_ai.usage.input_tokens"] = metrics[0].prompt_tokens
        known["gen_ai.usage.output_tokens"] = sum(one.completion_tokens for one in metrics)
        known["gen_ai.response.finish_reasons"] = [one.result.finish_reason for one in record.choices]
    return {name: value for name, value in known.items() if value is not None}


def _parts(record: RequestRecord) -> list[tuple[str, int, int, dict[str, Any]]]:
    """Name, begin, end and attributes of the parts of a request."""
    parts: list[tuple[str, int, int, dict[str, Any]]] = [(*one, {}) for one in record.stages]
    for choice in record.choices:
        metrics = choice.result.metrics
        index = {"syntagma.choice": choice.result.index}
        prefill = int(metrics.prefill_s * 1e9)
        parts.append(("prefill", choice.began - prefill, choice.began, index))
        generated = {**index, "syntagma.grammar_init_s": metrics.grammar_init_s}
        parts.append(("generate", choice.began, choice.ended, generated))
    if record.choices:
        # The parser works while a model writes: the span has the whole period, the attribute the time of the parser.
        began, ended = min(one.began for one in record.choices), max(one.ended for one in record.choices)
        parts.append(("parse", began, ended, {"syntagma.parse_s": record.parse_seconds}))
    return parts


def export_to(endpoint: str) -> None:
    """Send the spans of this process to an address, by OTLP over HTTP.

    Raises:
        RequestError: `E-REQUEST-EXTRA`, OpenTelemetry's SDK or its exporter is not installed.
    """
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise RequestError(
            "E-REQUEST-EXTRA", f"{error.name} is not installed", hint="pip install 'syntagma[otel]'"
        ) from error
    resource = Resource.create()
    # Without OTEL_SERVICE_NAME and the like, the name is a placeholder.
    if str(resource.attributes.get(_NAME, _NAMELESS)).startswith(_NAMELESS):
        resource = resource.merge(Resource({_NAME: _SERVICE}))
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint)))
    trace.set_tracer_provider(provider)
