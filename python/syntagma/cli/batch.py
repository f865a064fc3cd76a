"""`syntagma batch`: parses, renders or constrains every row of a file."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, TypeAlias

import msgspec
import typer

from syntagma.cli.inputs import format_of, load_template, load_tools, of_file, read_json
from syntagma.cli.output import JsonOption, reported, warn, write, write_json
from syntagma.cli.progress import Advance, progress
from syntagma.codec import ChatCodec
from syntagma.errors import RequestError

__all__ = ["batch"]

batch = typer.Typer(
    name="batch",
    help="Process files of rows. JSON lines or Parquet, in constant memory.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Source: TypeAlias = Annotated[
    str, typer.Argument(help="File of rows: .jsonl (also .jsonl.gz, .jsonl.zst) or .parquet.")
]
Target: TypeAlias = Annotated[str, typer.Argument(help="File for the rows with results; the same types.")]
Format: TypeAlias = Annotated[str | None, typer.Option("--format", help="A format's name or TOML file.")]
Template: TypeAlias = Annotated[str | None, typer.Option(help="Chat template to derive the format from.")]
Tools: TypeAlias = Annotated[str | None, typer.Option(help="JSON file with tools, for rows that have none.")]
Reasoning: TypeAlias = Annotated[str, typer.Option(help="State at the start: auto, open, closed or off.")]
Column: TypeAlias = Annotated[
    list[str] | None, typer.Option("--column", help="NAME=COLUMN: use another column name; repeatable.")
]
Errors: TypeAlias = Annotated[
    str | None, typer.Option(help="File for rows that cannot be processed; by default OUT.errors.jsonl.")
]
Workers: TypeAlias = Annotated[int, typer.Option(min=1, help="Number of processes; 1 is this one.")]
ChunkRows: TypeAlias = Annotated[int, typer.Option(min=1, help="Rows per chunk, the unit of work of a process.")]
Overwrite: TypeAlias = Annotated[
    bool, typer.Option("--overwrite", help="Start again: replace OUT instead of resuming an earlier run.")
]


@batch.command("parse")
@reported
def parse(
    source: Source,
    target: Target,
    *,
    format_: Format = None,
    template: Template = None,
    tools: Tools = None,
    reasoning: Reasoning = "auto",
    strict: Annotated[
        bool, typer.Option("--strict", help="Malformed text is an error of its row. Exit 1 if a row has one.")
    ] = False,
    column: Column = None,
    errors: Errors = None,
    workers: Workers = 1,
    chunk_rows: ChunkRows = 1000,
    overwrite: Overwrite = False,
    as_json: JsonOption = False,
) -> None:
    """Parse the column generated_text into messages."""
    from syntagma.batch import Parse

    stage = Parse(
        format_of(format_, template),
        tools=load_tools(tools),
        columns=_columns(column),
        reasoning=reasoning,  # type: ignore[arg-type]  # the stage checks it
        strict=strict,
    )
    options = {"workers": workers, "chunk_rows": chunk_rows, "overwrite": overwrite}
    if _run(stage, source, target, errors, as_json=as_json, **options) and strict:
        raise typer.Exit(1)


@batch.command("render")
@reported
def render(
    source: Source,
    target: Target,
    *,
    template: Annotated[str, typer.Option(help="Template file, model folder, GGUF file, or 'embedded'.")],
    as_is: Annotated[
        bool, typer.Option("--as-is", help="Pass messages to the template unchanged, without analyzing it.")
    ] = False,
    tools: Tools = None,
    kwargs: Annotated[str | None, typer.Option(help="JSON file with further template variables.")] = None,
    generation_prompt: Annotated[bool, typer.Option(help="End with the beginning of the assistant's turn.")] = True,
    column: Column = None,
    errors: Errors = None,
    workers: Workers = 1,
    chunk_rows: ChunkRows = 1000,
    overwrite: Overwrite = False,
    as_json: JsonOption = False,
) -> None:
    """Render conversations, in the column messages, as prompts."""
    from syntagma.batch import Render

    loaded = load_template(template)
    variables = {} if kwargs is None else read_json(kwargs)
    if not isinstance(variables, dict):
        raise RequestError("E-REQUEST-FIELD", "template variables must be a JSON object", source=kwargs)
    with of_file(template):
        renderer = loaded if as_is else ChatCodec.from_template(loaded)
    stage = Render(
        renderer,
        tools=load_tools(tools),
        columns=_columns(column),
        add_generation_prompt=generation_prompt,
        template_kwargs=variables,
    )
    _run(stage, source, target, errors, workers=workers, chunk_rows=chunk_rows, overwrite=overwrite, as_json=as_json)


@batch.command("constrain")
@reported
def constrain(
    source: Source,
    target: Target,
    *,
    dialect: Annotated[str, typer.Option(help="The engine's language: gbnf, lark, xgrammar, structural_tag or ebnf.")],
    format_: Format = None,
    template: Template = None,
    tools: Tools = None,
    tool_choice: Annotated[
        str, typer.Option(help="For rows that have none: auto, none, required, or the name of a tool.")
    ] = "auto",
    reasoning: Reasoning = "auto",
    column: Column = None,
    errors: Errors = None,
    workers: Workers = 1,
    chunk_rows: ChunkRows = 1000,
    overwrite: Overwrite = False,
    as_json: JsonOption = False,
) -> None:
    """Write the grammar of each row's turn, for engines that generate offline."""
    from syntagma.batch import Constrain

    stage = Constrain(
        format_of(format_, template),
        dialect,  # type: ignore[arg-type]  # the stage checks it
        tools=load_tools(tools),
        columns=_columns(column),
        tool_choice=tool_choice,
        reasoning=reasoning,  # type: ignore[arg-type]  # the stage checks it
    )
    _run(stage, source, target, errors, workers=workers, chunk_rows=chunk_rows, overwrite=overwrite, as_json=as_json)


