"""Encodes conversations as token ids for training, with a mask of the model's own tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, Unpack, get_args

from syntagma.batch.asked import REQUEST
from syntagma.batch.rendering import codec_identity, render_options
from syntagma.batch.stage import Kind, Stage
from syntagma.batch.values import from_json, ids_of
from syntagma.codec import ChatCodec, MessageLike
from syntagma.decoding import TokenizerInfo
from syntagma.entry import check_argument, entry
from syntagma.errors import ArgumentError
from syntagma.messages import Message
from syntagma.templates import Prompt, RenderOptions

__all__ = ["TrainingIds", "Transcript", "Turns", "training_ids"]

Turns: TypeAlias = Literal["all", "last"]
_LONGEST_END = 64
"""number of last tokens in which the end of a turn is searched"""
_BEFORE = ("\n", ".", "0")
"""texts to encode before a turn and remove again; the first that does not merge with the turn's tokens is used"""


class TrainingIds(NamedTuple):
    """An encoded conversation for training.

    Attributes:
        ids: the token ids.
        mask: one number per token: 1 if the model wrote it, else 0.
    """

    ids: list[int]
    mask: list[int]


class _Piece(NamedTuple):
    """A part of the conversation that is encoded separately."""

    begin: int
    end: int
    mask: int
    ids: Sequence[int] | None = None
    """recorded tokens that replace the text"""


@entry
def training_ids(
    codec: ChatCodec,
    messages: Sequence[MessageLike],
    info: TokenizerInfo,
    *,
    turns: Turns = "all",
    completions: Mapping[int, Sequence[int]] | None = None,
    **options: Unpack[RenderOptions],
) -> TrainingIds:
    """The tokens of a conversation, and a mask of those that the model wrote, including its end of turn.

    Each turn is encoded separately, after the tokens of its prompt, as when the model wrote it. Recorded tokens are
    used unchanged instead of encoding the text again. As in `Turn.prompt_ids`, only the template's own text becomes
    control tokens.

    Args:
        codec: the codec that renders the conversation.
        messages: the conversation, including the answers.
        info: the model's vocabulary, which must be able to encode (`TokenizerInfo.encode`).
        turns: `all`: every assistant message is the model's; `last`: only the last one, the others are prompt.
        completions: index of a message → the tokens that the model wrote for it. If they lack the end of the turn,
            because a limit cut them or the engine removed it, the template's end of turn is added with mask 0.
        **options: see `ChatCodec.render`. The generation prompt is added where a turn begins.

    Raises:
        ArgumentError: `E-TRANSCRIPT-TURN`, there is no assistant message, or a completion does not belong to one of
            `turns`; `E-TRANSCRIPT-PREFIX`, the conversation does not begin with the prompt of a turn, so the model
            cannot have written the turn there (`pointer` names the message); `E-TRANSCRIPT-BLANK`, the vocabulary
            cannot encode a turn without a space before it; `E-ARGUMENT-VALUE`, `turns` is unknown.
        TemplateError, LimitError: see `ChatCodec.render`.
        VocabularyError: see `TokenizerInfo.encode`.
    """
    if turns not in get_args(Turns):
        raise ArgumentError(
            "E-ARGUMENT-VALUE", f"unknown value {turns!r} of turns", hint="one of all, last", pointer="/turns"
        )
    answers = [at for at, message in enumerate(messages) if _role(message) == "assistant"]
    recorded = dict(completions or {})
    chosen = answers if turns == "all" else answers[-1:]
    if not chosen or recorded.keys() - set(chosen):
        raise ArgumentError(
            "E-TRANSCRIPT-TURN",
            f"the messages {sorted(recorded.keys() - set(chosen))} have completions but are not turns of the model"
            if chosen
            else "the conversation has no assistant message",
            hint="each completion must belong to an assistant message that `turns` selects",
            pointer="/messages",
        )
    render = _Renderer(codec, messages, options)
    whole = render(len(messages), opened=False)
    ends = _ends_of_turns(codec, info)
    pieces: list[_Piece] = []
    done = 0
    for at in chosen:
        begin, mark, end = render.turn(at, whole, ends)
        pieces += [_Piece(done, begin, 0), _Piece(begin, end, 1)]
        if at in recorded:
            ids = list(recorded[at])
            ended = mark == end or (ids and ids[-1] in info.eos_token_ids) or _ends_with(ids, whole[mark:end], info)
            pieces[-1:] = [_Piece(begin, mark, 1, ids), *([] if ended else [_Piece(mark, end, 0)])]
        done = end
    pieces.append(_Piece(done, len(whole), 0))
    return _encoded(whole, pieces, info)


