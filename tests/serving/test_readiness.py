"""`/health` and `/ready`: the process answers; its engines answer."""

from __future__ import annotations

from starlette.testclient import TestClient

from syntagma import upstreams
from syntagma.serving import ServedModel, create_app
from tests.serving.support import client
from tests.upstreams.mock import MockEngine
from tests.upstreams.wires import CODEC, WIRES, address_of


def test_a_model_that_computes_here_is_ready() -> None:
    assert client().get("/ready").json() == {"status": "ok"}


def test_an_engine_that_leaves_and_comes_back() -> None:
    engine = MockEngine(WIRES["llamacpp"])
    with engine:
        served = ServedModel(upstreams.connect(address_of("llamacpp", engine.url)), CODEC, name="far")
    with TestClient(create_app(served)) as caller:
        answer = caller.get("/ready")
        assert answer.status_code == 503
        error = answer.json()["error"]
        assert error["code"] == "E-REQUEST-NOT-READY"
        assert "far" in error["message"]
        # Where the engine stands is the operator's business.
        assert str(engine.port) not in answer.text
        assert caller.get("/health").status_code == 200
        with engine:
            assert caller.get("/ready").status_code == 200
