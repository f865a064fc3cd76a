"""What the tree itself must look like: floors are import-linter's business, names and literals are checked here."""

from __future__ import annotations

import ast
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import syntagma
from tests.shape.arrows import arrows, circles

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "syntagma"
DATA = PACKAGE / "formats" / "data"
# Where no format's name and no format's own marker may stand.
READING = ("parsing", "constraints", "analysis", "formats", "format_schema", "serving")
# Words that name a format and mean something plain as well.
PLAIN = frozenset((ROOT / "tests" / "shape" / "plain_words.txt").read_text().split())
OPTIONAL = (
    "langchain_core",
    "litellm",
    "mlx",
    "outlines",
    "torch",
    "typer",
    "rich",
    "starlette",
    "uvicorn",
    "tokenizers",
    "safetensors",
    "transformers",
    "tiktoken",
    "pyarrow",
    "mlx",
    "mlx_lm",
    "outlines",
    "litellm",
    "langchain_core",
)
# Public methods and properties of one class, constructors aside: the customary bound (pylint's max-public-methods).
MOST_METHODS = 20
_MARKER = re.compile(r"<[^<>\s]+>|\[[A-Z][A-Z_/]+\]")
_RUST_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def test_all_is_sorted_and_complete() -> None:
    assert syntagma.__all__ == sorted(syntagma.__all__, key=lambda name: (not name.isupper(), name))
    for name in syntagma.__all__:
        assert getattr(syntagma, name) is not None
    public = {name for name in vars(syntagma) if not name.startswith("_")}
    modules = {module.name for module in pkgutil.iter_modules(syntagma.__path__)}
    assert public - modules - {"annotations"} <= set(syntagma.__all__)


def test_every_module_lists_its_names() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.name.startswith("__main__"):
            continue
        tree = ast.parse(path.read_text())
        public = [
            node.name
            for node in tree.body
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")
        ]
        listed = any(
            isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__" for node in tree.body
        )
        assert listed or not public, f"{path.relative_to(ROOT)} has public names and no __all__"


def test_import_loads_no_optional_library() -> None:
    code = f"import sys, syntagma; print([name for name in {OPTIONAL!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


_ALONE = """
import importlib, os, sys
import syntagma

def alone(name, then=()):
    if name in sys.modules and not then:
        return  # the package that it is in imports it, as every user does
    child = os.fork()
    if not child:
        try:
            importlib.import_module(name)
            for inner in then:
                alone(inner)
        except BaseException as error:
            print(name, repr(error), flush=True)
        os._exit(0)
    os.waitpid(child, 0)

packages = {}
for name in sys.argv[1:]:
    packages.setdefault(name.rpartition(".")[0], []).append(name)
for package, names in packages.items():
    alone(package, names)
"""
"""a process for each package, and from there one for each of its modules"""


@pytest.mark.long
def test_modules_import_alone() -> None:
    modules = sorted(name for name in arrows(PACKAGE) if "." in name and not name.endswith("__main__"))
    done = subprocess.run([sys.executable, "-c", _ALONE, *modules], capture_output=True, text=True, check=True)
    # What is inside of a folder of `integrations` is for the library that the folder is named after, and subclasses it.
    own = re.compile(r"syntagma\.integrations\.(\w+)\.\w+ ModuleNotFoundError\(.*\b\1\b.*")
    assert [line for line in done.stdout.splitlines() if not own.fullmatch(line)] == []


def _strings(path: Path) -> set[str]:
    """String literals of a module, without docstrings."""
    tree = ast.parse(path.read_text())
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    }


def _rust_strings(path: Path) -> set[str]:
    text = path.read_text().split("#[cfg(test)]")[0]
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("//")]
    return set(_RUST_STRING.findall("\n".join(lines)))


def test_no_format_is_named_in_code() -> None:
    names: set[str] = set()
    markers: Counter[str] = Counter()
    for path in DATA.glob("*.toml"):
        text = path.read_text()
        names |= {path.stem, *tomllib.loads(text).get("aliases", [])}
        markers.update(set(_MARKER.findall(text)))
    forbidden = (names - PLAIN) | {marker for marker, files in markers.items() if files == 1}
    assert forbidden, "there are no formats"
    sources = [(path, _strings(path)) for part in READING for path in (PACKAGE / part).rglob("*.py")]
    sources += [(path, _rust_strings(path)) for path in (ROOT / "crates").glob("*/src/**/*.rs")]
    for path, strings in sources:
        for text in strings:
            found = [word for word in forbidden if word == text or (word[0] in "<[" and word in text)]
            assert not found, f"{path.relative_to(ROOT)} speaks of {found}"


def _variables(pattern: ast.expr) -> set[str]:
    """The names that a pattern is made of, without what `re.escape` turns into plain text."""
    if isinstance(pattern, ast.Call) and isinstance(pattern.func, ast.Attribute) and pattern.func.attr == "escape":
        return set()
    if isinstance(pattern, ast.IfExp):
        return _variables(pattern.body) | _variables(pattern.orelse)
    if isinstance(pattern, ast.Name):
        return {pattern.id}
    return {name for part in ast.iter_child_nodes(pattern) if isinstance(part, ast.expr) for name in _variables(part)}


def test_patterns_of_users_never_reach_re() -> None:
    """`re` is for constants of ours: a pattern is a literal, or built from literals and from texts that are escaped."""
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "re"
                and node.func.attr in ("compile", "match", "search", "fullmatch", "sub", "split", "findall", "finditer")
            ):
                variables = _variables(node.args[0])
                constants = {name for name in variables if name.isupper() or name == "re"}
                assert variables == constants, f"{path.relative_to(ROOT)}:{node.lineno}: a pattern from a variable"


def test_no_circle_of_files() -> None:
    graph = arrows(PACKAGE)
    assert sum(map(len, graph.values())) > 500, "the arrows are not seen"
    assert circles(graph) == []


def _public_methods(node: ast.ClassDef) -> list[str]:
    """Methods and properties that users call on an object; constructors (`from_…`) and setters do not count."""
    return [
        item.name
        for item in node.body
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
        and not item.name.startswith("_")
        and not any(
            getattr(mark, "id", getattr(mark, "attr", "")) in ("classmethod", "setter", "overload")
            for mark in item.decorator_list
        )
    ]


def test_classes_have_few_public_methods() -> None:
    for path in PACKAGE.rglob("*.py"):
        if "compat" in path.parts:
            continue  # the names there are other libraries'
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                methods = _public_methods(node)
                assert len(methods) <= MOST_METHODS, (
                    f"{path.relative_to(ROOT)}: {node.name} has {len(methods)}: {methods}"
                )


def test_every_error_code_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "errors.md").read_text()
    documented = re.findall(r"^\| `([EW]-[A-Z0-9-]+)` \|", page, re.MULTILINE)
    assert len(documented) == len(set(documented)), "a code stands twice on the page"
    sources = [*PACKAGE.rglob("*.py"), *(ROOT / "crates").glob("*/src/**/*.rs")]
    used = {code for path in sources for code in re.findall(r'"([EW](?:-[A-Z0-9]+)+)"', path.read_text())}
    assert used == set(documented)
