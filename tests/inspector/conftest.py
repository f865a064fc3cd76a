"""One inspector of the shipped model for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from syntagma import embedded
from syntagma.codec import ChatCodec
from syntagma.inspector import Inspector


@pytest.fixture(scope="session")
def inspector() -> Iterator[Inspector]:
    model = embedded.load()
    made = Inspector(model, ChatCodec.from_pretrained(model.path))
    yield made
    made.close()
