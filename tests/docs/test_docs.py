"""Documentation that runs: blocks and commands, examples, generated pages, links, names in code spans."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.docs.blocks import run_blocks
from tests.docs.commands import commands_of, missing_name_of_others, shell_blocks, unknown_part
from tests.docs.names import OTHER, code_spans, missing_name, public_modules

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "api"),
]
ALL = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "DESIGN.md"]
_LINK = re.compile(r"\]\(([^)#:]+)\)")
# The pages of engines run in their environments (`tests/engines`), tutorials in empty folders (`test_tutorials.py`).
ELSEWHERE = (ROOT / "docs" / "engines", ROOT / "docs" / "tutorials")
RUNNING = [page for page in PAGES if page.parent not in ELSEWHERE]


@pytest.mark.parametrize("page", [*RUNNING, ROOT / "CONTRIBUTING.md"], ids=lambda path: str(path.relative_to(ROOT)))
def test_blocks_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    run_blocks(page)


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(example: Path) -> None:
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", ALL, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", ALL, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_spans_name_what_there_is(page: Path) -> None:
    missing = sorted({name for span in code_spans(page) if (name := missing_name(span)) is not None})
    assert not missing, f"{page.name} names {missing}"


def test_exceptions_from_names_are_used() -> None:
    spans = {span for page in ALL for span in code_spans(page)}
    assert not [name for name in OTHER if not any(span.startswith(name) for span in spans)]


@pytest.mark.parametrize("span", ["sg.Gramar", "Grammar.from_ebfn", "sg.formats.gett(name)", "parser.fed", "turn.pmpt"])
def test_a_wrong_name_is_found(span: str) -> None:
    assert missing_name(span) is not None


@pytest.mark.parametrize("page", ALL, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_and_their_options_are_known(page: Path) -> None:
    spans = (span.removeprefix("syntagma ") for span in code_spans(page) if span.startswith("syntagma "))
    wrong = {command: part for command in (*commands_of(page), *spans) if (part := unknown_part(command)) is not None}
    assert not wrong, f"{page.name}: {wrong}"


@pytest.mark.parametrize("page", ALL, ids=lambda path: str(path.relative_to(ROOT)))
def test_extras_targets_and_modules_of_commands_exist(page: Path) -> None:
    assert [found for block in shell_blocks(page) if (found := missing_name_of_others(block)) is not None] == []


@pytest.mark.parametrize(
    "block", ["pip install 'syntagma[serve,upstream]'", "cd x\nmake tets", "python -m tests.engines.model_file OUT"]
)
def test_a_wrong_extra_target_or_module_is_found(block: str) -> None:
    assert missing_name_of_others(block) is not None


def test_a_wrong_command_is_found() -> None:
    assert unknown_part("analyse FILE") == "analyse"
    assert unknown_part("analyze FILE --tomml") == "--tomml"
    assert unknown_part("openchatml validate FILE") is None


def test_every_page_is_in_the_index_once() -> None:
    index = ROOT / "docs" / "index.md"
    listed = [index]
    for page in (index, ROOT / "docs" / "engines" / "index.md"):
        text = page.read_text(encoding="utf-8")
        sections = text[text.index("\n## ") :] if page == index else text
        found = [(page.parent / target).resolve() for target in _LINK.findall(sections) if target.endswith(".md")]
        listed += [target for target in dict.fromkeys(found) if target.parent == page.parent or page == index]
        assert page != index or len(found) == len(set(found)), "the index links twice to the same page"
    pages = [page for page in PAGES if page.name != "README.md"]
    assert sorted(set(pages) - set(listed)) == []


def test_every_public_module_is_in_the_reference() -> None:
    """A package or module is public if its name is; front ends and what only the library itself imports are not."""
    listed = {name.split(".")[1] for name in public_modules() if "." in name}
    inner = tomllib.loads((ROOT / "docs" / "reference" / "python.toml").read_text(encoding="utf-8"))["inner"]
    found = {
        path.stem
        for path in (ROOT / "python" / "syntagma").iterdir()
        if not path.name.startswith((".", "_")) and (path.suffix == ".py" or (path / "__init__.py").is_file())
    }
    assert found == listed | set(inner), "docs/reference/python.toml lists public modules and inner ones"
    assert not listed & set(inner)


def test_every_module_says_a_stability_that_the_policy_defines() -> None:
    levels = tomllib.loads((ROOT / "docs" / "reference" / "python.toml").read_text(encoding="utf-8"))["module"]
    section = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8").split("## Stability", 1)[1].split("\n## ", 1)[0]
    assert set(levels.values()) == set(re.findall(r"^\| \*\*(\w+)\*\* \|", section, re.MULTILINE))
    others = {name for name in levels if name.startswith(("syntagma.compat.", "syntagma.integrations."))}
    assert {name for name, level in levels.items() if level == "adapter"} == others


def test_the_page_for_rust_shows_what_the_crate_tests() -> None:
    shown = re.findall(
        r"^```rust\n.*?^```", (ROOT / "docs" / "rust.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    tested = (ROOT / "crates" / "engine" / "README.md").read_text(encoding="utf-8")
    assert [block in tested for block in shown] == [True]
    oldest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["rust-version"]
    assert f"need Rust {oldest}" in (ROOT / "docs" / "rust.md").read_text(encoding="utf-8")


def test_hooks_run_targets_of_the_makefile() -> None:
    repos = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    entries = [hook["entry"] for repo in repos for hook in repo["hooks"]]
    assert entries
    assert all(entry.startswith("make ") for entry in entries)
    assert [missing for entry in entries if (missing := missing_name_of_others(entry)) is not None] == []
