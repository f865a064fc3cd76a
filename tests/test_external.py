"""The suites of outside cases, where their data is at hand."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def _runner() -> ModuleType:
    path = Path(__file__).parent / "external" / "run.py"
    spec = importlib.util.spec_from_file_location("external_run", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


RUNNER = _runner()


@pytest.mark.parametrize("suite", RUNNER.SUITES)
def test_every_outside_case_passes(suite: str) -> None:
    if not RUNNER.is_there(suite, RUNNER.DEFAULT_DATA):
        pytest.skip(f"no data for {suite}")
    result = RUNNER.run_suite(suite, RUNNER.DEFAULT_DATA)
    assert result.total > 0
    assert RUNNER.unknown_failures(suite, result) == {}
