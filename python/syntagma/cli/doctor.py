"""`syntagma doctor`: checks whether a server follows the protocol of chat completions."""

from __future__ import annotations

import itertools
import sys
from typing import Annotated

import typer

from syntagma.cli.output import JsonOption, reported, write, write_json
from syntagma.cli.progress import progress
from syntagma.doctor import CHECKS, Report, diagnose

__all__ = ["doctor"]

_WIDTH = 120
"""width in columns if the output is not a terminal"""
_STYLES = {"held": "green", "fault": "bold red", "not offered": "dim", "unsure": "yellow"}


@reported
def doctor(
    url: Annotated[str, typer.Argument(help="Base URL, such as http://127.0.0.1:8000/v1.")],
    *,
    model: Annotated[
        str | None, typer.Option(help="Model to test; by default the first that the server lists.")
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(help="Key sent as a bearer token; never printed.", envvar="SYNTAGMA_API_KEY")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="Check or family of checks to run; repeatable.")] = None,
    skip: Annotated[list[str] | None, typer.Option(help="Check or family of checks to leave out; repeatable.")] = None,
    timeout: Annotated[float, typer.Option(help="Time limit for one answer, in seconds.")] = 60.0,
    limit: Annotated[float | None, typer.Option(help="Time limit for the whole run, in seconds.")] = None,
    max_tokens: Annotated[
        int, typer.Option(help="Tokens for answers whose length does not matter; models that reason long need more.")
    ] = 512,
    as_json: JsonOption = False,
) -> None:
    """Check whether a server follows the OpenAI protocol.

    The checks cover streams, calls, reasoning, schemas, errors and injection. A rule is held, broken (fault), not
    offered, or unsure. Each fault comes with the request that causes it, and a fix. The exit code is 1 if there are
    faults. docs/doctor.md explains the verdicts.
    """
    names = (*(only or ()), *(skip or ()))
    with progress(url, None if names else len(CHECKS)) as show:
        done = itertools.count(1)
        report = diagnose(
            url,
            model=model,
            api_key=api_key,
            only=only or (),
            skip=skip or (),
            timeout=timeout,
            limit=limit,
            max_tokens=max_tokens,
            on_result=None if show is None else lambda result: show(next(done), result.id),
        )
    if as_json:
        write_json(report.to_dict())
    else:
        _write_table(report)
        _write_faults(report)
    if report.faults:
        raise typer.Exit(1)


def _write_table(report: Report) -> None:
    """Print one row for each check, with its finding if there is one."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, title=f"{report.url}, model {report.model or 'not named'}", title_justify="left")
    for column in ("check", "verdict", "rule, and result"):
        table.add_column(column, overflow="fold", no_wrap=column != "rule, and result")
    for result in report.results:
        said = Text(result.title)
        if result.said:
            said.append(f": {result.said}", style=_STYLES[result.verdict])
        table.add_row(Text(result.id), Text(result.verdict, style=_STYLES[result.verdict]), said)
    width = None if sys.stdout.isatty() else _WIDTH
    console = Console(width=width)
    with console.capture() as captured:
        console.print(table)
    write(captured.get(), end="")


def _write_faults(report: Report) -> None:
    for fault in report.faults:
        write(f"\n{fault.id}: {fault.said}")
        for name, text in (
            ("request", fault.request),
            ("answer", fault.came),
            ("harm", fault.harm),
            ("fix", fault.mend),
        ):
            if text:
                write(f"  {name}: " + text.replace("\n", "\n    "))
    counts = ", ".join(f"{count} {verdict}" for verdict, count in report.counts.items())
    write(f"\n{counts}; {report.requests} requests in {report.seconds:.1f} s")
