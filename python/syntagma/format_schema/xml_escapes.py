"""XML escapes, as formats with `escape` write values and attributes."""

from __future__ import annotations

__all__ = ["ENTITIES", "RAW_CLOSE", "RAW_OPEN", "TEXT_ENTITIES", "xml_escaped"]

TEXT_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
"""characters that are escaped in text → their escapes"""
ENTITIES = {**TEXT_ENTITIES, '"': "&quot;", "'": "&#39;"}
"""characters that are escaped in an attribute → their escapes"""
RAW_OPEN, RAW_CLOSE = "<![CDATA[", "]]>"
"""text between them is not escaped"""

_TEXT, _ATTRIBUTE = str.maketrans(TEXT_ENTITIES), str.maketrans(ENTITIES)


def xml_escaped(text: str, *, attribute: bool = False) -> str:
    """Text with XML escapes; `attribute`: quotes are escaped, too."""
    return text.translate(_ATTRIBUTE if attribute else _TEXT)
