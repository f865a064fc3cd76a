"""Turns a Harmony completion into one chat message: reasoning, an answer, and calls.

Only the header decides what a message becomes, so a streaming reader decides the same. A message for the user is the
answer, a message to a tool is a call, and everything else is reasoning.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from syntagma.entry import entry
from syntagma.messages import Message as ChatMessage
from syntagma.messages import ToolCall
from syntagma.openchatml.tokens import TERMINATORS, spell
from syntagma.openchatml.tool_calls import called_tool
from syntagma.openchatml.transcript import Message, names_tool
from syntagma.parsing import object_in

__all__ = ["call_in", "part_of", "to_chat"]

_ENDS = tuple(map(spell, TERMINATORS))


@entry
def to_chat(messages: Iterable[Message]) -> ChatMessage:
    """The messages of one completion as one chat message.

    A call is complete if its arguments are one JSON object and it ends with the call token or with the text, because
    engines remove the stop token. A message whose header had to be guessed is never a call, and a call without the
    message token is never complete; a recovered message is an answer only if it is on the final channel and has no
    recipient. Messages of other roles than the assistant count as reasoning. An answer of only whitespace is dropped
    before reasoning or a call, and after the last call.
    """
    content: list[str] = []
    waiting: list[str] = []  # whitespace since the last reasoning or call
    reasoning: list[str] = []
    calls: list[ToolCall] = []
    in_text = incomplete = False
    for message in messages:
        kind = part_of(message)
        if kind is None:
            continue
        if kind == "call":
            name, arguments, complete = call_in(message)
            call_id = message.call_id or f"call_{len(calls)}"
            calls.append(ToolCall(id=call_id, name=name, arguments=arguments, complete=complete))
            waiting, in_text = [], False
        elif not message.body:
            pass
        elif kind == "reasoning":
            reasoning.append(message.body)
            waiting, in_text = [], False
        elif in_text or not message.body.isspace():
            content += [*waiting, message.body]
            waiting, in_text = [], True
        else:
            waiting.append(message.body)
        incomplete = kind == "reasoning" and message.terminator is None
    if not calls:
        content += waiting
    return ChatMessage(
        content="".join(content) or None,
        reasoning_content="".join(reasoning) or None,
        tool_calls=tuple(calls),
        incomplete=incomplete or any(not call.complete for call in calls),
    )


def part_of(message: Message) -> Literal["content", "reasoning", "call"] | None:
    """The part of a chat message that a message of a completion becomes; None: it is only a header."""
    written = message.header_raw
    if written and not written.endswith(spell("message")) and message.terminator is None and not message.body:
        # The text ended in a header that could not be read as a message.
        return None
    if called_tool(message) is not None:
        return "call"
    return "content" if _is_answer(message) else "reasoning"


def call_in(message: Message) -> tuple[str, str, bool]:
    """The tool's name in a message that is a call, its arguments, and whether the call is complete."""
    arguments, whole, half = object_in(message.body, _ENDS, is_cut=message.terminator is None)
    whole = whole and message.lacks != "message" and spell("call").startswith(half)
    return called_tool(message) or "", arguments, whole and message.terminator in ("call", None)


def _is_answer(message: Message) -> bool:
    if message.role != "assistant" or names_tool(message.recipient):
        return False
    sound = message.constrain is None and not message.recovered
    if message.channel == "final":
        return sound or message.recipient is None
    return sound and message.channel == "commentary" and message.recipient is None
