"""From one form to another, by way of messages."""

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
"""in the order in which they are asked whether a document is theirs"""
_PLAIN: Final = "openai"
"""what messages are that show no sign of any form"""

FORMS: Final = tuple(sorted(_FORMS))
"""names of the forms"""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What a document says.

    Attributes:
        form: the form that it was read as.
        messages: its messages.
        tools: the tools that it declares; None: it says nothing of tools.
        losses: what messages and tools do not hold.
    """

    form: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] | None
    losses: tuple[Loss, ...]


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation in a form.

    Attributes:
        document: a JSON value; text where the form is a text.
        losses: what the form does not hold, with places such as `/messages/0/content/1` and `/tools/0`.
    """

    document: Any
    losses: tuple[Loss, ...]


class Converted(msgspec.Struct, frozen=True, kw_only=True):
    """A document in another form.

    Attributes:
        source: the form that it was read as.
        document: a JSON value; text where the form is a text.
        losses: what it said and says no more, with places in the document that was read.
    """

    source: str
    document: Any
    losses: tuple[Loss, ...]


@entry
def detect(document: Any) -> str:
    """The form of a document, by signs that only one form has; `openai` where messages have none.

    Args:
        document: a JSON value, or the text of a transcript.

    Raises:
        ArgumentError: `E-CONVERT-FORM`, it is of no form.
    """
    for name, form in _FORMS.items():
        if form.shows(document):
            return name
    if isinstance(document, list | tuple | Mapping):
        return _PLAIN
    hint = f"a form can be named: {', '.join(FORMS)}"
    raise ArgumentError("E-CONVERT-FORM", "the input is of no known form", hint=hint)


@entry
def read(document: Any, form: str = "auto") -> Reading:
    """The messages and tools of a document.

    Args:
        document: a JSON value; the text of a transcript, or an object with it as `text`.
        form: one of `FORMS`, or `auto`.

    Raises:
        ArgumentError: `E-CONVERT-FORM`, it is not of that form; `E-ARGUMENT-VALUE`, there is no such form.
        OpenChatMLError: a transcript that is not well-formed.
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
    """Messages in a form.

    Args:
        messages: a conversation.
        form: one of `FORMS`.
        tools: the tools that were declared.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, there is no such form; what `tools` raises.
        OpenChatMLError: a transcript cannot say it at all, such as a reply to a call that was not made.
    """
    notes = Notes()
    given = Conversation(messages=tuple(messages), tools=tools_from(tools))
    document = _form(form).write(given, notes)
    return Written(document=document, losses=tuple(notes.losses))


@entry
def convert(document: Any, to: str, *, source: str = "auto") -> Converted:
    """A document in another form.

    Args:
        document: as that of `read`.
        to: one of `FORMS`.
        source: the form of the document, or `auto`.

    Raises:
        ArgumentError, OpenChatMLError: as `read` and `write`.
    """
    found, conversation, read_notes = _read(document, source)
    notes = Notes()
    written = _form(to).write(conversation, notes)
    # What is lost in writing is said by the place that it was read from.
    lost = [msgspec.structs.replace(loss, pointer=read_notes.origin(loss.pointer)) for loss in notes.losses]
    return Converted(source=found, document=written, losses=(*read_notes.losses, *lost))


def _form(name: str) -> Form:
    if name not in _FORMS:
        hint = f"forms: {', '.join(FORMS)}"
        raise ArgumentError("E-ARGUMENT-VALUE", f"there is no form {name!r}", hint=hint, pointer="/form")
    return _FORMS[name]
