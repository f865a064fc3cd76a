"""`syntagma analyze`: derives the format of a chat template, with its certificate."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

import msgspec
import typer

from syntagma.analysis import Analysis, Resolution, comparisons
from syntagma.analysis import analyze as analyze_template
from syntagma.cli.analysis_report import write_certificate, write_comparison, write_facts, write_turn
from syntagma.cli.inputs import load_template, load_tokenizer, load_tools, of_file
from syntagma.cli.output import JsonOption, reported, write, write_json
from syntagma.cli.progress import progress

__all__ = ["analyze"]


@reported
def analyze(
    template: Annotated[str, typer.Argument(help="Template file, model folder, GGUF file, or 'embedded'.")],
    *,
    tools: Annotated[
        str | None, typer.Option(help="JSON file with tools, for --gbnf and the turn that is shown.")
    ] = None,
    toml: Annotated[bool, typer.Option("--toml", help="Print only the format file.")] = False,
    gbnf: Annotated[bool, typer.Option("--gbnf", help="Print only the grammar of a turn, as GBNF.")] = False,
    response_template: Annotated[
        bool,
        typer.Option("--response-template", help="Print only the format as a response_template."),
    ] = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="Print pairs of renders that differ in one thing, and the difference.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print every tested message, as rendered.")] = False,
    tokenizer: Annotated[
        str | None,
        typer.Option(help="tokenizer.json, folder, GGUF, or 'embedded': its special tokens tell formats apart."),
    ] = None,
    cache: Annotated[str | None, typer.Option(help="Folder that caches analyses.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Derive a model's format from its chat template.

    The format is proved on other messages. The exit code is 1 if the certificate is not clean.
    """
    loaded = load_template(template)
    declared = load_tools(tools)
    vocabulary = None if tokenizer is None else load_tokenizer(tokenizer)
    with of_file(template), progress(template):
        analysis = analyze_template(loaded, cache=cache, vocabulary=vocabulary)
    asked: dict[str, Any] = {}
    if toml:
        asked["toml"] = analysis.format.to_toml().rstrip("\n")
    if gbnf:
        asked["gbnf"] = analysis.format.grammar(declared).to_gbnf().text.rstrip("\n")
    if response_template:
        asked["response_template"] = analysis.format.to_response_template()[0]
    pairs = comparisons(loaded, analysis) if trace else ()
    if as_json:
        resolution = {"resolution": Resolution.of(analysis).to_dict()}
        traced = {"trace": msgspec.to_builtins(pairs)} if trace else {}
        write_json(analysis.to_dict() | resolution | asked | traced)
    elif asked:
        for part in asked.values():
            write(part) if isinstance(part, str) else write_json(part)
    else:
        _write_whole(analysis, verbose=verbose)
        write_turn(loaded, analysis, declared)
        _write_next(shlex.quote(template), clean=analysis.certificate is not None and analysis.certificate.clean)
    if not as_json:
        for pair in pairs:
            write_comparison(pair)
    if analysis.certificate is None or not analysis.certificate.clean:
        raise typer.Exit(1)


def _write_next(template: str, *, clean: bool) -> None:
    """What to do with the result, as commands."""
    write("\n# next")
    if not clean:
        write(f"#   syntagma analyze {template} --verbose: every message that was tried")
    write(f"#   syntagma lint-template {template}: defects of the template itself")
    write(f"#   syntagma analyze {template} --toml > FORMAT.toml: the format as a file")
    write(
        f"#   syntagma serve --upstream llamacpp:http://127.0.0.1:8080 --chat-template {template}: an engine that runs"
    )


def _write_whole(analysis: Analysis, *, verbose: bool) -> None:
    found = Resolution.of(analysis)
    write(f"# format: {found.name}, {found.level}")
    for part, level in found.parts.items():
        write(f"#   {part}: {level}")
    for reason in found.reasons[:-1]:
        write(f"#   {reason}")
    if found.alternatives:
        write(f"#   as likely: {', '.join(found.alternatives)}")
    write(analysis.format.to_toml().rstrip("\n"))
    write_facts(analysis)
    if analysis.certificate is not None:
        write_certificate(analysis.certificate, verbose=verbose)
