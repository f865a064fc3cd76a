"""The command-line application with all commands."""

from __future__ import annotations

import typer

from syntagma import __version__
from syntagma.cli.analyze import analyze
from syntagma.cli.batch import batch
from syntagma.cli.convert import convert
from syntagma.cli.demo import demo
from syntagma.cli.doctor import doctor
from syntagma.cli.formats import formats
from syntagma.cli.generate import generate
from syntagma.cli.grammar import grammar
from syntagma.cli.inspect import inspect
from syntagma.cli.lint_template import lint_template
from syntagma.cli.mask import mask
from syntagma.cli.openchatml import openchatml
from syntagma.cli.output import write
from syntagma.cli.parse import parse
from syntagma.cli.render import render
from syntagma.cli.replay import replay
from syntagma.cli.serve import serve

__all__ = ["app"]

app = typer.Typer(
    name="syntagma",
    help="Everything between an LLM's raw token stream and a typed chat message.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in (
    *(analyze, lint_template, formats, render, parse, grammar, mask, generate),
    *(convert, replay, inspect, serve, doctor, demo),
):
    app.command()(verb)
for group in (batch, openchatml):
    app.add_typer(group)


def _version(asked: bool) -> None:
    if asked:
        write(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass
