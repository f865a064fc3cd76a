"""Converts OpenAI chat messages to OpenChatML and back, with a list of losses."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from syntagma.entry import entry
from syntagma.openchatml.constraint import violation
from syntagma.openchatml.errors import CALL_SCHEMA, HEADER, OpenChatMLError, error_for
from syntagma.openchatml.harmony.chat import call_in
from syntagma.openchatml.harmony.chat import part_of as harmony_part
from syntagma.openchatml.tokens import ROLES
from syntagma.openchatml.tool_calls import CallIds, is_function
from syntagma.openchatml.transcript import Message
from syntagma.openchatml.transcript_writer import is_value
from syntagma.openchatml.visibility import is_visible

__all__ = ["Loss", "from_openai", "to_openai"]

_READ: Mapping[str, frozenset[str]] = {
    "assistant": frozenset({"role", "content", "name", "tool_calls", "reasoning_content", "reasoning", "refusal"}),
    "tool": frozenset({"role", "content", "name", "tool_call_id"}),
}
_READ_OF_OTHERS = frozenset({"role", "content", "name"})


class Loss(msgspec.Struct, frozen=True):
    """A field of message `index` that the other form cannot express, and the reason."""

    index: int
    field: str
    reason: str


@entry
def from_openai(messages: Iterable[Mapping[str, Any]]) -> tuple[list[Message], list[Loss]]:
    """OpenAI chat messages as OpenChatML messages, and the losses.

    Reasoning becomes a message on `analysis`. Content becomes a message on `final`, or a preamble if the message has
    calls. Each call becomes a message. Function names without a namespace get the prefix `functions.`.

    Raises:
        HeaderError: `E-PARSE-HEADER`, a message is not an object with a known role.
        CallSchemaError: `E-CALL-SCHEMA`, a malformed call, an id that is used or answered twice, or a reply without a
            call.
    """
    made: list[Message] = []
    losses: list[Loss] = []
    ids = CallIds(needed=True)
    for index, data in enumerate(messages):
        role = data.get("role") if isinstance(data, Mapping) else None
        if not isinstance(role, str):
            raise error_for(HEADER, f"message {index} is not an object with a role")
        if role not in ROLES:
            raise error_for(HEADER, f"message {index}: {role!r} is not a role")
        fields = _Fields(index, data, losses)
        fields.lose_unknown(_READ.get(role, _READ_OF_OTHERS))
        if role == "assistant":
            new = _answer(fields, ids)
        elif role == "tool":
            new = [_reply(fields, ids)]
        else:
            new = [Message(role=role, body=fields.text("content") or "", name=fields.word("name"))]
        made += new
    return made, losses


class _Fields:
    """The fields of one OpenAI message. Fields that cannot be kept are added to the losses."""

    def __init__(self, index: int, data: Mapping[str, Any], losses: list[Loss]) -> None:
        self.index = index
        self.data = data
        self._losses = losses

    def lose(self, field: str, reason: str) -> None:
        """Record a loss."""
        self._losses.append(Loss(self.index, field, reason))

    def lose_unknown(self, known: frozenset[str]) -> None:
        """Record a loss for each non-empty field whose name is not in `known`."""
        for key, value in self.data.items():
            if key not in known and value is not None and value not in ("", [], {}):
                self.lose(str(key), "OpenChatML has no such field")

    def text(self, key: str) -> str | None:
        """A field's text, or the joined texts of its parts; None if the field is missing or null."""
        content = self.data.get(key)
        if content is None or isinstance(content, str):
            return content
        parts: list[str] = []
        for part in content if isinstance(content, list) else [content]:
            text = part.get("text") if isinstance(part, Mapping) else part
            if isinstance(text, str):
                parts.append(text)
            else:
                kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
                self.lose(key, f"a part of type {kind} is not text")
        return "".join(parts)

    def word(self, key: str) -> str | None:
        """A field's text if it can be a header value; else None and, if there was a value, a loss."""
        value = self.data.get(key)
        if value is None:
            return None
        if isinstance(value, str) and is_value(value):
            return value
        self.lose(key, f"a {key} must be one word")
        return None

    def malformed(self, reason: str) -> OpenChatMLError:
        """An error about this message."""
        return error_for(CALL_SCHEMA, f"message {self.index}: {reason}")


