"""JSON Schemas as xgrammar takes them: dictionaries, text or pydantic models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from syntagma.compat.xgrammar.arguments import wrong_type
from syntagma.compat.xgrammar.exception import WrongTypeError

__all__ = ["schema_text"]


def schema_text(schema: Any) -> str:
    """A schema as JSON text.

    Raises:
        WrongTypeError: not text, a dictionary or a class with `model_json_schema`.
    """
    if isinstance(schema, str):
        return schema
    if isinstance(schema, Mapping):
        try:
            return json.dumps(schema)
        except (TypeError, RecursionError) as error:
            raise WrongTypeError("E-ARGUMENT-TYPE", f"the schema is not JSON: {error}", pointer="/schema") from error
    if isinstance(schema, type) and hasattr(schema, "model_json_schema"):
        return json.dumps(schema.model_json_schema())
    raise wrong_type("schema", "JSON text, a dictionary or a pydantic model", schema)
