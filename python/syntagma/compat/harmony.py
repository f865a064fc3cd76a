"""The names of openai-harmony, over `syntagma.openchatml.harmony`.

Nothing is downloaded: an encoding is made of a tokenizer that you have. Conversations and messages are those of that
library's JSON form, as dictionaries, or objects with `to_dict()`.

What differs: malformed headers are recovered instead of raising or losing the rest, unless `strict=True` is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from syntagma.errors import ArgumentError
from syntagma.openchatml.harmony import Segment, TokenReader, encode, render_conversation, render_message
from syntagma.openchatml.model import Message
from syntagma.openchatml.stream import BodyDelta

__all__ = [
    "HarmonyEncoding",
    "HarmonyEncodingName",
    "HarmonyError",
    "Role",
    "StreamState",
    "StreamableParser",
    "load_harmony_encoding",
]

_TOKENS = ("return", "constrain", "channel", "start", "end", "message", "call")


class HarmonyError(RuntimeError):
    """A completion that is malformed, with `strict=True`."""


class HarmonyEncodingName(StrEnum):
    """Names of encodings; there is one."""

    HARMONY_GPT_OSS = "HarmonyGptOss"


class Role(StrEnum):
    """Who speaks."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    DEVELOPER = "developer"
    TOOL = "tool"


class StreamState(StrEnum):
    """Where a `StreamableParser` is."""

    EXPECT_START = "ExpectStart"
    HEADER = "Header"
    CONTENT = "Content"


