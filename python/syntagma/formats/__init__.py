"""Formats: how models write reasoning, content and tool calls, as data.

A format is a value, `ChatFormat`, that is used in three ways: to parse, as a grammar, and to write. Named formats are
the files in `data/`, the files of installed plug-ins, and those that `register` adds.
"""

from __future__ import annotations

import os

from syntagma.entry import entry
from syntagma.formats.chat_format import ChatFormat
from syntagma.formats.format_texts import FormatTexts
from syntagma.formats.older_tag import older_structural_tag
from syntagma.formats.registry import PLUGIN_GROUP, registry
from syntagma.formats.styles import styled

__all__ = ["PLUGIN_GROUP", "ChatFormat", "FormatTexts", "get", "names", "older_structural_tag", "register", "styled"]


def get(name: str, reasoning: str | None = None) -> ChatFormat:
    """A named format.

    Args:
        name: its name or an alias.
        reasoning: the name of another format, whose reasoning part replaces the first one's.

    Raises:
        FormatError: `E-FORMAT-UNKNOWN`, with similar names; `E-FORMAT-COMBINE`; or an error in the file.
    """
    found = ChatFormat(registry.spec(name), name=registry.canonical(name))
    return found if reasoning is None else found.combine(reasoning=get(reasoning))


def names() -> tuple[str, ...]:
    """The names of all formats, sorted, without aliases."""
    return registry.names()


@entry
def register(path_or_text: str | os.PathLike[str], *, name: str | None = None) -> ChatFormat:
    """Add a format to this process.

    Args:
        path_or_text: a file, whose name without `.toml` is the format's name, or TOML text.
        name: the format's name, if it is another; text without a name needs an alias.

    Raises:
        FormatError: `E-FORMAT-READ`, the file cannot be read; or an error in it, with its line.
        ArgumentError: `E-FORMAT-NAME`, text without a name; `E-FORMAT-DUPLICATE`, the name or an alias is taken.
    """
    return get(registry.register(path_or_text, name=name))
