from __future__ import annotations

import json
from pathlib import Path

import pytest

import syntagma as sg
from syntagma.recording import record
from tests.cli.test_cli import call, failure


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    recorder = record(sg.formats.get("hermes"), prompt="user: hi\nassistant: ")
    for chunk in ("Hello", " there", b"!\xc3", b"\xa4"):
        recorder.feed(chunk)
    recorder.finish("stop")
    path = tmp_path / "answer.json"
    path.write_bytes(recorder.bundle().to_json())
    return path


@pytest.mark.parametrize("chunks", ["as-came", "whole", "each-character"])
def test_a_recording_is_parsed_again(bundle: Path, chunks: str) -> None:
    text = call("replay", str(bundle), "--chunks", chunks, "--prompt")
    assert "format hermes (sha256 " in text
    assert "4 chunks" in text
    assert 'prompt: "user: hi' in text
    assert text.rstrip().endswith("same: events and message are as recorded")
    answer = json.loads(call("replay", str(bundle), "--chunks", chunks, "--json"))
    assert answer["same"] is True
    assert answer["message"]["content"] == "Hello there!ä"
    assert call("replay", "-", text=bundle.read_text()).splitlines()[0] == text.splitlines()[0]


def test_what_differs_is_shown(bundle: Path) -> None:
    changed = json.loads(bundle.read_text())
    changed["message"]["content"] = "Bye"
    bundle.write_text(json.dumps(changed))
    text = call("replay", str(bundle), code=1)
    assert 'different at /message/content\n  recorded: "Bye"\n  now:      "Hello there!ä"' in text
    answer = json.loads(call("replay", str(bundle), "--json", code=1))
    assert answer["difference"] == {"pointer": "/message/content", "recorded": "Bye", "now": "Hello there!ä"}


def test_another_format_can_be_tried(bundle: Path) -> None:
    assert "same:" in call("replay", str(bundle), "--format", "qwen3")
    assert failure("replay", str(bundle), "--format", "nonsense")["code"].startswith("E-FORMAT")


def test_what_is_no_recording_is_said_with_its_file(bundle: Path) -> None:
    bundle.write_text("{}")
    error = failure("replay", str(bundle))
    assert (error["code"], error["source"]) == ("E-RECORDING-BUNDLE", str(bundle))
