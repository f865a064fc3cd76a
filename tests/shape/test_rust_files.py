"""The files of the Rust crates: which names items of which, and how long they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.shape.arrows import circles
from tests.shape.rust_arrows import rust_arrows

CRATES = Path(__file__).resolve().parents[2] / "crates"
MOST_LINES = 1_000
MOST_FILES = 5
"""in which one type has methods"""
SPREAD = {
    ("grammar", "Schemas"): "each question about subschemas has a file of its own",
    ("grammar", "Grammar"): "what is found out about grammars, and their bytes",
}


@pytest.mark.parametrize(
    "crate", ["crates/grammar", "crates/engine", "crates/host", "crates/capi", "crates/python", "crates/wasm", "fuzz"]
)
def test_no_circle_of_rust_files(crate: str) -> None:
    source = CRATES.parent / crate / "src"
    graph = rust_arrows(source)
    assert sum(map(len, graph.values())) > len(graph) / 2, "the arrows are not seen"
    assert circles(graph) == []
    # A type whose methods are in several files of a folder calls them from each.
    called = circles(rust_arrows(source, methods=True))
    assert [files for files in called if len({folder(source, file) for file in files}) > 1] == []


def folder(source: Path, file: str) -> str:
    """Where a file lies; that of a module with files of its own is among them."""
    return file if (source / file).is_dir() else file.rpartition("/")[0]


def test_the_judge_of_masks_stands_below_matchers() -> None:
    graph = rust_arrows(CRATES / "engine" / "src", methods=True)
    met, ahead = set[str](), {file for file in graph if file.split("/")[0] in {"judge", "compiled"}}
    while ahead:
        met |= ahead
        ahead = {to for file in ahead for to in graph[file]} - met
    assert [file for file in met if file.split("/")[0] == "matcher"] == []


def sources() -> list[Path]:
    return [path for crate in CRATES.iterdir() for path in (crate / "src").rglob("*.rs") if path.stem != "tests"]


def test_no_rust_file_is_long() -> None:
    assert [path for path in sources() if len(path.read_text().splitlines()) > MOST_LINES] == []


def test_the_methods_of_a_type_are_in_few_files() -> None:
    files: dict[tuple[str, str], set[Path]] = {}
    declared: dict[tuple[str, str], int] = {}
    for path in sources():
        crate, text = path.relative_to(CRATES).parts[0], path.read_text()
        for name in re.findall(r"^(?:pub(?:\(.*\))? )?(?:struct|enum) (\w+)", text, re.MULTILINE):
            declared[crate, name] = declared.get((crate, name), 0) + 1
        for name in re.findall(r"^impl(?:<[^>]*>)? (\w+)(?:<[^>]*>)? \{", text, re.MULTILINE):
            files.setdefault((crate, name), set()).add(path)
    # Of several types of one name it is not seen which is meant.
    own = {name: found for name, found in files.items() if declared.get(name) == 1}
    assert len(own) > 100, "the blocks are not seen"
    assert {name for name, found in own.items() if len(found) > MOST_FILES} == set(SPREAD)


def test_arrows_follow_re_exports_and_leave_out_tests(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a;\nmod b;\nmod inner;\npub use inner::Leaf;\n",
        "a.rs": "use crate::{b::Second, Leaf as Other};\npub struct First(Second, Other);\n"
        'const TEXT: &str = "crate::inner::X";\n',
        "b.rs": "pub struct Second;\n#[cfg(test)]\nmod tests {\n    use crate::a::First;\n    fn one() {}\n}\n",
        "inner/mod.rs": "mod leaf;\npub use leaf::Leaf;\n",
        "inner/leaf.rs": "// crate::a::First\npub struct Leaf;\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    graph = rust_arrows(tmp_path)
    assert graph == {"lib": set(), "a": {"b", "inner/leaf"}, "b": set(), "inner": set(), "inner/leaf": set()}
    (tmp_path / "inner" / "leaf.rs").write_text("pub struct Leaf;\nfn one() { super::super::a::First::new() }\n")
    assert circles(rust_arrows(tmp_path)) == [["a", "inner/leaf"]]
    (tmp_path / "inner" / "leaf.rs").write_text("pub struct Leaf;\nimpl Leaf { pub fn grow(&mut self) {} }\n")
    (tmp_path / "b.rs").write_text("pub fn second(leaf: impl Any) { leaf.grow(); leaf.clone(); grow() }\n")
    assert rust_arrows(tmp_path)["b"] == set()
    assert rust_arrows(tmp_path, methods=True)["b"] == {"inner/leaf"}
