"""Conversations that OpenAI's API allows, and what a prompt must show of them."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

Messages = list[dict[str, Any]]


class Conversation(NamedTuple):
    """A request: its messages and the tools that it declares."""

    messages: Messages
    tools: list[dict[str, Any]] | None = None


def _said(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": text, **more}


def _parts(role: str, *texts: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text} for text in texts], **more}


def _call(at: int, name: str = "weather", **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments or {"city": f"Porto {at}"})}
    return {"id": f"call_Ab3dEf6hI{at}", "type": "function", "function": function}


def _calls(*calls: dict[str, Any], content: str | None = None, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls), **more}


def _result(at: int, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"call_Ab3dEf6hI{at}", "content": text}


def _tool(name: str = "weather", *without: str) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "The city's name."}},
        "required": ["city"],
    }
    whole = {"name": name, "description": f"Tells about {name}.", "parameters": parameters}
    return {"type": "function", "function": {key: value for key, value in whole.items() if key not in without}}


ASKED = _said("user", "Is the copper kettle warm?")
ANSWERED = _said("assistant", "It warms up slowly.")
AGAIN = _said("user", "Tell me about the pot.")
SYSTEM = _said("system", "Keep every reply short.")
DEVELOPER = _said("developer", "Write in plain words.")
TOOLS = [_tool(), _tool("tides")]


def _taking(**schema: Any) -> list[dict[str, Any]]:
    function = {"name": "weather", "description": "Tells about weather.", "parameters": schema}
    return [{"type": "function", "function": function}]


FOUND = _said("assistant", "The harbour is calm today.")
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}

CONVERSATIONS: dict[str, Conversation] = {
    "system, user": Conversation([SYSTEM, ASKED]),
    "several turns": Conversation([SYSTEM, ASKED, ANSWERED, AGAIN]),
    "developer": Conversation([DEVELOPER, ASKED]),
    "developer after system": Conversation([SYSTEM, DEVELOPER, ASKED]),
    "developer later": Conversation([ASKED, ANSWERED, DEVELOPER, AGAIN]),
    "two systems": Conversation([SYSTEM, _said("system", "Name each source."), ASKED]),
    "system later": Conversation([ASKED, ANSWERED, SYSTEM, AGAIN]),
    "system last": Conversation([ASKED, ANSWERED, AGAIN, SYSTEM]),
    "system twice": Conversation([SYSTEM, ASKED, ANSWERED, _said("system", "Name each source."), AGAIN]),
    "system alone": Conversation([SYSTEM]),
    "two users": Conversation([SYSTEM, ASKED, AGAIN]),
    "two users later": Conversation([ASKED, ANSWERED, AGAIN, _said("user", "Quickly, please.")]),
    "two assistants": Conversation([ASKED, ANSWERED, _said("assistant", "The copper is thin."), AGAIN]),
    "assistant first": Conversation([ANSWERED, ASKED]),
    "assistant last": Conversation([ASKED, ANSWERED]),
    "empty answer": Conversation([ASKED, _said("assistant", ""), AGAIN]),
    "named users": Conversation([{**ASKED, "name": "Ann"}, ANSWERED, {**AGAIN, "name": "Bob"}]),
    "refusal": Conversation([ASKED, {"role": "assistant", "content": None, "refusal": "I will not say."}, AGAIN]),
    "refusal in parts": Conversation(
        [ASKED, {"role": "assistant", "content": [{"type": "refusal", "refusal": "I will not say."}]}, AGAIN]
    ),
    "parts of the user": Conversation([_parts("user", "Is the copper kettle warm?")]),
    "several parts": Conversation([_parts("user", "Is the copper kettle warm?", "Tell me about the pot.")]),
    "parts of the system": Conversation([_parts("system", "Keep every reply short."), ASKED]),
    "parts of the assistant": Conversation([ASKED, _parts("assistant", "It warms up slowly."), AGAIN]),
    "parts of a result": Conversation(
        [ASKED, _calls(_call(1)), _parts("tool", "Sunny at noon.", tool_call_id="call_Ab3dEf6hI1")], TOOLS
    ),
    "tools": Conversation([ASKED], TOOLS),
    "tools and system": Conversation([SYSTEM, ASKED], TOOLS),
    "tools and developer": Conversation([DEVELOPER, ASKED], TOOLS),
    "tool without description": Conversation([ASKED], [_tool("weather", "description"), _tool("tides")]),
    "tool without parameters": Conversation([ASKED], [_tool("weather", "parameters"), _tool("tides")]),
    "tool with a name only": Conversation([ASKED], [_tool("weather", "description", "parameters")]),
    "tool without properties": Conversation([ASKED], _taking(type="object")),
    "tool with plain properties": Conversation(
        [ASKED],
        _taking(
            type="object",
            properties={
                "city": {"enum": ["Porto", "Faro"]},
                "days": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "where": {"type": "object", "properties": {"spots": {"type": "array", "items": {"type": "number"}}}},
            },
        ),
    ),
    "call": Conversation([ASKED, _calls(_call(1)), _result(1, "Sunny at noon.")], TOOLS),
    "call and answer": Conversation([ASKED, _calls(_call(1)), _result(1, "Sunny at noon."), FOUND, AGAIN], TOOLS),
    "call, then user": Conversation([ASKED, _calls(_call(1)), _result(1, "Sunny at noon."), AGAIN], TOOLS),
    "call without result": Conversation([ASKED, _calls(_call(1)), AGAIN], TOOLS),
    "call after call": Conversation(
        [ASKED, _calls(_call(1)), _result(1, "Sunny at noon."), _calls(_call(2)), _result(2, "Rain later.")], TOOLS
    ),
    "call of an undeclared tool": Conversation([ASKED, _calls(_call(1)), _result(1, "Sunny at noon.")]),
    "content beside a call": Conversation(
        [ASKED, _calls(_call(1), content="Looking outside."), _result(1, "Sunny at noon.")], TOOLS
    ),
    "content beside an earlier call": Conversation(
        [ASKED, _calls(_call(1), content="Looking outside."), _result(1, "Sunny at noon."), FOUND, AGAIN], TOOLS
    ),
    "reasoning": Conversation([ASKED, {**ANSWERED, "reasoning_content": "They mean the old one."}, AGAIN]),
    "reasoning and a call": Conversation(
        [ASKED, _calls(_call(1), reasoning_content="They mean the sky."), _result(1, "Sunny at noon.")], TOOLS
    ),
    "reasoning, content and a call": Conversation(
        [
            ASKED,
            _calls(_call(1), content="Looking outside.", reasoning_content="They mean the sky."),
            _result(1, "Sunny at noon."),
        ],
        TOOLS,
    ),
    "parallel calls": Conversation(
        [ASKED, _calls(_call(1), _call(2, "tides")), _result(1, "Sunny at noon."), _result(2, "High at six.")], TOOLS
    ),
    "parallel calls beside content": Conversation(
        [
            ASKED,
            _calls(_call(1), _call(2, "tides"), content="Looking outside."),
            _result(1, "Sunny at noon."),
            _result(2, "High at six."),
            FOUND,
            AGAIN,
        ],
        TOOLS,
    ),
    "parallel calls, one result": Conversation(
        [ASKED, _calls(_call(1), _call(2, "tides")), _result(2, "High at six."), AGAIN], TOOLS
    ),
    "call first": Conversation([_calls(_call(1)), _result(1, "Sunny at noon."), ASKED], TOOLS),
    "call after an answer": Conversation(
        [ASKED, ANSWERED, _calls(_call(1)), _result(1, "Sunny at noon."), FOUND], TOOLS
    ),
    "empty result": Conversation([ASKED, _calls(_call(1)), _result(1, ""), FOUND, AGAIN], TOOLS),
    "results out of order": Conversation(
        [ASKED, _calls(_call(1), _call(2, "tides")), _result(2, "High at six."), _result(1, "Sunny at noon.")], TOOLS
    ),
    "cut call": Conversation(
        [
            ASKED,
            _calls({"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Por'}}),
            AGAIN,
        ],
        TOOLS,
    ),
    "call without arguments": Conversation(
        [
            ASKED,
            _calls(
                {"id": "call_Ab3dEf6hI1", "type": "function", "function": {"name": "weather", "arguments": ""}},
            ),
            _result(1, "Sunny at noon."),
        ],
        TOOLS,
    ),
    "quotes and tags": Conversation(
        [
            _said("system", 'Say "<b>" & no more.'),
            ASKED,
            _calls(_call(1, city='"Porto" <b> & more')),
            _result(1, '{"sky": "blue"}\n<b>'),
        ],
        TOOLS,
    ),
    "agent": Conversation(
        [
            SYSTEM,
            DEVELOPER,
            ASKED,
            AGAIN,
            _calls(_call(1), _call(2, "tides"), content="Looking outside.", reasoning_content="They mean the sky."),
            _result(2, "High at six."),
            _result(1, "Sunny at noon."),
            _parts("user", "Quickly, please."),
        ],
        TOOLS,
    ),
    "image": Conversation([{"role": "user", "content": [{"type": "text", "text": "What is this?"}, IMAGE]}]),
}
"""each begins with a name that says what is particular about it"""


def texts_of(conversation: Conversation) -> Iterator[tuple[str, str]]:
    """The texts that must stand in the prompt: the place of each, and the text.

    Reasoning may be dropped from history, so it is not among them.
    """
    for at, message in enumerate(conversation.messages):
        content = message.get("content")
        for part in content if isinstance(content, list) else [{"text": content}]:
            if text := part.get("text") or part.get("refusal"):
                yield f"/messages/{at}/content", text
        if message.get("refusal"):
            yield f"/messages/{at}/content", message["refusal"]
        for number, call in enumerate(message.get("tool_calls") or ()):
            function = call["function"]
            yield f"/messages/{at}/tool_calls/{number}", function["name"]
            for value in re.findall(r'": "((?:[^"\\]|\\.)+)', function["arguments"]):
                yield f"/messages/{at}/tool_calls/{number}", json.loads(f'"{value}"')


def spellings(text: str) -> tuple[str, ...]:
    """A text as templates may write it: as it is, and with the escapes of JSON or XML."""
    text = text.strip()
    escaped = [json.dumps(text, ensure_ascii=plain)[1:-1] for plain in (False, True)]
    # Markup inside of JSON, as Jinja's own `tojson` escapes it.
    escaped += [re.sub("[<>&']", lambda sign: f"\\u{ord(sign[0]):04x}", one) for one in escaped]
    return tuple(dict.fromkeys((text, *escaped, html.escape(text), html.escape(text, quote=False))))


def missing(conversation: Conversation, prompt: str) -> list[str]:
    """The places of texts that a prompt does not show."""
    return [
        place for place, text in texts_of(conversation) if not any(spelling in prompt for spelling in spellings(text))
    ]


def disordered(conversation: Conversation, prompt: str) -> list[str]:
    """The places of texts that a prompt does not show after the texts of earlier messages.

    System messages stand where a template puts them. A message with calls and their results are one place: there calls
    are in order, and results are in the order of the calls that they answer.
    """
    found: list[str] = []
    done = -1
    for columns in _places(conversation):
        reached = done
        for column in columns:
            before = done
            for place, text in column:
                at = min((at for one in spellings(text) if (at := prompt.find(one, before + 1)) >= 0), default=None)
                if at is None:
                    found.append(place)
                else:
                    before = at
            reached = max(reached, before)
        done = reached
    return found


def _places(conversation: Conversation) -> Iterator[list[list[tuple[str, str]]]]:
    messages = conversation.messages
    texts = [list(texts_of(Conversation([one]))) for one in messages]
    texts = [[(place.replace("/0/", f"/{at}/", 1), text) for place, text in one] for at, one in enumerate(texts)]
    at = 0
    while at < len(messages):
        if calls := messages[at].get("tool_calls"):
            end = next((i for i in range(at + 1, len(messages)) if messages[i]["role"] != "tool"), len(messages))
            order = [call["id"] for call in calls]
            results = sorted(range(at + 1, end), key=lambda i: order.index(messages[i]["tool_call_id"]))
            said = [one for one in texts[at] if "/content" in one[0]]
            # A call's name may stand after its arguments.
            names = [call["function"]["name"] for call in calls]
            called = [one for one in texts[at] if one not in said and one[1] not in names]
            yield [said, called, [one for i in results for one in texts[i]]]
            at = end
        else:
            if messages[at]["role"] not in ("system", "developer"):
                yield [texts[at]]
            at += 1
