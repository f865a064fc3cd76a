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


class ModelList(msgspec.Struct, kw_only=True):
    """Body of `GET /v1/models`."""

    object: Literal["list"] = "list"
    data: list[Model]
