"""Which tests run when: what is short covers what there is, every part comes round, a change finds its tests."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import changes, check, tiers
from tests.agents.run import SUITE as AGENTS
from tests.clients.run import SUITE as CLIENTS
from tests.engines.run import SUITE as ENGINES
from tests.formats.every import FORMATS, SHIPPED
from tests.slice import FUZZ, commands

ROOT = changes.ROOT


def _features(names: object) -> set[str]:
    return {one for name in names for one in tiers._features(FORMATS[name].spec, "")}  # type: ignore[attr-defined]


@pytest.mark.parametrize("names", [set(FORMATS), set(SHIPPED), set(FORMATS) - SHIPPED], ids=["all", "shipped", "own"])
def test_the_chosen_formats_have_every_feature_and_are_few(names: set[str]) -> None:
    chosen = tiers.covering(names)
    assert _features(chosen) == _features(names)
    assert len(chosen) < 0.8 * len(names)
    assert all(_features(chosen) != _features(set(chosen) - {name}) for name in chosen[-3:])


def test_every_long_thing_comes_round() -> None:
    parts = [commands(part) for part in range(tiers.PARTS)]
    words = {word for part in parts for command in part for word in command.replace('"', " ").split()}
    assert {
        *ENGINES.usual(),
        *CLIENTS.usual(),
        *AGENTS.usual(),
        *(f"fuzz-{target}" for target in FUZZ),
        "test-inspector",
        "test-js",
    } <= words
    assert all(any(command.startswith("make test-part") for command in part) for part in parts)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    listed = makefile.partition("FUZZ_RUST := $(addprefix fuzz-,")[2].partition(")")[0].split()
    assert {*listed, "formats", "completions"} == set(FUZZ)


def test_each_long_test_belongs_to_one_part(request: pytest.FixtureRequest) -> None:
    items = request.session.items
    for item in items[:: max(1, len(items) // 50)]:
        assert sum(tiers.in_part(item, part) for part in range(tiers.PARTS)) == 1


def test_every_package_finds_tests() -> None:
    packages = [path for path in (ROOT / "python" / "syntagma").iterdir() if (path / "__init__.py").exists()]
    assert len(packages) > 20
    for path in packages:
        assert check.tests_of([f"python/syntagma/{path.name}/a.py"]) != [], path.name
        own = ROOT / "tests" / check.OF_PACKAGES.get(path.name, path.name)
        assert own.is_dir(), f"{path.name} has no folder of tests: name one in tests/check.py"


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        (
            ["tests/codec/test_a.py", "tests/codec/a.py", "python/syntagma/parsing/call_reader.py"],
            ["tests/codec", "tests/parsing"],
        ),
        (["tests/codec/test_codec.py", "python/syntagma/codec/turn.py"], ["tests/codec"]),
        (["python/syntagma/entry.py"], ["tests/values"]),
        (["conformance/shapes/lines.toml"], ["tests/formats/test_conformance.py"]),
        (["python/syntagma/formats/data/hermes.toml"], ["tests/formats"]),
        (["README.md", "docs/guide.md"], ["tests/docs/test_docs.py"]),
        (["tests/tiers.py"], ["tests/shape"]),
        (["crates/python/src/lib.rs"], ["tests/decoding"]),
        (["tests/engines/test_mlx_model.py", "Makefile"], []),
    ],
)
def test_a_change_finds_its_tests(changed: list[str], tests: list[str]) -> None:
    assert check.tests_of(changed) == tests


def test_what_a_change_needs_is_run() -> None:
    run, read = check.commands(frozenset({"crates/engine/src/lib.rs", "python/syntagma/parsing/call_reader.py"}), 5)
    assert [command[0].rpartition("/")[2].partition("3")[0] for command in run] == ["python", "cargo"]
    assert run[1][3:] == ["--package", "syntagma-engine"]
    names = [Path(command[0]).name for command in read]
    assert names == ["ruff", "ruff", "mypy", "lint-imports", "cargo", "cargo"]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A repository with two commits on `main`, the second of which changes `b`."""
    for variable, value in (("NAME", "a"), ("EMAIL", "a@example.org")):
        monkeypatch.setenv(f"GIT_AUTHOR_{variable}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{variable}", value)
    monkeypatch.setattr(changes, "ROOT", tmp_path)
    changes.changed_files.cache_clear()
    _git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    for name in ("a", "b"):
        _commit(tmp_path, name)
    yield tmp_path
    changes.changed_files.cache_clear()


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def _commit(folder: Path, name: str) -> None:
    (folder / name).write_text(name)
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", name)


def test_on_main_the_last_commit_is_the_change(repository: Path) -> None:
    (repository / "new").write_text("")
    assert changes.changed_files() == {"b", "new"}
    assert changes.commit_number() == 2


def test_elsewhere_the_change_begins_at_the_merge_base(repository: Path) -> None:
    _git(repository, "checkout", "--quiet", "-b", "topic")
    for name in ("c", "d"):
        _commit(repository, name)
    (repository / "a").unlink()
    assert changes.changed_files() == {"a", "c", "d"}


def test_without_git_nothing_is_known(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "ROOT", repository / "nowhere")
    assert changes.changed_files() is None
    assert changes.commit_number() == 0
