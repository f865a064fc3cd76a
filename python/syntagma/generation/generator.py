"""Generations on one backend."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from syntagma.decoding import GrammarCompiler, GrammarMatcher
from syntagma.decoding.backend import Backend, BatchBackend
from syntagma.entry import check_argument
from syntagma.errors import ArgumentError, ModelError
from syntagma.generation.batching import BatchLoop, SessionBatch
from syntagma.generation.loop import Generation
from syntagma.generation.matchers import MatcherPool
from syntagma.generation.sequence import Sequence as Row
from syntagma.generation.values import GenerationOptions, Step
from syntagma.grammars import Grammar
from syntagma.templates import Prompt

__all__ = ["Generator"]


class _Asked(NamedTuple):
    """The arguments of one generation; see `Generator.start`."""

    prompt: str | Sequence[int]
    grammar: Grammar | Callable[[], Grammar | None] | None
    key: Hashable
    options: GenerationOptions
    begin: Callable[[GrammarMatcher], None] | None = None


class Generator:
    """Runs generations on one backend, each with or without a grammar. Threads may share it.

    Use it where you have a prompt and want tokens; `Model` takes messages and gives a message. A generation is an
    iterator of `Step`s::

        generator = Generator(backend)
        generation = generator.start(prompt, grammar=Grammar.from_choices(["yes", "no"]))
        text = b"".join(step.data for step in generation if not step.end)
        print(generation.finish_reason, generation.metrics)

    Args:
        backend: computes the logits.
        compiler: compiles grammars for the backend's vocabulary; None makes one.

    Attributes:
        backend: the backend.
        compiler: the compiler, given or made.
    """

    def __init__(self, backend: Backend, *, compiler: GrammarCompiler | None = None) -> None:
        check_argument("compiler", compiler, GrammarCompiler | None)
        self.backend = backend
        self.compiler = GrammarCompiler(backend.tokenizer_info) if compiler is None else compiler
        self._matchers = MatcherPool(self.compiler)
        self._width = backend.tokenizer_info.vocab_size
        batch = backend.open_batch() if isinstance(backend, BatchBackend) else None
        self._loop = None if batch is None else BatchLoop(batch, self._width)
        """the loop in which all generations advance; None: each has its own"""
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="syntagma-compile")

    def start(
        self,
        prompt: str | Sequence[int],
        *,
        grammar: Grammar | Callable[[], Grammar | None] | None = None,
        grammar_key: Hashable | None = None,
        begin: Callable[[GrammarMatcher], None] | None = None,
        options: GenerationOptions = GenerationOptions(),  # noqa: B008 - frozen
        opened: Generation | None = None,
    ) -> Generation:
        """Read the prompt and compile the grammar, both at once; iterate over the result for the tokens.

        Args:
            prompt: a rendered prompt, in which only the template's own text becomes control tokens; any other text, in
                which the text of a control token always becomes that token; or token ids.
            grammar: the grammar of the answer, or a function that makes it, which runs while the prompt is read; None:
                any text.
            grammar_key: equal keys promise equal grammars, so that a matcher can be reused; None: the grammar itself
                is the key.
            begin: moves a matcher of the grammar past the part of the answer that the prompt already holds; see
                `Turn.begin`.
            options: sampling, lengths and stop strings.
            opened: the generation that `open` gave for this prompt and these options; None: open one.

        Raises:
            ArgumentError: `E-ARGUMENT-VALUE`, the options name a token that is not in the vocabulary.
            ModelError: `E-MODEL-CONTEXT`, the prompt leaves no room for an answer; `E-MODEL-PROMPT`, it is empty.
            GrammarError, LimitError: the grammar does not compile.
            SyntagmaError: what `begin` raises.
        """
        return self._start(
            [_Asked(prompt, grammar, grammar_key, options, begin)], None if opened is None else [opened]
        )[0]

    def open(
        self,
        prompt: str | Sequence[int],
        *,
        options: GenerationOptions = GenerationOptions(),  # noqa: B008 - frozen
    ) -> Generation:
        """A generation whose prompt can be read before its grammar is known; `start` takes it on.

        `Generation.read_prompt` reads the prompt. Close a generation that is not started.

        Args:
            prompt: as for `start`.
            options: likewise.

        Raises:
            ArgumentError, ModelError: as `start`.
        """
        return self._open([(prompt, options)])[0]

    def start_all(
        self,
        prompts: Sequence[str | Sequence[int]],
        *,
        grammars: Sequence[Grammar | Callable[[], Grammar | None] | None] | None = None,
        grammar_keys: Sequence[Hashable] | None = None,
        options: GenerationOptions | Sequence[GenerationOptions] = GenerationOptions(),  # noqa: B008 - frozen
    ) -> list[Generation]:
        """Start several at once. If the backend can, it reads their prompts in one pass, and each step likewise.

        Args:
            prompts: see `start`.
            grammars: one for each prompt; None: no prompt has one.
            grammar_keys: one for each prompt, or None.
            options: for all, or one for each prompt.

        Returns:
            A generation for each prompt, in order. Iterate over them in any order, or together.

        Raises:
            ArgumentError: `E-BATCH-SIZE`, the lists differ in length; or as `start`.
            ModelError, GrammarError, LimitError: as `start`, for the first prompt at fault; none is then started.
        """
        count = len(prompts)
        every = [options] * count if isinstance(options, GenerationOptions) else list(options)
        grammars = [None] * count if grammars is None else grammars
        keys = [None] * count if grammar_keys is None else grammar_keys
        if {len(every), len(grammars), len(keys)} != {count}:
            message = f"{count} prompts, {len(grammars)} grammars, {len(keys)} keys and {len(every)} options"
            raise ArgumentError("E-BATCH-SIZE", message)
        return self._start(list(map(_Asked, prompts, grammars, keys, every)))

    def _open(self, asked: Sequence[tuple[str | Sequence[int], GenerationOptions]]) -> list[Generation]:
        rows = [Row(self.backend, self.check(prompt, options), options, self._matchers) for prompt, options in asked]
        loops = [self._loop or BatchLoop(SessionBatch(self.backend), self._width) for _ in rows]
        generations = [
            Generation(row, loop, self.backend.tokenizer_info) for row, loop in zip(rows, loops, strict=True)
        ]
        for row, loop in zip(rows, loops, strict=True):
            loop.join(row)
        return generations

    def _start(self, asked: Sequence[_Asked], opened: list[Generation] | None = None) -> list[Generation]:
        generations = self._open([(one.prompt, one.options) for one in asked]) if opened is None else opened
        waiting = deque(
            None if one.grammar is None else self._threads.submit(self._matchers.take, one.key, one.grammar, one.begin)
            for one in asked
        )
        try:
            for generation in generations:
                generation.read_prompt()
                lease = None if waiting[0] is None else waiting[0].result()
                waiting.popleft()
                generation.begin(lease)
        except BaseException:
            for generation in generations:
                generation.close()
            for future in waiting:
                if future is not None:
                    future.add_done_callback(self._matchers.give_back_result)
            raise
        return generations

    def step(self) -> bool:
        """Compute one step of all generations, if the backend computes them together.

        It serves those who read several generations in one thread: afterwards, read those that are `is_ready`. If the
        backend computes each generation alone, nothing is done.

        Returns:
            Whether there was anything to compute: False if all generations are over or wait for their readers.
        """
        return self._loop is not None and self._loop.step()

    @property
    def is_batching(self) -> bool:
        """Whether the backend computes generations together."""
        return self._loop is not None

    def _check_tokens(self, options: GenerationOptions) -> None:
        ends = ((f"/stop_token_ids/{at}", token) for at, token in enumerate(options.stop_token_ids))
        known = self.backend.tokenizer_info.vocab_size
        for pointer, token in (*ends, *options.sampling.token_ids):
            if not 0 <= token < known:
                message = f"the vocabulary has {known} tokens, and no {token}"
                hint = "token ids are numbers from 0 up"
                raise ArgumentError("E-ARGUMENT-VALUE", message, pointer=pointer, hint=hint)

    def generate(
        self,
        prompt: str | Sequence[int],
        *,
        grammar: Grammar | Callable[[], Grammar | None] | None = None,
        grammar_key: Hashable | None = None,
        options: GenerationOptions = GenerationOptions(),  # noqa: B008 - frozen
    ) -> Iterator[Step]:
        """The steps alone; see `start`."""
        return iter(self.start(prompt, grammar=grammar, grammar_key=grammar_key, options=options))

    def check(self, prompt: str | Sequence[int], options: GenerationOptions) -> list[int]:
        """The token ids of a prompt, once it is sure to leave room for an answer; the model computes nothing.

        Args:
            prompt: as for `start`.
            options: likewise.

        Raises:
            ArgumentError: as `start`.
            ModelError: as `start`; a text that is too long by its size alone is refused before it is encoded.
            VocabularyError: as `TokenizerInfo.encode`.
        """
        self._check_tokens(options)
        info = self.backend.tokenizer_info
        if isinstance(prompt, str):
            self._check_room(info.least_tokens(prompt), "at least ")
            ids = prompt.ids(info) if isinstance(prompt, Prompt) else info.encode(prompt)
        else:
            ids = list(prompt)
        if not ids:
            raise ModelError(
                "E-MODEL-PROMPT", "the prompt is empty", hint="a model needs at least one token to begin with"
            )
        self._check_room(len(ids), "")
        return ids

    def _check_room(self, tokens: int, bound: str) -> None:
        if tokens >= self.backend.context_length:
            raise ModelError(
                "E-MODEL-CONTEXT",
                # Clients recognise this error by these words.
                f"the prompt is too long: it has {bound}{tokens} tokens, and this model's maximum context length is "
                f"{self.backend.context_length} tokens, the answer's included",
                hint="shorten the conversation or the tools",
            )

    def close(self) -> None:
        """Stop the threads that compile."""
        self._threads.shutdown(wait=False, cancel_futures=True)
