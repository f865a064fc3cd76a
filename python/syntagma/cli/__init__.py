"""The command line, `syntagma COMMAND …`: one file for each command. Every command has `--json`.

An error that comes from a file names it.
Exit codes: 0 success, 1 a negative answer (a text that a grammar refuses, for example), 2 a wrong request.
"""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> None:
    """The entry point of the `syntagma` command."""
    try:
        import typer  # noqa: F401 - is it installed?
    except ImportError:
        sys.stderr.write("the command line needs typer: pip install typer\n")
        raise SystemExit(2) from None
    # Before NumPy is loaded: the matrices of small models are so small that BLAS threads only wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from syntagma.cli.app import app

    app()
