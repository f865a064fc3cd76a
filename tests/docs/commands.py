"""Commands in the pages: whether our command, its options, the extra, the target and the module exist."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from typer.main import get_command

from syntagma.cli.app import app

__all__ = ["commands_of", "missing_name_of_others", "shell_blocks", "unknown_part"]

ROOT = Path(__file__).resolve().parents[2]

_BLOCK = re.compile(r"^( *`{3,})([^\n`]*)\n(.*?)^\1", re.MULTILINE | re.DOTALL)
_EXTRAS = re.compile(r"syntagma(?:-\*\.whl\))?\[([\w,-]+)\]")
_TARGETS = re.compile(r"^ *make ([a-z-]+)", re.MULTILINE)
_MODULES = re.compile(r"\bpython3? -m ([\w.]+)")
_COMMAND = re.compile(r"(?:^|[|;&(] *)syntagma((?: +(?![|;&#>])\S+)+)", re.MULTILINE)


def shell_blocks(page: Path) -> Iterator[str]:
    """The blocks of commands of a page, each command on one line."""
    for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block[2].split()[:1] in ([], ["sh"], ["bash"]):
            yield block[3].replace("\\\n", " ")


def commands_of(page: Path) -> Iterator[str]:
    """What follows `syntagma` in the blocks of commands of a page."""
    for block in shell_blocks(page):
        yield from (found[1].strip() for found in _COMMAND.finditer(block))


def unknown_part(command: str) -> str | None:
    """The first word of a command that the command line does not know; None if it knows all."""
    words = [word for word in command.split() if not word.startswith(("<", ">"))]
    known: Any = _commands()
    while hasattr(known, "commands"):
        if not words or words[0] not in known.commands:
            return None if words and words[0].startswith("-") else (words or ["nothing"])[0]
        known = known.commands[words.pop(0)]
    options = {spelled for one in known.params for spelled in (*one.opts, *one.secondary_opts)} | {"--help", "-h"}
    return next((word for word in words if word.startswith("--") and word.split("=")[0] not in options), None)


def missing_name_of_others(block: str) -> str | None:
    """The first extra, target of make or module that a block of commands names and that does not exist."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {extra for names in _EXTRAS.findall(block) for extra in names.split(",")}
    if missing := sorted(extras - project["optional-dependencies"].keys()):
        return f"syntagma[{missing[0]}]"
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for target in _TARGETS.findall(block):
        if target not in targets:
            return f"make {target}"
    modules = (module for module in _MODULES.findall(block) if module.startswith(("tests.", "syntagma")))
    return next((f"-m {module}" for module in modules if find_spec(module) is None), None)


@functools.cache
def _commands() -> Any:
    return get_command(app)
