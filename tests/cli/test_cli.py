from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from syntagma.cli.app import app
from syntagma.errors import SyntagmaError
from tests.serving.support import CALL, FORMAT, TEMPLATE, WEATHER

VERBS = ["analyze", "formats", "render", "parse", "grammar", "mask", "generate", "serve", "demo"]


def call(*arguments: str, text: str = "", code: int = 0) -> str:
    done = CliRunner().invoke(app, arguments, input=text)
    assert done.exit_code == code, done.output + repr(done.exception)
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done.stdout


def failure(*arguments: str, text: str = "") -> dict[str, Any]:
    """What a verb says of a mistake, with `--json`; the same without must be for people, on stderr."""
    done = CliRunner().invoke(app, arguments, input=text)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    answer = json.loads(call(*arguments, "--json", text=text, code=2))
    error: dict[str, Any] = answer["error"]
    assert error["code"] in done.stderr
    assert error["message"] in done.stderr
    return error


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "made.toml").write_text(FORMAT)
    (tmp_path / "made.jinja").write_text(TEMPLATE)
    (tmp_path / "tools.json").write_text(json.dumps([WEATHER]))
    (tmp_path / "messages.json").write_text(json.dumps([{"role": "user", "content": "hi"}]))
    (tmp_path / "answer.txt").write_text("<note>hm</note>well" + CALL)
    (tmp_path / "yes.ebnf").write_text('start ::= "yes" | "no" rest?\nrest ::= "pe"\n')
    (tmp_path / "bad.ebnf").write_text('start ::= "yes" |\n  missing\n')
    (tmp_path / "small.json").write_text(json.dumps({"type": "object", "properties": {"a": {"type": "integer"}}}))
    return tmp_path


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_json(verb: str) -> None:
    help_text = call(verb, "--help")
    assert "--json" in help_text
    assert "Usage" in help_text


def test_the_command_alone_lists_the_verbs() -> None:
    text = call("--help")
    assert all(verb in text for verb in VERBS)
    assert call("--version").strip()


def test_a_missing_library_is_reported_in_one_line() -> None:
    code = "import sys; sys.modules['typer'] = None; from syntagma.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "pip install typer" in done.stderr


def test_a_shell_completes_commands() -> None:
    code = "import sys; sys.argv = ['syntagma']; from syntagma.cli import main; main()"
    asked = {"_SYNTAGMA_COMPLETE": "complete_bash", "COMP_WORDS": "syntagma gra", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ, **asked}
    )
    assert done.stdout.split() == ["grammar"]


def test_formats_lists_and_prints() -> None:
    names = json.loads(call("formats", "--json"))
    assert names == call("formats").split()
    assert "[tools]" in call("formats", names[0])
    spec = json.loads(call("formats", names[0], "--json"))
    assert json.dumps(spec["tools"]["call"][0]["text"], ensure_ascii=False) in call("formats", names[0])
    assert failure("formats", "no-such-format")["code"] == "E-FORMAT-UNKNOWN"


def test_render(files: Path) -> None:
    template = str(files / "made.jinja")
    prompt = call("render", template, "--messages", str(files / "messages.json"))
    assert prompt == "<user>hi<end><assistant>\n"
    with_tools = call(
        "render", template, "--tools", str(files / "tools.json"), "--json", text='[{"role": "user", "content": "x"}]'
    )
    answer = json.loads(with_tools)
    assert "weather" in answer["prompt"]
    assert answer["prompt"][answer["start"] :] in ("<assistant>", "")
    request = json.dumps({"messages": [{"role": "user", "content": "x"}], "tools": [WEATHER]})
    assert "weather" in call("render", template, text=request)
    closed = call("render", template, "--no-generation-prompt", "--messages", str(files / "messages.json"))
    assert closed == "<user>hi<end>\n"
    shown = call("render", template, "--segments", "--messages", str(files / "messages.json"))
    assert shown.splitlines() == ['template  "<user>"', 'user      "hi"', 'template  "<end><assistant>"']
    told = json.loads(call("render", template, "--segments", "--json", "--messages", str(files / "messages.json")))
    assert "".join(segment["text"] for segment in told["segments"]) == told["prompt"]
    assert told["segments"][1] == {"origin": "user", "text": "hi"}


