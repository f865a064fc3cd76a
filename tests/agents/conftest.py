"""The tests of a program run where its environment is, and are skipped elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.agents.engine import Scene, serving
from tests.agents.notations import TEMPLATES
from tests.environments import HOME


@pytest.fixture(scope="session")
def scene() -> Iterator[Scene]:
    """The server that the program asks."""
    if HOME not in os.environ:
        pytest.skip("`make test-agents` runs this in environments of their own")
    if not TEMPLATES.is_dir():
        pytest.skip(f"no templates in {TEMPLATES}")
    with serving() as found:
        yield found
