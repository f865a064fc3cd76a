"""Laws of all commands: `--json` everywhere, and a file that is not what it should be is named, with exit code 2.

Rows of a batch that are wrong stop nothing: they go to a side file.
"""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import syntagma as sg
from syntagma.cli import serve_run
from syntagma.cli.app import app
from syntagma.recording import record
from tests.serving.support import CALL, FORMAT, TEMPLATE, WEATHER

TRANSCRIPT = "<|start|>user<|message|>Hello<|end|>\n"
NO_JSON: dict[str, str] = {}
"""commands without a result that JSON could hold, each with the reason"""

# A command line each, in which BAD.suffix is the file that is not what it should be. A text may hold anything, so that
# only a file that cannot be read is wrong there.
TEXTS = [
    "parse BAD.txt --format made.toml",
    "parse answer.txt --format made.toml --prompt BAD.txt",
    "grammar yes.ebnf --check BAD.txt",
    "openchatml parse BAD.txt --lenient",
    "openchatml validate BAD.txt",
    "openchatml convert BAD.txt --from harmony --to harmony",
]
FILES = [
    "analyze BAD.jinja",
    "analyze BAD.gguf",
    "analyze made.jinja --tools BAD.json",
    "lint-template BAD.jinja",
    "lint-template made.jinja --tokenizer BAD.json",
    "lint-template made.jinja --tokenizer BAD.gguf",
    "render BAD.jinja --messages messages.json",
    "render made.jinja --messages BAD.json",
    "render made.jinja --messages messages.json --tools BAD.json",
    "render made.jinja --messages messages.json --kwargs BAD.json",
    "formats BAD.toml",
    "parse answer.txt --format BAD.toml",
    "parse answer.txt --template BAD.jinja",
    "parse answer.txt --format made.toml --tools BAD.json",
    "grammar BAD.json",
    "grammar BAD.ebnf",
    "grammar BAD.gbnf",
    "grammar BAD.lark",
    "grammar --format BAD.toml",
    "grammar --template BAD.jinja",
    "grammar --format made.toml --tools BAD.json",
    "grammar yes.ebnf --gbnf --tokenizer BAD.json",
    "grammar yes.ebnf --cost --tokenizer BAD.gguf",
    "mask BAD.ebnf",
    "mask yes.ebnf --tokenizer BAD.json",
    "generate --messages BAD.json --max-tokens 2",
    "generate hi --max-tokens 2 --grammar BAD.json",
    "generate hi --max-tokens 2 --tools BAD.json",
    "generate hi --max-tokens 2 --format BAD.toml",
    "convert BAD.json --to hf",
    "convert BAD.jsonl --to hf",
    "convert BAD.txt --to hf --from openchatml",
    "replay BAD.json",
    "replay bundle.json --format BAD.toml",
    "serve --port 0 --config BAD.toml",
    "serve --port 0 --chat-template BAD.jinja",
    "serve --port 0 --format BAD.toml",
    "serve --port 0 --reasoning-format BAD.toml",
    "serve --port 0 --api-keys BAD.txt",
    "serve --port 0 --tls-cert BAD.pem",
    "batch parse BAD.jsonl out.jsonl --format made.toml",
    "batch parse BAD.parquet out.jsonl --format made.toml",
    "batch parse rows.jsonl out.jsonl --format BAD.toml",
    "batch parse rows.jsonl out.jsonl --template BAD.jinja",
    "batch parse rows.jsonl out.jsonl --format made.toml --tools BAD.json",
    "batch render BAD.jsonl out.jsonl --template made.jinja",
    "batch render rows.jsonl out.jsonl --template BAD.jinja",
    "batch render rows.jsonl out.jsonl --template made.jinja --tools BAD.json",
    "batch render rows.jsonl out.jsonl --template made.jinja --kwargs BAD.json",
    "batch constrain BAD.jsonl out.jsonl --dialect gbnf --format made.toml",
    "batch constrain rows.jsonl out.jsonl --dialect gbnf --format BAD.toml",
    "batch constrain rows.jsonl out.jsonl --dialect gbnf --template BAD.jinja",
    "openchatml parse BAD.txt",
    "openchatml render BAD.txt",
    "openchatml visible BAD.txt",
    "openchatml convert BAD.txt --from openchatml",
    "openchatml convert BAD.json --from json",
    "openchatml convert BAD.json --from openai",
]
NO_FILES = {"demo": "it reads no file", "doctor": "it reads no file", "inspect": "its model is what a backend loads"}

