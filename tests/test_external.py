"""The suites of outside cases, where their data is at hand."""

from __future__ import annotations

import importlib.util
import json
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


LONG = ("autoparser", "conversations", "jumps", "vocabularies")


@pytest.mark.parametrize(
    "suite", [pytest.param(suite, marks=[pytest.mark.long] * (suite in LONG)) for suite in RUNNER.SUITES]
)
def test_every_outside_case_passes(suite: str) -> None:
    if not RUNNER.is_there(suite, RUNNER.DEFAULT_DATA):
        pytest.skip(f"no data for {suite}")
    result = RUNNER.run_suite(suite, RUNNER.DEFAULT_DATA)
    assert result.total > 0
    assert RUNNER.unknown_failures(suite, result) == {}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"mode": "sing"}, "unknown: mode sing"),
        ({"colour": "red"}, "unknown: colour"),
        ({"options": {"colour": "red"}}, "unknown: option colour"),
        ({"expected": {"messages_count": 0, "colour": "red"}}, "unknown: expected colour"),
        ({"mode": "stream", "options": {"chunking": "by moons"}}, "unknown: chunking by moons"),
        (
            {"mode": "router", "options": {"tools": {"a": {"colour": 1}}}},
            "unknown: expected messages_count, tool colour",
        ),
    ],
)
def test_what_a_case_says_is_known_or_reported(tmp_path: Path, change: dict[str, object], problem: str | None) -> None:
    case = {"id": "a", "mode": "parse", "input": "", "options": {}, "expected": {"messages_count": 0}, **change}
    folder = tmp_path / "openchatml"
    folder.mkdir()
    (folder / "vectors.jsonl").write_text(json.dumps(case))
    harmony = [{"id": "b", "kind": "dance"}, {"id": "c", "kind": "render", "method": "m", "config": {"colour": 1}}]
    (folder / "harmony_vectors.jsonl").write_text("\n".join(map(json.dumps, harmony)))
    failed = {"b": "unknown: kind dance", "c": "unknown: config colour, method m"}
    assert RUNNER.run_suite("openchatml", tmp_path).failed == failed | ({"a": problem} if problem else {})
