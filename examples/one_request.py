"""One request from chat template to typed message, on the model that ships with the package."""

from __future__ import annotations

import syntagma as sg
from syntagma import embedded
from syntagma.generation import Generator

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "set_reminder",
            "parameters": {
                "type": "object",
                "properties": {"name": {"type": "string", "maxLength": 16}, "hour": {"type": "integer"}},
                "required": ["name", "hour"],
                "additionalProperties": False,
            },
        },
    }
]
