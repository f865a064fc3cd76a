"""The options of `syntagma serve`: names, help and defaults, as one value that processes can hand on."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
import typer

__all__ = ["ServeOptions", "with_options"]


class ServeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can be said on the command line or in a file; the help of each option describes it."""

    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "--model-path",
            help="'embedded' for the shipped model (the default), a folder, or BACKEND:REST. With --upstream: the "
            "folder or GGUF file of its model, for the chat template.",
        ),
    ] = None
    upstream: Annotated[
        list[str] | None,
        typer.Option(
            help="An engine that runs already, as [NAME=]KIND:URL, such as llamacpp:http://127.0.0.1:8080; #MODEL at "
            "the end picks one of its models. Repeat it for several models, or several engines of one NAME, which take "
            "turns."
        ),
    ] = None
    chat_template: Annotated[
        str | None, typer.Option(help="A file with the chat template. It is read again when it changes.")
    ] = None
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "--tool-call-parser",
            help="The format that the model writes, by name or as a TOML file; else it is found. A file is read again "
            "when it changes.",
        ),
    ] = None
    reasoning_format: Annotated[
        str | None,
        typer.Option(
            "--reasoning-format",
            "--reasoning-parser",
            help="A format, by name or as a TOML file, whose reasoning takes the place of that of --format, or of what "
            "was found.",
        ),
    ] = None
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8000
    name: Annotated[str | None, typer.Option("--name", "--served-model-name", help="The model's name in requests.")] = (
        None
    )
    enforce: Annotated[
        str | None,
        typer.Option(
            help="What the grammar enforces of calls that are not required: off, name or parameters. Without it: "
            "parameters, and off where an engine cannot enforce it."
        ),
    ] = None
    unheld: Annotated[
        str, typer.Option(help="What becomes of a constraint that an engine cannot enforce: refuse or check.")
    ] = "refuse"
    lookalikes: Annotated[
        str,
        typer.Option(
            help="What becomes of texts of users and tools that an engine would read as control tokens, where prompts "
            "go out as text: break or refuse."
        ),
    ] = "break"
    upstream_key: Annotated[
        str | None, typer.Option(envvar="SYNTAGMA_UPSTREAM_KEY", help="The key that engines ask for.")
    ] = None
    upstream_timeout: Annotated[
        float,
        typer.Option(min=0.1, help="Seconds for which an engine may be silent, its reading of a prompt included."),
    ] = 600.0
    parallel: Annotated[
        int | None,
        typer.Option(
            "--parallel",
            "--max-num-seqs",
            "--max-running-requests",
            min=1,
            help="Generations in this process, or in each worker, that compute at once; 16 where the model computes "
            "them together, else 2.",
            show_default=False,
        ),
    ] = None
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Default length of an answer, in tokens.")] = None
    thinking_tokens: Annotated[int | None, typer.Option(min=0, help="Default length of reasoning, in tokens.")] = None
    complete: Annotated[
        bool,
        typer.Option(
            "--complete/--cut",
            help="Whether answers with a grammar end legally before the limit, or are cut. Engines elsewhere cut.",
        ),
    ] = True
    on_length: Annotated[
        str, typer.Option(help="Finish reason of answers that are brought to a legal end at the limit: length or stop.")
    ] = "length"
    reasoning_field: Annotated[
        str, typer.Option(help="Where a chat completion shows reasoning: reasoning_content, reasoning or both.")
    ] = "both"
    stored_bytes: Annotated[
        int,
        typer.Option(min=0, help="Bytes that the answers of /v1/responses that are kept may have together; 0: none."),
    ] = 64 << 20
    record_dir: Annotated[
        str | None,
        typer.Option(
            help="A folder in which answers are kept for `syntagma replay`: those of requests with the header "
            "x-syntagma-record: 1. They hold prompts, and no headers or keys."
        ),
    ] = None
    record_all: Annotated[bool, typer.Option("--record-all", help="Keep every answer there.")] = False
    record_files: Annotated[int, typer.Option(min=1, help="Answers that are kept; the oldest make room.")] = 1_000
    record_bytes: Annotated[int, typer.Option(min=1, help="Bytes that they may have together.")] = 256 << 20
    api_key: Annotated[
        list[str] | None,
        typer.Option(envvar="SYNTAGMA_API_KEY", help="A key that clients must show; repeat it for several."),
    ] = None
    api_keys: Annotated[str | None, typer.Option(help="A file of such keys: KEY or NAME KEY a line.")] = None
    rate: Annotated[int | None, typer.Option(min=1, help="Requests that a key has at first, and gains a minute.")] = (
        None
    )
    concurrency: Annotated[int | None, typer.Option(min=1, help="Requests of one key that are answered at once.")] = (
        None
    )
    cors: Annotated[
        list[str] | None,
        typer.Option(help="A web page that may ask, as https://example.org; repeat it for several, '*' for all."),
    ] = None
    inspector: Annotated[
        bool,
        typer.Option("--inspector", help="Serve the inspector at /inspector. With keys, the page asks for one."),
    ] = False
    workers: Annotated[int, typer.Option(min=1, help="Processes that serve, each with the model.")] = 1
    tls_cert: Annotated[
        str | None, typer.Option("--tls-cert", "--ssl-certfile", help="The server's certificate, a PEM file.")
    ] = None
    tls_key: Annotated[
        str | None, typer.Option("--tls-key", "--ssl-keyfile", help="The key of the certificate, a PEM file.")
    ] = None
    log_format: Annotated[str, typer.Option(help="Lines of the log: text, or json, an object a line.")] = "text"
    log_level: Annotated[
        str,
        typer.Option(
            "--log-level",
            "--uvicorn-log-level",
            help="What is logged: debug, info (a line for each request), warning or error.",
        ),
    ] = "warning"
    otlp_traces_endpoint: Annotated[
        str | None,
        typer.Option(help="Where traces go, by OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces."),
    ] = None
    queue_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds for which a request may wait for a generation to be free.")
    ] = 300.0
    shutdown_timeout: Annotated[
        int,
        typer.Option(
            min=0,
            help="Seconds that answers have to end after SIGTERM or Ctrl-C; then they are cut off. A second signal "
            "ends the server at once.",
        ),
    ] = 30
    enable_auto_tool_choice: Annotated[
        bool, typer.Option("--enable-auto-tool-choice", help="Taken for vLLM's sake: calls are always read.")
    ] = False
    grammar_backend: Annotated[
        str | None,
        typer.Option(
            help="Taken for SGLang's sake: grammars are always held by Syntagma, or by the engine of --upstream."
        ),
    ] = None


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes all of them, before its own.

    Args:
        command: takes `options`, and what else it has.
    """
    own = inspect.signature(command, eval_str=True).parameters
    annotated = inspect.get_annotations(ServeOptions, eval_str=True)
    defaults = {field.name: field.default for field in msgspec.structs.fields(ServeOptions)}
    given = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=annotation)
        for name, annotation in annotated.items()
    ]
    further = [parameter for name, parameter in own.items() if name != "options"]

    def run(**values: Any) -> None:
        options = ServeOptions(**{name: values.pop(name) for name in annotated})
        command(options=options, **values)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature([*given, *further])  # type: ignore[attr-defined]
    run.__annotations__ = {**annotated, **{one.name: one.annotation for one in further}}
    return run
