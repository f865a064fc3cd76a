"""`syntagma lint-template`: finds defects of a chat template."""

from __future__ import annotations

import json
from typing import Annotated

import msgspec
import typer

from syntagma.analysis import lint_template as findings_of
from syntagma.cli.inputs import load_template, load_tokenizer, of_file
from syntagma.cli.output import JsonOption, reported, write, write_json
from syntagma.cli.progress import progress

__all__ = ["lint_template"]


@reported
def lint_template(
    template: Annotated[str, typer.Argument(help="Template file, model folder, GGUF file, or 'embedded'.")],
    *,
    tokenizer: Annotated[
        str | None,
        typer.Option(help="tokenizer.json, folder, GGUF, or 'embedded': defines the control tokens."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find defects of a chat template.

    Each defect comes with a conversation that shows it.

    The exit code is 1 if there are any. docs/reference/template-lint.md lists the rules.
    """
    loaded, vocabulary = load_template(template), None if tokenizer is None else load_tokenizer(tokenizer)
    with of_file(template), progress(template):
        found = findings_of(loaded, vocabulary)
    if as_json:
        write_json(msgspec.to_builtins(found))
    elif not found:
        write("no defects were found")
    else:
        for finding in found:
            write(f"{finding.rule}: {finding.message}")
            write(f"  rendered: {finding.shown!r}")
            write(f"  shown by: {json.dumps(finding.request, ensure_ascii=False)}")
            write(f"  hint: {finding.hint}")
            for line in (finding.fix or "").splitlines():
                write(f"    {line}")
    if found:
        raise typer.Exit(1)
