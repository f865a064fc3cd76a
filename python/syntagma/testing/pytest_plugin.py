"""A pytest plugin: `pytest_plugins = ["syntagma.testing.pytest_plugin"]` in a `conftest.py` gives its fixture."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from syntagma.templates import ChatTemplate
from syntagma.testing.template_tester import TemplateTester

__all__ = ["template_tester"]


@pytest.fixture(scope="session")
def template_tester() -> Callable[..., TemplateTester]:
    """Makes the tester of a template file; a file is analysed once a session.

    Arguments are the path, and the texts of tokens as for `ChatTemplate.from_file`.
    """
    known: dict[tuple[str, ...], TemplateTester] = {}

    def tester(path: str | os.PathLike[str], **tokens: str) -> TemplateTester:
        key = (os.fspath(path), *(f"{name}={text}" for name, text in sorted(tokens.items())))
        if key not in known:
            known[key] = TemplateTester(ChatTemplate.from_file(path, **tokens))
        return known[key]

    return tester
