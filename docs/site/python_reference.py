"""A page of the reference for each public module, written from its docstrings while the site is built."""

from __future__ import annotations

import importlib
import inspect
import itertools
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

REFERENCE = Path(__file__).parents[1] / "reference"
FOLDER = REFERENCE / "api"
_CODE = re.compile(r"``[^`]+``|`([^`]+)`")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_ITEM = re.compile(r"( *)[*-] ")


def setup(app: Sphinx) -> dict[str, Any]:
    """What Sphinx asks of an extension."""
    app.connect("config-inited", write_pages)
    app.connect("autodoc-process-docstring", docstring_to_rst, priority=400)  # before Napoleon
    app.connect("missing-reference", by_last_name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_pages(_app: Sphinx, _config: Config) -> None:
    """Write the page of each module that `python.toml` lists; a page that is as it was is left alone."""
    FOLDER.mkdir(exist_ok=True)
    listed = tomllib.loads((REFERENCE / "python.toml").read_text(encoding="utf-8"))["module"]
    pages = {f"{name}.md": "".join(_page(name, stability)) for name, stability in listed.items()}
    for old in FOLDER.glob("*.md"):
        if old.name not in pages:
            old.unlink()
    for file, text in pages.items():
        path = FOLDER / file
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _page(name: str, stability: str) -> Iterator[str]:
    """The page of a module, in pieces: its own docstring and stability, then each of its names."""
    top, module = importlib.import_module("syntagma"), importlib.import_module(name)
    yield f"# `{name}`\n\n{inspect.getdoc(module) or ''}\n\nStability: [{stability}](../../policy.md#stability).\n"
    for public in module.__all__:
        value = getattr(module, public)
        if isinstance(value, ModuleType) or public.startswith("__"):
            continue
        if module is top:
            at_home = _home_of(public)
            if at_home:
                yield f"\n* [`sg.{public}`]({at_home}.md)"
            continue
        place = "syntagma" if getattr(top, public, None) is value and public in top.__all__ else name
        yield f"\n```{{eval-rst}}\n.. {_directive(value)}:: {place}.{public}\n{_options(value)}```\n"
    yield "\n"


def _home_of(public: str) -> str | None:
    """The page of the module in which a top-level name is described."""
    listed = tomllib.loads((REFERENCE / "python.toml").read_text(encoding="utf-8"))["module"]
    top = importlib.import_module("syntagma")
    homes = (one for one in listed if one != "syntagma" and public in importlib.import_module(one).__all__)
    return next((one for one in homes if getattr(importlib.import_module(one), public) is getattr(top, public)), None)


def _directive(value: object) -> str:
    if _is_class(value):
        return "autoclass"
    return "autofunction" if inspect.isroutine(value) else "autodata"


def _is_class(value: object) -> bool:
    """Whether it is a class of ours; another name of somebody else's is a value."""
    return inspect.isclass(value) and value.__module__.startswith("syntagma")


def _options(value: object) -> str:
    if _is_class(value):
        return "   :members:\n   :show-inheritance:\n"
    return "" if inspect.isroutine(value) else "   :no-value:\n"


def docstring_to_rst(_app: Sphinx, what: str, _name: str, obj: object, _options: object, lines: list[str]) -> None:
    """Our docstrings are Markdown where it matters: code spans and lists. A value has none of its type."""
    if what == "data" and "\n".join(lines).strip() == (inspect.getdoc(obj) or "").strip():
        lines.clear()
    text, previous = [], ""
    for line in _without_tables(lines):
        item, before = _ITEM.match(line), _ITEM.match(previous)
        if item and previous.strip() and not before and not previous.startswith(item[1] + " "):
            text.append("")
        text.append(line)
        previous = line
    # Napoleon takes what stands before a colon in the first line about an attribute for its type.
    lines[:] = [""] * (what == "attribute") + _CODE.sub(_code, "\n".join(text)).split("\n")


def _without_tables(lines: list[str]) -> Iterator[str]:
    """The lines, with Markdown's tables as directives."""
    for is_table, group in itertools.groupby(lines, lambda line: line.lstrip().startswith("|")):
        rows = list(group)
        if not is_table:
            yield from rows
            continue
        margin = " " * (len(rows[0]) - len(rows[0].lstrip()))
        yield from ("", f"{margin}.. list-table::", f"{margin}   :header-rows: 1", "")
        for row in (rows[0], *rows[2:]):
            for at, cell in enumerate(row.strip().strip("|").split("|")):
                yield f"{margin}   {'  ' if at else '* '}- {cell.strip()}"
        yield ""


def _code(span: re.Match[str]) -> str:
    """A code span; that of a name leads to where the name is described."""
    if span[1] is None or span.string[: span.start()].endswith(":"):
        return span[0]
    code = " ".join(span[1].split())
    written = f":py:obj:`{code}`" if _NAME.fullmatch(code) else f"``{code}``"
    follows = span.string[span.end() : span.end() + 1]
    return written + "\\ " if follows.isalnum() else written


def by_last_name(
    _app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.TextElement
) -> nodes.reference | None:
    """A reference by a private path, or by less than the whole name, leads to the public name if there is one only."""
    if node.get("refdomain") != "py":
        return None
    wanted = node["reftarget"].removeprefix("sg.")
    last = wanted.rsplit(".", 1)[-1] if wanted.startswith("syntagma.") else wanted
    if not last[:1].isupper() and "." not in last and node["reftype"] == "obj":
        return None
    objects = env.get_domain("py").data["objects"]
    found = {name for name in objects if name == last or name.endswith("." + last)}
    if len(found) != 1:
        return None
    entry = objects[found.pop()]
    uri = env.app.builder.get_relative_uri(node["refdoc"], entry.docname)
    return nodes.reference("", "", shown, internal=True, refuri=f"{uri}#{entry.node_id}")
