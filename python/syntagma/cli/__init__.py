"""The command line, `syntagma COMMAND …`, with one file for each command. Every command has `--json`.

An error about a file names the file.
Exit codes: 0 success, 1 a negative answer (for example a text that a grammar rejects), 2 an error.
"""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> None:
    """The entry point of the `syntagma` command."""
    try:
        import typer  # noqa: F401 - check that it is installed
    except ImportError:
        sys.stderr.write("the command line needs typer: pip install typer\n")
        raise SystemExit(2) from None
    # Must be set before NumPy is loaded. With the small matrices of small models, BLAS threads only slow each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from syntagma.cli.app import app

    app()
