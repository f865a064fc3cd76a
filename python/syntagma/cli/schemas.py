"""The JSON Schemas in files that a command is given, and the words in them that resemble keywords."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from syntagma.cli.inputs import read_text
from syntagma.cli.output import warn
from syntagma.grammars import misspelt_keywords
from syntagma.grammars.dialects import notation_of_file
from syntagma.json_pointer import pointer_of
from syntagma.messages import tools_from

__all__ = ["misspelt_in", "schema_of", "warn_of_misspelt"]

_MISSPELT = "W-SCHEMA-KEYWORD"


def schema_of(source: str | None) -> dict[str, Any] | None:
    """The JSON Schema in a grammar file, as data; None: there is no file, or it holds something else."""
    if source is None or source == "-":
        return None
    text = read_text(source)
    if notation_of_file(source, text) != ("json_schema",):
        return None
    schema = msgspec.json.decode(text)
    return schema if isinstance(schema, dict) else None


def misspelt_in(schema: Any, tools: Any) -> dict[str, str]:
    """JSON pointers of words that resemble keywords, each with the keyword.

    Args:
        schema: a JSON Schema as data; None: there is none.
        tools: as a request has them; pointers into them begin with `/tools`. None: there are none.
    """
    found = misspelt_keywords(schema)
    for index, tool in enumerate(tools_from(tools) or ()):
        at = pointer_of("tools", index, "function", "parameters")
        found |= {at + pointer: keyword for pointer, keyword in misspelt_keywords(tool.parameters).items()}
    return found


def warn_of_misspelt(found: Mapping[str, str]) -> None:
    """Write a warning for each of them."""
    for pointer, keyword in found.items():
        warn(f"{_MISSPELT}: an unknown keyword is ignored (at {pointer})\nhint: did you mean {keyword}?")
