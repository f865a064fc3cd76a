"""What stages that render have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from syntagma.batch.asked import asked_by
from syntagma.batch.values import from_json
from syntagma.codec import ChatCodec
from syntagma.templates import RenderOptions

__all__ = ["codec_identity", "render_options"]


def render_options(given: Mapping[str, Any], options: Mapping[str, Any], documents: str) -> RenderOptions:
    """What a row is rendered with: its own columns, and the stage's options where it has none.

    Args:
        given: the row, by standard names.
        options: the stage's.
        documents: the name of the column of documents in the data.

    Raises:
        ArgumentError: `E-BATCH-COLUMN`, text that is no JSON.
    """
    asked = asked_by(given, options)
    found = {name: asked[name] for name in RenderOptions.__annotations__ if name in asked}
    if given["documents"] is not None:
        found["documents"] = from_json(given["documents"], documents)
    return found  # type: ignore[return-value]  # the keys are those of RenderOptions


def codec_identity(codec: ChatCodec) -> list[Any]:
    """What tells a codec from another one, as plain data."""
    source = codec.template.source if codec.template is not None else None
    return [source, codec.format.to_toml(), codec.capabilities]