def _columns(given: list[str] | None) -> dict[str, str]:
    """The names of columns, from arguments `NAME=COLUMN`."""
    columns = {}
    for one in given or ():
        standard, equals, name = one.partition("=")
        if not equals or not name:
            raise RequestError("E-REQUEST-ARGUMENT", f"--column must be NAME=COLUMN, not {one!r}")
        columns[standard] = name
    return columns


def _run(stage: Any, source: str, target: str, errors: str | None, *, as_json: bool, **options: Any) -> int:
    """Run it and tell of it; how many rows could not be processed."""
    from syntagma.batch import process_file

    try:
        with progress(source, 1.0) as show:
            told = None if show is None else partial(_tell, show)
            summary = process_file(stage, source, target, errors=errors, progress=told, **options)
    except KeyboardInterrupt:
        warn("stopped; run the same command to resume")
        raise typer.Exit(130) from None
    if as_json:
        write_json(msgspec.to_builtins(summary))
        return int(summary.bad_rows)
    resumed = f", {summary.resumed_rows:,} of them earlier" if summary.resumed_rows else ""
    write(f"{summary.target}: {summary.written:,} of {summary.rows:,} rows{resumed}")
    write(f"{summary.seconds:.1f} s, {summary.rows_per_second:,.0f} rows per second")
    if summary.diagnosed_rows:
        write(f"{summary.diagnosed_rows:,} rows with diagnostics: malformed text, read all the same")
    if summary.errors is not None:
        write(f"{summary.errors}: {summary.bad_rows:,} rows that could not be processed")
    for code, rows in summary.codes.items():
        write(f"  {code}: {rows:,}")
    return int(summary.bad_rows)


def _tell(show: Advance, done: Any) -> None:
    bad = f", {done.bad_rows:,} bad" if done.bad_rows else ""
    show(done.fraction, f"{done.rows:,} rows{bad}")
