"""Whole programs that work in steps by themselves: the model calls one of their tools, sees the result, and answers."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from tests.agents.agents import AGENTS, Agent, run
from tests.agents.engine import Scene
from tests.agents.notations import NOTATIONS
from tests.environments import HOME

_TASK = "What does the file note.txt say?"
_WRITTEN = "KESTREL-77"
"""what stands in the file, and nowhere else"""
_PREAMBLE = "I look into the file."
_ANSWER = f"The note has one word only, {_WRITTEN}."
_HERE = [agent for agent in AGENTS if Path(os.environ.get(HOME, "-agents-")).name.endswith(f"-agents-{agent.id}")]


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("agent", _HERE, ids=lambda agent: agent.endpoint)
def test_loop(
    agent: Agent, notation: str, home: Path, scene: Scene, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "note.txt").write_text(f"{_WRITTEN}\n")
    arguments = {
        key: value.replace("FOLDER", str(work)) if isinstance(value, str) else value
        for key, value in agent.call.arguments.items()
    }
    scene.begin((agent.call.name, arguments), _WRITTEN, _PREAMBLE, _ANSWER)
    with caplog.at_level(logging.INFO, "syntagma"):
        ended = run(agent, environment=home, folder=tmp_path, url=scene.url, model=notation, task=_TASK)
    print(ended.output, *scene.answered, *(f"{r.levelname} {r.getMessage()}" for r in caplog.records), sep="\n")
    assert ended.status == 0, "the program failed" if ended.status is not None else "the program did not end"
    assert _ANSWER in ended.output
    called, *_, last = scene.prompts
    assert _WRITTEN not in called
    assert _WRITTEN in last
    assert {one.path for one in scene.answered if one.path != "/v1/models"} == {agent.endpoint}
    assert {one.status for one in scene.answered} == {200}
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [one.getMessage() for one in told if not any(part in one.getMessage() for part in agent.warns)] == []
