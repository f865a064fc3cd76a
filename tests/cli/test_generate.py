"""`syntagma generate`: what comes out is what was asked for, and what is wrong is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from syntagma.cli.app import app
from tests.cli.test_cli import call, failure

SCHEMA = {"type": "object", "properties": {"city": {"enum": ["Oslo", "Lima"]}}, "required": ["city"]}
TOOLS = [{"type": "function", "function": {"name": "look_up", "parameters": SCHEMA}}]
TAG = {"type": "structural_tag", "format": {"type": "const_string", "value": "so be it"}}


def in_file(folder: Path, name: str, value: Any) -> str:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return str(path)


def test_an_answer_by_schema(tmp_path: Path) -> None:
    answer = json.loads(
        call("generate", "Where?", "--grammar", in_file(tmp_path, "schema.json", SCHEMA), "--seed", "3")
    )
    assert answer["city"] in ("Oslo", "Lima")


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("answer.gbnf", 'root ::= "a" "b"', "ab"),
        ("answer.ebnf", 'start ::= "c" "d";', "cd"),
        ("answer.lark", 'start: "e" "f"', "ef"),
        ("answer.regex", "gh", "gh"),
        ("answer.json", json.dumps(TAG), "so be it"),
    ],
)
def test_an_answer_by_grammar(tmp_path: Path, name: str, text: str, wanted: str) -> None:
    assert call("generate", "Say it.", "--grammar", in_file(tmp_path, name, text)).strip() == wanted


def test_an_answer_by_pattern_to_what_stands_on_standard_input() -> None:
    assert call("generate", "-", "--regex", "yes|no", text="Is it so?").strip() in ("yes", "no")


def test_words_that_resemble_keywords_are_named(tmp_path: Path) -> None:
    given = ["--grammar", in_file(tmp_path, "answer.json", {"enum": ["a"], "requird": []})]
    done = CliRunner().invoke(app, ["generate", "Which?", *given])
    assert done.exit_code == 0
    assert "did you mean required?" in done.stderr
    assert done.stdout.strip() == '"a"'
    done = CliRunner().invoke(app, ["generate", "Which?", *given, "--json"])
    assert json.loads(done.stdout)["content"] == '"a"'


@pytest.mark.parametrize("choice", ["required", "look_up"])
def test_calls_are_lines(tmp_path: Path, choice: str) -> None:
    tools = in_file(tmp_path, "tools.json", TOOLS)
    (line,) = call("generate", "Where?", "--tools", tools, "--tool-choice", choice, "--seed", "1").splitlines()
    written = json.loads(line)
    assert written["name"] == "look_up"
    assert json.loads(written["arguments"])["city"] in ("Oslo", "Lima")


def test_a_conversation_in_another_format_as_json_and_as_events(tmp_path: Path) -> None:
    asked = ["--messages", in_file(tmp_path, "messages.json", [{"role": "user", "content": "Where?"}])]
    asked += ["--tools", in_file(tmp_path, "tools.json", TOOLS), "--tool-choice", "required", "--format", "hermes"]
    asked += ["--seed", "5"]
    message = json.loads(call("generate", *asked, "--json"))
    assert message["tool_calls"][0]["name"] == "look_up"
    events = [json.loads(line) for line in call("generate", *asked, "--events").splitlines()]
    assert [event["type"] for event in events][-1] == "message_end"
    assert "".join(event.get("arguments", "") for event in events) == message["tool_calls"][0]["arguments"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], "E-REQUEST-ARGUMENT"),
        (["a", "--messages", "b.json"], "E-REQUEST-ARGUMENT"),
        (["a", "--grammar", "b", "--regex", "c"], "E-REQUEST-ARGUMENT"),
        (["a", "--grammar", "nowhere.gbnf"], "E-REQUEST-FILE"),
        (["a", "--model", "nobody:x"], "E-MODEL-SOURCE"),
        (["a", "--tool-choice", "required"], "E-REQUEST-TOOL-CHOICE"),
    ],
)
def test_what_is_wrong_is_said(arguments: list[str], code: str) -> None:
    assert failure("generate", *arguments)["code"] == code
