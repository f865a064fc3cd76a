"""`HarmonyEncoding`: renders and parses with the token ids of one tokenizer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, TypeAlias

from syntagma.compat.harmony.errors import HarmonyError, not_offered
from syntagma.compat.harmony.messages import Conversation, Message, Role
from syntagma.compat.harmony.streaming import StreamableParser
from syntagma.compat.harmony.vocabulary import Spelled, vocabulary_of
from syntagma.errors import ArgumentError, SyntagmaError
from syntagma.openchatml.harmony import HARMONY_TOKENS, Segment, TokenReader, encode, render_conversation
from syntagma.openchatml.harmony import render_message as render_one

__all__ = [
    "HarmonyEncoding",
    "HarmonyEncodingName",
    "RenderConversationConfig",
    "RenderOptions",
    "load_harmony_encoding",
]


class HarmonyEncodingName(StrEnum):
    """Names of encodings."""

    HARMONY_GPT_OSS = "HarmonyGptOss"


@dataclass
class RenderConversationConfig:
    """Options for a conversation. `auto_drop_analysis`: leave out reasoning that is no longer needed."""

    auto_drop_analysis: bool = True


@dataclass
class RenderOptions:
    """Options for one message: whether the conversation declares functions."""

    conversation_has_function_tools: bool = False


ConversationLike: TypeAlias = Conversation | Mapping[str, Any]
"""a conversation, or its JSON object"""
ConfigLike: TypeAlias = RenderConversationConfig | Mapping[str, Any]
"""a configuration, or its JSON object"""


class HarmonyEncoding:
    """Renders and parses with the token ids of one tokenizer.

    Attributes:
        name: the encoding's name.
        special: ids of the special tokens by their text.
        texts: the texts of tokens that are complete characters, cached as they occur.
    """

    def __init__(
        self,
        *,
        encode_text: Callable[[str], list[int]],
        decode_bytes: Callable[[int], bytes],
        special: Mapping[str, int],
        name: str = HarmonyEncodingName.HARMONY_GPT_OSS,
    ) -> None:
        """Create an encoding from the parts of a tokenizer.

        Args:
            encode_text: encodes ordinary text; it must never produce special tokens.
            decode_bytes: returns the bytes of an ordinary token.
            special: ids of the special tokens by their text.
            name: the encoding's name.

        Raises:
            ArgumentError: `E-HARMONY-TOKENS`, a control token is missing.
        """
        lacking = [f"<|{token}|>" for token in HARMONY_TOKENS if f"<|{token}|>" not in special]
        if lacking:
            raise ArgumentError("E-HARMONY-TOKENS", f"the vocabulary lacks {', '.join(lacking)}")
        self.name = str(name)
        self.special = dict(special)
        self.texts: dict[int, str] = {}
        self._encode = encode_text
        self._decode = decode_bytes
        self._control = {special[f"<|{token}|>"]: token for token in HARMONY_TOKENS}
        self._spelling = Spelled(self.special)
        self._spelled = {number: text.encode() for text, number in self.special.items()}

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The texts of all special tokens."""
        return set(self.special)

    def is_special_token(self, token: int) -> bool:
        """Whether a token is special."""
        return token in self._spelled

    def render_conversation_for_completion(
        self,
        conversation: ConversationLike,
        next_turn_role: Role | str = Role.ASSISTANT,
        config: ConfigLike | None = None,
    ) -> list[int]:
        """The token ids of a conversation, with the beginning of the next message's header.

        Raises:
            HarmonyError: a message cannot be rendered.
        """
        return self._render(conversation, config, completion=str(next_turn_role))

    def render_conversation(self, conversation: ConversationLike, config: ConfigLike | None = None) -> list[int]:
        """The token ids of a conversation.

        Raises:
            HarmonyError: a message cannot be rendered.
        """
        return self._render(conversation, config)

    def render_conversation_for_training(
        self, conversation: ConversationLike, config: ConfigLike | None = None
    ) -> list[int]:
        """The token ids of a conversation. A final message at its end keeps its stop token.

        Raises:
            HarmonyError: a message cannot be rendered.
        """
        return self._render(conversation, config, training=True)

    def render(self, message: Message | Mapping[str, Any], render_options: RenderOptions | None = None) -> list[int]:
        """The token ids of one message.

        Raises:
            HarmonyError: the message cannot be rendered.
        """
        functions = render_options is not None and render_options.conversation_has_function_tools
        return self._ids(lambda: render_one(_plain(message), has_functions=functions))

    def parse_messages_from_completion_tokens(
        self, tokens: Iterable[int], role: Role | str | None = None, *, strict: bool = False
    ) -> list[Message]:
        """The messages of a completion.

        Raises:
            HarmonyError: with `strict` only: the completion is malformed.
        """
        parser = StreamableParser(self, role, strict=strict)
        for token in tokens:
            parser.process(token)
        return parser.process_eos().messages

    def stop_tokens(self) -> list[int]:
        """The ids of tokens that end a message."""
        return sorted(self.special[f"<|{name}|>"] for name in ("return", "call", "end"))

    def stop_tokens_for_assistant_actions(self) -> list[int]:
        """The ids of tokens that end the assistant's turn."""
        return sorted(self.special[f"<|{name}|>"] for name in ("return", "call"))

    def encode(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | Collection[str] = (),
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> list[int]:
        """The token ids of a text.

        Args:
            text: the text.
            allowed_special: special tokens whose text becomes this token.
            disallowed_special: special tokens whose text raises. The text of all others is encoded as plain text.

        Raises:
            HarmonyError: the text spells a token of `disallowed_special`.
        """
        allowed = self.special_tokens_set if allowed_special == "all" else set(allowed_special)
        refused = self.special_tokens_set - allowed if disallowed_special == "all" else set(disallowed_special)
        segments: list[Segment] = []
        at = 0
        for index, token in self._spelling.find(text):
            if token in refused:
                raise HarmonyError(f"the text spells the special token {token!r}; allow it, or disallow none")
            if token in allowed:
                segments += [("text", text[at:index]), ("token", token)]
                at = index + len(token)
        segments.append(("text", text[at:]))
        return encode([segment for segment in segments if segment[1]], self._encode, self.special)

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """The text of tokens, including special ones. `errors`: see `bytes.decode`."""
        return b"".join(map(self.token_bytes, tokens)).decode("utf-8", errors)

    def decode_utf8(self, tokens: Sequence[int]) -> str:
        """The text of tokens.

        Raises:
            HarmonyError: the bytes are not valid UTF-8.
        """
        try:
            return self.decode(tokens, "strict")
        except UnicodeDecodeError as error:
            raise HarmonyError(f"the bytes of the tokens are not UTF-8: {error}") from error

    def token_bytes(self, token: int) -> bytes:
        """The bytes of a token, also of a special one. If they are complete characters, they are cached in `texts`."""
        spelled = self._spelled.get(token)
        if spelled is None:
            spelled = self._decode(token)
        if token not in self._control:
            with contextlib.suppress(UnicodeDecodeError):
                self.texts[token] = spelled.decode()
        return spelled

    def reader(self, role: str | None) -> TokenReader:
        """A reader of token ids. `role`: the role whose header the prompt began, or None."""
        return TokenReader(self.token_bytes, self._control, role=role)

    def _render(
        self,
        conversation: ConversationLike,
        config: ConfigLike | None,
        *,
        completion: str | None = None,
        training: bool = False,
    ) -> list[int]:
        drop = (
            config.auto_drop_analysis
            if isinstance(config, RenderConversationConfig)
            else (config or {}).get("auto_drop_analysis", True)
        )
        plain = _plain(conversation)
        return self._ids(
            lambda: render_conversation(plain, completion=completion, auto_drop_analysis=drop, training=training)
        )

    def _ids(self, render: Callable[[], list[Segment]]) -> list[int]:
        try:
            segments = render()
        except SyntagmaError as error:
            raise HarmonyError(str(error)) from error
        return encode(segments, self._encode, self.special)


def load_harmony_encoding(
    name: str = HarmonyEncodingName.HARMONY_GPT_OSS,
    *,
    tokenizer: Any = None,
    encode_text: Callable[[str], list[int]] | None = None,
    decode_bytes: Callable[[int], bytes] | None = None,
    special: Mapping[str, int] | None = None,
) -> HarmonyEncoding:
    """The encoding of your own tokenizer.

    Args:
        name: the encoding's name.
        tokenizer: a `tiktoken.Encoding`, a `tokenizers.Tokenizer`, or a fast `transformers` tokenizer.
        encode_text: instead of `tokenizer`, with the next two: see `HarmonyEncoding`.
        decode_bytes: see `HarmonyEncoding`.
        special: see `HarmonyEncoding`.

    Raises:
        NotImplementedError: no tokenizer is given.
        ValueError: the name is unknown.
        ArgumentError: `E-HARMONY-TOKENS`, a control token is missing.
        ArgumentTypeError: `E-HARMONY-TOKENIZER`, the tokenizer is of an unknown kind.
    """
    known = HarmonyEncodingName(name)
    if tokenizer is not None:
        made = vocabulary_of(tokenizer)
        return HarmonyEncoding(encode_text=made.encode, decode_bytes=made.decode, special=made.special, name=known)
    if encode_text is None or decode_bytes is None or special is None:
        not_offered("load_harmony_encoding")
    return HarmonyEncoding(encode_text=encode_text, decode_bytes=decode_bytes, special=special, name=known)


def _plain(value: Any) -> Mapping[str, Any]:
    made: Any = value if isinstance(value, Mapping) else value.to_dict()
    if not isinstance(made, Mapping):
        raise ArgumentError("E-HARMONY-MESSAGE", "a conversation or message must be a mapping, or have to_dict()")
    return made
