"""`GET /models`."""

from __future__ import annotations

from syntagma.doctor.endpoint import Endpoint
from syntagma.doctor.outcomes import Check, Fault, NotOffered
from syntagma.doctor.values import at, word

__all__ = ["CHECKS"]


def _listed(endpoint: Endpoint) -> str | None:
    exchange = endpoint.get("/models")
    if exchange.status != 200:
        raise Fault(f"the status is {exchange.status}", exchange)
    body = exchange.json()
    models = at(body, "data")
    if at(body, "object") != "list" or not isinstance(models, list) or not models:
        raise Fault("this is not a list of models: it needs object 'list' and data with at least one", exchange)
    for model in models:
        if not word(model, "id") or at(model, "object") != "model":
            raise Fault("a model needs an id and object 'model'", exchange, model)
    return None


def _asked(endpoint: Endpoint) -> str | None:
    exchange = endpoint.get("/models")
    models = at(exchange.json(), "data")
    ids = [word(model, "id") for model in models] if isinstance(models, list) else []
    if endpoint.model is None:
        raise NotOffered("no model is listed, and none was named")
    if endpoint.model not in ids:
        raise Fault(f"the model {endpoint.model!r} is not in the list", exchange)
    return None


def _by_name(endpoint: Endpoint) -> str | None:
    if endpoint.model is None:
        raise NotOffered("no model is listed, and none was named")
    exchange = endpoint.get(f"/models/{endpoint.model}")
    if exchange.status in (404, 405, 501):
        raise NotOffered(f"status {exchange.status}", exchange)
    if exchange.status != 200 or at(exchange.json(), "id") != endpoint.model:
        raise Fault("the answer is not the model", exchange)
    return None


CHECKS = (
    Check(
        "models.list",
        "models are listed",
        "GET /models",
        "Clients that offer a choice of models show none, and those that look before they ask do not start.",
        'Answer `{"object": "list", "data": [{"id": …, "object": "model", …}]}`.',
        _listed,
    ),
    Check(
        "models.asked",
        "the model that is asked for is listed",
        "GET /models",
        "Clients that compare the name with the list refuse to ask.",
        "List every name under which a model is served.",
        _asked,
    ),
    Check(
        "models.by-name",
        "a model can be looked up by its name",
        "GET /models/{model}",
        "Clients that look up a model before they ask do not start.",
        "Answer with the entry of the list.",
        _by_name,
    ),
)
