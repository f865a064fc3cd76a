"""Which file of a Rust crate names items of which other file.

An arrow goes from a file that names an item to the file that defines it; re-exports are followed, and are no arrows
themselves. Read are declarations of `use` and paths in the code; tests inside of a crate are left out. With methods,
there is also an arrow from a call to the only file of the crate that has a method of this name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["rust_arrows"]

# Strings (raw ones, too), comments and characters: nothing in them names an item. A lifetime is no character.
_NO_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|(?<!\w)b?r(#*)".*?"\1|(?<!\w)b?"(?:\\.|[^"\\])*"|(?<!\w)b?'(?:\\[^u]|\\u\{[0-9a-fA-F]+\}|[^\\'])'""",
    re.DOTALL,
)
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod\s+\w+\s*\{")
_USE = re.compile(r"(?P<public>\bpub(?:\([^)]*\))?\s+)?\buse\s+(?P<tree>[^;]+);")
_ITEM = re.compile(r"\b(?:fn|struct|enum|union|trait|type|const|static|mod)\s+(?:mut\s+)?(\w+)|\bmacro_rules!\s*(\w+)")
_PATH = re.compile(r"(?<![\w.:$])(?:\w+::)+\w+")

_METHOD = re.compile(r"\bfn\s+(\w+)\s*(?:<[^()]*>)?\(\s*(?:&\s*)?(?:'\w+\s+)?(?:mut\s+)?self\b")
_CALL = re.compile(r"\.\s*(\w+)\s*(?:::<[^()]*>)?\(")
# Methods of the standard library that types of ours have, too: whose is meant is not seen.
_STANDARD = frozenset(
    re.findall(
        r"\w+",
        """
all and any as_ref as_str chain clone cmp contains contains_key copied extend fill find fold get_mut
get_or_init index is_ascii is_empty is_multiple_of is_none join last load next_back or peek remove
replace retain set skip store then trim union values write
""",
    )
)

Module = tuple[str, ...]
"""the path of a module within its crate; the root is empty"""


@dataclass
class _Source:
    """What a file defines, imports and names."""

    module: Module
    items: set[str] = field(default_factory=set)
    imports: dict[str, Module] = field(default_factory=dict)
    globs: list[Module] = field(default_factory=list)
    # Paths that the code names; re-exports are not among them.
    named: set[Module] = field(default_factory=set)
    methods: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)


def rust_arrows(source: Path, *, methods: bool = False) -> dict[str, set[str]]:
    """The files of one crate (`source` is its folder `src`) with the files whose items each names, or methods calls."""
    sources = {
        _module(source, path): _read(_module(source, path), path.read_text())
        for path in sorted(source.rglob("*.rs"))
        if path.stem != "tests"
    }
    has: dict[str, list[Module]] = {}
    for module, one in sources.items() if methods else ():
        for name in one.methods - _STANDARD:
            has.setdefault(name, []).append(module)
    found = {}
    for module, one in sources.items():
        targets = {_defined(sources, module, path) for path in one.named}
        targets.update(*(has[name] for name in one.calls & has.keys() if len(has[name]) == 1))
        found["/".join(module) or "lib"] = {"/".join(to) or "lib" for to in targets - {module, None} if to is not None}
    return found


def _module(source: Path, path: Path) -> Module:
    parts = path.relative_to(source).with_suffix("").parts
    return parts[:-1] if parts[-1] in {"mod", "lib", "main"} else parts


def _read(module: Module, text: str) -> _Source:
    code = _without_tests(_NO_CODE.sub(" ", text))
    found = _Source(module)
    for use in _USE.finditer(code):
        for path, alias in _leaves(re.sub(r"\s+", " ", use["tree"]).strip(), ()):
            if alias == "*":
                found.globs.append(path)
            else:
                found.imports[alias] = path
            if not use["public"]:
                found.named.add(path)
    code = _USE.sub(" ", code)
    found.named.update(tuple(path.group().split("::")) for path in _PATH.finditer(code))
    found.methods.update(_METHOD.findall(code))
    found.calls.update(_CALL.findall(code))
    found.items.update(name or macro for name, macro in _ITEM.findall(_top_level(code)))
    return found


def _without_tests(code: str) -> str:
    while (tests := _TESTS.search(code)) is not None:
        depth, at = 1, tests.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(code[at], 0)
            at += 1
        code = code[: tests.start()] + code[at:]
    return code


def _top_level(code: str) -> str:
    """The code outside of braces."""
    depth, kept = 0, []
    for piece in re.split(r"([{}])", code):
        if piece == "{":
            depth += 1
        elif piece == "}":
            depth -= 1
        elif depth == 0:
            kept.append(piece)
    return " ".join(kept)


def _leaves(tree: str, before: Module) -> Iterator[tuple[Module, str]]:
    """The paths of a tree of `use`, each with the name that it gets."""
    head, brace, rest = tree.partition("{")
    segments = tuple(part.strip() for part in head.split("::") if part.strip())
    if brace:
        depth, begin = 0, 0
        inner = rest.rstrip().removesuffix("}") + ","
        for at, character in enumerate(inner):
            depth += {"{": 1, "}": -1}.get(character, 0)
            if character == "," and depth == 0:
                if branch := inner[begin:at].strip():
                    yield from _leaves(branch, before + segments)
                begin = at + 1
        return
    *path, last = segments
    name, _, alias = last.partition(" as ")
    if name == "self":
        yield before + tuple(path), alias or (before + tuple(path))[-1]
    elif name == "*":
        yield before + tuple(path), "*"
    else:
        yield (*before, *path, name), alias or name


def _defined(
    sources: dict[Module, _Source], module: Module, path: Module, met: frozenset[tuple[Module, str]] = frozenset()
) -> Module | None:
    """The module whose file defines what `path` names, read in `module`; None for what is no item of this crate."""
    first, *rest = path
    if first == "crate":
        return _defined(sources, (), tuple(rest), met) if rest else None
    if first == "self":
        return _defined(sources, module, tuple(rest), met) if rest else module
    if first == "super":
        return _defined(sources, module[:-1], tuple(rest), met) if rest else module[:-1]
    one = sources.get(module)
    if one is None:
        return None
    child = (*module, first)
    if child in sources:
        return _defined(sources, child, tuple(rest), met) if rest else None
    if first in one.items:
        return module
    # A crate of that name outside, or imports that lead round.
    if (module, first) in met:
        return None
    met |= {(module, first)}
    if first in one.imports:
        return _defined(sources, module, (*one.imports[first], *rest), met)
    for glob in one.globs:
        inside = _defined(sources, module, (*glob, first), met)
        if inside is not None:
            return inside
    return None