class _Renderer:
    """Renders prefixes of a conversation."""

    def __init__(self, codec: ChatCodec, messages: Sequence[MessageLike], options: RenderOptions) -> None:
        self._codec, self._messages = codec, messages
        self._options: RenderOptions = {**options}

    def __call__(self, count: int, *, opened: bool) -> Prompt:
        """The prompt of the first `count` messages. `opened`: with a generation prompt."""
        options: RenderOptions = {**self._options, "add_generation_prompt": opened}
        return self._codec.render(self._messages[:count], **options)

    def turn(self, at: int, whole: Prompt, ends: Sequence[str]) -> tuple[int, int, int]:
        """The offsets of the message at index `at` in `whole`: its begin, its end-of-turn text, its end.

        Raises:
            ArgumentError: `E-TRANSCRIPT-PREFIX`, see `training_ids`.
        """
        prompt, answered = self(at, opened=True), self(at + 1, opened=False)
        begin = len(prompt)
        mark, end = _end_of_turn(answered, begin, ends)
        if answered.startswith(prompt) and whole.startswith(answered[:end]):
            return begin, mark, end
        later = answered.startswith(prompt)
        raise ArgumentError(
            "E-TRANSCRIPT-PREFIX",
            "the template renders the turn differently when other messages follow"
            if later
            else "the template renders the turn differently than after its prompt",
            hint='turns="last", with a row for each turn'
            if later
            else "template_kwargs may change the beginning of the turn, for example switch reasoning on or off",
            pointer=f"/messages/{at}",
        )


def _ends_of_turns(codec: ChatCodec, info: TokenizerInfo) -> list[str]:
    """The texts that end a turn, longest first."""
    own = [info.token_bytes(token).decode("utf-8", "replace") for token in info.eos_token_ids]
    return sorted({*codec.format.stop_strings, *own} - {""}, key=len, reverse=True)


def _end_of_turn(text: str, begin: int, ends: Sequence[str]) -> tuple[int, int]:
    """The range of the end-of-turn text at the end, before optional whitespace; an empty range if there is none."""
    size = len(text.rstrip())
    for end in ends:
        for stop in (len(text), size):
            mark = stop - len(end)
            if mark >= begin and text.startswith(end, mark):
                return mark, stop
    return len(text), len(text)


def _ends_with(ids: Sequence[int], text: str, info: TokenizerInfo) -> bool:
    return info.decode(ids[-_LONGEST_END:]).endswith(text.encode())


def _encoded(whole: Prompt, pieces: Sequence[_Piece], info: TokenizerInfo) -> TrainingIds:
    """The encoded pieces in order, with their mask."""
    trusted = whole.template_ranges()
    ids: list[int] = []
    mask: list[int] = []
    for piece in pieces:
        found = piece.ids
        if found is None:
            found = _Encoder(whole, trusted, info).piece(piece.begin, piece.end)
        ids += found
        mask += [piece.mask] * len(found)
    return TrainingIds(ids, mask)