def _reply(fields: _Fields, ids: CallIds) -> Message:
    call_id = fields.data.get("tool_call_id")
    if not isinstance(call_id, str):
        raise fields.malformed("a reply needs the id of its call")
    call = ids.calls.get(call_id)
    if call is None:
        raise fields.malformed(f"the reply answers {call_id!r}, but there is no such call")
    name = fields.data.get("name")
    if name is not None and call.recipient not in (name, f"functions.{name}" if isinstance(name, str) else None):
        fields.lose("name", "a reply has the name of the called tool")
    message = Message(
        role="tool",
        channel="commentary",
        name=call.recipient,
        call_id=call.call_id,
        recipient="assistant",
        body=fields.text("content") or "",
    )
    wrong = ids.reply(message)
    if wrong is not None:
        raise fields.malformed(wrong)
    return message


def _answer(fields: _Fields, ids: CallIds) -> list[Message]:
    made: list[Message] = []
    name, text, refusal = fields.word("name"), fields.text("content"), fields.text("refusal")
    calls = fields.data.get("tool_calls")
    if not isinstance(calls, list | tuple | None):
        raise fields.malformed("tool_calls is not a list")
    reasoning = [said for key in ("reasoning_content", "reasoning") if (said := fields.text(key))]
    if reasoning:
        made.append(Message(role="assistant", channel="analysis", body=reasoning[0]))
    if len(set(reasoning)) > 1:
        fields.lose("reasoning", "the message also has reasoning_content")
    if refusal:
        fields.lose("refusal", "the message also has content" if text else "kept as content")
        text = text or refusal
    if text is not None and (text or not calls):
        channel, intent = ("commentary", "preamble") if calls else ("final", None)
        made.append(Message(role="assistant", name=name, body=text, channel=channel, intent=intent))
        name = None
    for data in calls or ():
        call = _call(fields, data, name)
        wrong = ids.call(call)
        if wrong is not None:
            raise fields.malformed(wrong)
        made.append(call)
        name = None
    if name is not None:
        fields.lose("name", "the message has no text or call that could carry it")
    return made


def _call(fields: _Fields, call: Any, name: str | None) -> Message:
    function = call.get("function") if isinstance(call, Mapping) else None
    called = function.get("name") if isinstance(function, Mapping) else None
    call_id = call.get("id") if isinstance(call, Mapping) else None
    if not (isinstance(function, Mapping) and isinstance(called, str) and called):
        raise fields.malformed("a call needs a function with a name")
    if not (isinstance(call_id, str) and call_id):
        raise fields.malformed("a call needs an id")
    for what, value in (("name", called), ("id", call_id)):
        if not is_value(value):
            raise fields.malformed(f"the {what} of a call must be one word, not {value!r}")
    arguments = function.get("arguments")
    try:
        body = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise fields.malformed(f"the arguments of a call cannot be written as JSON: {error}") from error
    is_json = violation("json", body) is None
    if not is_json:
        fields.lose("tool_calls", "the arguments are not JSON, so they are written without a type")
    return Message(
        role="assistant",
        channel="commentary",
        name=name,
        recipient=called if "." in called else f"functions.{called}",
        call_id=call_id,
        constrain="json" if is_json else None,
        body=body,
        terminator="call",
    )


@entry
def to_openai(messages: Iterable[Message], *, of_harmony: bool = False) -> tuple[list[dict[str, Any]], list[Loss]]:
    """OpenChatML messages as OpenAI chat messages, and the losses.

    Consecutive assistant messages become one. Three details are not counted as losses, because they do not change the
    meaning: the terminator, the recipient `assistant` of a reply, and the declared type JSON of a call or reply.

    Args:
        messages: the messages.
        of_harmony: they were read from Harmony, so what is an answer, reasoning or a call is as `harmony.to_chat` says.
            A call that is not complete has the further field `"complete": False`.
    """
    part_of = harmony_part if of_harmony else _part_of
    given = list(messages)
    taken = {message.call_id for message in given}
    fresh = (name for number in itertools.count() if (name := f"call_{number}") not in taken)
    made: list[dict[str, Any]] = []
    losses: list[Loss] = []
    current: dict[str, Any] | None = None
    contents: list[tuple[int, Message, dict[str, Any]]] = []
    called: dict[str | None, str | None] = {}
    for index, each in enumerate(given):
        message = each
        losses += [Loss(index, field, reason) for field, reason in _not_kept(message)]
        part = part_of(message)
        if message.role == "assistant" and part is None:
            # Content is shown to users, so a hidden message must not become content.
            losses.append(Loss(index, "body", "private commentary has no place in OpenAI's form"))
        elif message.role == "assistant":
            if part == "call" and message.call_id is None:
                message = replace(message, call_id=next(fresh))
                losses.append(Loss(index, "call_id", "a call needs an id, so one was generated"))
            current = _joined(made, current, message, part)
            if part == "call":
                called[message.call_id] = message.recipient
                if of_harmony:
                    _as_read(current["tool_calls"][-1], message)
            elif part == "content":
                contents.append((index, message, current))
        elif message.role == "tool":
            current = None
            if message.call_id not in called or called[message.call_id] != message.name:
                losses.append(Loss(index, "name", "a reply has the name of the called tool"))
            made.append({"role": "tool", "content": message.body, "tool_call_id": message.call_id or ""})
        else:
            current = None
            named = {} if message.name is None else {"name": message.name}
            made.append({"role": message.role, "content": message.body, **named})
    for index, message, data in contents:
        if (message.effective_channel == "commentary") != ("tool_calls" in data):
            losses.append(Loss(index, "channel", "content is a preamble in a message with calls, else the answer"))
    for data in made:
        data.setdefault("content", None)
    return made, losses


