"""`syntagma formats`: lists the named formats, or prints one."""

from __future__ import annotations

from typing import Annotated

import typer

from syntagma.cli.inputs import load_format
from syntagma.cli.output import JsonOption, reported, write, write_json
from syntagma.format_schema import as_data
from syntagma.formats import names

__all__ = ["formats"]


@reported
def formats(
    name: Annotated[str | None, typer.Argument(help="Print this format as TOML.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the named formats, or print one."""
    if name is None:
        write_json(names()) if as_json else write("\n".join(names()))
        return
    found = load_format(name)
    write_json(as_data(found.spec)) if as_json else write(found.to_toml().rstrip("\n"))
