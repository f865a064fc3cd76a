"""The table of cases that every engine is tried with, as `cases.toml` has it, and what an answer must be like."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import msgspec

import syntagma as sg

__all__ = ["CASES", "TOOLS", "TRIED", "Case", "by_name", "record"]

_TABLE = tomllib.loads((Path(__file__).parent / "cases.toml").read_text(encoding="utf-8"))
TRIED = Path(__file__).resolve().parents[2] / "docs" / "engines" / "tried.json"
"""which cases which engine held, written by runs with `--record`"""
RECORD = "SYNTAGMA_RECORD_ENGINES"
"""the environment variable by which a run writes it"""
TOOLS: list[dict[str, Any]] = [{"type": "function", "function": tool} for tool in _TABLE["tool"]]


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of the table; `cases.toml` explains the fields."""

    name: str
    user: str
    tools: bool
    calls: str | list[str]
    temperature: float
    request: dict[str, Any] = {}
    max_tokens: int = 160
    reasoning: bool | None = None
    json: bool = False
    cut: bool = False

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation."""
        return [{"role": "user", "content": self.user}]

    @property
    def asked(self) -> dict[str, Any]:
        """Further arguments of `prepare`."""
        return {**self.request, "tools": TOOLS if self.tools else []}

    def prepare(self, codec: sg.ChatCodec) -> sg.Turn:
        """The turn."""
        return codec.prepare(self.messages, **self.asked)

    def check(self, message: dict[str, Any], finish_reason: str | None) -> None:
        """Check an answer.

        Args:
            message: as OpenAI writes it, with `reasoning_content`.
            finish_reason: why it ended.
        """
        calls = message.get("tool_calls") or []
        names = [call["function"]["name"] for call in calls]
        if self.cut:
            assert finish_reason == "length", finish_reason
            return
        assert finish_reason == ("tool_calls" if calls else "stop"), finish_reason
        if isinstance(self.calls, list):
            assert names == self.calls
        else:
            assert {"none": not names, "some": bool(names), "any": True}[self.calls], names
        schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}
        for call in calls:
            arguments = call["function"]["arguments"]
            jsonschema.validate(
                json.loads(arguments) if isinstance(arguments, str) else arguments, schemas[call["function"]["name"]]
            )
        if self.reasoning is not None:
            assert bool(message.get("reasoning_content")) == self.reasoning, message
        if self.json:
            schema = self.request["response_format"]["json_schema"]["schema"]
            jsonschema.validate(json.loads(message["content"]), schema)
        assert "<" not in (message.get("content") or ""), "a marker in the answer"


CASES = msgspec.convert(_TABLE["case"], list[Case])


def by_name(names: Sequence[str]) -> list[Case]:
    """The cases of these names."""
    found = {case.name: case for case in CASES}
    return [found[name] for name in names]


def record(engine: str, case: str, way: str) -> None:
    """Note that an engine held a case, `whole` or `streamed`, if the run is to note it."""
    if not os.environ.get(RECORD):
        return
    tried = json.loads(TRIED.read_text(encoding="utf-8")) if TRIED.exists() else {}
    ways = tried.setdefault(engine, {}).setdefault(case, [])
    if way not in ways:
        ways.append(way)
        ways.sort(reverse=True)
    TRIED.parent.mkdir(exist_ok=True)
    TRIED.write_text(json.dumps(tried, indent=1, sort_keys=True) + "\n", encoding="utf-8")
