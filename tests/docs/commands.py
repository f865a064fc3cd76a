"""Commands of ours in the pages: whether there is such a command, with such options."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from syntagma.cli.app import app

__all__ = ["commands_of", "unknown_part"]

_BLOCK = re.compile(r"^( *`{3,})([^\n`]*)\n(.*?)^\1", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"(?:^|[|;&(] *)syntagma((?: +(?![|;&#>])\S+)+)", re.MULTILINE)


def commands_of(page: Path) -> Iterator[str]:
    """What follows `syntagma` in the blocks of commands of a page."""
    for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block[2].split()[:1] in ([], ["sh"], ["bash"]):
            yield from (found[1].strip() for found in _COMMAND.finditer(block[3].replace("\\\n", " ")))


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


@functools.cache
def _commands() -> Any:
    return get_command(app)
