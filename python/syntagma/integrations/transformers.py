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
    """A logits processor that holds `generate` to turns or grammars.

    Rows are known by their tokens, so it is right with beams, several sequences for a prompt, left padding, prompt
    look-up and assistant models, and in the next call of `generate`, which begins anew. Not shared between threads.

    A row that has ended holds nothing but end tokens from then on; so does one that took a masked token, as beams
    without a chance do (their score is minus infinity) and drafts that will be taken back.

    Args:
        constraint: one turn, grammar or compiled grammar for all sequences of the batch, or a list with one for each.
            With beams or several sequences for each prompt, the list has one for each prompt.
        tokenizer: the model's; or a `TokenizerInfo` or `GrammarCompiler` that was made of it.
        eos_token_ids: tokens at which `generate` ends a sequence, if they are not those of the tokenizer:
            `model.generation_config.eos_token_id`.

    Attributes:
        compiler: compiles grammars for the tokenizer; another constraint with the same tokenizer shares it.

    Raises:
        ArgumentTypeError: `E-ARGUMENT-TYPE`, `E-VOCAB-TYPE`.
        ArgumentError: `E-ARGUMENT-VALUE`, an empty list; `E-BITMASK-SIZE`, a grammar of another vocabulary.
        FormatError, GrammarError, LimitError, VocabularyError: as `Turn.grammar` and `GrammarCompiler.compile`.
    """

    # Continuous batching shows a processor the rows of many requests as one, without saying which are whose.
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
        """The scores with those of tokens that may not come next at minus infinity.

        The scores that are given are left as they are: `generate` hands them out as `logits` and uses them again.

        Args:
            input_ids: integer tensor [batch, tokens], the prompts and all that was written after them.
            scores: float tensor [batch, vocab] on any device.

        Raises:
            ArgumentError: `E-BATCH-SIZE`, sequences that the constraints cannot be dealt out to.
            LimitError: `E-LIMIT-STEP`, a matcher spent its fuel.
        """
        self._rows.follow(input_ids.cpu().numpy())
        masked = scores.clone()
        apply_token_bitmask_inplace(masked, self._rows.bitmask())
        return masked

    def reset(self) -> None:
        """Take the next sequences for prompts, even if they are what was last written and one token more."""
        self._rows.reset()


class EventStreamer:
    """A streamer for `generate` that reads what is written as typed events, one message for each sequence.

    It may be used for one call after another where it is made of turns. `generate` takes no streamer with beams.

    Args:
        turns: one turn for all sequences of the batch, or a list with one for each prompt; or fresh parsers, one for
            each sequence.
        tokenizer: the model's; or a `TokenizerInfo` or `GrammarCompiler` that was made of it.
        on_event: called with the number of the sequence in the batch and the event, in the thread of `generate`.
        eos_token_ids: as for `Constraint`.

    Raises:
        ArgumentTypeError: `E-ARGUMENT-TYPE`, `E-VOCAB-TYPE`.
        ArgumentError: `E-ARGUMENT-VALUE`, an empty list.
        VocabularyError: as `TokenizerInfo.from_huggingface`.
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
            raise ArgumentError("E-ARGUMENT-VALUE", "the list is empty: give a turn or a parser for each sequence")
        ends = [eos_token_ids] if isinstance(eos_token_ids, int) else eos_token_ids
        self._info = compiler_for(tokenizer, ends).info
        self._on_event = on_event
        self._parsers: list[StreamParser] = []
        self._ended: list[bool] = []
        self._began = False

    @property
    def messages(self) -> list[Message]:
        """What was read so far, a message for each sequence."""
        return [parser.message for parser in self._parsers]

    def put(self, value: Any) -> None:
        """Take the prompts, or what was sampled after them; `generate` calls it.

        Args:
            value: integer tensor [batch, tokens], or [batch] with one token for each sequence.

        Raises:
            ArgumentError: `E-BATCH-SIZE`, sequences that the turns cannot be dealt out to.
            ParseError: bad text, only if a parser is strict.
        """
        rows = value.tolist() if value.ndim == 2 else [[token] for token in value.tolist()]
        if not self._began:
            self._begin(len(rows))
            return
        for row, tokens in enumerate(rows):
            self._read(row, tokens)

    def end(self) -> None:
        """Finish the messages; `generate` calls it."""
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
                f"{len(self._sources)} turns or parsers for {count} sequences",
                hint="give a turn for each prompt, or a parser for each sequence",
            )
        sources = [source for source in self._sources for _ in range(share)]
        self._parsers = [source if isinstance(source, StreamParser) else source.parser() for source in sources]
        self._ended = [False] * count
        self._began = True

    def _read(self, row: int, tokens: list[int]) -> None:
        """Read the tokens of a sequence up to the one that ends it; padding follows."""
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
    """Give a tokenizer the `response_template` of a format, by which `tokenizer.parse_response` reads it.

    It is saved with the tokenizer. Grammars and events need none: they come from the format itself.

    Args:
        tokenizer: the tokenizer, changed.
        source: the format, or the codec or turn that has it.
        start_anchor: where the assistant's turn begins in a prompt; by default what the format says.

    Returns:
        What is lost in the translation.

    Raises:
        FormatError: `E-FORMAT-UNWRITABLE`, it is unknown where the assistant's turn begins.
    """
    check_argument("source", source, ChatFormat | ChatCodec | Turn)
    fmt = source if isinstance(source, ChatFormat) else source.format
    template, lost = fmt.to_response_template(start_anchor=start_anchor, join=True)
    tokenizer.response_template = template
    return lost
