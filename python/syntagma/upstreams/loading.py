"""Loads an upstream from its address, with the codec of its model."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from syntagma import formats
from syntagma.codec import ChatCodec
from syntagma.decoding import TokenizerInfo
from syntagma.decoding.upstream import EngineFacts, Upstream
from syntagma.errors import UpstreamError
from syntagma.formats import ChatFormat
from syntagma.templates import ChatTemplate
from syntagma.upstreams.loop_thread import wait
from syntagma.upstreams.pool import UpstreamPool
from syntagma.upstreams.registry import connect

__all__ = ["disconnect", "load"]


def load(
    *addresses: str,
    model: str | os.PathLike[str] | None = None,
    chat_template: str | os.PathLike[str] | None = None,
    format: str | ChatFormat | None = None,
    api_key: str | None = None,
    timeout: float = 600.0,
) -> tuple[Upstream, ChatCodec]:
    """Connect to one engine, or several that run the same model, and find the codec of the model's chat template.

    Args:
        *addresses: `KIND:URL`, see `connect`.
        model: a folder or GGUF file of the same model. Its chat template is used. Prompts are sent as token ids if it
            is a folder with a `tokenizer.json`, the library `tokenizers` is installed, and the engine accepts ids.
        chat_template: a file with the chat template. It takes precedence over that of `model`, which takes precedence
            over that of the engine.
        format: the model's format, or the name of a registered one; None: derive it from the template.
        api_key: the key for all engines.
        timeout: longest silence of an engine, in seconds.

    Raises:
        UpstreamError: no engine can be reached; `E-UPSTREAM-TEMPLATE`, there is no template; or see `connect`.
        TemplateError, FormatError, VocabularyError: the template, the format or the tokenizer cannot be used.
    """
    info = _vocabulary(model)
    made = [connect(address, api_key=api_key, timeout=timeout, tokenizer_info=info) for address in addresses]
    upstream: Upstream = made[0] if len(made) == 1 else UpstreamPool(made)
    facts = wait(_facts(upstream))
    template = _template(facts, upstream, model, chat_template)
    if format is not None:
        return upstream, ChatCodec.from_format(formats.get(format) if isinstance(format, str) else format, template)
    return upstream, ChatCodec.from_template(template, vocabulary=info)


def _vocabulary(model: str | os.PathLike[str] | None) -> TokenizerInfo | None:
    """The vocabulary of a model folder; None for a GGUF file, whose vocabulary cannot encode."""
    path = None if model is None else Path(model) / "tokenizer.json"
    if path is None or not path.is_file() or find_spec("tokenizers") is None:
        return None
    return TokenizerInfo.from_tokenizer_json(path)


async def _facts(upstream: Upstream) -> EngineFacts:
    """The engine's facts. No connection is kept, because the upstream may be used in another event loop."""
    try:
        return await upstream.describe()
    finally:
        await upstream.close()


def _template(
    facts: EngineFacts,
    upstream: Upstream,
    model: str | os.PathLike[str] | None,
    chat_template: str | os.PathLike[str] | None,
) -> ChatTemplate:
    if chat_template is not None:
        return ChatTemplate.from_file(chat_template, bos_token=facts.bos_token, eos_token=facts.eos_token)
    if model is not None:
        return ChatTemplate.from_pretrained(model) if Path(model).is_dir() else ChatTemplate.from_gguf(model)
    if facts.chat_template is None:
        raise UpstreamError(
            "E-UPSTREAM-TEMPLATE",
            "the engine does not report its chat template",
            hint="give the model's folder or GGUF file (--model), or its template (--chat-template)",
            source=upstream.address,
        )
    return ChatTemplate(facts.chat_template, bos_token=facts.bos_token, eos_token=facts.eos_token)


def disconnect(upstream: Upstream) -> None:
    """Close the connections of callers without an event loop."""
    wait(upstream.close())
