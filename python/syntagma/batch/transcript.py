"""Conversations as token ids for training, with a mask of what the model wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, Unpack, get_args

from syntagma.batch.asked import REQUEST
from syntagma.batch.rendering import codec_identity, render_options
from syntagma.batch.stage import Kind, Stage
from syntagma.batch.values import from_json, ids_of
from syntagma.codec import ChatCodec, MessageLike
from syntagma.decoding import TokenizerInfo
from syntagma.entry import entry
from syntagma.errors import ArgumentError
from syntagma.messages import Message
from syntagma.templates import Prompt, RenderOptions

__all__ = ["TrainingIds", "Transcript", "Turns", "training_ids"]

Turns: TypeAlias = Literal["all", "last"]
_LONGEST_END = 64
"""tokens in which the end of a turn is looked for"""
_BEFORE = ("\n", ".", "0")
"""what is encoded before a turn and taken off again; the first that makes no token together with the turn's text"""


class TrainingIds(NamedTuple):
    """A conversation for training.

    Attributes:
        ids: its tokens.
        mask: one number a token: 1 where the model wrote it, otherwise 0.
    """

    ids: list[int]
    mask: list[int]


class _Piece(NamedTuple):
    """A part of the conversation that is encoded by itself."""

    begin: int
    end: int
    mask: int
    ids: Sequence[int] | None = None
    """recorded tokens in place of the text"""


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
    """The tokens of a conversation, and which of them the model wrote, its end of turn included.

    Each turn is encoded by itself, after the tokens of the prompt that it answered, as it was when the model wrote it.
    Where its tokens were recorded they are taken as they are: no text is encoded a second time. As in
    `Turn.prompt_ids`, only the template's own text makes control tokens.

    Args:
        codec: renders the conversation.
        messages: the conversation, with its answers.
        info: the model's vocabulary; it must be able to encode (`TokenizerInfo.encode`).
        turns: `all`: every assistant's message is the model's; `last`: the last one, and those before it are prompt.
        completions: index of a message → the tokens that the model wrote for it. Where they lack the end of the turn,
            as when a limit cut them or an engine took it off, the template's stands after them, and is not masked.
        **options: as for `ChatCodec.render`; the generation prompt is added where a turn begins.

    Raises:
        ArgumentError: `E-TRANSCRIPT-TURN`, there is no assistant's message, or a completion is not of one of them;
            `E-TRANSCRIPT-PREFIX`, the template writes a turn differently than after its prompt: the model cannot
            have written it there; with the pointer of the message.
        ArgumentError: `E-TRANSCRIPT-BLANK`, the vocabulary cannot encode a turn without a space before it.
        TemplateError, LimitError: as `ChatCodec.render`.
        VocabularyError: as `TokenizerInfo.encode`.
    """
    if turns not in get_args(Turns):
        raise ArgumentError("E-ARGUMENT-VALUE", f"turns={turns!r}", hint="all or last", pointer="/turns")
    answers = [at for at, message in enumerate(messages) if _role(message) == "assistant"]
    recorded = dict(completions or {})
    chosen = answers if turns == "all" else answers[-1:]
    if not chosen or recorded.keys() - set(chosen):
        raise ArgumentError(
            "E-TRANSCRIPT-TURN",
            f"no turn of the model at {sorted(recorded.keys() - set(chosen))}" if chosen else "no turn of the model",
            hint="a completion belongs to an assistant's message among `turns`",
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
    """Renders the beginnings of a conversation."""

    def __init__(self, codec: ChatCodec, messages: Sequence[MessageLike], options: RenderOptions) -> None:
        self._codec, self._messages = codec, messages
        self._options: RenderOptions = {**options}

    def __call__(self, count: int, *, opened: bool) -> Prompt:
        """The first messages, with or without the beginning of an answer to them."""
        options: RenderOptions = {**self._options, "add_generation_prompt": opened}
        return self._codec.render(self._messages[:count], **options)

    def turn(self, at: int, whole: Prompt, ends: Sequence[str]) -> tuple[int, int, int]:
        """Where in the whole the model wrote the message at an index: its begin, its mark of the end, its end.

        Raises:
            ArgumentError: `E-TRANSCRIPT-PREFIX`.
        """
        prompt, answered = self(at, opened=True), self(at + 1, opened=False)
        begin = len(prompt)
        mark, end = _end_of_turn(answered, begin, ends)
        if answered.startswith(prompt) and whole.startswith(answered[:end]):
            return begin, mark, end
        later = answered.startswith(prompt)
        raise ArgumentError(
            "E-TRANSCRIPT-PREFIX",
            "the template writes the turn otherwise once others follow"
            if later
            else "the template writes the turn differently than after its prompt",
            hint='turns="last", with a row for each turn'
            if later
            else "template_kwargs may change how the turn is opened, such as whether the model reasons",
            pointer=f"/messages/{at}",
        )


def _ends_of_turns(codec: ChatCodec, info: TokenizerInfo) -> list[str]:
    """The texts that end a turn, longer ones first."""
    own = [info.token_bytes(token).decode("utf-8", "replace") for token in info.eos_token_ids]
    return sorted({*codec.format.stop_strings, *own} - {""}, key=len, reverse=True)


def _end_of_turn(text: str, begin: int, ends: Sequence[str]) -> tuple[int, int]:
    """Where the last text that ends a turn stands, if only whitespace follows; otherwise the end of the text."""
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
    """The pieces, one after the other, each with its mask."""
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
    """Encodes parts of a text as what stands after the part before them.

    Some vocabularies put a space before a text, or before each text after a control token. A turn that stands after
    other text has none; so something is encoded before it, and taken off again.
    """

    whole: Prompt
    trusted: Sequence[tuple[int, int]]
    info: TokenizerInfo

    def piece(self, begin: int, end: int) -> list[int]:
        """Token ids of a part.

        Raises:
            ArgumentError: `E-TRANSCRIPT-BLANK`.
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
            "E-TRANSCRIPT-BLANK", "the vocabulary writes a space before a turn, where the model cannot have written one"
        )

    def _control_before(self, place: int) -> int:
        """The length of the control token that ends at a place; 0 if none does."""
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
    """Makes token ids for training of a column of conversations, with a mask of what the model wrote.

    Columns that are read, by their standard names: `messages`, and, where a row has them, `completion_ids` (for each
    assistant's message in turn the tokens that the model wrote, or null), `tools`, `documents` and `template_kwargs`,
    as structures or as JSON text. Columns that are written: `input_ids`, `assistant_masks` (1 where the model wrote)
    and `error`.

    Args:
        codec: renders the conversations.
        info: the model's vocabulary.
        turns: see `training_ids`.
        columns: standard name → name in the data.
        **options: as for `training_ids`; `tools` are those of rows that bring none.

    Raises:
        ArgumentError: `E-BATCH-NAME`, an unknown column in `columns`; `E-CODEC-TEMPLATE`, the codec has no template.
    """

    needs = "messages"
    lists = True
    reads: ClassVar[tuple[str, ...]] = ("messages", "completion_ids", "documents", *REQUEST)
    results: Mapping[str, Kind] = {"input_ids": "ids", "assistant_masks": "mask"}

    @entry
    def __init__(
        self,
        codec: ChatCodec,
        info: TokenizerInfo,
        *,
        turns: Turns = "all",
        columns: Mapping[str, str] | None = None,
        **options: Unpack[RenderOptions],
    ) -> None:
        super().__init__(columns)
        if codec.template is None:
            raise ArgumentError("E-CODEC-TEMPLATE", "the codec has no template to render with")
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
        """The recorded tokens by the index of their message."""
        column = self._columns["completion_ids"]
        recorded = from_json(given, column)
        if recorded is None:
            return {}
        answers = [at for at, message in enumerate(messages) if _role(message) == "assistant"]
        if not isinstance(recorded, list) or len(recorded) != len(answers):
            message = f"{column} has an entry, or null, for each of the {len(answers)} messages of the assistant"
            raise ArgumentError("E-BATCH-COLUMN", message, pointer=f"/{column}")
        pairs = zip(answers, recorded, strict=True)
        return {at: ids_of(one, column) for at, one in pairs if one is not None}
