"""Structural tags: output as a tree of formats, in the words that other engines use for it."""

from __future__ import annotations

from syntagma.grammars.structural_tag.open_schemas import opened
from syntagma.grammars.structural_tag.reader import StyledSchema, Styles, read_structural_tag
from syntagma.grammars.structural_tag.tag_writer import Schemas, StructuralTag, write_structural_tag

__all__ = [
    "Schemas",
    "StructuralTag",
    "StyledSchema",
    "Styles",
    "opened",
    "read_structural_tag",
    "write_structural_tag",
]
