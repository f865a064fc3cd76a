"""Items of a `/v1/responses` conversation as messages.

There, an assistant's reasoning, text and calls are separate items; for a template, they are one message.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any, Final

from syntagma.conversion.drafts import Drafts
from syntagma.conversion.notes import Notes
from syntagma.conversion.responses import read_items
from syntagma.serving.body import bad_field
from syntagma.serving.conversation import RequestNotes, text_messages

__all__ = ["assistant_message", "conversation_of", "opened", "sealed"]

_SEAL: Final = "syntagma:"
"""begins what is ours in the place of encrypted reasoning"""


def conversation_of(given: str | Sequence[dict[str, Any]], notes: RequestNotes) -> list[dict[str, Any]]:
    """The items of an input as messages.

    Args:
        given: the input.
        notes: takes notes about the request.

    Raises:
        RequestError: `E-REQUEST-FIELD`, `E-REQUEST-UNSUPPORTED`, with the pointer.
    """
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if not given:
        raise bad_field("/input", "must have at least one item")
    drafts = Drafts(notes)
    read_items([(item, f"/input/{index}") for index, item in enumerate(given)], notes, drafts)
    if not drafts.made:
        raise bad_field("/input", "has no item that the model sees")
    return text_messages(drafts, notes)


def assistant_message(parts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of an assistant's turn: one, or more if text or reasoning comes after calls."""
    notes = Notes()
    drafts = Drafts(notes)
    for part in parts:
        drafts.add_part(part, "")
    return text_messages(drafts, notes)


def sealed(text: str) -> str:
    """Reasoning as clients keep it for a server that stores nothing: the text, and no secret."""
    return _SEAL + base64.b64encode(text.encode()).decode()


def opened(seal: Any) -> str | None:
    """The text of `sealed`; None: it is not ours."""
    if not isinstance(seal, str) or not seal.startswith(_SEAL):
        return None
    try:
        return base64.b64decode(seal.removeprefix(_SEAL), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
