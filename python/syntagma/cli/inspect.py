"""`syntagma inspect`: opens the inspector, a page in the browser."""

from __future__ import annotations

import contextlib
import sys
import webbrowser
from typing import Annotated

import typer

from syntagma import backends, upstreams
from syntagma.cli.inputs import EMBEDDED
from syntagma.cli.output import JsonOption, reported, write_json
from syntagma.inspector import Inspector
from syntagma.inspector.local_server import LocalServer

__all__ = ["inspect"]


@reported
def inspect(
    *,
    model: Annotated[str, typer.Option(help="'embedded' for the shipped model, a folder, or BACKEND:REST.")] = EMBEDDED,
    upstream: Annotated[
        str | None, typer.Option(help="A running engine, KIND:URL, that writes the answers, such as llamacpp:URL.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 chooses a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Open a page that shows what happens to a request.

    It shows the prompt, the format, the grammar, each token of the answer, and the events. Only this machine can reach
    it.
    """
    backend, codec = backends.load(model)
    engine = None
    if upstream is not None:
        engine, codec = upstreams.load(upstream)
    inspector = Inspector(backend, codec, engine)
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