def _part_of(message: Message) -> str | None:
    """The part of a chat message that an assistant's message becomes; None: it is hidden, and no reasoning."""
    if message.is_call:
        return "call"
    return "reasoning" if message.channel == "analysis" else "content" if is_visible(message) else None


def _as_read(call: dict[str, Any], message: Message) -> None:
    """Give a call the arguments that a reader of Harmony finds, and say whether it is complete."""
    _, call["function"]["arguments"], complete = call_in(message)
    if not complete:
        call["complete"] = False


def _not_kept(message: Message) -> Iterator[tuple[str, str]]:
    """The fields of a message that OpenAI's form cannot express, each with the reason."""
    none = "OpenAI's form has no such field"
    is_call, role = message.is_call, message.role
    if message.intent is not None and not (message.intent == "preamble" and is_visible(message)):
        yield "intent", none
    if message.content_type is not None:
        yield "content_type", none
    if message.constrain is not None and not ((is_call or role == "tool") and message.constrain == "json"):
        yield "constrain", none
    if is_call and _name_of(message.recipient) is None:
        yield "recipient", "OpenAI's form calls functions and tools in namespaces only"
    if not is_call and message.recipient not in ((None, "assistant") if role == "tool" else (None,)):
        yield "recipient", none
    if role == "tool" and message.call_id is None:
        yield "call_id", "the reply has no call id"
    if role != "tool" and not is_call and message.call_id is not None:
        yield "call_id", none
    if message.is_reasoning and message.name is not None:
        yield "name", "reasoning has no name in OpenAI's form"
    usual = {"assistant": message.channel, "tool": "commentary"}.get(role, "final")
    if (message.channel or usual) != ("commentary" if is_call else usual):
        yield "channel", none
    if message.terminator is None:
        yield "terminator", "OpenAI's form cannot mark a message as incomplete"
    if message.recovered:
        yield "recovered", "OpenAI's form cannot mark a message as recovered"
    for key in message.extra:
        yield key, "OpenAI's form has no such attribute"


def _name_of(recipient: str | None) -> str | None:
    """A recipient's name in OpenAI's form; None if `from_openai` would read it as another tool."""
    if recipient is None:
        return None
    bare = recipient.removeprefix("functions.")
    if is_function(recipient) and bare and "." not in bare:
        return bare
    return recipient if "." in recipient else None


def _joined(
    made: list[dict[str, Any]], current: dict[str, Any] | None, message: Message, part: str | None
) -> dict[str, Any]:
    """Add an assistant message to the current one, or to a new one if the order of parts would be lost. Returns it."""
    said = frozenset() if current is None else current.keys() & {"content", "tool_calls"}
    if part == "reasoning":
        full = bool(said) or "reasoning_content" in (current or {})
    else:
        # Only the first part can carry the name.
        full = bool(said) and (part != "call" or message.name is not None)
    if current is None or full:
        current = {"role": "assistant"}
        made.append(current)
    if part == "reasoning":
        current["reasoning_content"] = message.body
        return current
    if part == "call":
        name = _name_of(message.recipient) or message.recipient or ""
        function = {"name": name, "arguments": message.body}
        call = {"id": message.call_id, "type": "function", "function": function}
        current.setdefault("tool_calls", []).append(call)
    else:
        current["content"] = message.body
    if message.name is not None:
        current["name"] = message.name
    return current
