"""Which messages an end user, a debug view, a tool and the next sampling step may see (§5, §7, §11)."""

from __future__ import annotations

from bisect import bisect_left

import msgspec

from syntagma.entry import entry
from syntagma.errors import ArgumentError
from syntagma.openchatml.errors import VISIBILITY, OpenChatMLError, error_for, log_error
from syntagma.openchatml.tokens import REASONING_MARKERS
from syntagma.openchatml.tool_calls import open_calls, to_tool
from syntagma.openchatml.transcript import Message, Transcript

__all__ = [
    "Shown",
    "holds_reasoning",
    "is_visible",
    "keep_for_sampling",
    "refused",
    "show",
    "shown_text",
    "tool_input",
    "visible",
]


class Shown(msgspec.Struct, frozen=True):
    """The text shown for message `index`."""

    index: int
    text: str


@entry
def is_visible(message: Message) -> bool:
    """Whether an end user may see a message: it is final or a preamble, and not addressed to a tool."""
    if message.role not in ("user", "assistant") or to_tool(message):
        return False
    if message.effective_channel == "final":
        return True
    preamble = message.channel == "commentary" and message.intent == "preamble"
    return preamble and message.role == "assistant" and not message.recovered


@entry
def visible(transcript: Transcript, *, debug: bool = False) -> list[Shown]:
    """The messages that an end user sees; with `debug`, all messages.

    Raises:
        VisibilityError: `E-PERM-VISIBILITY`, a visible message contains private reasoning.
    """
    return [
        Shown(index, show(transcript, index, debug=debug))
        for index, message in enumerate(transcript.messages)
        if debug or is_visible(message)
    ]


@entry
def show(transcript: Transcript, index: int, *, debug: bool = False) -> str:
    """The text of one message as an end user sees it; with `debug`, its body.

    Raises:
        VisibilityError: `E-PERM-VISIBILITY`, the message is hidden or contains private reasoning.
        ArgumentError: `E-ARGUMENT-VALUE`, there is no message with this index.
    """
    try:
        message = transcript.messages[index]
    except IndexError:
        raise ArgumentError("E-ARGUMENT-VALUE", f"there is no message {index}", pointer="/index") from None
    if debug:
        return message.body
    if not is_visible(message):
        where = f"{message.role}, {message.effective_channel}"
        raise refused(f"message {index} ({where}) is not for end users", hint="debug=True shows everything")
    return shown_text(message, index, is_legacy=transcript.is_legacy)


def shown_text(message: Message, index: int, *, is_legacy: bool = False) -> str:
    """The text of a visible message. In version 1, blocks of private reasoning are removed.

    Raises:
        VisibilityError: `E-PERM-VISIBILITY`, the text contains markers of private reasoning.
    """
    if message.role != "assistant":
        return message.body
    if holds_reasoning(message.body, is_legacy=is_legacy):
        raise refused(f"message {index} contains markers of private reasoning")
    return _without_reasoning(message.body) if is_legacy else message.body


def holds_reasoning(text: str, *, is_legacy: bool = False) -> bool:
    """Whether a visible text contains markers of private reasoning; in version 1, outside of closed blocks."""
    text = _without_reasoning(text) if is_legacy else text
    return any(marker in text for marker in REASONING_MARKERS)


def refused(message: str, **more: str) -> OpenChatMLError:
    """Log and return an error `E-PERM-VISIBILITY`."""
    log_error(VISIBILITY, message)
    return error_for(VISIBILITY, message, **more)


def _without_reasoning(body: str) -> str:
    """A body of version 1 without its blocks of reasoning, each with the line break after it."""
    for marker in REASONING_MARKERS:
        closer = marker.replace("start_", "end_")
        kept: list[str] = []
        at = 0
        while (begin := body.find(marker, at)) >= 0 and (end := body.find(closer, begin)) >= 0:
            kept.append(body[at:begin])
            at = end + len(closer)
            at += body.startswith("\n", at)
        body = "".join(kept) + body[at:]
    return body


@entry
def tool_input(message: Message) -> str:
    """The text that a tool gets: only the body of its own call.

    Raises:
        VisibilityError: `E-PERM-VISIBILITY`, the message is not a call.
    """
    if not message.is_call:
        raise refused("the message is not a call, so no tool may get its body")
    return message.body


@entry
def keep_for_sampling(messages: tuple[Message, ...]) -> list[int]:
    """Indexes of the messages to keep in the prompt for the next sampling step.

    The reasoning after a user message is dropped once the assistant's last message before the next user message is
    final. Reasoning before a call without a reply is kept. A call is never dropped.
    """
    waiting = open_calls(messages)
    kept: list[int] = []
    begin = 0
    for end in range(1, len(messages) + 1):
        if end < len(messages) and messages[end].role != "user":
            continue
        turn = range(begin, end)
        said = [index for index in turn if messages[index].role == "assistant"]
        finished = bool(said) and _is_final(messages[said[-1]])
        # Open calls before this turn do not matter, because the reasoning before them is also before this turn.
        before = bisect_left(waiting, end)
        last_open = waiting[before - 1] if before else -1
        kept += [index for index in turn if not (finished and messages[index].is_reasoning and index > last_open)]
        begin = end
    return kept


def _is_final(message: Message) -> bool:
    return message.effective_channel == "final" and message.terminator in ("end", "return")
