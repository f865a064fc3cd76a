"""Formats: how models write reasoning, content and tool calls, as data.

A format is a value (`ChatFormat`) with three readings: a parser, a grammar, and canonical writing. Named formats are
the files in `data/`, the files of installed plug-ins, and what `register` adds.
"""

from __future__ import annotations

import os

from syntagma.formats.chat_format import ChatFormat
from syntagma.formats.registry import PLUGIN_GROUP, registry

__all__ = ["PLUGIN_GROUP", "ChatFormat", "get", "names", "register"]


def get(name: str, reasoning: str | None = None) -> ChatFormat:
    """A named format; with `reasoning`, that part is the one of another.

    Raises:
        FormatError: `E-FORMAT-UNKNOWN`, with names that are near; `E-FORMAT-COMBINE`; or what a file has wrong.
    """
    found = ChatFormat(registry.spec(name), name=registry.canonical(name))
    return found if reasoning is None else found.combine(reasoning=get(reasoning))


def names() -> tuple[str, ...]:
    """The names of all formats, sorted, without aliases."""
    return registry.names()


def register(path_or_text: str | os.PathLike[str], *, name: str | None = None) -> ChatFormat:
    """Add a format for this process: a file (its name is the format's name) or TOML text.

    Raises:
        FormatError: what the file has wrong, with line.
        ArgumentError: `E-FORMAT-NAME`, `E-FORMAT-DUPLICATE`.
    """
    return get(registry.register(path_or_text, name=name))
