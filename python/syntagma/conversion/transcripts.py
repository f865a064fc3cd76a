"""The forms of transcripts, OpenChatML and Harmony: texts in which every message has a header."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from syntagma import openchatml
from syntagma.conversion.content import flat_text
from syntagma.conversion.drafts import Drafts
from syntagma.conversion.notes import Notes
from syntagma.conversion.tool_calls import with_ids
from syntagma.conversion.values import Conversation
from syntagma.errors import SyntagmaError
from syntagma.messages import Message, Tool
from syntagma.openchatml import harmony

__all__ = ["HarmonyForm", "OpenChatMLForm"]

_BEGINS: Final = ("<|start|>", "---\n")
"""beginnings of a transcript"""
_COMPARED: Final = ("role", "body", "channel", "name", "recipient", "call_id", "intent", "content_type", "constrain")
_ROLES: Final = ("system", "developer", "user", "assistant", "tool")
_ESCAPE, _BETWEEN = "<<|", "|>\n<|start|>"
"""an escape, which Harmony does not have, and a line break between messages, which it does not write"""
_TEXT: Final = "text"
"""the member with the transcript, if the document is an object"""


class OpenChatMLForm:
    """The text of an OpenChatML transcript, which cannot declare tools."""

    def read(self, document: Any, notes: Notes) -> Conversation:
        """See `Form`."""
        transcript = openchatml.parse(_text_of(document, notes))
        header = transcript.header
        if header is not None and header != openchatml.DocumentHeader(version=header.version):
            notes.lose("", "document header", "messages cannot express it")
        return _read(transcript.messages, notes)

    def write(self, conversation: Conversation, notes: Notes) -> Any:
        """See `Form`."""
        if conversation.tools:
            notes.lose("/tools", "tools", "a transcript cannot declare tools")
        return openchatml.render(_transcript(conversation.messages, notes)[0])

    def shows(self, document: Any) -> bool:
        """See `Form`."""
        text = _held_text(document)
        if text is None or not text.lstrip().startswith(_BEGINS):
            return False
        if _ESCAPE in text and _BETWEEN not in text:
            return False
        try:
            messages = openchatml.parse(text).messages
        except SyntagmaError:
            return False
        # Signs of Harmony: tool names as roles, calls without ids, preambles without an intent.
        return all(
            message.role_raw is None
            and (message.call_id or not message.is_call)
            and (_BETWEEN in text or not _is_preamble(message) or message.intent is not None)
            for message in messages
        )


class HarmonyForm:
    """The text of a Harmony conversation. Tools are declared in the developer message, as types."""

    def read(self, document: Any, notes: Notes) -> Conversation:
        """See `Form`."""
        transcript = _from_harmony(_text_of(document, notes))
        for problem in transcript.errors:
            pointer = "" if problem.index is None else f"/{problem.index}"
            notes.lose(pointer, problem.code, problem.message)
        return _read(transcript.messages, notes, of_harmony=True)

    def write(self, conversation: Conversation, notes: Notes) -> Any:
        """See `Form`."""
        made, flat = _transcript(conversation.messages, notes)
        text = harmony.to_harmony(made, drop_cot=False)
        # A field is lost if it does not read back equal.
        for given, back, place in zip(made, _from_harmony(text).messages, _places(flat), strict=True):
            for field in _COMPARED:
                if (value := getattr(given, field)) != getattr(back, field):
                    at = "/".join([*place.split("/")[:3], field]) if field == "name" else place
                    notes.lose(at, field, f"Harmony cannot express {value!r}")
        if not conversation.tools:
            return text
        notes.lose("/tools", "tools", "types express less than schemas, and are read back as the developer's text")
        return harmony.to_harmony(_with_tools(made, conversation.tools), drop_cot=False)

    def shows(self, document: Any) -> bool:
        """See `Form`."""
        text = _held_text(document)
        return text is not None and "<|message|>" in text


def _held_text(document: Any) -> str | None:
    if isinstance(document, Mapping) and document.keys() == {_TEXT}:
        document = document[_TEXT]
    return document if isinstance(document, str) else None


def _text_of(document: Any, notes: Notes) -> str:
    text = _held_text(document)
    if text is None:
        raise notes.malformed("", f"must be a string, or an object with only {_TEXT!r}")
    return text


def _is_preamble(message: openchatml.Message) -> bool:
    """Whether a message is a preamble in Harmony: the assistant's commentary without a recipient."""
    return message.role == "assistant" and message.channel == "commentary" and message.recipient is None


