"""Helpers for stages that render."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from syntagma.batch.asked import asked_by
from syntagma.batch.values import from_json
from syntagma.codec import ChatCodec
from syntagma.templates import RenderOptions

__all__ = ["codec_identity", "render_options"]


def render_options(given: Mapping[str, Any], options: Mapping[str, Any], documents: str) -> RenderOptions:
    """The render options of a row: its own columns, with the stage's options as defaults.

    Args:
        given: the row, by standard names.
        options: the stage's options.
        documents: the name in the data of the column of documents.

    Raises:
        ArgumentError: `E-BATCH-COLUMN`, a column's text is not JSON.
    """
    asked = asked_by(given, options)
    found = {name: asked[name] for name in RenderOptions.__annotations__ if name in asked}
    if given["documents"] is not None:
        found["documents"] = from_json(given["documents"], documents)
    return found  # type: ignore[return-value]  # the keys are those of RenderOptions


def codec_identity(codec: ChatCodec) -> list[Any]:
    """Plain data that identifies a codec: its template, format and capabilities."""
    source = codec.template.source if codec.template is not None else None
    return [source, codec.format.to_toml(), codec.capabilities]
