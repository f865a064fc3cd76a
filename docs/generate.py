"""Writes the generated pages of docs/; `--check` only says whether they are up to date."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

import syntagma as sg
from syntagma.cli.app import app

DOCS = Path(__file__).parent
NOTE = "<!-- Written by `make docs`; change what it describes instead. -->\n\n"


def command_line() -> str:
    """Every command with its arguments and options, from the definitions that parse them."""
    group = get_command(app)
    pages = [NOTE + "# Command line\n\n" + (group.help or "") + "\n"]
    for name, command in _commands(group):
        pages.append(f"\n## `syntagma {name}`\n\n{(command.help or '').strip()}\n\n| | |\n|---|---|\n")
        for parameter in command.params:
            spelled = ", ".join(getattr(parameter, "opts", [])) if parameter.param_type_name == "option" else ""
            spelled = spelled or (parameter.name or "").upper()
            described = " ".join((getattr(parameter, "help", None) or "").split())
            pages.append(f"| `{spelled}` | {described.replace('|', chr(92) + '|')} |\n")
    return "".join(pages)


def _commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every command below a group with its whole name."""
    for name, command in sorted(getattr(group, "commands", {}).items()):
        if hasattr(command, "commands"):
            yield from _commands(command, f"{prefix}{name} ")
        else:
            yield prefix + name, command


def formats() -> str:
    """Every registered format, as its file says it."""
    pages = [NOTE + "# Formats\n\nThe formats that come with the package. Each is one file.\n"]
    pages += [f"\n## {name}\n\n```toml\n{sg.formats.get(name).to_toml()}```\n" for name in sg.formats.names()]
    return "".join(pages)


PAGES = {"reference/cli.md": command_line, "reference/formats.md": formats}


def main() -> int:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    check = parser.parse_args().check
    stale = []
    for name, make in PAGES.items():
        path, text = DOCS / name, make()
        if not path.is_file() or path.read_text() != text:
            stale.append(name)
            if not check:
                path.write_text(text)
    if check and stale:
        print("out of date (run `make docs`): " + ", ".join(stale), file=sys.stderr)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
