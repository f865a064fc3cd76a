"""The files of the Rust crates: which names items of which, and how long they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shape.arrows import circles
from tests.shape.rust_arrows import rust_arrows

CRATES = Path(__file__).resolve().parents[2] / "crates"
MOST_LINES = 600
# Longer files, each with the reason why it is one.
LONG = {
    "engine/src/budget/tracker.rs": "one state machine: what is spent along a text",
    "engine/src/earley/sets.rs": "interning of sets and the set behind a terminal share their work space",
}


@pytest.mark.parametrize("crate", ["grammar", "engine", "python"])
def test_no_circle_of_rust_files(crate: str) -> None:
    graph = rust_arrows(CRATES / crate / "src")
    assert sum(map(len, graph.values())) > len(graph), "the arrows are not seen"
    assert circles(graph) == []


def test_long_rust_files_have_a_reason() -> None:
    sources = [path for crate in CRATES.iterdir() for path in (crate / "src").rglob("*.rs") if path.stem != "tests"]
    long = {path.relative_to(CRATES).as_posix() for path in sources if len(path.read_text().splitlines()) > MOST_LINES}
    assert long == set(LONG)


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
