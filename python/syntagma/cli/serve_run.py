"""Runs the server of `syntagma serve` in this process."""

from __future__ import annotations

import logging
import signal
import socket
import ssl
from collections.abc import Callable, Mapping
from typing import Any, Final

from syntagma.cli.inputs import read_text
from syntagma.cli.limits_option import limits_of
from syntagma.cli.serve_options import ServeOptions
from syntagma.cli.served import codec_maker, models_of, watched_files
from syntagma.errors import RequestError
from syntagma.serving import Operations, ServedModel, Settings, create_app
from syntagma.serving.following import Follower
from syntagma.serving.keys import Key, key_of, keys_of_file
from syntagma.serving.listening import serve as listen
from syntagma.serving.logs import configure
from syntagma.serving.recordings import RecordingSettings
from syntagma.serving.tracing import export_to

__all__ = ["run_here", "settings_of"]

_FOLLOW_S: Final = 1.0
"""seconds between checks of the followed files"""
_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "enforce": ("off", "name", "parameters"),
    "on_length": ("length", "stop"),
    "reasoning_field": ("reasoning_content", "reasoning", "both"),
    "unheld": ("refuse", "check"),
    "history": ("repair", "strict"),
    "lookalikes": ("break", "refuse"),
    "unknown_tools": ("pass", "content", "drop", "refuse"),
    "require": ("proved", "supported"),
    "log_format": ("text", "json"),
    "log_level": ("debug", "info", "warning", "error"),
}
_log = logging.getLogger("syntagma.serving")


def settings_of(options: ServeOptions) -> Settings:
    """The server's settings from the options.

    Raises:
        RequestError: `E-REQUEST-ARGUMENT`, a value is unknown, or options contradict each other; `E-REQUEST-FILE`, a
            file of keys or a certificate cannot be read.
    """
    for name, known in _WORDS.items():
        given = getattr(options, name)
        if given is not None and given not in known:
            option = "--" + name.replace("_", "-")
            raise RequestError("E-REQUEST-ARGUMENT", f"{option} must be one of {', '.join(known)}, not {given!r}")
    if options.upstream and options.thinking_tokens is not None:
        raise RequestError(
            "E-REQUEST-ARGUMENT", "--thinking-tokens cannot be used with --upstream: engines cannot enforce it"
        )
    _check_shared(options)
    _tls(options)
    both = ("reasoning_content", "reasoning")
    field = options.reasoning_field
    return Settings(
        enforce=options.enforce,  # type: ignore[arg-type]
        parallel=options.parallel,
        max_tokens=options.max_tokens,
        thinking_tokens=options.thinking_tokens,
        complete=options.complete,
        on_length=options.on_length,  # type: ignore[arg-type]
        reasoning_fields=both if field == "both" else (field,),  # type: ignore[arg-type]
        unknown_tools=options.unknown_tools,  # type: ignore[arg-type]
        strict_fields=options.strict_fields,
        stored_bytes=options.stored_bytes,
        recording=_recording(options),
        inspector=options.inspector,
        limits=limits_of(options),
        operations=Operations(
            keys=_keys(options), origins=tuple(options.cors or ()), rate=options.rate, concurrency=options.concurrency
        ),
    )


def _check_shared(options: ServeOptions) -> None:
    """Refuse options that need state which several processes do not share."""
    if options.workers == 1:
        return
    if options.stored_bytes:
        raise RequestError(
            "E-REQUEST-ARGUMENT",
            "workers do not share the stored answers of /v1/responses",
            hint="add --stored-bytes 0, so that no answers are stored; or serve with one worker",
        )
    if options.rate is not None or options.concurrency is not None:
        raise RequestError(
            "E-REQUEST-ARGUMENT",
            "workers do not share the request counts of keys",
            hint="apply --rate and --concurrency in a proxy in front; or serve with one worker",
        )


def _keys(options: ServeOptions) -> tuple[Key, ...]:
    keys = [key_of(secret) for secret in options.api_key or ()]
    if options.api_keys is not None:
        keys += keys_of_file(read_text(options.api_keys), options.api_keys)
    return tuple(keys)


def _recording(options: ServeOptions) -> RecordingSettings | None:
    if options.record_dir is None:
        if options.record_all:
            raise RequestError("E-REQUEST-ARGUMENT", "--record-all needs --record-dir")
        return None
    return RecordingSettings(
        folder=options.record_dir, every=options.record_all, files=options.record_files, bytes=options.record_bytes
    )


def _tls(options: ServeOptions) -> dict[str, Any]:
    """The HTTP server's options for the certificate, after a check of the files."""
    if options.tls_cert is None and options.tls_key is None:
        return {}
    if options.tls_cert is None:
        raise RequestError("E-REQUEST-ARGUMENT", "--tls-key needs --tls-cert")
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(options.tls_cert, options.tls_key)
    except OSError as error:
        raise RequestError(
            "E-REQUEST-FILE",
            f"the certificate cannot be used: {error.strerror or error}",
            hint="--tls-cert and --tls-key must be PEM files that belong together",
            source=options.tls_cert,
        ) from error
    return {"ssl_certfile": options.tls_cert, "ssl_keyfile": options.tls_key}


def run_here(options: ServeOptions, listener: socket.socket, begun: Callable[[list[str]], None]) -> None:
    """Load the models and serve them until a signal ends the server.

    Args:
        options: the options.
        listener: the bound socket.
        begun: called with the names of the models when they are loaded.

    Raises:
        SyntagmaError: a model cannot be loaded, or options contradict each other.
    """
    settings = settings_of(options)
    configure(options.log_format, options.log_level)  # type: ignore[arg-type]
    if options.grammar_backend is not None:
        _log.warning("--grammar-backend %s has no effect: Syntagma enforces grammars", options.grammar_backend)
    if options.otlp_traces_endpoint is not None:
        export_to(options.otlp_traces_endpoint)
    served, late = models_of(options)
    app = create_app(served, settings, late=_follow(served, late, options))
    begun([one.name for one in served])
    listen(
        app,
        listener,
        limits=settings.limits,
        shutdown_s=options.shutdown_timeout,
        log_config=None,
        **_tls(options),
    )


def _follow(
    served: list[ServedModel], late: Mapping[str, Callable[[], ServedModel]], options: ServeOptions
) -> dict[str, Callable[[], ServedModel]]:
    """Make the models follow their files: periodically, and at once after SIGHUP.

    Returns:
        what loads the late models, which follow them as well.
    """
    files = watched_files(options)
    followers: list[Follower] = []

    def follow(one: ServedModel) -> ServedModel:
        if files:
            follower = Follower(one, files, codec_maker(options, one.codec))
            follower.start(_FOLLOW_S)
            followers.append(follower)
        return one

    def ask(*_: object) -> None:
        for follower in followers:
            follower.ask()

    for one in served:
        follow(one)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, ask)
    return {name: lambda load=load: follow(load()) for name, load in late.items()}  # type: ignore[misc]
