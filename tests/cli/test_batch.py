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


def test_what_was_odd_is_counted_and_an_error_where_it_is_asked(files: Path) -> None:
    texts = ["Hi", CALL[:-20], CALL.replace("}}", ",}}"), CALL[:-18], None]
    (files / "odd.jsonl").write_text("".join(json.dumps({"generated_text": text}) + "\n" for text in texts))
    asked = ["batch", "parse", str(files / "odd.jsonl"), str(files / "out.jsonl"), "--format", str(files / "made.toml")]
    told = json.loads(call(*asked, "--json"))
    codes = {"E-PARSE-TRUNCATED": 2, "E-PARSE-REPAIRED": 1, "E-BATCH-COLUMN": 1}
    assert (told["written"], told["bad_rows"], told["diagnosed_rows"], told["codes"]) == (4, 1, 3, codes)
    shown = call(*asked, "--overwrite")
    assert "3 rows with diagnostics" in shown
    assert "  E-PARSE-TRUNCATED: 2\n" in shown
    told = json.loads(call(*asked, "--overwrite", "--strict", "--json", code=1))
    assert (told["written"], told["bad_rows"], told["diagnosed_rows"], told["codes"]) == (1, 4, 0, codes)
    (files / "good.jsonl").write_text(json.dumps({"generated_text": CALL}) + "\n")
    asked[2] = str(files / "good.jsonl")
    assert json.loads(call(*asked, "--overwrite", "--strict", "--json"))["codes"] == {}


def test_the_state_at_the_start_is_an_option_of_both(files: Path) -> None:
    made = ["--format", str(files / "made.toml"), "--tools", str(files / "tools.json")]
    (files / "in.jsonl").write_text('{"generated_text": "hm</note>Hi."}\n{"generated_text": null, "tools": 3}\n')
    assert run(files, "parse", *made, "--reasoning", "open")["reasoning_content"] == "hm"
    shape = ["--dialect", "gbnf", *made, "--tool-choice", "required"]
    for state, accepted in (("open", True), ("closed", False)):
        (files / "constrain.jsonl").unlink(missing_ok=True)
        (files / "constrain.jsonl.errors.jsonl").unlink(missing_ok=True)
        found = run(files, "constrain", *shape, "--reasoning", state)
        assert sg.Grammar.from_gbnf(str(found["grammar"])).accepts("hm</note>" + CALL) is accepted
