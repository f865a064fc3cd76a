"""The table of cases, `tests.upstreams.cases`, for what runs in this process, and the note of what was held."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import syntagma as sg
from syntagma.integrations.answers import Answer as Answering
from tests.environments import RECORD
from tests.upstreams.cases import CASES, CUT, MESSAGES, TOOLS, Answer, Case, check

__all__ = [
    "CUT_NAME",
    "LEFT_NAME",
    "LENGTH",
    "MESSAGES",
    "TABLE",
    "TOOLS",
    "TRIED",
    "Case",
    "Sampling",
    "check_message",
    "hold",
    "joined",
    "options_of",
    "record",
]

CUT_NAME = "cut by length"
LEFT_NAME = "disconnect"
"""a client that leaves, or a stream that is closed, stops the model"""
LENGTH = 150
"""tokens of an answer at most, where a case says nothing"""
TABLE = (*CASES, Case(CUT_NAME, CUT, None))
TRIED = Path(__file__).resolve().parents[2] / "docs" / "engines" / "tried.json"
"""which cases which engine held, written by runs that are told to"""
_SAMPLING = {"temperature": 0, "seed": 3, "max_tokens": LENGTH}


class Sampling:
    """How an answer to a case is sampled."""

    def __init__(self, case: Case) -> None:
        chosen = {**_SAMPLING, **case.fields}
        self.temperature: float = chosen["temperature"]
        self.seed: int = chosen["seed"]
        self.max_tokens: int = chosen["max_tokens"]


def options_of(case: Case) -> dict[str, Any]:
    """What a case asks of `ChatCodec.prepare`, by its names."""
    names = {"chat_template_kwargs": "template_kwargs"}
    asked = {names.get(name, name): value for name, value in case.fields.items() if name not in _SAMPLING}
    return {"tools": [], **asked}


def check_message(
    case: Case, message: dict[str, Any], finish_reason: str | None, usage: tuple[int, int] = (1, 1)
) -> None:
    """Hold an answer to its case.

    Args:
        case: the case.
        message: the answer as OpenAI writes it, with `reasoning_content`.
        finish_reason: why it ended.
        usage: tokens of prompt and answer, where they are told.
    """
    if case.fields is CUT:
        assert finish_reason == "length"
        return
    calls = [(call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls") or []]
    made = [(name, text if isinstance(text, str) else json.dumps(text)) for name, text in calls]
    content, reasoning = message.get("content") or "", message.get("reasoning_content") or ""
    check(case, Answer(content, reasoning, made, finish_reason, usage[1], usage[0]))


def hold(model: sg.Model, case: Case, *, stream: bool) -> None:
    """Ask a loaded model, and hold its answer to the case."""
    sampling = Sampling(case)
    chosen = {name: getattr(sampling, name) for name in _SAMPLING}
    answer = Answering(model, MESSAGES, {**options_of(case), **chosen})
    deltas = list(answer)
    message = joined(deltas) if stream else answer.message()
    usage = answer.usage
    check_message(case, message, answer.finish_reason, (usage["prompt_tokens"], usage["completion_tokens"]))


def joined(deltas: list[dict[str, Any]]) -> dict[str, Any]:
    """The message that deltas add up to, as clients put it together."""
    message: dict[str, Any] = {"content": "", "reasoning_content": "", "tool_calls": []}
    for delta in deltas:
        for name in ("content", "reasoning_content"):
            message[name] += delta.get(name) or ""
        for call in delta.get("tool_calls") or []:
            if call["index"] == len(message["tool_calls"]):
                message["tool_calls"].append({"function": {"name": "", "arguments": ""}})
            function = message["tool_calls"][call["index"]]["function"]
            function["name"] += call["function"].get("name") or ""
            function["arguments"] += call["function"].get("arguments") or ""
    return message


def record(engine: str, case: Case | str, *, stream: bool, refused: bool = False) -> None:
    """Note that an engine held a case, whole or streamed, or refused it, if the run is to note it."""
    if not os.environ.get(RECORD):
        return
    tried = json.loads(TRIED.read_text(encoding="utf-8")) if TRIED.exists() else {}
    name = case if isinstance(case, str) else case.name
    ways = tried.setdefault(engine, {}).setdefault(name, [])
    way = "refused" if refused else "streamed" if stream else "whole"
    tried[engine][name] = sorted({*ways, way}, reverse=True)
    TRIED.write_text(json.dumps(tried, indent=1, sort_keys=True) + "\n", encoding="utf-8")