def test_parse(files: Path) -> None:
    given = ["parse", str(files / "answer.txt"), "--format", str(files / "made.toml")]
    message = json.loads(call(*given))
    assert message["content"] == "well"
    assert message["reasoning_content"] == "hm"
    (made,) = message["tool_calls"]
    assert made["function"]["name"] == "weather"
    assert json.loads(made["function"]["arguments"]) == {"city": "Oslo", "days": 2}
    events = [json.loads(line) for line in call(*given, "--events").splitlines()]
    assert events[-1] == events[-1] | {"type": "message_end", "finish_reason": "tool_calls"}
    assert json.loads(call(*given, "--json"))["tool_calls"][0]["complete"] is True
    assert json.loads(call("parse", "--format", str(files / "made.toml"), text="hello"))["content"] == "hello"


def test_analyze_and_parse_by_template(files: Path) -> None:
    template = str(files / "made.jinja")
    plain = files / "plain.jinja"
    plain.write_text(TEMPLATE.replace("{%- if opened -%}<note>{%- endif -%}", ""))
    text = call("analyze", str(plain))
    assert "[tools]" in text
    assert "certificate: clean, but:" in text
    assert "# messages" not in text
    assert "#   calls 1: works" in call("analyze", str(plain), "--verbose")
    assert "certificate: not clean" in call("analyze", template, code=1)
    analysis = json.loads(call("analyze", template, "--json", code=1))
    assert {"format", "chosen", "capabilities", "certificate"} <= set(analysis)
    message = json.loads(call("parse", str(files / "answer.txt"), "--template", template))
    assert message["tool_calls"][0]["function"]["name"] == "weather"


CONFORMANCE = Path(__file__).parents[2] / "conformance" / "templates"
TEA = [{"name": "brew", "parameters": {"type": "object", "properties": {"leaf": {"type": "string"}}}}]


def test_analyze_prints_one_thing_where_it_is_asked(tmp_path: Path) -> None:
    template = str(CONFORMANCE / "tags-json.jinja")
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(TEA))
    expected = (CONFORMANCE / "tags-json.toml").read_text()
    assert tomllib.loads(call("analyze", template, "--toml")).keys() == tomllib.loads(expected).keys()
    assert json.loads(call("analyze", template, "--response-template"))["start_anchor"] == "<|bot|>"
    gbnf = call("analyze", template, "--gbnf", "--tools", str(tools))
    assert gbnf == call("grammar", "--template", template, "--gbnf", "--tools", str(tools)).split("# preserved")[0]
    assert "brew" in gbnf
    assert "brew" not in call("analyze", template, "--gbnf")
    both = json.loads(call("analyze", template, "--json", "--gbnf", "--trace"))
    assert both["gbnf"].startswith("root ::=")
    assert both["layout"]["reasoning_mode"] == "tag_based"


def test_analyze_shows_pairs_of_renders_and_a_turn() -> None:
    text = call("analyze", str(CONFORMANCE / "tagged-arguments.jinja"), "--trace")
    assert "argument_kind: text_each" in text
    assert re.search(r"default: '.*', reasoning done", text)
    assert "<item=place>\nRome\n</item>" in text  # the turn
    assert "[[<item=" in text  # what a further argument adds
    steps = re.findall(r"^# ([A-Z]\d):", text, re.MULTILINE)
    assert {"C1", "T1", "T2", "T5", "A1", "G1"} <= set(steps)


