"""Small faults, drawn in the sources: a changed comparison, a dropped branch, an off-by-one, swapped arguments."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.changes import ROOT

__all__ = ["KINDS", "Fault", "draw", "faults_of"]

PACKAGES = ("parsing", "constraints", "formats", "analysis", "codec", "serving", "grammars")
CRATES = ("grammar", "engine")
KINDS = ("comparison", "branch", "off by one", "arguments")

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_IN_RUST = (
    ("comparison", r" == ", " != "),
    ("comparison", r" < ", " <= "),
    ("comparison", r" > ", " >= "),
    ("comparison", r" <= ", " < "),
    ("branch", r"\bif (?!let\b)(?=[^{]*\{)", "if false && "),
    ("off by one", r" \+ 1\b", " + 2"),
    ("off by one", r" - 1\b", " - 0"),
)


class Fault(NamedTuple):
    """A fault: `before` at an offset of a file becomes `after`."""

    path: str
    kind: str
    line: int
    offset: int
    before: str
    after: str

    @property
    def package(self) -> str:
        """The package or crate."""
        return self.path.split("/")[1 if self.path.startswith("crates") else 2]

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.kind}: {_short(self.before)} → {_short(self.after)}"

    def applied(self, text: str) -> str:
        """The file with the fault."""
        assert text.startswith(self.before, self.offset)
        return text[: self.offset] + self.after + text[self.offset + len(self.before) :]


def draw(seed: int, count: int, in_rust: int) -> list[Fault]:
    """Faults of every kind in every package in turn, each in another line; the last ones in the crates."""
    rng = random.Random(seed)
    found = _some(rng, count - in_rust, [ROOT / "python" / "syntagma" / package for package in PACKAGES], "*.py")
    return found + _some(rng, in_rust, [ROOT / "crates" / crate / "src" for crate in CRATES], "*.rs")


def _some(rng: random.Random, count: int, folders: list[Path], pattern: str) -> list[Fault]:
    everywhere = [[fault for path in sorted(folder.rglob(pattern)) for fault in faults_of(path)] for folder in folders]
    chosen: list[Fault] = []
    while len(chosen) < count:
        turn = len(chosen)
        kind = KINDS[turn // len(folders) % len(KINDS)]
        here = everywhere[turn % len(folders)]
        lines = {(fault.path, fault.line) for fault in chosen}
        fits = [fault for fault in here if fault.kind == kind and (fault.path, fault.line) not in lines]
        chosen.append(rng.choice(fits or here))
    return chosen


def faults_of(path: Path) -> Iterator[Fault]:
    """Every fault that can be drawn in a file."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT).as_posix()
    yield from (_in_rust if path.suffix == ".rs" else _in_python)(name, text)


def _in_rust(name: str, text: str) -> Iterator[Fault]:
    """By the looks of a line: tests, comments and attributes are left out."""
    if name.endswith("tests.rs"):
        return
    offset = 0
    for number, line in enumerate(text.partition("#[cfg(test)]")[0].splitlines(keepends=True), 1):
        code = line.partition("//")[0]
        if not code.lstrip().startswith(("#", "const ", "pub const ", "fn ", "pub fn ", "assert", "debug_assert")):
            for kind, pattern, after in _IN_RUST:
                for found in re.finditer(pattern, code) if '"' not in code and "<" not in code.strip(" <") else ():
                    yield Fault(name, kind, number, offset + found.start(), found[0], after)
        offset += len(line)


def _in_python(name: str, text: str) -> Iterator[Fault]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def at(line: int, column: int) -> int:
        # Columns of `ast` count bytes.
        row = text[starts[line - 1] : starts[line]].encode()
        return starts[line - 1] + len(row[:column].decode())

    for node in ast.walk(ast.parse(text)):
        for kind, changed in _changes(node):
            assert isinstance(node, ast.expr)
            begin, end = at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0)
            yield Fault(name, kind, node.lineno, begin, text[begin:end], f"({changed})")


def _changes(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Each kind of fault in an expression, as its source after it."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
        operator = _COMPARISONS[type(node.ops[0])]()
        yield "comparison", ast.unparse(ast.Compare(node.left, [operator], node.comparators))
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and type(node.slice.value) is int:
        yield "off by one", ast.unparse(ast.Subscript(node.value, ast.Constant(node.slice.value + 1), node.ctx))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) and _is_one(node.right):
        yield "off by one", ast.unparse(node.left)
    if isinstance(node, ast.Call) and len(node.args) > 1 and not any(isinstance(a, ast.Starred) for a in node.args):
        first, second, *rest = node.args
        if ast.dump(first) != ast.dump(second):
            yield "arguments", ast.unparse(ast.Call(node.func, [second, first, *rest], node.keywords))
    if isinstance(node, ast.BoolOp):
        yield (
            "branch",
            ast.unparse(ast.BoolOp(node.op, node.values[:-1])) if len(node.values) > 2 else ast.unparse(node.values[0]),
        )
    if isinstance(node, ast.IfExp):
        yield "branch", ast.unparse(node.orelse)


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) < 60 else line[:57] + "…"
