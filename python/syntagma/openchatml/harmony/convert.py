"""OpenChatML messages as Harmony, and Harmony as OpenChatML messages (HIP-1)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import msgspec

from syntagma.entry import entry
from syntagma.openchatml.errors import UNREPRESENTABLE, error_for
from syntagma.openchatml.harmony.completion_reader import parse_completion
from syntagma.openchatml.harmony.render import stop_segment
from syntagma.openchatml.harmony.segments import Segment, plain_text
from syntagma.openchatml.transcript import Message, Transcript
from syntagma.openchatml.visibility import keep_for_sampling

__all__ = ["from_harmony", "harmony_segments", "to_harmony", "with_call_ids"]


@entry
def harmony_segments(
    messages: Sequence[Message], *, drop_cot: bool = True, training: bool = False, for_completion: bool = False
) -> list[Segment]:
    """Messages as Harmony segments, for a tokenizer.

    What Harmony cannot say is left out: call ids, intents, names of people, unknown attributes.

    Args:
        messages: complete messages.
        drop_cot: leave out reasoning that sampling no longer needs.
        training: the return token of the last message stays; in a history it becomes the end token.
        for_completion: begin the assistant's next message.

    Raises:
        UnrepresentableError: `X-HIP-UNREPRESENTABLE`, a tool's message without a name, or an incomplete message.
    """
    kept = keep_for_sampling(tuple(messages)) if drop_cot else range(len(messages))
    segments: list[Segment] = []
    for index in kept:
        message = messages[index]
        if message.terminator is None or (message.role == "tool" and not message.name):
            raise error_for(UNREPRESENTABLE, f"message {index} is incomplete, or a tool's without its name")
        head = str(message.name) if message.role == "tool" else message.role
        if message.recipient is not None:
            head += f" to={message.recipient}"
        segments += [stop_segment("start"), ("text", head)]
        channel = message.effective_channel if message.role == "assistant" else message.channel
        if channel is not None:
            segments += [stop_segment("channel"), ("text", channel)]
        if message.content_type is not None:
            segments.append(("text", f" {message.content_type}"))
        if message.constrain is not None:
            segments += [("text", " "), stop_segment("constrain"), ("text", message.constrain)]
        segments.append(stop_segment("message"))
        if message.body:
            segments.append(("text", message.body))
        ends = message.terminator
        if ends == "return" and not (training and index == len(messages) - 1):
            ends = "end"
        segments.append(stop_segment(ends))
    if for_completion:
        segments += [stop_segment("start"), ("text", "assistant")]
    return segments


@entry
def to_harmony(
    messages: Sequence[Message], *, drop_cot: bool = True, training: bool = False, for_completion: bool = False
) -> str:
    """Messages as Harmony text; the arguments are those of `harmony_segments`.

    Raises:
        UnrepresentableError: `X-HIP-UNREPRESENTABLE`, a text spells a control token: Harmony text has no escape.
    """
    options = {"drop_cot": drop_cot, "training": training, "for_completion": for_completion}
    return plain_text(harmony_segments(messages, **options))


@entry
def from_harmony(text: str | bytes, *, role: str | None = None) -> Transcript:
    """Harmony text as a transcript. Nothing is raised: what was irregular is in `errors`, and marked in the messages.

    Args:
        text: a conversation, or a completion.
        role: the text continues a prompt that ended after the start token and this role.
    """
    result = parse_completion(text, role=role)
    return Transcript(messages=tuple(with_call_ids(result.messages)), profile="harmony", errors=result.errors)


@entry
def with_call_ids(messages: Iterable[Message]) -> list[Message]:
    """Messages whose calls have ids (`hip-1`, `hip-2`, …); a reply has that of the oldest open call of its tool."""
    done: list[Message] = []
    waiting: dict[str | None, deque[str]] = {}
    count = 0
    for message in messages:
        call_id = message.call_id
        if message.is_call:
            count += 1
            call_id = call_id or f"hip-{count}"
            waiting.setdefault(message.recipient, deque()).append(call_id)
        elif message.role == "tool" and call_id is None and waiting.get(message.name):
            call_id = waiting[message.name].popleft()
        done.append(msgspec.structs.replace(message, call_id=call_id))
    return done
