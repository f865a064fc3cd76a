"""Which file of the package uses which: the arrows between files, and the circles among them.

There is an arrow from file A to file B where A names something that B defines. A name that comes by way of an
`__init__` is followed to the file that defines it, so a re-export neither hides an arrow nor makes one. Imports inside
functions and under `TYPE_CHECKING` count like all others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["arrows", "circles"]

Arrows = dict[str, set[str]]
"""for each module the modules that it uses; both by dotted name"""


class _Module:
    """One file: the names that it binds at its top, and where imported ones come from."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        self.tree = ast.parse(path.read_text())
        self.imported: dict[str, tuple[str, str]] = {}
        for node in _statements(self.tree.body):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self.imported[alias.asname or alias.name] = (self.source(node), alias.name)

    def source(self, node: ast.ImportFrom) -> str:
        """The dotted name after `from`."""
        if not node.level:
            return node.module or ""
        base = self.package.split(".")
        base = base[: len(base) - node.level + 1]
        return ".".join([*base, *([node.module] if node.module else [])])


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements at the top of a module, those under `if` and `try` included."""
    for node in body:
        yield node
        for field in ("body", "orelse", "finalbody"):
            if isinstance(node, ast.If | ast.Try):
                yield from _statements(getattr(node, field, []))


def _modules(package: Path) -> dict[str, _Module]:
    found = {}
    # The extension has a stub instead of a file: a leaf that uses nothing of the package.
    for path in sorted([*package.rglob("*.py"), *package.rglob("*.pyi")]):
        parts = [package.name, *path.relative_to(package).with_suffix("").parts]
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = _Module(name, path)
    return found


def _defining(modules: Mapping[str, _Module], module: str, name: str) -> str | None:
    """The module that defines `name` as `module` hands it out; None: no module of the package."""
    seen = set()
    while module in modules and (module, name) not in seen:
        seen.add((module, name))
        if f"{module}.{name}" in modules:
            return f"{module}.{name}"
        if name not in modules[module].imported:
            return module
        module, name = modules[module].imported[name]
    return None


def _uses(modules: Mapping[str, _Module], module: _Module) -> Iterator[str]:
    aliases: dict[str, str] = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom):
            source = module.source(node)
            for alias in node.names:
                found = _defining(modules, source, alias.name)
                if found is not None:
                    aliases[alias.asname or alias.name] = found
                    yield found
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in modules:
                    aliases[alias.asname or alias.name] = alias.name
                    if alias.asname is None and "." in alias.name:
                        yield alias.name
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
            target = node.args[0] if node.args else None
            if isinstance(target, ast.Constant) and target.value in modules:
                yield target.value
    for node in ast.walk(module.tree):
        # A module's attribute: `errors.SyntagmaError` names what that module defines or hands out.
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            found = _defining(modules, aliases[node.value.id], node.attr)
            if found is not None:
                yield found


def arrows(package: Path) -> Arrows:
    """The arrows between the files of a package, `__init__` files that only hand names out included."""
    modules = _modules(package)
    return {name: {used for used in _uses(modules, module) if used != name} for name, module in modules.items()}


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The groups of modules each of which is reached from every other of its group, sorted (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for used in sorted(graph[node]):
            if used not in index:
                visit(used)
                low[node] = min(low[node], low[used])
            elif used in stack:
                low[node] = min(low[node], index[used])
        if low[node] == index[node]:
            group = [stack.pop()]
            while group[-1] != node:
                group.append(stack.pop())
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found)
