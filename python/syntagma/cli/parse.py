"""`syntagma parse`: reads raw model text as a message."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import typer

from syntagma.cli.inputs import format_of, load_tools, read_text
from syntagma.cli.output import JsonOption, reported, write, write_json
from syntagma.errors import RequestError

__all__ = ["parse"]


@reported
def parse(
    text: Annotated[str, typer.Argument(help="File with the raw output; - is standard input.")] = "-",
    *,
    format_: Annotated[str | None, typer.Option("--format", help="A format's name or TOML file.")] = None,
    template: Annotated[str | None, typer.Option(help="Chat template to derive the format from.")] = None,
    tools: Annotated[str | None, typer.Option(help="JSON file with the tools, for the types of arguments.")] = None,
    prompt: Annotated[str | None, typer.Option(help="File with the prompt of the output.")] = None,
    reasoning: Annotated[str, typer.Option(help="State at the start: auto, open, closed or off.")] = "auto",
    finish_reason: Annotated[str | None, typer.Option(help="Why the engine stopped, such as length.")] = None,
    events: Annotated[bool, typer.Option("--events", help="Print the events, one JSON object per line.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Parse the raw output of a model and print the message."""
    if reasoning not in ("auto", "open", "closed", "off"):
        raise RequestError("E-REQUEST-ARGUMENT", f"--reasoning must be auto, open, closed or off, not {reasoning!r}")
    parser = format_of(format_, template).parser(
        load_tools(tools),
        prompt=None if prompt is None else read_text(prompt),
        reasoning=reasoning,  # type: ignore[arg-type]  # one of the four, by the check above
    )
    read = [*parser.feed(read_text(text)), *parser.finish(reason=finish_reason)]
    if events:
        for event in read:
            write(msgspec.json.encode(event).decode())
        return
    if as_json:
        write_json(parser.message)
        return
    _print(parser.message.to_openai(), parser.message.diagnostics)


def _print(message: dict[str, Any], diagnostics: Any) -> None:
    write_json(message)
    for diagnostic in diagnostics:
        typer.echo(f"{diagnostic.code}: {diagnostic.message} (at {diagnostic.span[0]})", err=True)
