"""`syntagma analyze`: the format that a chat template makes a model write, with its certificate."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from syntagma.analysis import analyze as analyze_template
from syntagma.cli.inputs import load_template
from syntagma.cli.output import JsonOption, reported, write, write_json

__all__ = ["analyze"]


@reported
def analyze(
    template: Annotated[str, typer.Argument(help="Template file, model folder, GGUF file, or 'embedded'.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Work out how a template makes a model write, and say what was proved of it."""
    analysis = analyze_template(load_template(template))
    if as_json:
        write_json(analysis.to_dict())
        return
    write(f"# format: {analysis.chosen}")
    write(analysis.format.to_toml().rstrip("\n"))
    write("\n# capabilities")
    for name, value in msgspec.to_builtins(analysis.capabilities).items():
        write(f"#   {name}: {value}")
    write("\n# certificate")
    for line in str(analysis.certificate).splitlines():
        write(f"#   {line}".rstrip())