class HarmonyEncoding:
    """Rendering and reading with the token ids of one tokenizer."""

    def __init__(
        self,
        *,
        encode_text: Callable[[str], list[int]],
        decode_bytes: Callable[[int], bytes],
        special: Mapping[str, int],
        name: str = HarmonyEncodingName.HARMONY_GPT_OSS,
    ) -> None:
        """Describe the tokenizer.

        Args:
            encode_text: token ids of ordinary text; it must make no special tokens of it.
            decode_bytes: the bytes of an ordinary token.
            special: ids of the control tokens by their text.
            name: the encoding's name.

        Raises:
            ArgumentError: `E-HARMONY-TOKENS`, a control token lacks.
        """
        lacking = [f"<|{token}|>" for token in _TOKENS if f"<|{token}|>" not in special]
        if lacking:
            raise ArgumentError("E-HARMONY-TOKENS", f"the vocabulary lacks {', '.join(lacking)}")
        self.name = str(name)
        self.special = dict(special)
        self._encode = encode_text
        self._decode = decode_bytes
        self._control = {special[f"<|{token}|>"]: token for token in _TOKENS}

    def render_conversation_for_completion(
        self, conversation: Any, next_turn_role: str = Role.ASSISTANT, config: Mapping[str, Any] | None = None
    ) -> list[int]:
        """Token ids of a conversation, with the header of the next message begun."""
        return self._render(conversation, config, completion=str(next_turn_role))

    def render_conversation(self, conversation: Any, config: Mapping[str, Any] | None = None) -> list[int]:
        """Token ids of a conversation."""
        return self._render(conversation, config)

    def render_conversation_for_training(self, conversation: Any, config: Mapping[str, Any] | None = None) -> list[int]:
        """Token ids of a conversation; a final message at its end keeps its stop token."""
        return self._render(conversation, config, training=True)

    def render(self, message: Any) -> list[int]:
        """Token ids of one message."""
        return self._ids(render_message(_plain(message)))

    def parse_messages_from_completion_tokens(
        self, tokens: Iterable[int], role: str | None = None, *, strict: bool = False
    ) -> list[dict[str, Any]]:
        """The messages of a completion, in the library's JSON form.

        Raises:
            HarmonyError: only with `strict`: the completion is malformed.
        """
        parser = StreamableParser(self, role, strict=strict)
        for token in tokens:
            parser.process(token)
        parser.process_eos()
        return parser.messages

    def stop_tokens(self) -> list[int]:
        """Ids at which a message stops."""
        return sorted(self.special[f"<|{name}|>"] for name in ("return", "call", "end"))

    def stop_tokens_for_assistant_actions(self) -> list[int]:
        """Ids at which the assistant's turn stops."""
        return sorted(self.special[f"<|{name}|>"] for name in ("return", "call"))

    def encode(self, text: str) -> list[int]:
        """Token ids of ordinary text."""
        return self._encode(text)

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of tokens, control tokens spelled out."""
        names = {number: text.encode() for text, number in self.special.items()}
        pieces = [names[token] if token in names else self._decode(token) for token in tokens]
        return b"".join(pieces).decode("utf-8", "replace")

    def _reader(self, role: str | None) -> TokenReader:
        return TokenReader(self._decode, self._control, role=role)

    def _render(
        self,
        conversation: Any,
        config: Mapping[str, Any] | None,
        *,
        completion: str | None = None,
        training: bool = False,
    ) -> list[int]:
        drop = (config or {}).get("auto_drop_analysis", True)
        plain = _plain(conversation)
        return self._ids(render_conversation(plain, completion=completion, auto_drop_analysis=drop, training=training))

    def _ids(self, segments: Sequence[Segment]) -> list[int]:
        return encode(segments, self._encode, self.special)


def load_harmony_encoding(
    name: str = HarmonyEncodingName.HARMONY_GPT_OSS,
    *,
    encode_text: Callable[[str], list[int]],
    decode_bytes: Callable[[int], bytes],
    special: Mapping[str, int],
) -> HarmonyEncoding:
    """The encoding of a tokenizer that you bring; the arguments are those of `HarmonyEncoding`."""
    return HarmonyEncoding(encode_text=encode_text, decode_bytes=decode_bytes, special=special, name=name)


class StreamableParser:
    """Reads a completion token by token."""

    def __init__(self, encoding: HarmonyEncoding, role: str | None = None, *, strict: bool = False) -> None:
        """Prepare. `role`: whose header the prompt began; `strict`: raise about malformed completions."""
        self._tokens = encoding._reader(None if role is None else str(role))
        self._strict = strict
        self._delta = ""
        self.tokens: list[int] = []

    def process(self, token: int) -> StreamableParser:
        """Read one token.

        Raises:
            HarmonyError: only if strict: the completion is malformed.
        """
        self.tokens.append(token)
        self._take(self._tokens.feed(token))
        return self

    def process_eos(self) -> StreamableParser:
        """Say that there are no more tokens; a message that was not closed is kept."""
        self._take(self._tokens.finish())
        return self

    def _take(self, events: Iterable[Any]) -> None:
        self._delta = "".join(event.text for event in events if isinstance(event, BodyDelta))
        wrong = [report for report in self._tokens.reader.errors if report.code != "E-STREAM-TRUNCATED"]
        if self._strict and wrong:
            raise HarmonyError(f"{wrong[0].code}: {wrong[0].message}")

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The complete messages, in the library's JSON form."""
        return [_shown(message) for message in self._tokens.reader.messages]

    @property
    def current_content(self) -> str:
        """The text of the message at hand."""
        return self._tokens.reader.body if self._draft is not None else ""

    @property
    def last_content_delta(self) -> str | None:
        """What the last token added to the text; None if nothing."""
        return self._delta or None

    @property
    def current_role(self) -> str | None:
        """Who speaks in the message at hand."""
        return None if self._draft is None else self._draft.role

    @property
    def current_channel(self) -> str | None:
        """The channel of the message at hand."""
        return None if self._draft is None else self._draft.channel

    @property
    def current_recipient(self) -> str | None:
        """Whom the message at hand is addressed to."""
        return None if self._draft is None else self._draft.recipient

    @property
    def current_content_type(self) -> str | None:
        """The content type of the message at hand."""
        return None if self._draft is None else _content_type(self._draft)

    @property
    def state(self) -> StreamState:
        """Where the parser is."""
        if self._draft is not None:
            return StreamState.CONTENT
        return StreamState.HEADER if self._tokens.reader.in_header else StreamState.EXPECT_START

    @property
    def _draft(self) -> Message | None:
        return self._tokens.reader.draft


def _plain(value: Any) -> Mapping[str, Any]:
    made: Any = value if isinstance(value, Mapping) else value.to_dict()
    if not isinstance(made, Mapping):
        raise ArgumentError("E-HARMONY-MESSAGE", "a conversation or message is a mapping, or has to_dict()")
    return made


def _content_type(message: Message) -> str | None:
    return message.content_type if message.constrain is None else f"<|constrain|>{message.constrain}"


def _shown(message: Message) -> dict[str, Any]:
    data: dict[str, Any] = {
        "role": message.role,
        "name": message.name,
        "content": [{"type": "text", "text": message.body}],
    }
    optional = {"channel": message.channel, "recipient": message.recipient, "content_type": _content_type(message)}
    return data | {key: value for key, value in optional.items() if value is not None}
