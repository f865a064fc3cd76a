"""From an address to an engine that can be talked to: the upstream, and the codec of its model."""

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
    """An engine, or several that run one model, with the codec of its chat template.

    Args:
        *addresses: `KIND:URL`, each as for `connect`.
        model: a model folder or GGUF file of the same model: its chat template is used, and prompts go out as token ids
            where a folder has a `tokenizer.json`, the library `tokenizers` is installed, and the engine takes ids.
        chat_template: a file with the chat template; it counts before that of `model`, and that before what the engine
            says.
        format: the format that the model writes, or the name of a registered one; None: it is found by analysing the
            template.
        api_key: for all of them.
        timeout: seconds that an engine may be silent.

    Raises:
        UpstreamError: an engine cannot be reached; `E-UPSTREAM-TEMPLATE`, there is no template; what `connect` raises.
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
    """The vocabulary of a folder, if it can encode; a GGUF file has none that does."""
    path = None if model is None else Path(model) / "tokenizer.json"
    if path is None or not path.is_file() or find_spec("tokenizers") is None:
        return None
    return TokenizerInfo.from_tokenizer_json(path)


async def _facts(upstream: Upstream) -> EngineFacts:
    """What the engine says. Whoever uses it may do so in another event loop, so no connection is kept."""
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
            "the engine does not tell its chat template",
            hint="give the model's folder or GGUF file (--model), or its template (--chat-template)",
            source=upstream.address,
        )
    return ChatTemplate(facts.chat_template, bos_token=facts.bos_token, eos_token=facts.eos_token)


def disconnect(upstream: Upstream) -> None:
    """Close the connections that callers without an event loop have opened."""
    wait(upstream.close())
