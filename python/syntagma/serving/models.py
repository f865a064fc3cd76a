"""The JSON of `GET /v1/models`."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Model", "ModelList"]


class Model(msgspec.Struct, kw_only=True):
    """A model that is served."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "syntagma"
    format: str | None = None
    """the name of the format; null: a format without a name"""
    format_level: Literal["proved", "proved with losses", "supported", "guessed"] | None = None
    """how sure it is that the model writes it; null: the format was named by the operator"""


class ModelList(msgspec.Struct, kw_only=True):
    """Body of `GET /v1/models`."""

    object: Literal["list"] = "list"
    data: list[Model]
