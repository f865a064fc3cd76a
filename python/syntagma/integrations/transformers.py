"""Hugging Face `transformers`: constraints and typed events for `generate`, and `response_template` for tokenizers.

turn = codec.prepare(messages, tools=tools)
streamer = EventStreamer(turn, tokenizer, on_event=lambda row, event: print(event))
model.generate(**inputs, logits_processor=[Constraint(turn, tokenizer)], streamer=streamer)
message = streamer.messages[0]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from syntagma.codec import ChatCodec, Turn
from syntagma.decoding import apply_token_bitmask_inplace
from syntagma.decoding.row_matchers import RowMatchers
from syntagma.entry import check_argument
from syntagma.errors import ArgumentError
from syntagma.events import Event
from syntagma.formats import ChatFormat
from syntagma.formats.response_template import NotCarried
from syntagma.integrations.constraints import Constrained, Tokenizer, compiled_grammars, compiler_for
from syntagma.messages import Message
from syntagma.parsing import StreamParser

__all__ = ["Constraint", "EventStreamer", "set_response_template"]


class Constraint:
    """A logits processor that constrains `generate` to turns or grammars.

    Rows are identified by their tokens. So it works with beams, several sequences per prompt, left padding, prompt
    look-up, assistant models, and consecutive calls of `generate`. Not safe for several threads.

    After a row has ended, only end tokens are allowed in it. The same holds for a row that took a masked token, as
    beams with a score of minus infinity do, and drafts that will be taken back.

    Args:
        constraint: one turn, grammar or compiled grammar for all sequences of the batch, or a list with one for each
            prompt.
        tokenizer: the model's tokenizer; or a `TokenizerInfo` or `GrammarCompiler` made from it.
        eos_token_ids: tokens at which `generate` ends a sequence (`model.generation_config.eos_token_id`), if they
            differ from the tokenizer's.

    Attributes:
        compiler: the tokenizer's compiler, which constraints with the same tokenizer share.

    Raises:
        ArgumentTypeError: `E-ARGUMENT-TYPE` or `E-VOCAB-TYPE`, an argument has the wrong type.
        ArgumentError: `E-ARGUMENT-VALUE`, the list is empty; `E-BITMASK-SIZE`, a grammar is compiled for a vocabulary
            of another size.
        FormatError, GrammarError, LimitError, VocabularyError: see `Turn.grammar` and `GrammarCompiler.compile`.
    """

    # Continuous batching concatenates the rows of many requests, without telling the processor which is which.
    supports_continuous_batching = False

    def __init__(
        self,
        constraint: Constrained | Sequence[Constrained],
        tokenizer: Tokenizer,
        *,
        eos_token_ids: int | Sequence[int] | None = None,
    ) -> None:
        check_argument("eos_token_ids", eos_token_ids, int | Sequence[int] | None)
        ends = [eos_token_ids] if isinstance(eos_token_ids, int) else eos_token_ids
        self.compiler = compiler_for(tokenizer, ends)
        info = self.compiler.info
        grammars = compiled_grammars(constraint, self.compiler)
        self._rows = RowMatchers(grammars, info.vocab_size, info.eos_token_ids)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """A copy of the scores, with minus infinity for tokens that may not come next.

        The given scores are not changed, because `generate` returns them as `logits` and uses them again.

        Args:
            input_ids: integer tensor [batch, tokens], the prompts with all tokens generated so far.
            scores: float tensor [batch, vocab] on any device.

        Raises:
            ArgumentError: `E-BATCH-SIZE`, the batch size is not a multiple of the number of constraints.
            LimitError: `E-LIMIT-STEP`, a matcher spent its fuel.
        """
        self._rows.follow(input_ids.cpu().numpy())
        masked = scores.clone()
        apply_token_bitmask_inplace(masked, self._rows.bitmask())
        return masked

    def reset(self) -> None:
        """Forget the sequences: the next ones are new prompts, even if they continue the last ones by one token."""
        self._rows.reset()


class EventStreamer:
    """A streamer for `generate` that reads the output as typed events, with one message for each sequence.

    If it is created from turns, it may be used for several calls in turn. `generate` does not support streamers with
    beams.

    Args:
        turns: one turn for all sequences of the batch, or a list with one for each prompt; or new parsers, one for each
            sequence.
        tokenizer: the model's tokenizer; or a `TokenizerInfo` or `GrammarCompiler` made from it.
        on_event: called with the index of the sequence in the batch and the event, in the thread of `generate`.
        eos_token_ids: see `Constraint`.

    Raises:
        ArgumentTypeError: `E-ARGUMENT-TYPE` or `E-VOCAB-TYPE`, an argument has the wrong type.
        ArgumentError: `E-ARGUMENT-VALUE`, the list is empty.
        VocabularyError: see `TokenizerInfo.from_huggingface`.
    """

    def __init__(
        self,
        turns: Turn | StreamParser | Sequence[Turn | StreamParser],
        tokenizer: Tokenizer,
        on_event: Callable[[int, Event], object] | None = None,
        *,
        eos_token_ids: int | Sequence[int] | None = None,
    ) -> None:
        self._sources: list[Turn | StreamParser] = list(turns) if isinstance(turns, Sequence) else [turns]
        for source in self._sources:
            check_argument("turns", source, Turn | StreamParser)
        if not self._sources:
            hint = "give a turn or a parser for each sequence"
            raise ArgumentError("E-ARGUMENT-VALUE", "the list of turns is empty", hint=hint)
        ends = [eos_token_ids] if isinstance(eos_token_ids, int) else eos_token_ids
        self._info = compiler_for(tokenizer, ends).info
        self._on_event = on_event
        self._parsers: list[StreamParser] = []
        self._ended: list[bool] = []
        self._began = False

    @property
    def messages(self) -> list[Message]:
        """The messages so far, one for each sequence."""
        return [parser.message for parser in self._parsers]

    def put(self, value: Any) -> None:
        """Take the prompts or sampled tokens. Called by `generate`.

        Args:
            value: integer tensor [batch, tokens], or [batch] with one token for each sequence.

        Raises:
            ArgumentError: `E-BATCH-SIZE`, the batch size does not match the number of turns or parsers.
            ParseError: the text is malformed and the parser is strict.
        """
        rows = value.tolist() if value.ndim == 2 else [[token] for token in value.tolist()]
        if not self._began:
            self._begin(len(rows))
            return
        for row, tokens in enumerate(rows):
            self._read(row, tokens)

    def end(self) -> None:
        """Finish the messages. Called by `generate`."""
        for row, (parser, ended) in enumerate(zip(self._parsers, self._ended, strict=True)):
            if not ended:
                self._tell(row, parser.finish("length"))
        self._began = False

    def _begin(self, count: int) -> None:
        share, rest = divmod(count, len(self._sources))
        given = [isinstance(source, StreamParser) for source in self._sources]
        if rest or (any(given) and share > 1):
            raise ArgumentError(
                "E-BATCH-SIZE",
                f"{len(self._sources)} turns or parsers do not match {count} sequences",
                hint="give a turn for each prompt, or a parser for each sequence",
            )
        sources = [source for source in self._sources for _ in range(share)]
        self._parsers = [source if isinstance(source, StreamParser) else source.parser() for source in sources]
        self._ended = [False] * count
        self._began = True

    def _read(self, row: int, tokens: list[int]) -> None:
        """Read the tokens of a sequence up to its end token. Padding after it is ignored."""
        if self._ended[row]:
            return
        parser, ends = self._parsers[row], self._info.eos_token_ids
        at = next((number for number, token in enumerate(tokens) if token in ends), None)
        self._tell(row, parser.feed_tokens(tokens if at is None else tokens[: at + 1], self._info))
        if at is not None:
            self._ended[row] = True
            self._tell(row, parser.finish("stop"))

    def _tell(self, row: int, events: list[Event]) -> None:
        if self._on_event is not None:
            for event in events:
                self._on_event(row, event)


def set_response_template(
    tokenizer: Any, source: ChatFormat | ChatCodec | Turn, *, start_anchor: str | None = None
) -> tuple[NotCarried, ...]:
    """Set a tokenizer's `response_template` to that of a format, for `tokenizer.parse_response`.

    It is saved with the tokenizer. Grammars and events do not need it.

    Args:
        tokenizer: the tokenizer, which is changed.
        source: the format, or a codec or turn with this format.
        start_anchor: the text in a prompt after which the assistant's turn begins; None: the format's anchor.

    Returns:
        The parts of the format that the response template cannot express.

    Raises:
        FormatError: `E-FORMAT-UNWRITABLE`, the anchor is unknown.
    """
    check_argument("source", source, ChatFormat | ChatCodec | Turn)
    fmt = source if isinstance(source, ChatFormat) else source.format
    template, lost = fmt.to_response_template(start_anchor=start_anchor, join=True)
    tokenizer.response_template = template
    return lost
