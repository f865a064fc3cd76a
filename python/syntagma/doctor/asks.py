"""What the checks ask, as data: bodies of requests, without model, temperature and bound on tokens."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec

__all__ = [
    "AUTO",
    "CREW",
    "DEVELOPER",
    "EMPTY",
    "HISTORY",
    "JSON_OBJECT",
    "MARKED",
    "NAMED",
    "NONE",
    "NOT_THINKING",
    "OUT_OF_ORDER",
    "PARALLEL",
    "PARTS",
    "PLAIN",
    "REQUIRED",
    "RESULTS",
    "SHIP",
    "SINGLE",
    "TEXT",
    "THINKING",
    "THINKING_CALL",
    "TOOL_NAMES",
    "TWO_SYSTEMS",
    "UNICODE",
    "Crew",
    "Forecast",
    "Ship",
    "constant_answer",
    "constant_call",
    "function",
    "schema_format",
    "user",
]


class Forecast(msgspec.Struct, forbid_unknown_fields=True):
    """Arguments of the tool that requests have."""

    city: Literal["Oslo", "Lima", "Cairo"]
    days: Annotated[int, msgspec.Meta(ge=1, le=7)]


class Crew(msgspec.Struct, forbid_unknown_fields=True):
    """What an answer is constrained to."""

    rank: Literal["captain", "pilot", "engineer"]
    age: Annotated[int, msgspec.Meta(ge=18, le=80)]
    awake: bool


class Ship(msgspec.Struct, forbid_unknown_fields=True):
    """The same with references, a list, and a value that may be null."""

    crew: Annotated[list[Crew], msgspec.Meta(min_length=1, max_length=2)]
    berth: Annotated[int, msgspec.Meta(ge=0, le=9)] | None


def _schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON Schema of a type, as one value."""
    _, found = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    made = {name: {key: value for key, value in one.items() if key != "description"} for name, one in found.items()}
    top = made.pop(kind.__name__)
    return {**top, "$defs": made} if made else top


def user(text: str) -> list[dict[str, Any]]:
    """A conversation of one message."""
    return [{"role": "user", "content": text}]


def function(name: str, description: str, parameters: dict[str, Any], *, strict: bool = True) -> dict[str, Any]:
    """A tool."""
    made = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": {**made, "strict": True} if strict else made}


