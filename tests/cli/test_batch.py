from __future__ import annotations

import json
from pathlib import Path

import pytest

import syntagma as sg
from tests.batch.rows import CALL, FORMAT, TEMPLATE, WEATHER
from tests.cli.test_cli import call, failure


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "made.toml").write_text(FORMAT)
    (tmp_path / "made.jinja").write_text(TEMPLATE)
    (tmp_path / "tools.json").write_text(json.dumps([WEATHER]))
    rows = [
        {"messages": [{"role": "user", "content": "Oslo?"}], "generated_text": "<note>hm</note>" + CALL},
        {"messages": None, "generated_text": None, "tools": 3},
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def run(files: Path, verb: str, *options: str) -> dict[str, object]:
    """The only row of the target; the other row is in the side file."""
    target = files / f"{verb}.jsonl"
    told = json.loads(call("batch", verb, str(files / "in.jsonl"), str(target), *options, "--json"))
    assert (told["rows"], told["written"], told["bad_rows"]) == (2, 1, 1)
    assert [json.loads(one)["row"] for one in Path(told["errors"]).read_text().splitlines()] == [2]
    found: dict[str, object] = json.loads(target.read_text())
    return found


def test_parse(files: Path) -> None:
    found = run(files, "parse", "--format", str(files / "made.toml"), "--tools", str(files / "tools.json"))
    assert (found["reasoning_content"], found["finish_reason"]) == ("hm", "tool_calls")


@pytest.mark.parametrize("options", [[], ["--as-is"]])
def test_render(files: Path, options: list[str]) -> None:
    found = run(
        files, "render", "--template", str(files / "made.jinja"), "--tools", str(files / "tools.json"), *options
    )
    assert str(found["prompt"]).endswith("<|user|>Oslo?<|end|><|assistant|>")
    assert "weather" in str(found["prompt"])


def test_constrain(files: Path) -> None:
    options = ["--format", str(files / "made.toml"), "--tools", str(files / "tools.json"), "--tool-choice", "required"]
    found = run(files, "constrain", "--dialect", "gbnf", *options)
    grammar = sg.Grammar.from_gbnf(str(found["grammar"]))
    assert grammar.accepts(CALL)
    assert not grammar.accepts("Oslo.")


def test_the_summary_for_people(files: Path) -> None:
    target = files / "out.jsonl"
    text = call("batch", "parse", str(files / "in.jsonl"), str(target), "--format", str(files / "made.toml"))
    assert f"{target}: 1 of 2 rows" in text
    assert "out.jsonl.errors.jsonl: 1 rows" in text


def test_mistakes_are_told(files: Path) -> None:
    source, target, made = str(files / "in.jsonl"), str(files / "out.jsonl"), str(files / "made.toml")
    verb = ("batch", "parse", source, target)
    assert failure(*verb)["code"] == "E-REQUEST-ARGUMENT"
    assert failure(*verb, "--format", made, "--column", "odd")["code"] == "E-REQUEST-ARGUMENT"
    assert failure(*verb, "--format", made, "--column", "odd=x")["code"] == "E-BATCH-NAME"
    missing = failure(*verb, "--format", made, "--column", "generated_text=x")
    assert missing["code"] == "E-BATCH-MISSING"
    assert "generated_text" in missing["message"]
    assert (
        failure("batch", "constrain", source, target, "--format", made, "--dialect", "x")["code"] == "E-BATCH-DIALECT"
    )
    assert failure("batch", "parse", source, str(files / "out"), "--format", made)["code"] == "E-BATCH-SUFFIX"
    template = str(files / "made.jinja")
    wrong = failure("batch", "render", source, target, "--template", template, "--kwargs", str(files / "tools.json"))
    assert wrong["code"] == "E-REQUEST-FIELD"
