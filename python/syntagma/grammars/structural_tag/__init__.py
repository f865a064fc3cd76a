"""Structural tags: output as a tree of formats, in the words that other engines use for it."""

from __future__ import annotations

from syntagma.grammars.structural_tag.reader import read_structural_tag

__all__ = ["read_structural_tag"]
