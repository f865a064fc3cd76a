"""Analyses of our own templates, each made once."""

from __future__ import annotations

import functools
from pathlib import Path

from syntagma.analysis import Analysis, analyze
from syntagma.templates import ChatTemplate

TEMPLATES = Path(__file__).parents[2] / "conformance" / "templates"
NAMES = sorted(path.stem for path in TEMPLATES.glob("*.jinja"))


def template(name: str) -> ChatTemplate:
    return ChatTemplate((TEMPLATES / f"{name}.jinja").read_text(encoding="utf-8"), eos_token="</s>")


@functools.cache
def derived(name: str) -> Analysis:
    return analyze(template(name), candidates="derived")
