"""The JSON form of transcripts: one object per message (§10).

The form keeps everything but two spellings: an absent channel becomes `final`, which means the same, and escapes and
literal blocks are resolved. Fields that the specification's sketch does not have (`name`, `call_id`, `recipient`,
`constrain`, `terminator`, `attributes`, `recovered`, `incomplete`) are written if they are set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from syntagma.entry import entry
from syntagma.openchatml.errors import CALL_SCHEMA, HEADER, error_for
from syntagma.openchatml.tool_calls import CallIds, channels_of_calls
from syntagma.openchatml.transcript import (
    DocumentHeader,
    Message,
    Profile,
    Transcript,
    checked_profile,
)
from syntagma.openchatml.transcript_writer import render_message
from syntagma.openchatml.visibility import is_visible, shown_text

__all__ = ["from_json", "to_json"]

_TEXTS = ("name", "call_id", "recipient", "intent", "content_type", "constrain")


@entry
def to_json(
    messages: Sequence[Message], *, fold_thinking: bool = False, end_user: bool = False
) -> list[dict[str, Any]]:
    """Messages as JSON objects.

    Args:
        messages: the messages; one that was cut off is marked `incomplete`.
        fold_thinking: put an assistant's private reasoning into `thinking` of its next message. Reasoning with other
            fields than its text, such as a name, stays a message.
        end_user: only what an end user may see, and no `thinking`.

    Raises:
        VisibilityError: `E-PERM-VISIBILITY`, with `end_user`: a visible message contains private reasoning.
    """
    objects: list[dict[str, Any]] = []
    reasoning: list[Message] = []
    for index, message in enumerate(messages):
        if end_user:
            if not is_visible(message):
                continue
            shown_text(message, index)
        is_reasoning = message.is_reasoning
        if fold_thinking and not reasoning and _is_body_alone(message):
            reasoning.append(message)
            continue
        data = _object(message)
        if reasoning and message.role == "assistant" and not is_reasoning:
            data["thinking"] = reasoning.pop().body
        elif reasoning:
            # No assistant message follows that could carry it.
            objects.append(_object(reasoning.pop()))
        objects.append(data)
    return objects + [_object(message) for message in reasoning]


def _is_body_alone(message: Message) -> bool:
    """Whether a message is private reasoning that `thinking` can express completely."""
    thinking = Message(role="assistant", channel="analysis", body=message.body)
    return message.same(thinking) and not message.recovered


def _object(message: Message) -> dict[str, Any]:
    data: dict[str, Any] = {"role": message.role, "channel": message.effective_channel}
    texts = list(_TEXTS)
    if message.is_call:
        call: dict[str, Any] = {
            "id": message.call_id,
            "recipient": message.recipient,
            "content_type": message.constrain,
        }
        data["tool_call"] = {key: value for key, value in call.items() if value is not None}
        data["tool_call"]["arguments"] = message.body
        texts = ["name", "intent", "content_type"]
    else:
        data["content"] = message.body
        if message.terminator is None:
            data["incomplete"] = True
        elif message.terminator != "end":
            data["terminator"] = message.terminator
    data |= {name: value for name in texts if (value := getattr(message, name)) is not None}
    if message.extra:
        data["attributes"] = message.extra
    if message.recovered:
        data["recovered"] = True
    if message.lacks is not None:
        data["lacks"] = message.lacks
    return data


@entry
def from_json(
    objects: Iterable[Mapping[str, Any]], *, end_user: bool = False, version: str = "2.2", profile: Profile = "ocm"
) -> list[Message]:
    """Messages from JSON objects. Unknown keys are ignored.

    Each object becomes one message for its `thinking`, then one for its `content`, then one for each call in
    `tool_call` or OpenAI-style `tool_calls`. Function calls are moved to the commentary channel; calls of built-in
    tools may stay on analysis.

    Args:
        objects: the JSON objects.
        end_user: return only messages that an end user may see.
        version: version of the transcript. Below 2.2, calls and replies need no ids.
        profile: profile of the transcript. Under `harmony`, calls and replies need no ids.

    Raises:
        HeaderError: `E-PARSE-HEADER`, an invalid role, channel, name, attribute or version.
        CallSchemaError: `E-CALL-SCHEMA`, a malformed call, a turn that mixes both kinds of calls, or an id that is
            missing, used twice or answered twice. The call that a reply answers need not be among the objects.
        ConstraintError: `E-BODY-CONSTRAINT-VIOLATION`, a body is not of the type that it declares.
        VisibilityError: `E-PERM-VISIBILITY`, with `end_user`: a visible message contains private reasoning.
        ArgumentError: `E-ARGUMENT-VALUE`, the profile is unknown.
    """
    checked_profile(profile)
    header = DocumentHeader(version=version)
    if header.number[0] > 2:
        raise error_for(HEADER, f"version {version} is not supported", hint="versions up to 2.x are supported")
    messages: list[Message] = []
    kinds: set[str] = set()
    for data in objects:
        if not isinstance(data, Mapping) or not isinstance(data.get("role"), str):
            raise error_for(HEADER, "a message is an object with a role")
        if data["role"] == "user":
            kinds.clear()
        kinds |= {kind for kind in ("tool_call", "tool_calls") if data.get(kind) is not None}
        if len(kinds) > 1:
            hint = "use only one of the two in a turn (R-051)"
            raise error_for(CALL_SCHEMA, "the turn mixes tool_call and tool_calls", hint=hint)
        messages += _messages(data)
    ids = CallIds(needed=profile != "harmony" and header.number >= (2, 2), whole=False)
    is_legacy = Transcript(header=header).is_legacy
    for index, message in enumerate(messages):
        # Rendering checks the fields. The body of a message that was cut off need not match its type.
        render_message(replace(message, terminator="end", body="0") if message.terminator is None else message)
        if end_user and is_visible(message):
            shown_text(message, index, is_legacy=is_legacy)
        if message.role == "tool" and message.name is None:
            raise error_for(HEADER, "a tool's reply has no tool name")
        wrong = ids.call(message) if message.is_call else ids.reply(message) if message.role == "tool" else None
        if wrong is not None:
            raise error_for(CALL_SCHEMA, wrong)
    return [message for message in messages if is_visible(message)] if end_user else messages


def _messages(data: Mapping[str, Any]) -> list[Message]:
    thinking, content = _text(data, "thinking"), _text(data, "content")
    calls = _calls(data)
    made: list[Message] = []
    role, name = data["role"], _text(data, "name")
    if role.startswith("functions."):
        role, name = "tool", role
    if thinking is not None:
        if role != "assistant":
            raise error_for(HEADER, f"a message of {role} has thinking", hint="only an assistant has private reasoning")
        made.append(Message(role="assistant", channel="analysis", body=thinking))
    attributes = data.get("attributes")
    if attributes is not None and not (
        isinstance(attributes, Mapping) and all(isinstance(text, str) for pair in attributes.items() for text in pair)
    ):
        raise error_for(HEADER, "attributes must map names to strings")
    message = Message(
        role=role,
        body=content or "",
        channel=_text(data, "channel"),
        name=name,
        recipient=_text(data, "recipient"),
        call_id=_text(data, "call_id"),
        intent=_text(data, "intent"),
        content_type=_text(data, "content_type"),
        constrain=_text(data, "constrain"),
        terminator=_terminator(data),
        extra=dict(attributes or {}),
        recovered=_flag(data, "recovered"),
        lacks=_text(data, "lacks"),
    )
    if content is not None or not (calls or made):
        made.append(_on_its_channel(message) if message.is_call else message)
    for call in calls:
        own = {} if content is not None else {"name": name, "extra": message.extra}
        made.append(_call(call, message, own))
    return made


def _call(call: Mapping[str, Any], message: Message, own: dict[str, Any]) -> Message:
    fields: dict[str, Any] = {
        "role": message.role,
        "channel": message.channel,
        "recovered": message.recovered,
        "lacks": message.lacks,
        "recipient": call.get("recipient"),
        "call_id": call.get("id"),
        "constrain": call.get("content_type"),
        "body": call.get("arguments"),
        "terminator": "call",
        **own,
    }
    if own:
        fields |= {"intent": message.intent, "content_type": message.content_type}
    for key in ("recipient", "call_id", "constrain"):
        if fields[key] is not None and not isinstance(fields[key], str):
            raise error_for(CALL_SCHEMA, f"{key} of a call must be a string")
    if not isinstance(fields["body"], str):
        raise error_for(CALL_SCHEMA, "the arguments of a call must be JSON text")
    if fields["role"] != "assistant":
        raise error_for(CALL_SCHEMA, f"a message of {fields['role']} must not be a call")
    return _on_its_channel(Message(**fields))


def _on_its_channel(call: Message) -> Message:
    """The call on its own channel if its tool allows that, else on commentary."""
    if call.recipient is None:
        raise error_for(CALL_SCHEMA, "the call does not name a tool")
    allowed = channels_of_calls(call.recipient)
    return call if call.channel in allowed else replace(call, channel="commentary")


def _calls(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    one, many = data.get("tool_call"), data.get("tool_calls")
    if one is not None:
        if not isinstance(one, Mapping):
            raise error_for(CALL_SCHEMA, "tool_call is not an object")
        return [one]
    if many is None:
        return []
    if not isinstance(many, list):
        raise error_for(CALL_SCHEMA, "tool_calls is not a list")
    found: list[Mapping[str, Any]] = []
    for call in many:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise error_for(CALL_SCHEMA, "a call in tool_calls needs a function with a name")
        name = function["name"]
        recipient = name if "." in name else f"functions.{name}"
        call_id, arguments = call.get("id"), function.get("arguments")
        found.append({"id": call_id, "recipient": recipient, "content_type": "json", "arguments": arguments})
    return found


def _terminator(data: Mapping[str, Any]) -> str | None:
    terminator = _text(data, "terminator")
    if _flag(data, "incomplete"):
        if terminator is not None:
            raise error_for(HEADER, f"an incomplete message cannot end with {terminator!r}")
        return None
    if terminator == "":
        raise error_for(HEADER, "'' is not a terminator")
    return terminator or "end"


def _flag(data: Mapping[str, Any], key: str) -> bool:
    value = data.get(key)
    if value is not None and not isinstance(value, bool):
        raise error_for(HEADER, f"{key} is not true or false")
    return bool(value)


def _text(data: Mapping[str, Any], key: str) -> str | None:
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise error_for(HEADER, f"{key} must be a string")
    return value
