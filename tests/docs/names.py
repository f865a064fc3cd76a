"""Code spans of the pages that name something public: what each stands for."""

from __future__ import annotations

import functools
import importlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import syntagma as sg

__all__ = ["OTHER", "code_spans", "missing_name", "public_modules"]

ROOT = Path(__file__).resolve().parents[2]
_FENCED = re.compile(r"^( *)(`{3,}).*?^\1\2", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_DOTTED = re.compile(r"([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*)+)(?=$|\(|\[|\s*=)")
# What the pages call an object of each class.
VARIABLES: dict[str, type] = {
    "analysis": sg.Analysis,
    "codec": sg.ChatCodec,
    "compiled": sg.CompiledGrammar,
    "compiler": sg.GrammarCompiler,
    "fmt": sg.ChatFormat,
    "generator": sg.Generator,
    "grammar": sg.Grammar,
    "info": sg.TokenizerInfo,
    "matcher": sg.GrammarMatcher,
    "message": sg.Message,
    "parser": sg.StreamParser,
    "prompt": sg.Prompt,
    "template": sg.ChatTemplate,
    "turn": sg.Turn,
}
# What looks like a public name and is none.
OTHER = {
    "GrammarCompiler.compile_grammar": "xgrammar's",
    "CompiledGrammar.deserialize_json": "xgrammar's",
    "message.output_text.logprobs": "a field of the Responses API",
    "syntagma.access": "a logger",
    "syntagma.parse_s": "an attribute of a span",
}
# Endings of files, of which the first part of a span may be the name.
_FILES = {"gguf", "jinja", "json", "jsonl", "lark", "md", "parquet", "py", "toml", "txt"}


def code_spans(page: Path) -> Iterator[str]:
    """The code spans of a page, outside of its blocks."""
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    yield from (" ".join(found[2].split()) for found in _SPAN.finditer(text))


def missing_name(span: str) -> str | None:
    """The public name that a span uses and that there is not; None if all is well, or it uses none."""
    found = _DOTTED.match(span)
    if found is None or found[0] in OTHER:
        return None
    first, rest = found[1], found[2][1:].split(".")
    if first in ("sg", "syntagma"):
        return None if _resolves(sg, rest) else found[0]
    if rest[-1] in _FILES:
        return None
    owner = VARIABLES.get(first) or _public_classes().get(first)
    if owner is None:
        return None
    return None if _resolves(owner, rest[:1]) else found[0]


def _resolves(owner: Any, names: list[str]) -> bool:
    for at, name in enumerate(names):
        if not hasattr(owner, name):
            if isinstance(owner, type):
                return _is_field(owner, name)
            try:
                importlib.import_module(".".join((owner.__name__, *names[at : at + 1])))
            except (ImportError, AttributeError):
                return False
        owner = getattr(owner, name)
    return True


def _is_field(owner: type, name: str) -> bool:
    """Whether objects of a class have the attribute: it is annotated, or its docstring lists it."""
    listed = re.compile(rf"^\s+{name}(?: \([^)]*\))?:", re.MULTILINE)
    return any(
        name in vars(one).get("__annotations__", {}) or listed.search(one.__doc__ or "") for one in owner.__mro__
    )


def public_modules() -> list[str]:
    """The modules that the reference describes."""
    listed = tomllib.loads((ROOT / "docs" / "reference" / "python.toml").read_text(encoding="utf-8"))
    return list(listed["module"])


@functools.cache
def _public_classes() -> dict[str, type]:
    """Public classes by name; those of our own names win over those of other libraries'."""
    classes: dict[str, type] = {}
    for name in public_modules():
        if ".compat." in name or ".integrations." in name:
            continue
        module = importlib.import_module(name)
        for public in module.__all__:
            value = getattr(module, public)
            if isinstance(value, type):
                classes.setdefault(public, value)
    return classes
