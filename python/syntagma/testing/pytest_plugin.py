"""A pytest plugin with a fixture: add `pytest_plugins = ["syntagma.testing.pytest_plugin"]` to a `conftest.py`."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from syntagma.templates import ChatTemplate
from syntagma.testing.template_tester import TemplateTester

__all__ = ["template_tester"]


@pytest.fixture(scope="session")
def template_tester() -> Callable[..., TemplateTester]:
    """A function that makes the tester of a template file. Each file is analysed once per session.

    Its arguments are the path, and the texts of tokens, see `ChatTemplate.from_file`.
    """
    known: dict[tuple[str, ...], TemplateTester] = {}

    def tester(path: str | os.PathLike[str], **tokens: str) -> TemplateTester:
        key = (os.fspath(path), *(f"{name}={text}" for name, text in sorted(tokens.items())))
        if key not in known:
            known[key] = TemplateTester(ChatTemplate.from_file(path, **tokens))
        return known[key]

    return tester