def test_grammar_of_a_turn(tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(TEA))
    written = tmp_path / "turn.txt"
    written.write_text('<invoke>\n{"name": "brew", "arguments": {"leaf": "mint"}}\n</invoke>')
    given = ("--format", str(CONFORMANCE / "tags-json.toml"), "--tools", str(tools))
    assert call("grammar", *given, "--check", str(written)).startswith("accepted")
    written.write_text('<invoke>\n{"name": "boil", "arguments": {}}\n</invoke>')
    call("grammar", *given, "--check", str(written), code=1)
    assert failure("grammar", *given, "--regex", "a")["code"] == "E-REQUEST-ARGUMENT"


def test_analyze_of_what_is_not_clean(tmp_path: Path) -> None:
    template = tmp_path / "lists.jinja"
    listed = "{% for message in messages %}<{{ message.role }}>{{ message.content }}<end>{% endfor %}"
    template.write_text("{{ tools | tojson if tools else '' }}" + listed, encoding="utf-8")
    text = call("analyze", str(template), code=1)
    assert "certificate: not clean" in text
    assert "calls-not-written" in text
    assert json.loads(call("analyze", str(template), "--json", code=1))["certificate"]["clean"] is False


def test_grammar(files: Path) -> None:
    assert call("grammar", str(files / "yes.ebnf")).strip() == "exact"
    assert "yes" in call("grammar", str(files / "yes.ebnf"), "--ebnf")
    report = json.loads(call("grammar", str(files / "small.json"), "--json", "--ebnf", "--lnf"))
    assert report["status"] == "exact"
    assert report["ebnf"]
    assert report["lnf"]
    assert call("grammar", "--regex", "[a-z]+").strip() == "exact"


