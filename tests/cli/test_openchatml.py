from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from syntagma.cli.app import app

GOOD = "<|start|>user<|message|>hi<|end|>\n<|start|>assistant<|channel|>final<|message|>yo<|return|>"
BAD = "<|start|>user<|message|>hi<|end|>\n<|start|>king<|message|>x<|end|>"


def call(*arguments: str, text: str, code: int = 0) -> tuple[str, str]:
    done = CliRunner().invoke(app, ["openchatml", *arguments], input=text)
    assert done.exit_code == code, done.output + repr(done.exception)
    return done.stdout, done.stderr


@pytest.mark.parametrize("verb", ["parse", "render", "validate", "convert", "visible"])
def test_every_verb_has_help_and_json(verb: str) -> None:
    assert "--json" in call(verb, "--help", text="")[0]
    assert json.loads(call(verb, "--json", text=GOOD)[0])


def test_errors_have_a_place_and_a_caret() -> None:
    _, stderr = call("parse", text=BAD, code=2)
    assert "E-PARSE-HEADER" in stderr
    assert ":2:1" in stderr
    assert "\n^" in stderr
    error = json.loads(call("parse", "--json", text=BAD, code=2)[0])["error"]
    assert (error["code"], error["offset"]) == ("E-PARSE-HEADER", 34)
    shown, stderr = call("parse", "--lenient", text=BAD, code=1)
    assert "hi" in shown
    assert "E-PARSE-HEADER" in stderr


def test_validate_answers_by_exit_code() -> None:
    assert call("validate", text=GOOD)[0] == "valid\n"
    assert "R-001" in call("validate", "--require-header", text=GOOD, code=1)[1]


def test_convert(tmp_path: Path) -> None:
    made, _ = call("convert", "--to", "openai", text=GOOD)
    assert json.loads(made) == [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]
    path = tmp_path / "messages.json"
    path.write_text(made)
    text, _ = call("convert", "--from", "openai", "--to", "harmony", str(path), text="")
    assert text == GOOD.replace("\n", "").replace("<|return|>", "<|end|>") + "\n"
    assert call("convert", "--from", "harmony", "--to", "openchatml", text=text.strip())[0].count("<|start|>") == 2
    assert "E-REQUEST-JSON" in call("convert", "--from", "json", text="{", code=2)[1]


def test_visible() -> None:
    text = "<|start|>assistant<|channel|>analysis<|message|>secret<|end|>" + GOOD
    assert "secret" not in call("visible", text=text)[0]
    assert "secret" in call("visible", "--debug", text=text)[0]


def test_damaged_headers_are_recovered_under_the_harmony_profile() -> None:
    text = "<|channel|>analysis<|message|>r<|end|>commentary to=functions.f<|message|>{}<|call|>"
    for completion in ([], ["--completion"]):
        read = json.loads(call("parse", "--lenient", "--profile", "harmony", "--json", *completion, text=text)[0])
        assert [message["body"] for message in read["messages"]] == ["r", "{}"]
        assert read["messages"][1]["lacks"] == "beginning"
        assert not read["errors"]
    made = json.loads(call("convert", "--from", "harmony", "--to", "openai", "--completion", text=text)[0])
    (answer,) = made
    assert (answer["reasoning_content"], answer["tool_calls"][0]["function"]) == ("r", {"name": "f", "arguments": "{}"})
