"""The command line, `syntagma VERB …`. One file per verb; every verb takes `--json`.

Exit codes: 0 done, 1 the answer is no (a text is refused), 2 the request was wrong.
"""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> None:
    """The entry point of the `syntagma` command."""
    try:
        import typer  # noqa: F401 - only asked whether it is there
    except ImportError:
        sys.stderr.write("the command line needs typer: pip install 'syntagma[cli]'\n")
        raise SystemExit(2) from None
    # Before NumPy is loaded: the products of small models are so small that BLAS threads only wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from syntagma.cli.app import app

    app()
