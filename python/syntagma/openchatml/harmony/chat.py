"""Turns a Harmony completion into one chat message: reasoning, an answer, and calls.

Only the header decides what a message becomes, so a streaming reader decides the same. A message for the user is the
answer, a message to a tool is a call, and everything else is reasoning.
"""

from __future__ import annotations

from collections.abc import Iterable

from syntagma.entry import entry
from syntagma.messages import Message as ChatMessage
from syntagma.messages import ToolCall
from syntagma.openchatml.tokens import TERMINATORS, incomplete_token_from, spell
from syntagma.openchatml.tool_calls import called_tool
from syntagma.openchatml.transcript import Message, names_tool
from syntagma.parsing import JsonMachine

__all__ = ["to_chat"]

_WHITESPACE = " \t\r\n"


@entry
def to_chat(messages: Iterable[Message]) -> ChatMessage:
    """The messages of one completion as one chat message.

    A call is complete if its arguments are one JSON object and it ends with the call token or with the text, because
    engines remove the stop token. A recovered message is never a call; it is an answer only if it is on the final
    channel and has no recipient. Messages of other roles than the assistant count as reasoning. An answer of only
    whitespace is dropped before reasoning or a call, and after the last call.
    """
    content: list[str] = []
    waiting: list[str] = []  # whitespace since the last reasoning or call
    reasoning: list[str] = []
    calls: list[ToolCall] = []
    in_text = incomplete = False
    for message in messages:
        if _is_header_alone(message):
            continue
        name = called_tool(message)
        if name is not None:
            arguments, whole = _arguments(message.body, is_cut=message.terminator is None)
            complete = whole and message.terminator in ("call", None)
            call_id = message.call_id or f"call_{len(calls)}"
            calls.append(ToolCall(id=call_id, name=name, arguments=arguments, complete=complete))
            waiting, in_text = [], False
        elif not message.body:
            pass
        elif not _is_answer(message):
            reasoning.append(message.body)
            waiting, in_text = [], False
        elif in_text or not message.body.isspace():
            content += [*waiting, message.body]
            waiting, in_text = [], True
        else:
            waiting.append(message.body)
        incomplete = name is None and message.terminator is None and not _is_answer(message)
    if not calls:
        content += waiting
    return ChatMessage(
        content="".join(content) or None,
        reasoning_content="".join(reasoning) or None,
        tool_calls=tuple(calls),
        incomplete=incomplete or any(not call.complete for call in calls),
    )


def _is_header_alone(message: Message) -> bool:
    """Whether the text ended in a header that could not be read as a message."""
    written = message.header_raw
    alone = written is not None and not written.endswith(spell("message"))
    return alone and message.terminator is None and not message.body


def _is_answer(message: Message) -> bool:
    if message.role != "assistant" or names_tool(message.recipient):
        return False
    sound = message.constrain is None and not message.recovered
    if message.channel == "final":
        return sound or message.recipient is None
    return sound and message.channel == "commentary" and message.recipient is None


def _arguments(body: str, *, is_cut: bool) -> tuple[str, bool]:
    """A call's arguments as text, and whether they are one complete JSON object.

    Args:
        body: the text of the call.
        is_cut: the text ended inside the call. A cut terminator at the end is not part of the arguments.
    """
    begin = len(body) - len(body.lstrip(_WHITESPACE))
    end = _half_end_from(body) if is_cut else len(body)
    if not body.startswith("{", begin):
        return "" if is_cut and begin >= end else body, False
    machine = JsonMachine()
    at, arguments = machine.feed(body, begin, end)
    rest, half_end = body[at:end], body[end:]
    if rest.strip(_WHITESPACE):
        return arguments + rest + half_end, False
    if machine.in_string:
        return arguments + machine.feed(body, end, len(body))[1], False
    return arguments, machine.done and spell("call").startswith(half_end)


def _half_end_from(body: str) -> int:
    """The index at which a cut terminator begins at the end of a body; the length of the body if there is none."""
    at = incomplete_token_from(body, 0)
    return at if any(spell(name).startswith(body[at:]) for name in TERMINATORS) else len(body)