def _from_harmony(text: str) -> openchatml.Transcript:
    """The transcript of a Harmony text. Messages that are preambles in Harmony get this intent."""
    transcript = harmony.from_harmony(text)
    messages = tuple(
        replace(message, intent="preamble") if _is_preamble(message) else message for message in transcript.messages
    )
    return replace(transcript, messages=messages)


def _read(messages: Sequence[openchatml.Message], notes: Notes, *, of_harmony: bool = False) -> Conversation:
    notes.document = [message.to_dict() for message in messages]
    made, losses = openchatml.to_openai(messages, of_harmony=of_harmony)
    if of_harmony and made and made[-1]["role"] == "assistant" and harmony.to_chat(messages).incomplete:
        made[-1]["incomplete"] = True
    for loss in losses:
        notes.lose(f"/{loss.index}/{loss.field}", loss.field, loss.reason)
    drafts = Drafts(notes)
    at = 0
    for data in made:
        at = next((index for index in range(at, len(messages)) if messages[index].role == data["role"]), at)
        drafts.add(data, f"/{at}")
        at += 1 if data["role"] != "assistant" else _size(data)
    return Conversation(messages=drafts.messages())


def _size(data: Mapping[str, Any]) -> int:
    """The number of transcript messages that one chat message becomes."""
    said = [data.get("reasoning_content") is not None, data.get("content") is not None]
    return max(1, sum(said) + len(data.get("tool_calls", ())))


def _transcript(messages: Sequence[Message], notes: Notes) -> tuple[list[openchatml.Message], list[Message]]:
    """The messages of a transcript, and the text-only chat messages from which they are made."""
    flat = []
    for index, message in enumerate(with_ids(messages, notes)):
        pointer = f"/messages/{index}"
        if message.incomplete or not all(call.complete for call in message.tool_calls):
            notes.lose(pointer, "incomplete message", "the form cannot mark a message as incomplete")
        if index and message.role == "assistant" and messages[index - 1].role == "assistant":
            notes.lose(pointer, "message boundary", "its parts follow those of the message before")
        role = message.role
        if role not in _ROLES:
            notes.lose(f"{pointer}/role", "role", f"the form has no role {role!r}; it becomes user")
            role = "user"
        flat.append(replace(message, role=role, content=flat_text(message.content, f"{pointer}/content", notes)))
    made, losses = openchatml.from_openai([_plain(message) for message in flat])
    for loss in losses:
        notes.lose(f"/messages/{loss.index}/{loss.field}", loss.field, loss.reason)
    return made, flat


def _plain(message: Message) -> dict[str, Any]:
    data = message.to_openai()
    for call in data.get("tool_calls", ()):
        call.pop("complete", None)
    return data


def _places(messages: Sequence[Message]) -> Iterator[str]:
    """For each transcript message, the place of the part from which it is made."""
    for index, message in enumerate(messages):
        pointer = f"/messages/{index}"
        if message.role != "assistant":
            yield pointer
            continue
        if message.reasoning_content:
            yield f"{pointer}/reasoning_content"
        if message.content is not None and (message.content or not message.tool_calls):
            yield f"{pointer}/content"
        yield from (f"{pointer}/tool_calls/{at}" for at in range(len(message.tool_calls)))


def _with_tools(messages: Sequence[openchatml.Message], tools: Sequence[Tool]) -> list[openchatml.Message]:
    """The messages with the tools in the developer message, which follows the system message."""
    at = 0
    while at < len(messages) and messages[at].role == "system":
        at += 1
    is_there = at < len(messages) and messages[at].role == "developer"
    functions = [tool.to_openai()["function"] for tool in tools]
    content: dict[str, Any] = {
        "type": "developer_content",
        "tools": {"functions": {"name": "functions", "tools": functions}},
    }
    if is_there:
        content["instructions"] = messages[at].body
    segments = harmony.render_message({"role": "developer", "content": [content]}, has_functions=True)
    body = "".join(text for kind, text in segments[1:] if kind == "text").removeprefix("developer")
    developer = replace(messages[at], body=body) if is_there else openchatml.Message(role="developer", body=body)
    return [*messages[:at], developer, *messages[at + is_there :]]
