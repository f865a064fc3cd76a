"""`syntagma serve`: an OpenAI-compatible server."""

from __future__ import annotations

import socket
import sys
from typing import Annotated

import typer

from syntagma.cli.output import JsonOption, reported, write_json
from syntagma.errors import RequestError

__all__ = ["serve"]


@reported
def serve(
    *,
    model: Annotated[
        str, typer.Option(help="'embedded' for the shipped model, a folder, or BACKEND:REST.")
    ] = "embedded",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8000,
    name: Annotated[str | None, typer.Option(help="The model's name in requests.")] = None,
    enforce: Annotated[
        str, typer.Option(help="What the grammar enforces of calls that are not required: off, name or parameters.")
    ] = "parameters",
    parallel: Annotated[int, typer.Option(min=1, help="Generations that compute at once.")] = 2,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Default length of an answer, in tokens.")] = None,
    thinking_tokens: Annotated[int | None, typer.Option(min=0, help="Default length of reasoning, in tokens.")] = None,
    complete: Annotated[
        bool,
        typer.Option(
            "--complete/--cut", help="Whether answers with a grammar end legally before the limit, or are cut."
        ),
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Serve a model to OpenAI clients."""
    try:
        import uvicorn

        from syntagma import backends
        from syntagma.serving import ServedModel, Settings, create_app
    except ImportError as error:
        raise RequestError(
            "E-REQUEST-EXTRA", f"{error.name} is not installed", hint="pip install 'syntagma[serve]'"
        ) from error
    if enforce not in ("off", "name", "parameters"):
        raise RequestError("E-REQUEST-ARGUMENT", f"--enforce is off, name or parameters, not {enforce!r}")
    settings = Settings(
        enforce=enforce,  # type: ignore[arg-type]
        parallel=parallel,
        max_tokens=max_tokens,
        thinking_tokens=thinking_tokens,
        complete=complete,
    )
    served = ServedModel(*backends.load(model), name=name)
    with _listen(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listener.getsockname()[1]}/v1"
        if as_json:
            write_json({"model": served.name, "base_url": address})
            sys.stdout.flush()
        else:
            sys.stderr.write(f"serving {served.name} at {address}\n")
        uvicorn.Server(uvicorn.Config(create_app(served, settings), log_level="warning")).run(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    """The socket to serve on; it is bound first, so that the number for port 0 is known."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise RequestError(
            "E-REQUEST-ADDRESS", f"cannot listen on {host}, port {port}: {error.strerror}", hint="try --port 0"
        ) from error
