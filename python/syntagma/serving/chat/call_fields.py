"""Calls in a chat completion: of functions, of custom tools, or as the older `function_call`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from syntagma.conversion.custom_calls import InputText, input_of
from syntagma.messages import ToolCall

__all__ = ["WrittenCalls"]


class WrittenCalls:
    """Writes the calls of one answer.

    Args:
        custom: names of the tools whose calls hold a text in place of arguments.
        legacy: whether the request has `functions`: the answer then has at most one call, under `function_call`.
    """

    def __init__(self, custom: Collection[str], *, legacy: bool) -> None:
        self._custom = custom
        self._legacy = legacy
        self._texts: dict[tuple[int, int], InputText] = {}
        """by index of choice and call"""

    def reason(self, reason: str) -> str:
        """The finish reason as the client knows it."""
        return "function_call" if self._legacy and reason == "tool_calls" else reason

    def whole(self, calls: Sequence[ToolCall]) -> dict[str, Any]:
        """The fields of a message that hold its calls."""
        if not calls:
            return {}
        if self._legacy:
            return {"function_call": calls[0].to_openai()["function"]}
        return {"tool_calls": [self._call(call) for call in calls]}

    def _call(self, call: ToolCall) -> dict[str, Any]:
        data = call.to_openai()
        if call.name not in self._custom:
            return data
        del data["function"]
        return {**data, "type": "custom", "custom": {"name": call.name, "input": input_of(call.arguments)}}

    def delta(self, choice: int, parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The fields of a delta that hold parts of calls; empty as long as nothing of a call is certain.

        Args:
            choice: index of the choice.
            parts: parts of calls, as `syntagma.events.to_openai` writes them.
        """
        if self._legacy:
            first = [part["function"] for part in parts if part["index"] == 0]
            return {"function_call": first[0]} if first else {}
        found = [part for one in parts if (part := self._part(choice, one)) is not None]
        return {"tool_calls": found} if found else {}

    def _part(self, choice: int, part: Mapping[str, Any]) -> Mapping[str, Any] | None:
        key, function = (choice, part["index"]), part["function"]
        if function.get("name") in self._custom:
            self._texts[key] = InputText()
            text = self._texts[key].feed(function["arguments"])
            custom = {"name": function["name"], "input": text}
            return {"index": part["index"], "id": part["id"], "type": "custom", "custom": custom}
        if key not in self._texts:
            return part
        text = self._texts[key].feed(function["arguments"])
        return {"index": part["index"], "custom": {"input": text}} if text else None