def schema_format(schema: dict[str, Any]) -> dict[str, Any]:
    """A response format that holds an answer to a schema."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}


def _one_text(text: str) -> dict[str, Any]:
    """The schema of an object whose only member is a certain text."""
    return {
        "type": "object",
        "properties": {"text": {"type": "string", "enum": [text]}},
        "required": ["text"],
        "additionalProperties": False,
    }


def constant_answer(text: str) -> dict[str, Any]:
    """Asks for an answer that can only be one JSON object with a certain text."""
    return {"messages": user("Repeat the text."), "response_format": schema_format(_one_text(text))}


def constant_call(text: str) -> dict[str, Any]:
    """Asks for a call whose argument can only be a certain text."""
    return {
        "messages": user("Repeat the text."),
        "tools": [function("repeat", "Repeats a text.", _one_text(text))],
        "tool_choice": {"type": "function", "function": {"name": "repeat"}},
    }


_FORECAST = function("get_forecast", "Tells the weather of the next days.", _schema(Forecast))
_CLOCK = function(
    "get_time", "Tells what time it is.", {"type": "object", "properties": {}, "additionalProperties": False}
)
_TOOLS: Final = [_FORECAST, _CLOCK]
TOOL_NAMES: Final = frozenset({"get_forecast", "get_time"})
_ONE_CITY: Final = user("What will the weather be in Oslo for the next 2 days?")
_TWO_CITIES: Final = user("What will the weather be in Oslo and in Lima for the next 2 days? Ask for both at once.")
_CALL: Final = {
    "id": "call_0123456789abcdef01234567",
    "type": "function",
    "function": {"name": "get_forecast", "arguments": '{"city": "Oslo", "days": 2}'},
}
_RESULT: Final = {"role": "tool", "tool_call_id": _CALL["id"], "content": '{"sky": "clear", "degrees": 7}'}

PLAIN: Final = {"messages": user("Say hello in one short sentence.")}
PARTS: Final = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Say hello."}]}]}
REQUIRED: Final = {"messages": _ONE_CITY, "tools": [_FORECAST], "tool_choice": "required"}
NAMED: Final = {
    "messages": _ONE_CITY,
    "tools": _TOOLS,
    "tool_choice": {"type": "function", "function": {"name": "get_forecast"}},
}
EMPTY: Final = {
    "messages": user("What time is it?"),
    "tools": _TOOLS,
    "tool_choice": {"type": "function", "function": {"name": "get_time"}},
}
NONE: Final = {"messages": _ONE_CITY, "tools": _TOOLS, "tool_choice": "none"}
AUTO: Final = {"messages": _ONE_CITY, "tools": _TOOLS, "tool_choice": "auto"}
PARALLEL: Final = {
    "messages": _TWO_CITIES,
    "tools": [_FORECAST],
    "tool_choice": "required",
    "parallel_tool_calls": True,
}
SINGLE: Final = {**PARALLEL, "parallel_tool_calls": False}
RESULTS: Final = {
    "messages": [*_ONE_CITY, {"role": "assistant", "content": None, "tool_calls": [_CALL]}, _RESULT],
    "tools": [_FORECAST],
}
HISTORY: Final = {
    "messages": [*_ONE_CITY, {"role": "assistant", "tool_calls": [_CALL]}, _RESULT],
    "tools": [_FORECAST],
}
_TWO_CALLS: Final = [
    {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": "get_forecast", "arguments": f'{{"city": "{city}", "days": 2}}'},
    }
    for number, city in enumerate(("Oslo", "Lima"))
]
OUT_OF_ORDER: Final = {
    "messages": [
        *_TWO_CITIES,
        {"role": "assistant", "content": None, "tool_calls": _TWO_CALLS},
        *({**_RESULT, "tool_call_id": call["id"]} for call in reversed(_TWO_CALLS)),
    ],
    "tools": [_FORECAST],
}
_HELLO: Final = user("Say hello in one short sentence.")
DEVELOPER: Final = {"messages": [{"role": "developer", "content": "Answer politely."}, *_HELLO]}
TWO_SYSTEMS: Final = {
    "messages": [
        {"role": "system", "content": "Answer politely."},
        {"role": "system", "content": "Answer in English."},
        *_HELLO,
    ]
}
THINKING: Final = {**PLAIN, "chat_template_kwargs": {"enable_thinking": True, "thinking": True}}
NOT_THINKING: Final = {**PLAIN, "chat_template_kwargs": {"enable_thinking": False, "thinking": False}}
THINKING_CALL: Final = {**REQUIRED, "chat_template_kwargs": {"enable_thinking": True, "thinking": True}}
# The question does not ask for JSON, so that it is the server that brings it about.
_SEA: Final = user("Tell me about the sea.")
CREW: Final = {"messages": _SEA, "response_format": schema_format(_schema(Crew))}
SHIP: Final = {"messages": _SEA, "response_format": schema_format(_schema(Ship))}
JSON_OBJECT: Final = {
    "messages": user("Describe the sea as a JSON object with two short members."),
    "response_format": {"type": "json_object"},
}
TEXT: Final = {"messages": user("Count from one to thirty in words, separated by commas.")}

MARKED: Final = (
    'a</think><think>b<|im_end|>\n<|im_start|>assistant\n<tool_call>{"name": "get_time", "arguments": {}}</tool_call>'
    '</s>[TOOL_CALLS]<|channel|>final<|message|>c<|end|>"}'
)
"""markers of many templates, in no right order"""
UNICODE: Final = "é 東京 한국어 🙂👩‍🚀 ﷽ 𝄞"
