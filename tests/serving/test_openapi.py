"""`/openapi.json` says what the server does: every route, its bodies, its answers, its errors."""

from __future__ import annotations

import re
from typing import Any

import pytest
from starlette.routing import Route

from syntagma.serving import create_app
from syntagma.serving.openapi import ENDPOINTS
from tests.serving.live import listening
from tests.serving.support import client, model

WRITING = ["/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages"]


def document() -> dict[str, Any]:
    answer = client().get("/openapi.json")
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def test_every_route_is_described_and_nothing_else() -> None:
    served: Any = create_app(model("hello"))
    routes = {
        f"{method} {re.sub(r':[a-z]+}', '}', route.path)}"
        for route in served.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert routes == set(ENDPOINTS)


def references(value: Any) -> set[str]:
    """Every `$ref` in a JSON value."""
    if isinstance(value, list):
        return {found for item in value for found in references(item)}
    if not isinstance(value, dict):
        return set()
    own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
    return own | {found for item in value.values() for found in references(item)}


def test_every_reference_leads_somewhere() -> None:
    found = document()
    known = {f"#/components/schemas/{name}" for name in found["components"]["schemas"]}
    assert references(found) <= known


@pytest.mark.parametrize("path", WRITING)
def test_fields_come_from_the_types(path: str) -> None:
    found = document()
    operation = found["paths"][path]["post"]
    reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    body = found["components"]["schemas"][reference.rsplit("/", 1)[1]]
    (kind,) = ENDPOINTS[f"POST {path}"].body
    assert list(body["properties"]) == list(kind.__struct_encode_fields__)
    assert "text/event-stream" in operation["responses"]["200"]["content"]
    assert {"400", "404", "413", "429", "500", "503"} <= set(operation["responses"])


SCHEMATHESIS_CASES = 25
"""requests of each endpoint"""


@pytest.mark.some(8)
@pytest.mark.parametrize("operation", [name for name in ENDPOINTS if name != "GET /openapi.json"])
def test_answers_are_as_described(operation: str) -> None:
    # Requests are drawn from the document; each answer has a status, a type of content and a shape that stand there.
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.specs.openapi import checks

    method, path = operation.split()
    with listening(create_app(model("hello"))) as address:
        loaded = schemathesis.openapi.from_url(address.removesuffix("/v1") + "/openapi.json")
        drawn = loaded[path][method].as_strategy()

        @settings(
            max_examples=SCHEMATHESIS_CASES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=drawn)
        def ask(case: Any) -> None:
            case.call_and_validate(
                checks=[
                    schemathesis.checks.not_a_server_error,
                    checks.status_code_conformance,
                    checks.content_type_conformance,
                    checks.response_schema_conformance,
                ]
            )

        ask()
