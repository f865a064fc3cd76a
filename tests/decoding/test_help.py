"""What `help()` shows of the extension is what its stubs say."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

import syntagma as sg
from syntagma import _engine

STUBS = ast.parse((Path(sg.__file__).parent / "_engine.pyi").read_text(encoding="utf-8"))
MEMBERS = [
    (kind.name, member.name, ast.get_docstring(member))
    for kind in STUBS.body
    if isinstance(kind, ast.ClassDef)
    for member in kind.body
    if isinstance(member, ast.FunctionDef)
]


@pytest.mark.parametrize(
    ("kind", "member", "doc"), [row for row in MEMBERS if row[2]], ids=lambda value: str(value)[:40]
)
def test_a_member_has_the_docstring_of_its_stub(kind: str, member: str, doc: str) -> None:
    assert inspect.getdoc(getattr(getattr(_engine, kind), member)) == doc


@pytest.mark.parametrize("kind", [sg.GrammarMatcher, sg.CompiledGrammar, sg.GrammarCompiler, sg.TokenizerInfo])
def test_every_public_member_has_one(kind: Any) -> None:
    fields = getattr(kind, "__slots__", ())
    names = [name for name in dir(kind) if not name.startswith("_") and name not in fields]
    assert not [name for name in names if not inspect.getdoc(getattr(kind, name))]
