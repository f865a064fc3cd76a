"""Which format the model of an engine writes: named in the environment, or found in its chat template."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from syntagma import formats
from syntagma.analysis import analyze
from syntagma.errors import ArgumentError
from syntagma.formats import ChatFormat
from syntagma.templates import ChatTemplate

__all__ = ["FORMAT_VARIABLE", "TEMPLATE_VARIABLE", "engine_format"]

FORMAT_VARIABLE = "SYNTAGMA_FORMAT"
"""names a registered format, or a format file"""

TEMPLATE_VARIABLE = "SYNTAGMA_CHAT_TEMPLATE"
"""names the file of a chat template that the engine was given beside the model"""


def engine_format(tokenizer: Any) -> ChatFormat:
    """The format that the model of a tokenizer writes.

    The environment comes first: `SYNTAGMA_FORMAT`, then `SYNTAGMA_CHAT_TEMPLATE`, since engines do not tell their
    parsers of a template that replaces the model's. Then the tokenizer's own template is analysed, once.

    Raises:
        FormatError: `E-FORMAT-…`, the named format is not known, or its file not right.
        ArgumentError: `E-ARGUMENT-FORMAT`, nothing is named and the tokenizer has no template; or the named file cannot
            be read.
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
            "the tokenizer has no chat template, so nothing says how the model writes",
            hint=f"name a format in {FORMAT_VARIABLE}, or a template's file in {TEMPLATE_VARIABLE}",
        )
    begin, end = (str(getattr(tokenizer, name, None) or "") for name in ("bos_token", "eos_token"))
    return _analysed(template, begin, end)


def _template_of(tokenizer: Any) -> str:
    """The text of a tokenizer's template; of several the default one.

    Engines ask for every request, so nothing is compiled for that.
    """
    template = getattr(tokenizer, "chat_template", None)
    if isinstance(template, dict):
        template = template.get("default") or next(iter(template.values()), None)
    return template if isinstance(template, str) else ""


@lru_cache(maxsize=16)
def _analysed(template: str, bos_token: str, eos_token: str) -> ChatFormat:
    return analyze(ChatTemplate(template, bos_token, eos_token)).format


def _text(path: str, variable: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError("E-ARGUMENT-FORMAT", f"{variable} names a file that cannot be read: {error}") from error
