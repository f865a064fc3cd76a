"""Converts OpenChatML messages to Harmony and back (HIP-1)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import msgspec

from syntagma.entry import entry
from syntagma.limits import Limits
from syntagma.openchatml.errors import HEADER, UNREPRESENTABLE, HeaderError, error_for
from syntagma.openchatml.harmony.completion_reader import parse_completion
from syntagma.openchatml.harmony.render import stop_segment
from syntagma.openchatml.harmony.segments import Segment, plain_text
from syntagma.openchatml.message_header import split_role
from syntagma.openchatml.tokens import CHANNELS, TERMINATORS, WORD
from syntagma.openchatml.tool_calls import answered_by
from syntagma.openchatml.transcript import Message, Transcript
from syntagma.openchatml.visibility import keep_for_sampling

__all__ = ["from_harmony", "harmony_segments", "to_harmony", "with_call_ids"]


@entry
def harmony_segments(
    messages: Sequence[Message], *, drop_cot: bool = True, training: bool = False, for_completion: bool = False
) -> list[Segment]:
    """Messages as Harmony segments, for a tokenizer.

    Fields that Harmony cannot express are left out: call ids, intents, names of people that are not part of the role
    (`user:alice`), unknown attributes, and the content type of a message without a channel.

    Args:
        messages: complete messages.
        drop_cot: leave out reasoning that `keep_for_sampling` does not keep.
        training: end the last message with the return token if it is an answer, instead of the end token.
        for_completion: add the beginning of the assistant's next message.

    Raises:
        UnrepresentableError: `X-HIP-UNREPRESENTABLE`, a message is incomplete, a tool message has no name or one that
            is not a tool's, or a header field is not one word.
    """
    kept = keep_for_sampling(tuple(messages)) if drop_cot else range(len(messages))
    segments: list[Segment] = []
    for index in kept:
        message = messages[index]
        try:
            segments += _header(message)
        except HeaderError as error:
            raise error_for(UNREPRESENTABLE, f"message {index}: {error.message}") from error
        if message.body:
            segments.append(("text", message.body))
        ends = message.terminator
        if ends not in TERMINATORS:
            raise error_for(UNREPRESENTABLE, f"message {index} is incomplete")
        if ends != "call":
            is_answer = message.role == "assistant" and message.effective_channel == "final"
            ends = "return" if training and is_answer and index == len(messages) - 1 else "end"
        segments.append(stop_segment(ends))
    if for_completion:
        segments += [stop_segment("start"), ("text", "assistant")]
    return segments


def _header(message: Message) -> list[Segment]:
    """The header of a message, up to the start of its body.

    Raises:
        HeaderError: `E-PARSE-HEADER`, a field would not read back equal.
    """
    role, named = split_role(message.role, "ocm")
    head = role
    if role == "tool":
        head = _word(message.name or named, "the name of a tool's message")
        if named not in (None, head):
            raise error_for(HEADER, f"role {message.role!r} contradicts the name {head!r}")
        if split_role(head, "harmony") != ("tool", head):
            raise error_for(HEADER, f"{head!r} is not the name of a tool")
    elif role != "assistant" and message.name is not None and message.role_raw == f"{role}:{message.name}":
        head = _word(message.role_raw, "a role")
    if message.recipient is not None:
        head += f" to={_word(message.recipient, 'a recipient')}"
    segments: list[Segment] = [stop_segment("start"), ("text", head)]
    channel = message.effective_channel if role == "assistant" else message.channel
    if channel is not None:
        if channel not in CHANNELS:
            raise error_for(HEADER, f"{channel!r} is not a channel")
        segments += [stop_segment("channel"), ("text", channel)]
        if message.content_type is not None:
            segments.append(("text", f" {_word(message.content_type, 'a content type')}"))
    if message.constrain is not None:
        segments += [("text", " "), stop_segment("constrain"), ("text", _word(message.constrain, "a constraint"))]
    return [*segments, stop_segment("message")]


def _word(value: str | None, what: str) -> str:
    if value is None or WORD.fullmatch(value) is None:
        raise error_for(HEADER, f"{what} must be one word, not {value!r}")
    return value


@entry
def to_harmony(
    messages: Sequence[Message], *, drop_cot: bool = True, training: bool = False, for_completion: bool = False
) -> str:
    """Messages as Harmony text. The arguments are those of `harmony_segments`.

    Raises:
        UnrepresentableError: `X-HIP-UNREPRESENTABLE`, as `harmony_segments`, or a text spells a control token, which
            Harmony text cannot escape.
    """
    options = {"drop_cot": drop_cot, "training": training, "for_completion": for_completion}
    return plain_text(harmony_segments(messages, **options))


@entry
def from_harmony(text: str | bytes, *, role: str | None = None, limits: Limits | None = None) -> Transcript:
    """Harmony text as a transcript. Faults of the text are never raised: they are in `errors`, the messages are marked.

    Args:
        text: a conversation, or a completion.
        role: the text continues a prompt that ended after the start token and this role.
        limits: bounds on headers and on text between messages. Longer text becomes a body.
    """
    result = parse_completion(text, role=role, limits=limits)
    return Transcript(messages=tuple(with_call_ids(result.messages)), profile="harmony", errors=result.errors)


@entry
def with_call_ids(messages: Iterable[Message]) -> list[Message]:
    """The messages, with ids (`hip-1`, `hip-2`, …) for calls without one; each reply gets the id of its call."""
    given = list(messages)
    taken = {message.call_id for message in given}
    fresh = (name for number in itertools.count(1) if (name := f"hip-{number}") not in taken)
    answers = answered_by(given)
    done: list[Message] = []
    for index, message in enumerate(given):
        call_id = message.call_id
        if call_id is None and message.is_call:
            call_id = next(fresh)
        elif call_id is None and index in answers:
            call_id = done[answers[index]].call_id
        done.append(message if call_id == message.call_id else msgspec.structs.replace(message, call_id=call_id))
    return done
