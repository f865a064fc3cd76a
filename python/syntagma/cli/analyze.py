"""`syntagma analyze`: the format that a chat template implies, with its certificate."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import msgspec
import typer

from syntagma.analysis import Certificate
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
    """Derive a model's output format from its chat template, and verify it."""
    analysis = analyze_template(load_template(template))
    if as_json:
        write_json(analysis.to_dict())
        return
    write(f"# format: {analysis.chosen}")
    write(analysis.format.to_toml().rstrip("\n"))
    write("\n# capabilities")
    for name, value in msgspec.to_builtins(analysis.capabilities).items():
        write(f"#   {name}: {value}")
    _write_certificate(analysis.certificate)


def _write_certificate(certificate: Certificate | None) -> None:
    if certificate is None:
        return
    verdicts = Counter(item.verdict for item in certificate.items)
    write(f"\n# certificate: {'clean' if certificate.clean else 'not clean'}")
    for verdict, count in verdicts.most_common():
        write(f"#   {verdict}: {count} messages")
    write(f"#   the grammar was {'checked too' if certificate.grammar_checked else 'not checked'}")
    for item in certificate.failing:
        write(f"#   fails: {item.name}: {item.why}")
    for finding in certificate.findings:
        write(f"#   finding: {finding.code}: {finding.message}")
