"""`syntagma serve`: an OpenAI-compatible server."""

from __future__ import annotations

import errno
import json
import os
import socket
import sys

import typer

from syntagma.cli.config_file import ConfigOption, check_config
from syntagma.cli.output import JsonOption, reported, write_json
from syntagma.cli.serve_options import ServeOptions, with_options
from syntagma.errors import RequestError

__all__ = ["serve"]


@with_options
@reported
def serve(
    *, context: typer.Context, options: ServeOptions, config: ConfigOption = None, as_json: JsonOption = False
) -> None:
    """Serve a model or running engines to OpenAI clients."""
    if config is not None:
        check_config(context)
    try:
        from syntagma.cli.serve_run import run_here, settings_of
        from syntagma.cli.workers import run_workers
        from syntagma.serving.logs import say
    except ImportError as error:
        raise RequestError(
            "E-REQUEST-EXTRA", f"{error.name} is not installed", hint="pip install 'syntagma[serve]'"
        ) from error
    settings_of(options)

    def begun(names: list[str]) -> None:
        shown = f"[{options.host}]" if ":" in options.host else options.host
        scheme = "http" if options.tls_cert is None else "https"
        address = f"{scheme}://{shown}:{listener.getsockname()[1]}/v1"
        if as_json:
            write_json({"model": names[0], "models": names, "base_url": address})
            sys.stdout.flush()
        else:
            say(options.log_format, f"serving {', '.join(names)} at {address}")  # type: ignore[arg-type]
            if options.log_format == "text":
                say("text", _next(address, names[0], keyed=bool(options.api_key or options.api_keys)))

    with _listen(options.host, options.port) as listener:
        (run_here if options.workers == 1 else run_workers)(options, listener, begun)


def _next(address: str, model: str, *, keyed: bool) -> str:
    """How to ask the server, and how to check it."""
    key = " -H 'authorization: Bearer KEY'" if keyed else ""
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "Hello"}]}).replace("'", "'\\''")
    ask = f"curl {address}/chat/completions -H 'content-type: application/json'{key} -d '{body}'"
    return f"  ask it:   {ask}\n  check it: syntagma doctor {address}{' --api-key KEY' if keyed else ''}"


def _listen(host: str, port: int) -> socket.socket:
    """The socket to serve on. It is bound before the server starts, so that the number for port 0 is known."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        hint = "choose another --port; 0 takes a free one"
        if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
            hint = "--host takes an address of this machine: 127.0.0.1 for it alone, 0.0.0.0 for everyone"
        raise RequestError("E-REQUEST-ADDRESS", f"cannot listen on {host}, port {port}: {why}", hint=hint) from error
