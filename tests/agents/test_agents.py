"""Whole programs that work in steps by themselves: the model calls one of their tools, sees the result, and answers."""

from __future__ import annotations

import logging
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agents.agents import AGENTS, Agent, run
from tests.agents.engine import Scene
from tests.agents.notations import NOTATIONS, THOUGHTS
from tests.environments import HOME

_TASK = "What does the note in this folder say?"
_WRITTEN = "KESTREL-77"
"""what stands in the file, and nowhere else"""
_PREAMBLE = "I look into the file."
_ANSWER = f"The note has one word only, {_WRITTEN}."
_HERE = [agent for agent in AGENTS if Path(os.environ.get(HOME, "-agents-")).name.endswith(f"-agents-{agent.id}")]


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("agent", _HERE, ids=lambda agent: agent.endpoint)
def test_loop(
    agent: Agent,
    notation: str,
    scene: Scene,
    *,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    record_property: Callable[[str, str], None],
) -> None:
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
    assert (len(scene.called), bool(scene.ended)) == (1, True), "the call is made once, and its result comes back"
    last = scene.ended[0]
    thinks = NOTATIONS[notation].thinks
    said = {"text": (agent.says or _PREAMBLE) in last, "reasoning": THOUGHTS in last or not thinks}
    lost = {what for what in agent.drops.get(agent.endpoint, ()) if thinks or what != "reasoning"}
    assert {what for what, is_there in said.items() if not is_there} == lost
    assert {one.path for one in scene.answered if one.path != "/v1/models"} == {agent.endpoint}
    assert sum(one.streamed for one in scene.answered) >= 2
    assert {one.status for one in scene.answered} == {200}
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [one.getMessage() for one in told if not any(part in one.getMessage() for part in agent.warns)] == []
    ignored = {name for one in scene.answered for name in one.ignored.split(", ") if name}
    record_property("ignored", " ".join(sorted({re.sub(r"\[\d+\]", "[]", name) for name in ignored})))
