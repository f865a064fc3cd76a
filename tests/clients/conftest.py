"""Tests of clients run where there is a server for them, and are skipped elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.asks import HOST


@pytest.fixture(autouse=True)
def server() -> None:
    """Skip where no server runs."""
    if not HOST:
        pytest.skip("`make test-clients` runs this beside a server")


@pytest.fixture(autouse=True)
def endpoint(request: pytest.FixtureRequest) -> Any:
    """The endpoint that a test is about, which stands in its name; None: none in particular."""
    return getattr(request, "param", None)
