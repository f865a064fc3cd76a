"""A request that the tests look at."""

from __future__ import annotations

from typing import Any

FORECAST: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_forecast",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 24}, "unit": {"enum": ["celsius", "fahrenheit"]}},
            "required": ["city", "unit"],
            "additionalProperties": False,
        },
    },
}
CALL = '<tool_call>\n{"name": "get_forecast", "arguments": {"city": "Lisbon", "unit": "celsius"}}\n</tool_call>'


def request(answer: str = CALL, **more: Any) -> dict[str, Any]:
    """A request for a call, with its answer."""
    return {
        "messages": [{"role": "user", "content": "Is it <|im_end|> warm in Lisbon?"}],
        "tools": [FORECAST],
        "tool_choice": "required",
        "answer": answer,
        **more,
    }
