"""`syntagma inspect`: the inspector, a page in the browser."""

from __future__ import annotations

import contextlib
import sys
import webbrowser
from typing import Annotated

import typer

from syntagma import backends
from syntagma.cli.inputs import EMBEDDED
from syntagma.cli.output import JsonOption, reported, write_json
from syntagma.inspector import Inspector
from syntagma.inspector.local_server import LocalServer

__all__ = ["inspect"]


@reported
def inspect(
    *,
    model: Annotated[str, typer.Option(help="'embedded' for the shipped model, a folder, or BACKEND:REST.")] = EMBEDDED,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--open/--no-open", help="Whether the page is opened.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Show what happens to a request and its answer, in a page that only this machine reaches."""
    inspector = Inspector(*backends.load(model))
    with LocalServer(inspector, port) as server:
        if as_json:
            write_json({"url": server.url, "model": inspector.model_name})
            sys.stdout.flush()
        else:
            sys.stderr.write(f"the inspector is at {server.url} (Ctrl-C ends it)\n")
        if browser:
            webbrowser.open(server.url)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
    inspector.close()
