"""Calls that templates write and models wrote, through the grammar of the turn that they are an answer to.

A case is an output with a call in it, of the round trips and parse cases of collected chat templates. The grammar of
its tools, prompt and switches must accept it, up to and with what ends the turn there; a round trip from its trigger
on, too, by the grammar of calls. Of the parse cases those count whose output the reader takes whole and without a
diagnostic: what else a model wrote, no grammar has to allow.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from syntagma.analysis import analyze
from syntagma.codec import Turn
from syntagma.decoding import GrammarCompiler, GrammarMatcher
from syntagma.errors import SyntagmaError
from syntagma.formats import ChatFormat
from syntagma.grammars import Grammar
from syntagma.parsing import ReadingOptions
from syntagma.request import resolve_request
from syntagma.templates import ChatTemplate, Prompt
from syntagma.testing import byte_vocabulary

COMPILER = GrammarCompiler(byte_vocabulary(["<|eos|>"]))


@functools.cache
def chat_format(path: Path) -> ChatFormat | str:
    """The format of a template, or why there is none."""
    try:
        return analyze(ChatTemplate.from_file(path)).format
    except SyntagmaError as error:
        return str(error)


def run(data: Path) -> Iterator[tuple[str, str | None]]:
    """Every case that counts, with what is wrong or None."""
    for name in ("roundtrip", "vectors"):
        with (data / "autoparser" / f"{name}.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                case = json.loads(line)
                if not (case["expected"] or {}).get("tool_calls") or case.get("disputed"):
                    continue
                fmt = chat_format(data / "templates" / case["template"])
                if isinstance(fmt, ChatFormat) and name == "vectors" and not _reads_whole(fmt, case):
                    continue
                title = f"{name}/{case['template'].removesuffix('.jinja')}/{case['id']}"
                yield title, _problem(fmt, case)
                if isinstance(fmt, ChatFormat) and name == "roundtrip" and _call_at(fmt, case) is not None:
                    yield f"{title}/call", _call_problem(fmt, case)


def _options(case: dict[str, Any]) -> dict[str, Any]:
    return {
        "prompt": case["prompt"],
        "reasoning_format": case["reasoning_format"],
        "template_kwargs": {"enable_thinking": case["enable_thinking"], **case.get("chat_template_kwargs", {})},
    }


def _reads_whole(fmt: ChatFormat, case: dict[str, Any]) -> bool:
    message = fmt.parse(case["input"], case["tools"] or None, **_options(case))
    return bool(message.tool_calls) and not message.incomplete and not message.diagnostics


def _problem(fmt: ChatFormat | str, case: dict[str, Any]) -> str | None:
    if isinstance(fmt, str):
        return f"no format: {fmt}"
    try:
        grammar = fmt.grammar(case["tools"] or None, **_asked(case), **_options(case))
        return _refusal(grammar, case["input"], _ends(fmt, case))
    except SyntagmaError as error:
        return f"{error.code}: {error.message}"


def _asked(case: dict[str, Any]) -> dict[str, Any]:
    return {"tool_choice": case["tool_choice"] or "auto", "parallel_tool_calls": case["parallel_tool_calls"]}


def _call_at(fmt: ChatFormat, case: dict[str, Any]) -> int | None:
    """Where the first trigger of a call begins; None: the prompt holds it."""
    places = [place for trigger in fmt.triggers if (place := case["input"].find(trigger)) >= 0]
    return min(places, default=None)


def _call_problem(fmt: ChatFormat, case: dict[str, Any]) -> str | None:
    """The same output from its trigger on, through the grammar of calls alone."""
    options = _options(case)
    prompt = Prompt(options.pop("prompt"), 0)
    turn = Turn(prompt, fmt, resolve_request(case["tools"] or None, **_asked(case), **options), ReadingOptions())
    if turn.call_grammar is None:
        return "no grammar of calls"
    return _refusal(turn.call_grammar, case["input"][_call_at(fmt, case) :], _ends(fmt, case))


def _ends(fmt: ChatFormat, case: dict[str, Any]) -> list[str]:
    """What may end the turn: what the template writes there, or what the format knows."""
    messages = fmt.spec.messages
    known = [*map("".join, itertools.product(*fmt.spec.turn_ends)), *(messages.end if messages is not None else ())]
    return [case.get("end_of_turn_stripped", ""), *known]


def _refusal(grammar: Grammar, text: str, ends: list[str]) -> str | None:
    """Where the grammar refuses the text; None: it accepts it, with the first characters of one of `ends` or none."""
    matcher = GrammarMatcher(COMPILER.compile(grammar))
    for place, char in enumerate(text):
        if not matcher.accept_bytes(char.encode()):
            return f"refused at {place}, after {text[max(0, place - 40) : place]!r}: {text[place : place + 20]!r}"
    if matcher.is_accepting():
        return None
    for end in ends:
        ended = matcher.fork()
        for char in end:
            if not ended.accept_bytes(char.encode()):
                break
            if ended.is_accepting():
                return None
    return f"refused the end of the turn after {text[-40:]!r}"
