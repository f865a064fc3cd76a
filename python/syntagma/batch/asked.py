"""What each row asks of its turn: columns of a request, with the options of the stage where a row has none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from syntagma.batch.values import from_json
from syntagma.templates import Prompt

__all__ = ["REQUEST", "asked_by", "prompt_of"]

REQUEST = ("tools", "tool_choice", "response_format", "template_kwargs")
"""columns of a request, under the names that requests give them"""


def asked_by(given: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Tools and options of a row; a column that is null or missing leaves the stage's own.

    Raises:
        ArgumentError: `E-BATCH-COLUMN`, text that is no JSON.
    """
    asked = dict(options)
    for name in REQUEST:
        value = given.get(name)
        if value is None:
            continue
        bare_word = name == "tool_choice" and not str(value).lstrip().startswith("{")
        asked[name] = value if bare_word else from_json(value, name)
    return asked


def prompt_of(given: Mapping[str, Any]) -> str | None:
    """The prompt of a row, with the place where the assistant's turn begins if a column says it."""
    prompt, start = given.get("prompt"), given.get("prompt_start")
    if isinstance(prompt, str) and start is not None:
        return Prompt(prompt, int(start))
    return prompt if isinstance(prompt, str) else None
