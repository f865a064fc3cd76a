"""Converts documents from one form to another, by way of messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from syntagma.conversion.anthropic import AnthropicForm
from syntagma.conversion.huggingface import HuggingFaceForm
from syntagma.conversion.notes import Loss, Notes
from syntagma.conversion.openai import OpenAIForm
from syntagma.conversion.responses import ResponsesForm
from syntagma.conversion.transcripts import HarmonyForm, OpenChatMLForm
from syntagma.conversion.values import Conversation, Form
from syntagma.entry import entry
from syntagma.errors import ArgumentError
from syntagma.messages import Message, Tool, ToolLike, tools_from

__all__ = ["FORMS", "Converted", "Reading", "Written", "convert", "detect", "read", "write"]

_FORMS: Final[Mapping[str, Form]] = {
    "responses": ResponsesForm(),
    "anthropic": AnthropicForm(),
    "hf": HuggingFaceForm(),
    "openai": OpenAIForm(),
    "openchatml": OpenChatMLForm(),
    "harmony": HarmonyForm(),
}
"""the forms by name, in the order in which `detect` tries them"""
_PLAIN: Final = "openai"
"""the form of messages without a sign of any form"""

FORMS: Final = tuple(sorted(_FORMS))
"""the names of the forms"""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a document, as `read` returns it.

    Attributes:
        form: the form as which the document was read.
        messages: the messages.
        tools: the declared tools; None if the document has no list of tools.
        losses: parts of the document that messages and tools cannot express.
    """

    form: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] | None
    losses: tuple[Loss, ...]


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation in a form, as `write` returns it.

    Attributes:
        document: a JSON value; a string for transcripts.
        losses: parts that the form cannot express, with places such as `/messages/0/content/1` and `/tools/0`.
    """

    document: Any
    losses: tuple[Loss, ...]


class Converted(msgspec.Struct, frozen=True, kw_only=True):
    """A converted document, as `convert` returns it.

    Attributes:
        source: the form as which the original was read.
        document: a JSON value; a string for transcripts.
        losses: parts of the original that are missing from `document`, with places in the original.
    """

    source: str
    document: Any
    losses: tuple[Loss, ...]


@entry
def detect(document: Any) -> str:
    """The form of a document, by signs that only one form has; `openai` for messages without such a sign.

    Args:
        document: a JSON value, or the text of a transcript.

    Raises:
        ArgumentError: `E-CONVERT-FORM`, the document is of no known form.
    """
    for name, form in _FORMS.items():
        if form.shows(document):
            return name
    if isinstance(document, list | tuple | Mapping):
        return _PLAIN
    hint = f"name the form: {', '.join(FORMS)}"
    raise ArgumentError("E-CONVERT-FORM", "the form of the input is unknown", hint=hint)


@entry
def read(document: Any, form: str = "auto") -> Reading:
    """The messages and tools of a document.

    Args:
        document: a JSON value; for a transcript its text, or an object with the text as `text`.
        form: one of `FORMS`, or `auto` to detect it.

    Raises:
        ArgumentError: `E-CONVERT-FORM`, the document is not of that form; `E-ARGUMENT-VALUE`, the form is unknown.
        OpenChatMLError: the transcript is malformed.
    """
    found, conversation, notes = _read(document, form)
    losses = tuple(notes.losses)
    return Reading(form=found, messages=conversation.messages, tools=conversation.tools, losses=losses)


def _read(document: Any, form: str) -> tuple[str, Conversation, Notes]:
    found = detect(document) if form == "auto" else form
    notes = Notes(document)
    return found, _form(found).read(document, notes), notes


@entry
def write(messages: Iterable[Message], form: str, *, tools: Sequence[ToolLike] | None = None) -> Written:
    """Write messages in a form.

    Args:
        messages: the conversation.
        form: one of `FORMS`.
        tools: the declared tools; None: no list of tools is written.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, the form is unknown; another code if a tool is malformed.
        OpenChatMLError: the messages cannot be a transcript, for example because a reply answers no call.
    """
    notes = Notes()
    given = Conversation(messages=tuple(messages), tools=tools_from(tools))
    document = _form(form).write(given, notes)
    return Written(document=document, losses=tuple(notes.losses))


@entry
def convert(document: Any, to: str, *, source: str = "auto") -> Converted:
    """Convert a document to another form.

    Args:
        document: the document, see `read`.
        to: the new form, one of `FORMS`.
        source: the form of the document, or `auto` to detect it.

    Raises:
        ArgumentError, OpenChatMLError: see `read` and `write`.
    """
    found, conversation, read_notes = _read(document, source)
    notes = Notes()
    written = _form(to).write(conversation, notes)
    # Losses of the writer are reported at the places in the input.
    lost = [msgspec.structs.replace(loss, pointer=read_notes.origin(loss.pointer)) for loss in notes.losses]
    return Converted(source=found, document=written, losses=(*read_notes.losses, *lost))


def _form(name: str) -> Form:
    if name not in _FORMS:
        hint = f"forms: {', '.join(FORMS)}"
        raise ArgumentError("E-ARGUMENT-VALUE", f"unknown form {name!r}", hint=hint, pointer="/form")
    return _FORMS[name]
