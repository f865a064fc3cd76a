"""Finds named formats by the prompts that a template renders, for templates that list tools but write no calls."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from syntagma.analysis.probe.inputs import ProbeResult
from syntagma.analysis.render.conversation import SampleCall
from syntagma.analysis.render.turn_renderer import TurnRenderer
from syntagma.format_schema import PromptSpec
from syntagma.formats import ChatFormat, get, names

__all__ = ["assumed_formats"]


def assumed_formats(
    renderer: TurnRenderer, probed: ProbeResult, control_tokens: Collection[str] | None = None
) -> tuple[str, ...]:
    """The names of the named formats whose `[prompt]` the template renders exactly, the best match first.

    A tool's result counts only if the template shows results. Of several formats, those that describe most of the
    prompt are returned.

    Args:
        renderer: makes the renders.
        probed: the result of probing.
        control_tokens: the special and added tokens of the model's vocabulary; a format whose calls do not begin with
            one of them is left out. None: the vocabulary is unknown.
    """
    calls = tuple(renderer.new_call(1, probed.id_form) for _ in range(2))
    result = renderer.sentinels.word("t")
    shown = renderer.tools_prompt(probed.inputs, calls, result)
    if shown is None:
        return ()
    text, tools = shown
    found: dict[str, int] = {}
    for name in names():
        fmt = get(name)
        prompt = fmt.spec.prompt
        if prompt is not None and _begins_with_tokens(fmt, control_tokens):
            matched = _matched(prompt, text, tools, calls[0], result)
            if matched:
                found[name] = matched
    best = max(found.values(), default=0)
    return tuple(name for name, matched in found.items() if matched == best)


def _begins_with_tokens(fmt: ChatFormat, control_tokens: Collection[str] | None) -> bool:
    return control_tokens is None or (bool(fmt.triggers) and all(one in control_tokens for one in fmt.triggers))


def _matched(prompt: PromptSpec, text: str, tools: list[dict[str, Any]], call: SampleCall, result: str) -> int:
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
