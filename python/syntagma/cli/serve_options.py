"""The options of `syntagma serve`: names, help and defaults, as one value that can be passed to worker processes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
import typer

__all__ = ["ServeOptions", "with_options"]


class ServeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `serve`, from the command line or a file; the help of each one describes it."""

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
            help="A running engine, as [NAME=]KIND:URL, such as llamacpp:http://127.0.0.1:8080; #MODEL at the end "
            "chooses one of its models. Repeatable, for several models, or for several engines with one NAME, which "
            "take turns."
        ),
    ] = None
    chat_template: Annotated[
        str | None, typer.Option(help="File with the chat template; it is read again when it changes.")
    ] = None
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "--tool-call-parser",
            help="Name or TOML file of the model's format; 'auto', the default: it is found from the template and the "
            "vocabulary. A file is read again when it changes.",
        ),
    ] = None
    require: Annotated[
        str | None,
        typer.Option(help="Refuse to start if a format that is found is less sure: proved or supported."),
    ] = None
    reasoning_format: Annotated[
        str | None,
        typer.Option(
            "--reasoning-format",
            "--reasoning-parser",
            help="Name or TOML file of a format whose reasoning replaces that of --format, or of the derived format.",
        ),
    ] = None
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 chooses a free one.")] = 8000
    name: Annotated[
        str | None, typer.Option("--name", "--served-model-name", help="Name of the model in requests.")
    ] = None
    enforce: Annotated[
        str | None,
        typer.Option(
            help="What the grammar enforces in calls that are not required: off, name or parameters. By default "
            "parameters; off if an engine cannot enforce it."
        ),
    ] = None
    unheld: Annotated[
        str, typer.Option(help="A constraint that an engine cannot enforce: refuse the request, or check the answer.")
    ] = "refuse"
    unknown_tools: Annotated[
        str,
        typer.Option(
            help="A call of a tool that the request does not declare: pass it on, leave its text in the content, drop "
            "it, or refuse the answer."
        ),
    ] = "pass"
    strict_fields: Annotated[
        bool,
        typer.Option(
            "--strict-fields", help="Refuse a request for what would have no effect (header x-syntagma-ignored)."
        ),
    ] = False
    history: Annotated[
        str,
        typer.Option(help="Calls in a conversation that were cut off: repair (complete) them, or strict: refuse them."),
    ] = "repair"
    lookalikes: Annotated[
        str,
        typer.Option(
            help="Text of users and tools that an engine would read as control tokens, if prompts are sent as text: "
            "break it up, or refuse the request."
        ),
    ] = "break"
    upstream_key: Annotated[
        str | None, typer.Option(envvar="SYNTAGMA_UPSTREAM_KEY", help="API key for the engines.")
    ] = None
    upstream_timeout: Annotated[
        float,
        typer.Option(min=0.1, help="Seconds that an engine may be silent, including the time to read the prompt."),
    ] = 600.0
    parallel: Annotated[
        int | None,
        typer.Option(
            "--parallel",
            "--max-num-seqs",
            "--max-running-requests",
            min=1,
            help="Generations that run at the same time in each process; by default 16 if the model computes them "
            "together, else 2.",
            show_default=False,
        ),
    ] = None
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Default length of an answer, in tokens.")] = None
    thinking_tokens: Annotated[int | None, typer.Option(min=0, help="Most tokens of reasoning, by default.")] = None
    complete: Annotated[
        bool,
        typer.Option(
            "--complete/--cut",
            help="At the limit, complete answers with a grammar to a valid ending, or cut them off. Engines cut.",
        ),
    ] = True
    on_length: Annotated[
        str, typer.Option(help="Finish reason of answers that are completed at the limit: length or stop.")
    ] = "length"
    reasoning_field: Annotated[
        str, typer.Option(help="Field with the reasoning in chat completions: reasoning_content, reasoning or both.")
    ] = "both"
    stored_bytes: Annotated[
        int,
        typer.Option(min=0, help="Memory for stored answers of /v1/responses, in bytes; 0 stores none."),
    ] = 64 << 20
    record_dir: Annotated[
        str | None,
        typer.Option(
            help="Folder for recordings, which `syntagma replay` reads: answers to requests with the header "
            "x-syntagma-record: 1. They contain prompts, but no headers or keys."
        ),
    ] = None
    record_all: Annotated[bool, typer.Option("--record-all", help="Record every answer.")] = False
    record_files: Annotated[int, typer.Option(min=1, help="Maximum number of recordings; the oldest are deleted.")] = (
        1_000
    )
    record_bytes: Annotated[int, typer.Option(min=1, help="Maximum size of all recordings, in bytes.")] = 256 << 20
    api_key: Annotated[
        list[str] | None,
        typer.Option(envvar="SYNTAGMA_API_KEY", help="Key that clients must send; repeatable."),
    ] = None
    api_keys: Annotated[str | None, typer.Option(help="File of keys: KEY or NAME KEY per line.")] = None
    rate: Annotated[
        int | None, typer.Option(min=1, help="Requests per minute and key, which is also the initial burst.")
    ] = None
    concurrency: Annotated[int | None, typer.Option(min=1, help="Concurrent requests per key.")] = None
    cors: Annotated[
        list[str] | None,
        typer.Option(help="Origin that may send requests, such as https://example.org; repeatable, '*' for all."),
    ] = None
    inspector: Annotated[
        bool,
        typer.Option("--inspector", help="Serve the inspector at /inspector; with keys, the page asks for one."),
    ] = False
    workers: Annotated[int, typer.Option(min=1, help="Number of server processes, each with the model.")] = 1
    tls_cert: Annotated[
        str | None, typer.Option("--tls-cert", "--ssl-certfile", help="Certificate of the server, a PEM file.")
    ] = None
    tls_key: Annotated[
        str | None, typer.Option("--tls-key", "--ssl-keyfile", help="Key of the certificate, a PEM file.")
    ] = None
    log_format: Annotated[str, typer.Option(help="Format of the log: text, or json with one object per line.")] = "text"
    log_level: Annotated[
        str,
        typer.Option(
            "--log-level",
            "--uvicorn-log-level",
            help="Level of the log: debug, info (one line per request), warning or error.",
        ),
    ] = "warning"
    otlp_traces_endpoint: Annotated[
        str | None,
        typer.Option(help="OTLP endpoint for traces over HTTP, such as http://127.0.0.1:4318/v1/traces."),
    ] = None
    limits: Annotated[
        list[str] | None,
        typer.Option(
            help="A bound, as NAME=VALUE, or a TOML file of bounds; their names are those of `Limits`. Repeatable."
        ),
    ] = None
    queue_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds that a request may wait for a free generation.")
    ] = 300.0
    shutdown_timeout: Annotated[
        int,
        typer.Option(
            min=0,
            help="Seconds for running answers to finish after SIGTERM or Ctrl-C; then they are cut off. A second "
            "signal ends the server at once.",
        ),
    ] = 30
    enable_auto_tool_choice: Annotated[
        bool,
        typer.Option("--enable-auto-tool-choice", help="Accepted for compatibility with vLLM; calls are always read."),
    ] = False
    grammar_backend: Annotated[
        str | None,
        typer.Option(
            help="Accepted for compatibility with SGLang; Syntagma, or the engine of --upstream, enforces grammars."
        ),
    ] = None


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command: it takes all options of `ServeOptions`, before its own.

    Args:
        command: a function with the parameter `options` and further ones.
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