BAD = ("missing", "folder", "binary", "empty", "wrong JSON", "other JSON")
UNREADABLE = ("missing", "folder")
GOOD_ENDINGS = {
    ("empty", ".jinja"): "an empty template renders nothing",
    ("empty", ".toml"): "a file without keys says nothing",
    ("empty", ".txt"): "an empty text is a text",
    ("empty", ".jsonl"): "a file without rows",
    ("wrong JSON", ".jinja"): "a text without tags is a template",
    ("wrong JSON", ".txt"): "a text may be anything",
    ("binary", ".txt"): "a text may be anything",
    ("other JSON", ".jinja"): "a text without tags is a template",
    ("other JSON", ".txt"): "a text may be anything",
}
"""what may be read without an error, by the kind and the ending of the file"""


def commands(group: Any = None, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in sorted(getattr(group or get_command(app), "commands", {}).items()):
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield prefix + name, command


COMMANDS = dict(commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_json(name: str) -> None:
    has = any("--json" in parameter.opts for parameter in COMMANDS[name].params)
    assert has != (name in NO_JSON), name


def test_every_command_is_tried() -> None:
    lines = [*TEXTS, *FILES]
    tried = {name for name in COMMANDS if any(line.startswith(f"{name} ") for line in lines)}
    assert tried | NO_FILES.keys() == COMMANDS.keys()


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # A server whose files are all right ends at once.
    monkeypatch.setattr(serve_run, "listen", lambda *_, **__: None)
    monkeypatch.setattr(serve_run, "configure", lambda *_: None)
    texts = {
        "made.toml": FORMAT,
        "made.jinja": TEMPLATE,
        "tools.json": json.dumps([WEATHER]),
        "messages.json": json.dumps([{"role": "user", "content": "hi"}]),
        "answer.txt": f"<note>hm</note>well{CALL}",
        "yes.ebnf": 'start ::= "yes"\n',
        "rows.jsonl": json.dumps({"generated_text": "hi", "messages": [{"role": "user", "content": "hi"}]}) + "\n",
        "bundle.json": record(sg.formats.get("hermes")).bundle().to_json().decode(),
    }
    for name, text in texts.items():
        Path(name).write_text(text)


def _make(kind: str, path: Path) -> None:
    if kind == "folder":
        path.mkdir()
    elif kind != "missing":
        path.write_bytes(
            {"binary": b"\xff\xfe\x00\x01" * 50, "empty": b"", "wrong JSON": b'{"a": [1, ', "other JSON": b'{"a": 1}'}[
                kind
            ]
        )


@pytest.mark.some(96)
@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("line", [*TEXTS, *FILES])
def test_a_file_that_is_wrong_is_named(line: str, kind: str) -> None:
    arguments = line.split()
    name = next(one for one in arguments if one.startswith("BAD."))
    _make(kind, Path(name))
    done = CliRunner().invoke(app, arguments)
    assert done.exception is None or isinstance(done.exception, SystemExit), repr(done.exception)
    assert "Traceback" not in done.stderr
    is_rows = line.startswith("batch") and arguments[2] == name and name.endswith(".jsonl")
    is_object = kind == "other JSON" and ("--kwargs" in arguments or f"grammar {name}" in line)
    may_be_good = line in TEXTS or is_rows or is_object or (kind, Path(name).suffix) in GOOD_ENDINGS
    may_be_good = may_be_good and kind not in UNREADABLE
    if may_be_good and done.exit_code in (0, 1):
        return
    assert done.exit_code == 2, (done.exit_code, done.output)
    assert name in done.stderr, done.stderr
    assert done.stderr.startswith(("E-", "X-")), done.stderr
    for leftover in Path().glob("out.*"):
        leftover.unlink()
    as_json = CliRunner().invoke(app, [*arguments, "--json"])
    assert as_json.exit_code == 2
    error = json.loads(as_json.stdout)["error"]
    assert name in str(error.get("source", "")) or name in error["message"], error


def _on_a_terminal(*arguments: str) -> str:
    """What a command writes to a terminal's standard error, which ends with it."""
    mine, its = pty.openpty()
    code = "from syntagma.cli import main; main()"
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=its, env=environment) as process:
        os.close(its)
        written = b""
        with contextlib.suppress(OSError):  # the terminal's other end was closed
            while piece := os.read(mine, 4096):
                written += piece
        os.close(mine)
        assert process.wait() == 0, written
    return written.decode()


def test_long_work_shows_its_progress_on_a_terminal_alone() -> None:
    rows = Path("many.jsonl")
    rows.write_text('{"generated_text": "hi"}\n' * 3000)
    line = ["batch", "parse", "many.jsonl", "out.jsonl", "--format", "made.toml", "--overwrite"]
    shown = _on_a_terminal(*line)
    assert "many.jsonl" in shown
    assert "rows" in shown
    assert "\x1b[" in shown
    done = CliRunner().invoke(app, line)
    assert (done.exit_code, done.stderr) == (0, "")


def test_work_of_unknown_length_shows_that_it_goes_on() -> None:
    assert "yes.ebnf" in _on_a_terminal("grammar", "yes.ebnf")
