"""Recorded renders: seven conversations for every collected template, as Hugging Face transformers writes them.

The data holds the renders and names the conversations; what was said in them is here. A recorded error must be ours of
the same kind, and a render that was recovered with other inputs must come out with those inputs.
"""

from __future__ import annotations

import copy
import datetime
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from syntagma.errors import SyntagmaError
from syntagma.templates import ChatTemplate, Prompt
from syntagma.templates.lookalikes import lookalikes

CLOCK = datetime.datetime(2026, 1, 15, 12, 0)
QUESTION = {"role": "user", "content": "What's the weather in Paris?"}
SYSTEM = {"role": "system", "content": "You are a helpful assistant."}
ANSWER = {"role": "assistant", "content": "It is sunny in Paris."}
THOUGHT = "The user asks about the weather."
BOTH = "I need both the weather and the docs."


def _call(name: str, call_id: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _result(name: str, call_id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": content}


def _tool(name: str, description: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


WEATHER = _call("get_weather", "call00001", {"city": "Paris", "days": 3})
SEARCH = _call("search_docs", "call00002", {"query": "umbrella", "filters": {"lang": "fr", "exact": True}})
TOOLS = [
    _tool(
        "get_weather",
        "Get the current weather in a city",
        {
            "city": {"type": "string", "description": "City name"},
            "days": {"type": "integer", "description": "Number of days"},
        },
        ["city"],
    ),
    _tool(
        "search_docs",
        "Search the documents",
        {
            "query": {"type": "string", "description": "Query"},
            "filters": {
                "type": "object",
                "description": "Filters",
                "properties": {"lang": {"type": "string"}, "exact": {"type": "boolean"}},
            },
        },
        ["query"],
    ),
]
FOLLOW_UP = {"role": "user", "content": "Thanks! And <b>tomorrow</b>?"}
CONVERSATIONS: dict[str, dict[str, Any]] = {
    "user": {"messages": [QUESTION]},
    "user_nothink": {"messages": [QUESTION], "thinking": False},
    "sys_multi_turn": {"messages": [SYSTEM, QUESTION, ANSWER, FOLLOW_UP]},
    "user_tools": {"messages": [QUESTION], "tools": TOOLS},
    "tool_round_trip": {
        "messages": [
            QUESTION,
            {"role": "assistant", "content": "", "tool_calls": [WEATHER]},
            _result("get_weather", WEATHER["id"], '{"temp": 21}'),
            ANSWER,
        ],
        "tools": TOOLS,
        "open": False,
    },
    "reasoning": {
        "messages": [QUESTION, {**ANSWER, "reasoning_content": THOUGHT}],
        "open": False,
    },
    "reasoning_parallel_tools": {
        "messages": [
            SYSTEM,
            QUESTION,
            {"role": "assistant", "content": "", "reasoning_content": BOTH, "tool_calls": [WEATHER, SEARCH]},
            _result("get_weather", WEATHER["id"], '{"temp": 21}'),
            _result("search_docs", SEARCH["id"], "no result"),
        ],
        "tools": TOOLS,
    },
}
_MARKERS = re.compile(
    r"<[|｜][^|｜<>]+[|｜]>|\[/?[A-Z_]{3,}\]|</?(?:s|think|tool_call|tool_response|start_of_turn|end_of_turn)>"
)
ERRORS = {
    "TypeError": "E-TEMPLATE-TYPE",
    "UndefinedError": "E-TEMPLATE-UNDEFINED",
    "SecurityError": "E-TEMPLATE-SECURITY",
    "TemplateError": "E-TEMPLATE-RAISED",
}


def run(data: Path) -> Iterator[tuple[str, str | None]]:
    """Every recorded text and error as (case, what is wrong with it or None)."""
    recorded = json.loads((data / "autoparser" / "renders.json").read_text())["templates"]
    for file, cases in recorded.items():
        template = ChatTemplate((data / "templates" / file).read_text())
        for name, case in cases.items():
            if "error" in case:
                yield f"{file}/{name}/error", _error_problem(template, name, case["error"])
            if "text" in case:
                yield f"{file}/{name}", _text_problem(template, name, [], case["text"])
            if "text_bos_eos" in case:
                marked = template.variant(bos_token="<s>", eos_token="</s>")
                yield f"{file}/{name}/tokens", _text_problem(marked, name, [], case["text_bos_eos"])
            if "recovered_text" in case:
                problem = _text_problem(template, name, case["recovered_with"], case["recovered_text"])
                yield f"{file}/{name}/recovered", problem


def _error_problem(template: ChatTemplate, name: str, recorded: str) -> str | None:
    kind, _, message = recorded.partition(": ")
    try:
        _render(template, name, [])
    except SyntagmaError as error:
        same = error.code == ERRORS[kind] and (kind != "TemplateError" or error.message == message)
        return None if same else f"{error} instead of {recorded}"
    return f"no error instead of {recorded}"


def _text_problem(template: ChatTemplate, name: str, tweaks: list[str], recorded: str) -> str | None:
    try:
        text = _render(template, name, tweaks)
    except SyntagmaError as error:
        return str(error)
    if text == recorded:
        return _segments_problem(text)
    pairs = enumerate(zip(text, recorded, strict=False))
    same = next((place for place, (ours, theirs) in pairs if ours != theirs), min(len(text), len(recorded)))
    return f"at {same}: {text[same : same + 60]!r} instead of {recorded[same : same + 60]!r}"


def _segments_problem(prompt: Prompt) -> str | None:
    """What is wrong with the segments of a prompt in which nobody writes markers; None: nothing."""
    if "".join(segment.text for segment in prompt.segments) != prompt:
        return "the segments do not add up to the prompt"
    own = "\0".join(segment.text for segment in prompt.segments if segment.origin == "template")
    for marker in _MARKERS.findall(prompt):
        if marker not in own:
            return f"{marker!r} is not the template's"
    others = next(lookalikes(prompt.segments, prompt.markers()), None)
    return None if others is None else f"{prompt[slice(*others)]!r} is said to be of others"


def _render(template: ChatTemplate, name: str, tweaks: list[str]) -> Prompt:
    case = copy.deepcopy(CONVERSATIONS[name])
    tools = case.get("tools")
    variables: dict[str, Any] = {"enable_thinking": case.get("thinking", True)}
    if "tools_omitted_not_None" in tweaks:
        template = template.variant(omit_none=True)
    if "mutable_sandbox" in tweaks or "tojson_materialise_generators" in tweaks:
        template = template.variant(lenient=True)
    if "tools_additionalProperties" in tweaks:
        for tool in tools or ():
            for schema in tool["function"]["parameters"]["properties"].values():
                if schema["type"] == "object":
                    schema["additionalProperties"] = {}
    if "functions+datetime" in tweaks:
        variables |= {"functions": json.dumps(tools or []), "datetime": CLOCK.strftime("%b %d %Y")}
    if "args_as_json_string" in tweaks:
        for message in case["messages"]:
            for call in message.get("tool_calls", ()):
                call["function"]["arguments"] = json.dumps(call["function"]["arguments"])
    return template.render(
        case["messages"],
        tools=tools,
        add_generation_prompt=case.get("open", True),
        template_kwargs=variables,
        now=CLOCK,
    )
