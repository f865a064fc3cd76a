"""`syntagma serve`: an OpenAI-compatible server."""

from __future__ import annotations

import socket
import sys
from typing import Annotated

import typer

from syntagma.cli.output import JsonOption, reported, write_json
from syntagma.errors import RequestError
from syntagma.limits import Limits

__all__ = ["serve"]


@reported
def serve(
    *,
    model: Annotated[
        str | None,
        typer.Option(
            help="'embedded' for the shipped model (the default), a folder, or BACKEND:REST. With --upstream: the "
            "folder or GGUF file of its model, for the chat template."
        ),
    ] = None,
    upstream: Annotated[
        list[str] | None,
        typer.Option(
            help="An engine that runs already, as [NAME=]KIND:URL, such as llamacpp:http://127.0.0.1:8080; #MODEL at "
            "the end picks one of its models. Repeat it for several models, or several engines of one NAME, which take "
            "turns."
        ),
    ] = None,
    chat_template: Annotated[str | None, typer.Option(help="A file with the chat template.")] = None,
    format: Annotated[str | None, typer.Option(help="The format that the model writes; else it is found.")] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8000,
    name: Annotated[str | None, typer.Option(help="The model's name in requests.")] = None,
    enforce: Annotated[
        str | None,
        typer.Option(
            help="What the grammar enforces of calls that are not required: off, name or parameters. Without it: "
            "parameters, and off where an engine cannot be held to it."
        ),
    ] = None,
    unheld: Annotated[
        str, typer.Option(help="What becomes of a constraint that an engine cannot be held to: refuse or check.")
    ] = "refuse",
    lookalikes: Annotated[
        str,
        typer.Option(
            help="What becomes of texts of users and tools that an engine would read as control tokens, where prompts "
            "go out as text: break or refuse."
        ),
    ] = "break",
    upstream_key: Annotated[
        str | None, typer.Option(envvar="SYNTAGMA_UPSTREAM_KEY", help="The key that engines ask for.")
    ] = None,
    upstream_timeout: Annotated[
        float,
        typer.Option(min=0.1, help="Seconds for which an engine may be silent, its reading of a prompt included."),
    ] = 600.0,
    parallel: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Generations in this process that compute at once; 16 where the model computes them together, else 2.",
            show_default=False,
        ),
    ] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Default length of an answer, in tokens.")] = None,
    thinking_tokens: Annotated[int | None, typer.Option(min=0, help="Default length of reasoning, in tokens.")] = None,
    complete: Annotated[
        bool,
        typer.Option(
            "--complete/--cut",
            help="Whether answers with a grammar end legally before the limit, or are cut. Engines elsewhere cut.",
        ),
    ] = True,
    on_length: Annotated[
        str, typer.Option(help="Finish reason of answers that are brought to a legal end at the limit: length or stop.")
    ] = "length",
    reasoning_field: Annotated[
        str, typer.Option(help="Where a chat completion shows reasoning: reasoning_content, reasoning or both.")
    ] = "both",
    queue_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds for which a request may wait for a generation to be free.")
    ] = 300.0,
    shutdown_timeout: Annotated[
        int,
        typer.Option(
            min=0,
            help="Seconds that answers have to end after SIGTERM or Ctrl-C; then they are cut off. A second signal "
            "ends the server at once.",
        ),
    ] = 30,
    as_json: JsonOption = False,
) -> None:
    """Serve a model, or engines that run already, to OpenAI clients."""
    try:
        from syntagma.cli.served import computed_here, written_elsewhere
        from syntagma.serving import Settings, create_app
        from syntagma.serving.listening import serve as listen
    except ImportError as error:
        raise RequestError(
            "E-REQUEST-EXTRA", f"{error.name} is not installed", hint="pip install 'syntagma[serve]'"
        ) from error
    _check_word("--enforce", enforce, ("off", "name", "parameters"))
    _check_word("--on-length", on_length, ("length", "stop"))
    _check_word("--reasoning-field", reasoning_field, ("reasoning_content", "reasoning", "both"))
    _check_word("--unheld", unheld, ("refuse", "check"))
    _check_word("--lookalikes", lookalikes, ("break", "refuse"))
    if upstream and thinking_tokens is not None:
        raise RequestError("E-REQUEST-ARGUMENT", "--thinking-tokens: engines elsewhere cannot be held to it")
    settings = Settings(
        enforce=enforce,  # type: ignore[arg-type]
        parallel=parallel,
        max_tokens=max_tokens,
        thinking_tokens=thinking_tokens,
        complete=complete,
        on_length=on_length,  # type: ignore[arg-type]
        reasoning_fields=("reasoning_content", "reasoning") if reasoning_field == "both" else (reasoning_field,),  # type: ignore[arg-type]
        limits=Limits(server_queue_seconds=queue_timeout),
    )
    if upstream:
        served = written_elsewhere(
            upstream,
            model=model,
            name=name,
            chat_template=chat_template,
            format=format,
            unheld=unheld,  # type: ignore[arg-type]
            lookalikes=lookalikes,  # type: ignore[arg-type]
            api_key=upstream_key,
            timeout=upstream_timeout,
        )
    else:
        served = computed_here(model, name=name, chat_template=chat_template, format=format)
    names = [one.name for one in served]
    with _listen(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listener.getsockname()[1]}/v1"
        if as_json:
            write_json({"model": names[0], "models": names, "base_url": address})
            sys.stdout.flush()
        else:
            sys.stderr.write(f"serving {', '.join(names)} at {address}\n")
        listen(create_app(served, settings), listener, limits=settings.limits, shutdown_s=shutdown_timeout)


def _check_word(option: str, given: str | None, known: tuple[str, ...]) -> None:
    if given is not None and given not in known:
        raise RequestError("E-REQUEST-ARGUMENT", f"{option} is one of {', '.join(known)}, not {given!r}")


def _listen(host: str, port: int) -> socket.socket:
    """The socket to serve on; it is bound first, so that the number for port 0 is known."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise RequestError(
            "E-REQUEST-ADDRESS", f"cannot listen on {host}, port {port}: {error.strerror}", hint="try --port 0"
        ) from error
