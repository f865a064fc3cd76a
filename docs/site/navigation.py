"""The tree of pages is what the index pages link to, in their order: nothing is listed a second time."""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

INDEX_PAGES = ("docs/index", "docs/engines/index")
REFERENCE_PAGE = "docs/reference/python"
ELSEWHERE = ("conformance/", "README", "python/")
"""pages that others link to, and that belong to no part of the tree"""
PLAYGROUND = ("docs/playground", "js/src", "js/dist", "python/syntagma/embedded/data/tokenizer.json")
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)#:\s]+)\.md(?:#[^)]*)?\)")
_REDIRECT = """<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={0}">
<a href="{0}">Syntagma</a>
"""


def setup(app: Sphinx) -> dict[str, Any]:
    """What Sphinx asks of an extension."""
    app.connect("source-read", add_tree)
    app.connect("build-finished", write_front_page)
    app.connect("build-finished", copy_playground)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def add_tree(_app: Sphinx, page: str, source: list[str]) -> None:
    """Give an index page its tree; say of pages elsewhere that they are in none."""
    if page in INDEX_PAGES:
        source[0] += "\n" + "".join(_trees(page, source[0]))
    elif page == REFERENCE_PAGE:
        source[0] += "\n```{toctree}\n:glob:\n:titlesonly:\napi/*\n```\n"
    elif page.startswith(ELSEWHERE):
        source[0] = f"---\norphan: true\n---\n{source[0]}"


def _trees(page: str, text: str) -> Iterator[str]:
    """A tree for each section that links to pages, under the section's name."""
    parts, seen = _HEADING.split(text), {page}
    for title, section in zip(["", *parts[1::2]], parts[::2], strict=True):
        found = []
        for target in _LINK.findall(section):
            linked = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
            if linked not in seen and not linked.startswith(ELSEWHERE):
                seen.add(linked)
                found.append("/" + linked)
        if found:
            caption = f":caption: {title}\n" if title else ""
            yield f"```{{toctree}}\n:hidden:\n:titlesonly:\n{caption}\n" + "\n".join(found) + "\n```\n\n"


def write_front_page(app: Sphinx, failure: Exception | None) -> None:
    """Lead from the top of the site to its first page, which lies in a folder as in the repository."""
    if failure is None and app.builder.name == "html":
        (app.outdir / "index.html").write_text(_REDIRECT.format(f"{app.config.root_doc}.html"), encoding="utf-8")


def copy_playground(app: Sphinx, failure: Exception | None) -> None:
    """Put the playground and what it loads where they are in the repository, the engine only if it was built."""
    if failure is None and app.builder.name == "html":
        for path in PLAYGROUND:
            source, copy = app.srcdir / path, app.outdir / path
            if source.is_dir():
                shutil.copytree(source, copy, dirs_exist_ok=True)
            elif source.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
