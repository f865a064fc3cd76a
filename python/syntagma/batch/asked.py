"""The request of each row: columns of a request, with the stage's options as defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from syntagma.answer_types import is_answer_type, schema_of
from syntagma.batch.values import from_json
from syntagma.templates import Prompt

__all__ = ["REQUEST", "as_data", "asked_by", "prompt_of"]

REQUEST = ("tools", "tool_choice", "response_format", "template_kwargs")
"""columns of a request, named like its fields"""


def asked_by(given: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The tools and options of a row. Columns that are null or missing keep the stage's options.

    Raises:
        ArgumentError: `E-BATCH-COLUMN`, a column's text is not JSON.
    """
    asked = dict(options)
    for name in REQUEST:
        value = given.get(name)
        if value is None:
            continue
        bare_word = name == "tool_choice" and not str(value).lstrip().startswith("{")
        asked[name] = value if bare_word else from_json(value, name)
    return asked


def as_data(options: dict[str, Any]) -> dict[str, Any]:
    """A stage's options, with the schema of a type that `response_format` names: a stage is stored as data."""
    wanted = options.get("response_format")
    if not is_answer_type(wanted):
        return options
    return {**options, "response_format": {"type": "json_schema", "json_schema": {"schema": schema_of(wanted)}}}


def prompt_of(given: Mapping[str, Any]) -> str | None:
    """The prompt of a row, or None. It is a `Prompt` if the row has `prompt_start`."""
    prompt, start = given.get("prompt"), given.get("prompt_start")
    if isinstance(prompt, str) and start is not None:
        return Prompt(prompt, int(start))
    return prompt if isinstance(prompt, str) else None
