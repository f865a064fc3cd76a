"""`Model`: a backend or an upstream with its codec, which answers conversations; and `load`, which loads one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, Unpack

import msgspec

from syntagma import backends, upstreams
from syntagma.codec import ChatCodec, MessageLike, Turn
from syntagma.decoding import GrammarCompiler
from syntagma.decoding.backend import Backend
from syntagma.decoding.sampling import Sampling
from syntagma.decoding.upstream import Upstream
from syntagma.entry import entry, options_named
from syntagma.errors import ArgumentError
from syntagma.events import Event
from syntagma.generation.generator import Generator
from syntagma.generation.loop import Generation
from syntagma.generation.remote import Lookalikes, RemoteGeneration, Unheld
from syntagma.generation.values import GenerationOptions
from syntagma.messages import Message, ToolLike
from syntagma.parsing import StreamParser
from syntagma.request import RequestOptions

__all__ = ["ChatOptions", "Model", "load"]


class ChatOptions(RequestOptions, total=False):
    """Keyword arguments of `Model.chat` and `Model.stream`, with those of `RequestOptions`. All are optional.

    Attributes:
        tools: the declared tools. None, or an empty list: none, so that the answer holds no calls.
        temperature: 0 takes the likeliest token; 1, the default, samples from the model's own distribution.
        top_p: sample from the smallest set of tokens whose probability reaches this share. The default is 1.
        seed: the same seed gives the same answer. None, the default, draws a fresh one.
        max_tokens: the answer has at most so many tokens. None, the default: as many as the context holds.
        stop: texts that end the answer and do not appear in it. The default is none.
    """

    tools: Sequence[ToolLike] | None
    temperature: float
    top_p: float
    seed: int | None
    max_tokens: int | None
    stop: Sequence[str]


class Model:
    """A model that answers conversations. Threads may share it.

    Args:
        engine: computes the logits (a backend) or writes the text (an upstream).
        codec: renders prompts for it, constrains it and reads what it writes.
        compiler: compiles grammars for a backend's vocabulary; None makes one.
        unheld: what to do about a constraint that an upstream cannot be held to: `refuse` raises; `check` checks the
            whole text afterwards, and if it breaks the constraint asks for another, twice at most.
        lookalikes: what to do about look-alikes in a prompt that is sent to an upstream as text; see
            `Turn.prompt_text`.

    Attributes:
        engine: the engine.
        codec: the codec.
    """

    def __init__(
        self,
        engine: Backend | Upstream,
        codec: ChatCodec,
        *,
        compiler: GrammarCompiler | None = None,
        unheld: Unheld = "refuse",
        lookalikes: Lookalikes = "break",
    ) -> None:
        self.engine = engine
        self.codec = codec
        self._unheld: Unheld = unheld
        self._lookalikes: Lookalikes = lookalikes
        # Once only: an `isinstance` check against a protocol takes as long as some tokens.
        self._upstream: Upstream | None = None
        self._generator: Generator | None = None
        if isinstance(engine, Upstream):
            self._upstream = engine
        else:
            self._generator = Generator(engine, compiler=compiler)

    @property
    def generator(self) -> Generator:
        """Runs single generations, for those who need tokens rather than messages.

        Raises:
            ArgumentError: `E-ARGUMENT-ENGINE`, the model runs elsewhere, so that there are no logits.
        """
        if self._generator is None:
            raise ArgumentError("E-ARGUMENT-ENGINE", "the model runs elsewhere, so that its logits are not known here")
        return self._generator

    @property
    def backend(self) -> Backend:
        """The backend, which computes the logits.

        Raises:
            ArgumentError: as `generator`.
        """
        return self.generator.backend

    @property
    def compiler(self) -> GrammarCompiler:
        """Compiles grammars for the model's vocabulary, and keeps what it compiled.

        Raises:
            ArgumentError: as `generator`.
        """
        return self.generator.compiler

    @options_named
    def chat(self, messages: Sequence[MessageLike], **options: Unpack[ChatOptions]) -> Message:
        """The model's answer to a conversation.

        Args:
            messages: the conversation; `Message`s or OpenAI dictionaries.
            **options: see `ChatOptions`.

        Raises:
            RequestError, ArgumentError, LimitError, TemplateError: as `ChatCodec.prepare`.
            FormatError, GrammarError: as `Turn.grammar`.
            ModelError: `E-MODEL-CONTEXT`, the prompt leaves no room for an answer.
            UpstreamError: the engine cannot be reached, refuses or fails.
        """
        generation, parser, markers = self._begin(messages, **options)
        for _ in _events(generation, parser, markers):
            pass
        return parser.message

    @options_named
    def stream(self, messages: Sequence[MessageLike], **options: Unpack[ChatOptions]) -> Iterator[Event]:
        """The events of the answer, as the model writes it. Closing the iterator stops the model.

        Args:
            messages: the conversation; `Message`s or OpenAI dictionaries.
            **options: see `ChatOptions`.

        Raises:
            SyntagmaError: as `chat`, before the first event.
        """
        return _events(*self._begin(messages, **options))

    def start(
        self, turn: Turn, options: GenerationOptions, *, opened: Generation | None = None
    ) -> Generation | RemoteGeneration:
        """Begin one answer to a prepared turn: its grammar holds, and the format's end of turn ends it.

        Args:
            turn: the turn.
            options: sampling, lengths and stop strings.
            opened: what `open` gave for this turn and these options, if its prompt is read already; else None.

        Raises:
            FormatError, GrammarError, LimitError: as `Turn.grammar`.
            ModelError: `E-MODEL-CONTEXT`, the prompt leaves no room for an answer.
            UpstreamError: `E-UPSTREAM-CONSTRAINT`, the engine cannot be held to the turn's constraint.
        """
        if self._upstream is not None:
            return RemoteGeneration(self._upstream, turn, options, unheld=self._unheld, lookalikes=self._lookalikes)
        info = self.backend.tokenizer_info
        return self.generator.start(
            turn.prompt,
            grammar=lambda: turn.whole_grammar,
            begin=(lambda matcher: turn.begin(matcher, info)) if turn.begun else None,
            options=self._with_ends(turn, options),
            opened=opened,
        )

    def open(self, turn: Turn, options: GenerationOptions) -> Generation:
        """A generation that can read the prompt of a turn while its grammar is compiled; see `Generator.open`.

        Raises:
            ArgumentError: as `generator`.
            ModelError: `E-MODEL-CONTEXT`, the prompt leaves no room for an answer.
        """
        return self.generator.open(turn.prompt, options=self._with_ends(turn, options))

    def _with_ends(self, turn: Turn, options: GenerationOptions) -> GenerationOptions:
        """The options, with the format's end of turn among the stop strings where no token ends it."""
        info = self.backend.tokenizer_info
        end_tokens = {info.token_bytes(token) for token in info.eos_token_ids}
        ends = [text for text in turn.stop_strings if text.encode() not in end_tokens]
        return msgspec.structs.replace(options, stop=(*options.stop, *ends))

    def close(self) -> None:
        """Stop the threads that compile, or close the connections that `chat` and `stream` opened."""
        if self._upstream is not None:
            upstreams.disconnect(self._upstream)
        else:
            self.generator.close()

    def _begin(
        self,
        messages: Sequence[MessageLike],
        *,
        tools: Sequence[ToolLike] | None = None,
        temperature: float = 1.0,
        top_p: float = 1.0,
        seed: int | None = None,
        max_tokens: int | None = None,
        stop: Sequence[str] = (),
        **asked: Unpack[RequestOptions],
    ) -> tuple[Generation | RemoteGeneration, StreamParser, frozenset[str]]:
        turn = self.codec.prepare(messages, tools=tools or (), **asked)
        sampling = Sampling(temperature=temperature, top_p=top_p, seed=seed)
        options = GenerationOptions(sampling=sampling, max_tokens=max_tokens, stop=tuple(stop))
        return self.start(turn, options), turn.parser(), frozenset(turn.preserved_tokens)


