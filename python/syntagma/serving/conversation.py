"""Messages of forms other than chat completions, as templates take them: with text only."""

from __future__ import annotations

from typing import Any, NamedTuple

from syntagma.conversion.drafts import Drafts
from syntagma.conversion.notes import Notes, says_nothing
from syntagma.errors import SyntagmaError
from syntagma.json_pointer import follow, pointer_of
from syntagma.serving.body import bad_field, unsupported

__all__ = ["LeftOut", "RequestNotes", "text_messages"]

_HINT = "the model reads text only"
_WHOLE_CONVERSATIONS = ("compaction", "compaction_summary", "context_compaction")
"""types of items that hold what was said before, for their writer alone"""


class LeftOut(NamedTuple):
    """A tool or an item that the model does not see: of a type that is not known, or that a provider would run."""

    pointer: str
    what: str
    """`tool` or `item`"""
    kind: str
    """its type"""


class RequestNotes(Notes):
    """Notes about a request: what cannot be read is refused, and what templates have no place for is ignored.

    Attributes:
        unread_members: pointers of the unknown members.
        left_out: the items of unknown types.
    """

    def __init__(self, document: Any = None) -> None:
        super().__init__(document)
        self.unread_members: list[str] = []
        self.left_out: list[LeftOut] = []

    def unread(self, pointer: str, value: Any, reason: str) -> None:  # noqa: ARG002 - it is passed over, whatever it says
        """See `Notes`."""
        if not says_nothing(value):
            self.unread_members.append(pointer)

    def unknown(self, pointer: str, what: str, kind: Any) -> None:
        """See `Notes`."""
        if kind is None:
            raise bad_field(f"{pointer}/type", "is required")
        if what != "item" or not isinstance(kind, str):
            raise unsupported(f"{pointer}/type", f"{what} of type {kind!r} is not supported", hint=_HINT)
        if kind in _WHOLE_CONVERSATIONS:
            hint = "send the conversation itself; without it the model would not know what was said"
            raise unsupported(f"{pointer}/type", f"an item of type {kind!r} was not written here", hint=hint)
        self.left_out.append(LeftOut(pointer, what, kind))

    def malformed(self, pointer: str, message: str) -> SyntagmaError:
        """See `Notes`."""
        return bad_field(pointer, message)


def _no_text(notes: Notes, pointer: str) -> SyntagmaError:
    place = notes.origin(pointer)
    kind = follow(notes.document, place)["type"]
    return unsupported(f"{place}/type", f"content of type {kind!r} is not supported", hint=_HINT)


def text_messages(drafts: Drafts, notes: Notes) -> list[dict[str, Any]]:
    """The messages that were read, with their parts joined.

    Raises:
        RequestError: `E-REQUEST-UNSUPPORTED`, a part is not text; with its pointer in the request.
    """
    made = []
    for index, message in enumerate(drafts.messages()):
        data = message.to_openai()
        if isinstance(message.content, list):
            texts = []
            for at, part in enumerate(message.content):
                if part["type"] not in ("text", "refusal"):
                    raise _no_text(notes, pointer_of("messages", index, "content", at))
                texts.append(part[part["type"]])
            data["content"] = ("" if message.role == "assistant" else "\n").join(texts)
        made.append(data)
    return made
