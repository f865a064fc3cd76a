"""The registry of kinds of upstreams."""

from __future__ import annotations

import functools
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from syntagma.decoding.upstream import Upstream
from syntagma.errors import UpstreamError

__all__ = ["connect", "is_address", "names"]

GROUP = "syntagma.upstreams"
_OURS = {
    "llamacpp": "syntagma.upstreams.llamacpp:LlamaCpp",
    "ollama": "syntagma.upstreams.ollama:Ollama",
    "openai-completions": "syntagma.upstreams.openai_completions:OpenAICompletions",
    "sglang": "syntagma.upstreams.sglang:SGLang",
    "vllm": "syntagma.upstreams.vllm:VLLM",
}


def names() -> tuple[str, ...]:
    """The names of all kinds, including those of other packages."""
    return tuple(dict.fromkeys((*_OURS, *_plugins())))


def is_address(text: str) -> bool:
    """Whether a text is a kind with a URL, such as `llamacpp:http://127.0.0.1:8080`."""
    kind, colon, address = text.partition(":")
    return bool(colon) and "://" in address and "/" not in kind and "\\" not in kind


def connect(address: str, **options: Any) -> Upstream:
    """An upstream from its kind and URL. Nothing is sent yet.

    Args:
        address: `KIND:URL`. A `#name` at its end is the model to use.
        **options: `model`, `api_key`, `timeout` (seconds of silence) and `tokenizer_info`, see `HttpUpstream`.

    Raises:
        UpstreamError: `E-UPSTREAM-KIND`, the kind is unknown; `E-UPSTREAM-URL`, the URL is invalid;
            `E-UPSTREAM-DEPENDENCY`, the library `httpx` is missing (`pip install 'syntagma[upstreams]'`).
    """
    kind, _, url = address.partition(":")
    known = names()
    if kind not in known:
        raise UpstreamError(
            "E-UPSTREAM-KIND",
            f"unknown kind of upstream {kind!r}",
            hint=f"KIND:URL, where KIND is one of {', '.join(known)}",
        )
    try:
        made: Upstream = _kind(kind)(url, **options)
    except ImportError as error:
        raise UpstreamError(
            "E-UPSTREAM-DEPENDENCY",
            f"upstreams of kind {kind!r} need the library {error.name}",
            hint="pip install 'syntagma[upstreams]'",
        ) from error
    return made


def _kind(kind: str) -> Any:
    if kind in _OURS:
        module, _, name = _OURS[kind].partition(":")
        return getattr(import_module(module), name)
    return _plugins()[kind].load()


@functools.cache
def _plugins() -> dict[str, EntryPoint]:
    return {one.name: one for one in entry_points(group=GROUP)}
