"""`--config FILE`: reads the options of a command from a TOML file. The command line takes precedence."""

from __future__ import annotations

import difflib
import tomllib
from typing import Annotated, Any, TypeAlias

import typer

from syntagma.cli.inputs import read_text
from syntagma.errors import RequestError, SyntagmaError

__all__ = ["ConfigOption", "check_config"]

_FAILED = "syntagma.config.failed"
_APART = frozenset({"config", "as_json", "help"})
"""options that a file cannot set"""


def _read(context: typer.Context, path: str | None) -> str | None:
    if path is not None:
        try:
            context.default_map = {**_values(context, path), **(context.default_map or {})}
        except SyntagmaError as error:
            # Raised later, because the option for printing errors may not have been read yet.
            context.meta[_FAILED] = error
    return path


ConfigOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--config",
        is_eager=True,
        callback=_read,
        help="A TOML file with options, named as here without the dashes. The command line takes precedence.",
    ),
]


def check_config(context: typer.Context) -> None:
    """Raise the error of the file, if it had one.

    Raises:
        RequestError: `E-REQUEST-FILE`, the file cannot be read; `E-REQUEST-CONFIG`, it is not TOML, or has an unknown
            option or a wrong value.
    """
    failed = context.meta.get(_FAILED)
    if failed is not None:
        raise failed


def _values(context: typer.Context, path: str) -> dict[str, Any]:
    """The values in the file, by the names of parameters."""
    try:
        data = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise RequestError("E-REQUEST-CONFIG", f"not TOML: {error}", source=path) from error
    known = {
        option.removeprefix("--"): parameter
        for parameter in context.command.params
        if parameter.name not in _APART
        for option in parameter.opts
    }
    values = {}
    for key, value in data.items():
        parameter = known.get(key.replace("_", "-"))
        if parameter is None:
            near = difflib.get_close_matches(key.replace("_", "-"), known, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else "`syntagma serve --help` lists the options"
            raise RequestError("E-REQUEST-CONFIG", f"unknown option {key!r}", hint=hint, source=path)
        if parameter.name in values:
            raise RequestError("E-REQUEST-CONFIG", f"{key!r} is said twice", source=path)
        values[str(parameter.name)] = _checked(context, key, value, parameter, path)
    return values


def _checked(context: typer.Context, key: str, value: Any, parameter: Any, path: str) -> Any:
    """The value, which the option can take."""
    if getattr(parameter, "is_flag", False):
        expected, fits = "true or false", isinstance(value, bool)
    elif parameter.multiple:
        value = [value] if isinstance(value, str) else value
        expected = "a string or a list of strings"
        fits = isinstance(value, list) and all(isinstance(item, str) for item in value)
    else:
        expected = "a string or a number"
        fits = isinstance(value, str | int | float) and not isinstance(value, bool)
    if not fits:
        raise RequestError("E-REQUEST-CONFIG", f"{key!r} is {expected}", source=path)
    try:
        parameter.process_value(context, value)
    except typer.BadParameter as error:
        raise RequestError("E-REQUEST-CONFIG", f"{key!r}: {error.message}", source=path) from error
    return value
