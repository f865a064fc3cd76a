"""Finds the format of an engine's model: named in the environment, or derived from the chat template."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from syntagma import formats
from syntagma.analysis import resolve_format
from syntagma.errors import ArgumentError
from syntagma.formats import ChatFormat
from syntagma.templates import ChatTemplate

__all__ = ["FORMAT_VARIABLE", "TEMPLATE_VARIABLE", "engine_format"]

FORMAT_VARIABLE = "SYNTAGMA_FORMAT"
"""environment variable with the name of a registered format, or the path of a format file"""

TEMPLATE_VARIABLE = "SYNTAGMA_CHAT_TEMPLATE"
"""environment variable with the path of a chat template that the engine uses instead of the model's"""


def engine_format(tokenizer: Any) -> ChatFormat:
    """The format that the model of a tokenizer writes.

    The environment takes precedence: `SYNTAGMA_FORMAT`, then `SYNTAGMA_CHAT_TEMPLATE`. It is needed because engines do
    not pass a replaced template to their parsers. Else the tokenizer's own template is analysed, once.

    Raises:
        FormatError: `E-FORMAT-…`, the named format is unknown, or its file is invalid.
        ArgumentError: `E-ARGUMENT-FORMAT`, no variable is set and the tokenizer has no template; or the named file
            cannot be read.
        TemplateError: the template cannot be loaded or analysed.
    """
    named = os.environ.get(FORMAT_VARIABLE)
    if named:
        is_file = named.endswith(".toml")
        return ChatFormat.from_toml(_text(named, FORMAT_VARIABLE), source=named) if is_file else formats.get(named)
    file = os.environ.get(TEMPLATE_VARIABLE)
    template = _text(file, TEMPLATE_VARIABLE) if file else _template_of(tokenizer)
    if not template:
        raise ArgumentError(
            "E-ARGUMENT-FORMAT",
            "the tokenizer has no chat template, so the model's format is unknown",
            hint=f"set {FORMAT_VARIABLE} to a format, or {TEMPLATE_VARIABLE} to the file of a template",
        )
    begin, end = (str(getattr(tokenizer, name, None) or "") for name in ("bos_token", "eos_token"))
    added = tokenizer.get_added_vocab() if hasattr(tokenizer, "get_added_vocab") else None
    return _resolved(template, begin, end, None if added is None else tuple(added))


def _template_of(tokenizer: Any) -> str:
    """The text of a tokenizer's template, of several the default one; empty if it has none.

    Engines call this for every request, so the template is not compiled here.
    """
    template = getattr(tokenizer, "chat_template", None)
    if isinstance(template, dict):
        template = template.get("default") or next(iter(template.values()), None)
    return template if isinstance(template, str) else ""


@lru_cache(maxsize=16)
def _resolved(template: str, bos_token: str, eos_token: str, tokens: tuple[str, ...] | None) -> ChatFormat:
    return resolve_format(ChatTemplate(template, bos_token, eos_token), vocabulary=tokens).format


def _text(path: str, variable: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError("E-ARGUMENT-FORMAT", f"cannot read the file named in {variable}: {error}") from error