def _events(
    generation: Generation | RemoteGeneration, parser: StreamParser, markers: frozenset[str]
) -> Iterator[Event]:
    with closing(generation):
        for _, events in generation.read(parser, markers=markers):
            yield from events


@entry
def load(source: str | os.PathLike[str], **options: Any) -> Model:
    """Load a model with its codec and its compiler.

    Args:
        source: `"embedded"`, the shipped model; a model folder; `"name:rest"`, which the backend of that name loads
            (see `syntagma.backends`); or `"kind:URL"`, a running engine (see `syntagma.upstreams`).
        **options: those of the backend, or those of `syntagma.upstreams.load` with `unheld` and `lookalikes` of
            `Model`.

    Raises:
        ModelError: `E-MODEL-SOURCE`, there is no such source; `E-MODEL-DEPENDENCY`, a library is missing, with the
            extra that installs it; or another code where the model cannot be loaded.
        ArgumentTypeError: `E-ARGUMENT-TYPE`, an option that the backend does not have.
        TemplateError, VocabularyError: the model's chat template or vocabulary cannot be used.
        UpstreamError: the engine cannot be reached, or does not give its chat template.
    """
    if isinstance(source, str) and upstreams.is_address(source):
        own = {name: options.pop(name) for name in ("unheld", "lookalikes") if name in options}
        return Model(*upstreams.load(source, **options), **own)
    return Model(*backends.load(source, **options))