class _Encoder(NamedTuple):
    """Encodes parts of a text as if they followed the part before them.

    Some vocabularies add a space before a text, or before each text after a control token. A turn that follows other
    text must not get this space, so a short text is encoded before it and removed again.
    """

    whole: Prompt
    trusted: Sequence[tuple[int, int]]
    info: TokenizerInfo

    def piece(self, begin: int, end: int) -> list[int]:
        """The token ids of a part.

        Raises:
            ArgumentError: `E-TRANSCRIPT-BLANK`, see `training_ids`.
        """
        if begin in (0, end):
            return self._encode(begin, end)
        control = self._control_before(begin)
        if control:
            return self._encode(begin - control, end)[1:]
        ids = self._encode(begin, end)
        wanted = self.whole[begin:end].encode()
        if self.info.decode(ids) != b" " + wanted:
            return ids
        for before in _BEFORE:
            longer = self._encode(begin, end, before=before)
            for dropped in (1, 2):
                if self.info.decode(longer[dropped:]) == wanted:
                    return longer[dropped:]
        raise ArgumentError(
            "E-TRANSCRIPT-BLANK", "the vocabulary adds a space before a turn, which the model cannot have written"
        )

    def _control_before(self, place: int) -> int:
        """The length of the control token that ends at an offset; 0 if there is none."""
        first = next((first for first, last in self.trusted if first < place <= last), place)
        texts = [text for text in self.info.control_tokens if self.whole.endswith(text, first, place)]
        return max(map(len, texts), default=0)

    def _encode(self, begin: int, end: int, *, before: str = "") -> list[int]:
        moved = len(before) - begin
        inside = [
            (max(first, begin) + moved, min(last, end) + moved)
            for first, last in self.trusted
            if first < end and last > begin
        ]
        return self.info.encode(before + self.whole[begin:end], trusted=inside)


def _role(message: MessageLike) -> object:
    return message.role if isinstance(message, Message) else message.get("role")


class Transcript(Stage):
    """Encodes a column of conversations as token ids for training, with a mask of the model's own tokens.

    Input column, by standard name: `messages`. Optional input columns: `completion_ids` (for each assistant message in
    order, the tokens that the model wrote, or null), `tools`, `documents` and `template_kwargs`, as structures or as
    JSON text. Output columns: `input_ids`, `assistant_masks` (1 for tokens that the model wrote) and `error`.

    Args:
        codec: the codec that renders the conversations.
        info: the model's vocabulary.
        turns: see `training_ids`.
        columns: standard name → name in the data.
        **options: see `training_ids`. `tools` is the default for rows without tools.

    Raises:
        ArgumentError: `E-BATCH-NAME`, `columns` has an unknown column; `E-CODEC-TEMPLATE`, the codec has no template.
    """

    needs = "messages"
    lists = True
    reads: ClassVar[tuple[str, ...]] = ("messages", "completion_ids", "documents", *REQUEST)
    results: Mapping[str, Kind] = {"input_ids": "ids", "assistant_masks": "mask"}

    def __init__(
        self,
        codec: ChatCodec,
        info: TokenizerInfo,
        *,
        turns: Turns = "all",
        columns: Mapping[str, str] | None = None,
        **options: Unpack[RenderOptions],
    ) -> None:
        check_argument("codec", codec, ChatCodec)
        check_argument("info", info, TokenizerInfo)
        super().__init__(columns)
        if codec.template is None:
            raise ArgumentError("E-CODEC-TEMPLATE", "the codec has no template")
        self._codec, self._info, self._turns = codec, info, turns
        self._options = options

    def _identity(self) -> list[Any]:
        vocabulary = [self._info.vocab_size, self._info.eos_token_ids]
        return [*codec_identity(self._codec), vocabulary, self._turns, self._options]

    def _answer(self, given: Mapping[str, Any]) -> dict[str, Any]:
        messages = from_json(given["messages"], self._columns["messages"])
        options = render_options(given, self._options, self._columns["documents"])
        found = training_ids(
            self._codec,
            messages,
            self._info,
            turns=self._turns,
            completions=self._completions(messages, given["completion_ids"]),
            **options,
        )
        return {"input_ids": found.ids, "assistant_masks": found.mask}

    def _completions(self, messages: Sequence[MessageLike], given: Any) -> dict[int, list[int]]:
        """The recorded tokens, by the index of their message."""
        column = self._columns["completion_ids"]
        recorded = from_json(given, column)
        if recorded is None:
            return {}
        answers = [at for at, message in enumerate(messages) if _role(message) == "assistant"]
        if not isinstance(recorded, list) or len(recorded) != len(answers):
            message = f"{column} must be a list with an entry or null for each of the {len(answers)} assistant messages"
            raise ArgumentError("E-BATCH-COLUMN", message, pointer=f"/{column}")
        pairs = zip(answers, recorded, strict=True)
        return {at: ids_of(one, column) for at, one in pairs if one is not None}
