"""`syntagma lint-template`: finds defects of a chat template."""

from __future__ import annotations

import json
from typing import Annotated

import msgspec
import typer

from syntagma.analysis import LintFinding
from syntagma.analysis import lint_template as findings_of
from syntagma.cli.inputs import load_template, load_tokenizer, of_file
from syntagma.cli.output import JsonOption, reported, write, write_json
from syntagma.cli.progress import progress

__all__ = ["lint_template"]

_MAX_CONVERSATION = 160
"""code points of a conversation that are printed without `--verbose`"""


@reported
def lint_template(
    template: Annotated[str, typer.Argument(help="Template file, model folder, GGUF file, or 'embedded'.")],
    *,
    tokenizer: Annotated[
        str | None,
        typer.Option(help="tokenizer.json, folder, GGUF, or 'embedded': defines the control tokens."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print the conversation of each defect in full, with its tools.")
    ] = False,
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
            write(f"  shown by: {_conversation(finding, verbose=verbose)}")
            write(f"  hint: {finding.hint}")
            for line in (finding.fix or "").splitlines():
                write(f"    {line}")
        if not verbose:
            write("--verbose or --json: every conversation in full, as `syntagma render --messages` reads it")
    if found:
        raise typer.Exit(1)


def _conversation(finding: LintFinding, *, verbose: bool) -> str:
    if verbose:
        return json.dumps(finding.request, ensure_ascii=False)
    shown = json.dumps(finding.request["messages"], ensure_ascii=False)
    return shown if len(shown) <= _MAX_CONVERSATION else shown[:_MAX_CONVERSATION] + "…"
