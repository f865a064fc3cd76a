"""`syntagma analyze`: the format that a chat template implies, with its certificate."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from syntagma.analysis import Certificate
from syntagma.analysis import analyze as analyze_template
from syntagma.cli.inputs import load_template
from syntagma.cli.output import JsonOption, reported, write, write_json

__all__ = ["analyze"]

_MAX_EXAMPLE = 400
"""characters of an example that are printed without `--verbose`"""


@reported
def analyze(
    template: Annotated[str, typer.Argument(help="Template file, model folder, GGUF file, or 'embedded'.")],
    *,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print every message that was tried, as rendered.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Derive a model's output format from its chat template, and verify it.

    The exit code is 1 if the certificate is not clean.
    """
    analysis = analyze_template(load_template(template))
    certificate = analysis.certificate
    if as_json:
        write_json(analysis.to_dict())
    else:
        write(f"# format: {analysis.chosen}")
        write(analysis.format.to_toml().rstrip("\n"))
        write("\n# capabilities")
        for name, value in msgspec.to_builtins(analysis.capabilities).items():
            write(f"#   {name}: {value}")
        if certificate is not None:
            _write_certificate(certificate, verbose=verbose)
    if certificate is None or not certificate.clean:
        raise typer.Exit(1)


def _write_certificate(certificate: Certificate, *, verbose: bool) -> None:
    """The verdict, what speaks against the format, and one line for all messages that are alike."""
    state = "not clean" if not certificate.clean else "clean, but:" if certificate.losses else "clean"
    write(f"\n# certificate: {state}")
    for finding in certificate.findings:
        write(f"#   {finding.code}: {finding.message}")
    for remark in certificate.remarks:
        write(f"#   {remark.verdict}: {remark}")
        if remark.verdict in ("fails", "refused"):
            if remark.detail:
                write(f"#     {remark.detail}")
            write(f"#     for example: {remark.example[:_MAX_EXAMPLE]!r}")
    write(f"#   the grammar was {'asked, too' if certificate.grammar_checked else 'not asked'}")
    if verbose:
        write("\n# messages")
        for item in certificate.items:
            write(f"#   {item.name}: {item.verdict}" + (f": {item.why}" if item.why else ""))
            if item.detail:
                write(f"#     {item.detail}")
            if item.example:
                write(f"#     {item.example!r}")
