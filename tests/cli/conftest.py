"""What commands change in the process that runs their tests."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def loggers_as_before() -> Iterator[None]:
    """`serve` sends the log to the standard error of its time; a later test has another one."""
    loggers = [logging.getLogger(name) for name in ("syntagma", "uvicorn")]
    before = [(logger, logger.handlers[:], logger.propagate, logger.level) for logger in loggers]
    yield
    for logger, handlers, propagate, level in before:
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)
