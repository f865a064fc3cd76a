"""Whole programs that work in steps by themselves: the model calls one of their tools, sees the result, and answers."""

from __future__ import annotations

import logging
import os
import subprocess
from pathlib import Path

import pytest

from tests.agents.agents import AGENTS, Agent, run
from tests.agents.engine import Scene
from tests.agents.notations import NOTATIONS
from tests.environments import HOME

_TASK = "What does the note in this folder say?"
_WRITTEN = "KESTREL-77"
"""what stands in the file, and nowhere else"""
_PREAMBLE = "I look into the file."
_ANSWER = f"The note has one word only, {_WRITTEN}."
_HERE = [agent for agent in AGENTS if Path(os.environ.get(HOME, "-agents-")).name.endswith(f"-agents-{agent.id}")]


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("agent", _HERE, ids=lambda agent: agent.endpoint)
def test_loop(agent: Agent, notation: str, scene: Scene, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "note.txt").write_text(f"{_WRITTEN}\n")
    for command in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *command], cwd=work, check=True)
    scene.begin(agent.call_in(work), _WRITTEN, agent.says or _PREAMBLE, _ANSWER)
    with caplog.at_level(logging.INFO, "syntagma"):
        ended = run(agent, folder=tmp_path, url=scene.url, model=notation, task=_TASK)
    print(ended.output, *scene.answered, *(f"{r.levelname} {r.getMessage()}" for r in caplog.records), sep="\n")
    assert ended.status == 0, "the program failed" if ended.status is not None else "the program did not end"
    assert _ANSWER in ended.output
    called, *_, last = scene.prompts
    assert _WRITTEN not in called
    assert _WRITTEN in last
    assert (agent.says or _PREAMBLE) in last
    assert {one.path for one in scene.answered if one.path != "/v1/models"} == {agent.endpoint}
    assert sum(one.streamed for one in scene.answered) >= 2
    assert {one.status for one in scene.answered} == {200}
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [one.getMessage() for one in told if not any(part in one.getMessage() for part in agent.warns)] == []
