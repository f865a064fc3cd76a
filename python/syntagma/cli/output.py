"""Prints the output of commands: text or JSON to stdout, errors to stderr."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any, ParamSpec, TextIO, TypeAlias, TypeVar

import msgspec
import typer

from syntagma.errors import SyntagmaError
from syntagma.option_hints import in_options

__all__ = ["JsonOption", "pretty_json", "reported", "warn", "write", "write_json"]

P = ParamSpec("P")
R = TypeVar("R")

JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def write(text: str, *, end: str = "\n") -> None:
    """Print text, followed by a line break. Characters that the terminal cannot show are escaped."""
    _write(sys.stdout, text + end)


def warn(text: str, *, end: str = "\n") -> None:
    """Print text, followed by a line break, to stderr."""
    _write(sys.stderr, text + end)


def _write(stream: TextIO, text: str) -> None:
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    if not text.endswith("\n"):
        stream.flush()


def write_json(value: Any) -> None:
    """Print a value as indented JSON."""
    write(pretty_json(value))


def pretty_json(value: Any) -> str:
    """A value as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def reported(command: Callable[P, R]) -> Callable[P, R]:
    """Decorate a command: errors are printed, with `--json` as JSON, and the exit code is 2."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except SyntagmaError as error:
            error.hint = None if error.hint is None else in_options(error.hint)
            if kwargs.get("as_json"):
                write_json({"error": error.to_dict()})
            else:
                sys.stderr.write(f"{error}\n")
            raise typer.Exit(2) from error
        except BrokenPipeError:
            # The reader closed the pipe. Closing stdout here avoids a second error at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None

    return run
