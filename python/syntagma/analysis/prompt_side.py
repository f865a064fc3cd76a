"""How much of a prompt a named format describes: how its model's prompt lists tools and shows their results."""

from __future__ import annotations

import json
from typing import Any

from syntagma.analysis.render.conversation import SampleCall
from syntagma.format_schema import PromptSpec

__all__ = ["matched_prompt"]


def matched_prompt(prompt: PromptSpec, text: str, tools: list[dict[str, Any]], call: SampleCall, result: str) -> int:
    """The number of characters of the format's own text in the render; 0 if some are missing."""
    listed = prompt.separator.join(_one_tool(prompt.tool, tool) for tool in tools)
    if prompt.tool_list.replace("{tools}", listed) not in text:
        return 0
    own = len(prompt.tool_list.replace("{tools}", ""))
    if result not in text:
        return own
    filled = [
        one.replace("{result}", result).replace("{id}", call.id).replace("{name}", call.name) for one in prompt.result
    ]
    return own + max((len(one) for one in filled if one in text), default=-own)


def _one_tool(pattern: str, tool: dict[str, Any]) -> str:
    whole, function = (json.dumps(value, ensure_ascii=False) for value in (tool, tool["function"]))
    return pattern.replace("{tool}", whole).replace("{function}", function)
