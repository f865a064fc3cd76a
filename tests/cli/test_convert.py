from __future__ import annotations

import json
from pathlib import Path

import pytest

from syntagma.cli import convert as command
from syntagma.conversion import FORMS
from tests.cli.test_cli import call, failure

MESSAGES = [{"role": "user", "content": "Hello", "name": "Ann"}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "chat.json").write_text(json.dumps({"messages": MESSAGES}))
    lines = [json.dumps({"messages": MESSAGES}), "", json.dumps({"messages": [{"role": "user", "content": "Bye"}]})]
    (tmp_path / "chats.jsonl").write_text("\n".join(lines))
    return tmp_path


def test_the_command_names_every_form() -> None:
    assert tuple(form.value for form in command._Target) == FORMS
    assert {form.value for form in command._Source} == {"auto", *FORMS}


def test_a_conversation_is_converted(folder: Path) -> None:
    path = str(folder / "chat.json")
    assert json.loads(call("convert", path, "--to", "hf")) == {"messages": MESSAGES}
    answer = json.loads(call("convert", path, "--to", "anthropic", "--json"))
    assert answer["source"] == "openai"
    assert answer["document"] == {"messages": [{"role": "user", "content": "Hello"}]}
    assert [loss["pointer"] for loss in answer["losses"]] == ["/messages/0/name"]
    text = call("convert", path, "--to", "harmony")
    assert text == "<|start|>user<|message|>Hello<|end|>\n"
    assert json.loads(call("convert", "--to", "openai", text=text))["messages"][0]["content"] == "Hello"


def test_lines_stay_lines(folder: Path) -> None:
    target = folder / "out.jsonl"
    call("convert", str(folder / "chats.jsonl"), "--to", "openchatml", "--output", str(target))
    texts = [json.loads(line)["text"] for line in target.read_text().splitlines()]
    assert texts == ["<|start|>user name=Ann<|message|>Hello<|end|>", "<|start|>user<|message|>Bye<|end|>"]
    back = [json.loads(line) for line in call("convert", str(target), "--to", "openai").splitlines()]
    assert back[0] == {"messages": MESSAGES}
    reports = [json.loads(line) for line in call("convert", str(target), "--to", "hf", "--json").splitlines()]
    assert [report["line"] for report in reports] == [1, 2]
    # Lines are known without the name of a file, too.
    assert len(call("convert", "--to", "hf", text=target.read_text()).splitlines()) == 2


def test_strict_writes_nothing_that_is_not_all(folder: Path) -> None:
    target = folder / "out.json"
    path = str(folder / "chat.json")
    assert call("convert", path, "--to", "anthropic", "--strict", "--output", str(target), code=1) == ""
    assert not target.exists()
    assert json.loads(call("convert", path, "--to", "anthropic", "--strict", "--json", code=1))["document"] is None
    call("convert", path, "--to", "openai", "--strict", "--output", str(target))
    assert json.loads(target.read_text()) == {"messages": MESSAGES}
    assert sorted(one.name for one in folder.iterdir()) == ["chat.json", "chats.jsonl", "out.json"]


def test_a_mistake_is_said_with_file_and_line(folder: Path) -> None:
    path = folder / "bad.jsonl"
    path.write_text('{"messages": []}\n{"messages": [{"role": 3}]}\n')
    error = failure("convert", str(path), "--to", "hf", "--output", str(folder / "out"))
    assert (error["source"], error["line"], error["pointer"]) == (str(path), 2, "/messages/0/role")
    assert not (folder / "out").exists()
    path.write_text('{"messages": []}\n{"messages": [\n')
    error = failure("convert", str(path), "--to", "hf", "--output", str(folder / "out"))
    assert (error["code"], error["line"]) == ("E-REQUEST-JSON", 2)
    assert not (folder / "out").exists()
    assert failure("convert", str(folder / "none.json"), "--to", "hf")["source"] == str(folder / "none.json")
    path.write_bytes(b"\xff\xfe")
    assert failure("convert", str(path), "--to", "hf")["code"] == "E-REQUEST-FILE"
    path.write_text("")
    assert failure("convert", str(path), "--to", "hf")["message"] == "the file is empty"
    path.write_text("Hello.")
    assert failure("convert", str(path), "--to", "hf")["code"] == "E-CONVERT-FORM"
    nowhere = str(folder / "no" / "out.json")
    assert failure("convert", str(folder / "chat.json"), "--to", "hf", "--output", nowhere)["source"] == nowhere
