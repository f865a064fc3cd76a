"""Runs that are killed, as a machine does it: no row is lost, none is there twice, and no process is left over."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from syntagma.batch import Parse, process_file
from tests.batch.rows import FORMAT, answer, made_format

ROWS = 15_000
"""enough for seconds of work, so that a run is still at it when it is killed"""
SECONDS = 60
"""after which a step that should have been taken is an error"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kill")
    (folder / "made.toml").write_text(FORMAT)
    with (folder / "in.jsonl").open("w") as file:
        for number in range(ROWS):
            text = None if number % 500 == 7 else answer(number)
            file.write("{\n" if number % 900 == 5 else json.dumps({"id": number, "generated_text": text}) + "\n")
    process_file(Parse(made_format()), folder / "in.jsonl", folder / "whole.jsonl")
    return folder


def started(folder: Path, target: Path, workers: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "syntagma", "batch", "parse", str(folder / "in.jsonl"), str(target)]
    options = ["--format", str(folder / "made.toml"), "--workers", str(workers), "--chunk-rows", "200", "--json"]
    # Tests that run in the background of a shell ignore interrupts, and what they start would, too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, before)


def committed(target: Path) -> int:
    """How often the run has noted where it is."""
    journal = target.with_name(target.name + ".journal")
    return max(0, journal.read_text().count("\n") - 1) if journal.exists() else 0


def wait_for(what: Any) -> None:
    end = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.01)


def children(process: int) -> list[int]:
    """The processes that a process has started, where the system says so."""
    path = Path(f"/proc/{process}/task/{process}/children")
    return [int(one) for one in path.read_text().split()] if path.exists() else []


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.long), 2])
def test_a_killed_run_goes_on(folder: Path, workers: int) -> None:
    target = folder / f"out{workers}.jsonl"
    process = started(folder, target, workers)
    wait_for(lambda: committed(target) or process.poll() is not None)
    own = children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL, "it was over before it could be killed"
    assert not target.exists()
    wait_for(lambda: not any(map(alive, own)))
    # Once more, before anything new was noted: what was written meanwhile must be cut off again.
    process = started(folder, target, workers)
    partial = target.with_name(target.name + ".partial")
    size = partial.stat().st_size
    wait_for(lambda: partial.stat().st_size != size or process.poll() is not None)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    process = started(folder, target, workers)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, err
    summary = json.loads(out)
    assert 0 < summary["resumed_rows"] < summary["rows"] == ROWS
    assert target.read_bytes() == (folder / "whole.jsonl").read_bytes()
    side = [json.loads(one)["row"] for one in Path(summary["errors"]).read_text().splitlines()]
    assert side == [n + 1 for n in range(ROWS) if n % 900 == 5 or n % 500 == 7]
    assert [name for name in os.listdir(folder) if name.endswith((".partial", ".journal"))] == []


@pytest.mark.long
def test_an_interrupted_run_goes_on(folder: Path) -> None:
    target = folder / "interrupted.jsonl"
    process = started(folder, target, 2)
    wait_for(lambda: committed(target) or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, err.strip()) == (130, "stopped; run the same command to resume")
    process = started(folder, target, 2)
    process.communicate(timeout=SECONDS)
    assert target.read_bytes() == (folder / "whole.jsonl").read_bytes()