def test_grammar_prints_what_is_odd(tmp_path: Path) -> None:
    (tmp_path / "odd.ebnf").write_text('start ::= "a" ;\nrest ::= "b" ;\n')
    report = json.loads(call("grammar", str(tmp_path / "odd.ebnf"), "--json"))
    assert [(warning["code"], warning["line"]) for warning in report["warnings"]] == [("W-GRAMMAR-UNUSED", 2)]
    done = CliRunner().invoke(app, ["grammar", str(tmp_path / "odd.ebnf")])
    assert done.stdout.strip() == "exact"
    assert done.stderr.startswith("W-GRAMMAR-UNUSED: ")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("yes.gbnf", 'root ::= "yes" | "nope"'),
        ("yes.lark", 'start: "yes" | "nope"'),
        ("tag.json", '{"type": "structural_tag", "format": {"type": "regex", "pattern": "yes|nope"}}'),
    ],
)
def test_grammar_reads_every_dialect(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    given = ["grammar", str(tmp_path / name)]
    assert json.loads(call(*given, "--check", "-", "--json", text="nope"))["check"]["accepted"] is True
    assert call(*given, "--gbnf").startswith("root ::= ")
    report = json.loads(call(*given, "--cost", "--gbnf", "--json"))
    assert report["preserved_tokens"] == []
    assert report["cost"]["rules"] >= 1
    assert report["cost"]["compile_ms"] > 0
    assert report["cost"]["shortest_tokens"] <= report["cost"]["typical_tokens"]
    assert "first mask" in call(*given, "--cost")
    assert set(call(*given, "--examples", "1").split()) <= {"'yes'", "'nope'"}
    assert sorted(json.loads(call(*given, "--examples", "9", "--json"))["examples"]) == ["nope", "yes"]


def test_grammar_tells_the_dearest_keywords_of_a_schema(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"type": "object", "properties": {"a": {"minLength": 3, "type": "string"}}}')
    report = json.loads(call("grammar", str(tmp_path / "a.json"), "--cost", "--json"))
    assert [one["pointer"] for one in report["cost"]["keywords"]["keywords"]] == ["#/properties/a/minLength"]
    assert "#/properties/a/minLength: " in call("grammar", str(tmp_path / "a.json"), "--cost")


def test_grammar_lists_the_tokens_that_gbnf_must_preserve(tmp_path: Path) -> None:
    (tmp_path / "call.ebnf").write_text('start ::= @marker("<call>") "x" ;')
    assert "# preserved tokens: <call>" in call("grammar", str(tmp_path / "call.ebnf"), "--gbnf")


def test_grammar_writes_special_tokens_by_number(tmp_path: Path) -> None:
    tokens = {
        "version": "1.0",
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": {"x": 0, "[CALL]": 1, "[END]": 2}, "merges": []},
    }
    added = [{"id": 1, "content": "[CALL]", "special": True}]
    (tmp_path / "tokenizer.json").write_text(json.dumps({**tokens, "added_tokens": added}))
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": 2}')
    (tmp_path / "call.ebnf").write_text('start ::= @marker("[CALL]") "x" ;')
    given = ["grammar", str(tmp_path / "call.ebnf"), "--exports", "--gbnf", "--json"]
    by_text = json.loads(call(*given))
    assert by_text["preserved_tokens"] == ["[CALL]"]
    assert by_text["exports"]["lark"]["status"] == "no"
    by_number = json.loads(call(*given, "--lark", "--tokenizer", str(tmp_path / "tokenizer.json")))
    assert by_number["preserved_tokens"] == []
    assert "<[1]>" in by_number["gbnf"]
    assert "<[1]>" in by_number["lark"]
    assert by_number["exports"]["lark"]["status"] == "exact"


@pytest.mark.parametrize(
    ("text", "reason", "line", "column"),
    [
        ("yes", None, None, None),
        ("yes\n", None, None, None),
        ("nope", None, None, None),
        ("nap", "refused", 1, 2),
        ("ye", "incomplete", 1, 3),
        ("ye\n", "incomplete", 1, 3),
        ("nope\n\n", "refused", 1, 5),
    ],
)
def test_grammar_checks_a_text(
    files: Path, text: str, reason: str | None, line: int | None, column: int | None
) -> None:
    given = ["grammar", str(files / "yes.ebnf"), "--check", "-"]
    code = 0 if reason is None else 1
    check = json.loads(call(*given, "--json", text=text, code=code))["check"]
    assert check["accepted"] is (reason is None)
    assert (check.get("reason"), check.get("line"), check.get("column")) == (reason, line, column)
    shown = call(*given, text=text, code=code)
    assert shown.strip() == "accepted" if reason is None else f"{line}:{column}" in shown and "^" in shown
    if reason == "incomplete":
        assert "the text may not end here; 's' would end it" in shown
        assert "next may come: 's'" in shown


def test_grammar_says_why_an_instance_is_refused(files: Path) -> None:
    given = ["grammar", str(files / "small.json"), "--check", "-"]
    check = json.loads(call(*given, "--json", text='{"a": "x"}', code=1))["check"]
    assert check["column"] == 7
    assert "'0'-'9'" in check["expected"]
    assert "'-'" in call(*given, text='{"a": "x"}', code=1)
    # An order that is not declared, and one that is not known.
    call(*given, text='{"b": 0, "a": 1}', code=1)
    call(*given, "--order", "any", text='{"b": 0, "a": 1}')
    assert failure(*given, "--order", "sorted", text="{}")["code"] == "E-SCHEMA-OPTION"


def test_grammar_checks_what_it_does_not_hold(files: Path) -> None:
    (files / "tags.json").write_text(json.dumps({"type": "array", "uniqueItems": True}))
    given = ["grammar", str(files / "tags.json"), "--report", "--check", "-"]
    assert "/uniqueItems" in call(*given, text="[1, 2]")
    assert "non-unique" in call(*given, text="[1, 1]", code=1)
    assert failure("grammar", str(files / "tags.json"), "--strict")["code"] == "E-SCHEMA-WIDENED"


def test_grammar_warns_of_misspelt_keywords(files: Path) -> None:
    (files / "short.json").write_text(json.dumps({"type": "string", "maxLenght": 3}))
    assert json.loads(call("grammar", str(files / "short.json"), "--json"))["misspelt"] == {"/maxLenght": "maxLength"}
    function = {"name": "f", "parameters": {"type": "object", "requird": []}}
    (files / "f.json").write_text(json.dumps([{"type": "function", "function": function}]))
    given = ["grammar", "--format", "hermes", "--tools", str(files / "f.json"), "--json"]
    assert json.loads(call(*given))["misspelt"] == {"/tools/0/function/parameters/requird": "required"}
    done = CliRunner().invoke(app, ["grammar", str(files / "short.json")])
    assert "did you mean maxLength?" in done.output


def test_mask(files: Path) -> None:
    given = ["mask", str(files / "yes.ebnf"), "--tokenizer", "embedded"]
    start = json.loads(call(*given, "--json"))
    assert start["accepting"] is False
    assert {token["text"] for token in start["tokens"]} <= {"y", "ye", "yes", "n", "no", "nop", "nope"}
    assert start["allowed"] == len(start["tokens"])
    after = json.loads(call(*given, "--text", "no", "--json", "-n", "1"))
    assert after["accepting"] is True
    assert len(after["tokens"]) == 1
    assert "may end here" in call(*given, "--text", "no")
    assert failure(*given, "--text", "na")["offset"] == 1


def test_demo_shows_what_a_grammar_is_good_for() -> None:
    cases = json.loads(call("demo", "--json"))
    assert len(cases) == 2
    assert all(case["constrained"]["verdict"] == "valid" for case in cases)
    text = call("demo")
    assert text.count("=> valid") >= 2


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["render", "/nowhere/x.jinja"], "E-TEMPLATE-LOAD"),
        (["render", "{files}/made.jinja", "--messages", "/nowhere"], "E-REQUEST-FILE"),
        (["render", "{files}/made.jinja", "--messages", "{files}/made.toml"], "E-REQUEST-JSON"),
        (["analyze", "/nowhere"], "E-TEMPLATE-LOAD"),
        (["parse", "{files}/answer.txt"], "E-REQUEST-ARGUMENT"),
        (["parse", "{files}/answer.txt", "--format", "a", "--template", "b"], "E-REQUEST-ARGUMENT"),
        (["parse", "/nowhere", "--format", "{files}/made.toml"], "E-REQUEST-FILE"),
        (["parse", "--format", "{files}/nowhere.toml"], "E-REQUEST-FILE"),
        (["parse", "--format", "{files}/made.toml", "--reasoning", "odd"], "E-REQUEST-ARGUMENT"),
        (["grammar"], "E-REQUEST-ARGUMENT"),
        (["grammar", "{files}/yes.ebnf", "--regex", "a"], "E-REQUEST-ARGUMENT"),
        (["grammar", "/nowhere.ebnf"], "E-REQUEST-FILE"),
        (["mask", "{files}/yes.ebnf", "--tokenizer", "/nowhere/tokenizer.json"], None),
        (["serve", "--model", "/nowhere"], "E-MODEL-SOURCE"),
        (["serve", "--enforce", "odd"], "E-REQUEST-ARGUMENT"),
    ],
)
def test_mistakes_are_reported_without_a_traceback(files: Path, arguments: list[str], code: str | None) -> None:
    error = failure(*(argument.replace("{files}", str(files)) for argument in arguments), text="x")
    assert code is None or error["code"] == code


def test_a_bad_grammar_shows_its_place(files: Path) -> None:
    error = failure("grammar", str(files / "bad.ebnf"))
    assert error["line"] == 2
    assert "^" in error["excerpt"]


def test_wrong_usage_is_exit_code_two() -> None:
    done = CliRunner().invoke(app, ["grammar", "--no-such-option"])
    assert done.exit_code == 2
    assert "Traceback" not in done.output


def test_errors_of_the_library_all_have_a_code() -> None:
    assert str(SyntagmaError("E-X-Y", "wrong", hint="do this")).splitlines() == ["E-X-Y: wrong", "hint: do this"]
