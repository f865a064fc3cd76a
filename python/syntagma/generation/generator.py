"""Generations on one backend."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from syntagma.decoding import GrammarCompiler, GrammarMatcher
from syntagma.decoding.backend import Backend
from syntagma.entry import entry
from syntagma.errors import ArgumentError, ModelError
from syntagma.generation.loop import Generation
from syntagma.generation.matchers import Lease, MatcherPool
from syntagma.generation.values import GenerationOptions, Step
from syntagma.grammars import Grammar
from syntagma.templates import Prompt

__all__ = ["Generator"]


class Generator:
    """Runs generations on one backend, each with a grammar or without. Threads may share it.

    Use it where you have a prompt and want tokens; `Model` takes messages and gives a message. A generation is an
    iterator of `Step`s::

        generator = Generator(backend)
        generation = generator.start(prompt, grammar=Grammar.from_choices(["yes", "no"]))
        text = b"".join(step.data for step in generation if not step.end)
        print(generation.finish_reason, generation.metrics)

    Args:
        backend: what computes the logits.
        compiler: compiles grammars for the backend's vocabulary; None makes one.

    Attributes:
        backend: the same.
        compiler: the same, or the one that was made.
    """

    @entry
    def __init__(self, backend: Backend, *, compiler: GrammarCompiler | None = None) -> None:
        self.backend = backend
        self.compiler = GrammarCompiler(backend.tokenizer_info) if compiler is None else compiler
        self._matchers = MatcherPool(self.compiler)
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="syntagma-compile")

    @entry
    def start(
        self,
        prompt: str | Sequence[int],
        *,
        grammar: Grammar | Callable[[], Grammar | None] | None = None,
        grammar_key: Hashable | None = None,
        begin: Callable[[GrammarMatcher], None] | None = None,
        options: GenerationOptions = GenerationOptions(),  # noqa: B008 - frozen
    ) -> Generation:
        """Read the prompt and compile the grammar, both at once; iterate over what comes back for the tokens.

        Args:
            prompt: a rendered prompt, of which only the template's own text makes control tokens; other text, in which
                the text of a control token is this token wherever it stands; or token ids.
            grammar: what may be written, or what makes it, which then runs beside the reading of the prompt; None:
                anything.
            grammar_key: equal keys promise equal grammars, so that a matcher can be used again; None: the grammar
                itself is the key.
            begin: brings a matcher of the grammar to where the prompt ends, where that holds the beginning of what the
                grammar allows; see `Turn.begin`.
            options: sampling, lengths and stop strings.

        Raises:
            ArgumentError: `E-ARGUMENT-VALUE`, the options name a token that the vocabulary has not.
            ModelError: `E-MODEL-CONTEXT`, the prompt leaves no room for an answer; `E-MODEL-PROMPT`, it is empty.
            GrammarError, LimitError: the grammar does not compile.
            SyntagmaError: what `begin` raises.
        """
        self._check_tokens(options)
        ids = self._ids(prompt)
        if not ids:
            raise ModelError(
                "E-MODEL-PROMPT", "the prompt is empty", hint="a model needs at least one token to begin with"
            )
        if len(ids) >= self.backend.context_length:
            raise ModelError(
                "E-MODEL-CONTEXT",
                f"the prompt has {len(ids)} tokens; the context of {self.backend.context_length} leaves no room for an "
                "answer",
                hint="shorten the conversation or the tools",
            )
        pending: Future[Lease | None] | None = None
        if grammar is not None:
            pending = self._threads.submit(self._matchers.take, grammar_key, grammar, begin)
        began = time.perf_counter()
        try:
            session = self.backend.open()
            logits = session.prefill(ids)
        except BaseException:
            if pending is not None:
                pending.add_done_callback(self._matchers.give_back_result)
            raise
        prefill_s = time.perf_counter() - began
        lease = None if pending is None else pending.result()
        return Generation(
            self.backend,
            options,
            session=session,
            logits=logits,
            prompt=ids,
            prefill_s=prefill_s,
            pool=self._matchers,
            lease=lease,
        )

    def _check_tokens(self, options: GenerationOptions) -> None:
        named = {*options.stop_token_ids, *options.sampling.token_ids}
        known = self.backend.tokenizer_info.vocab_size
        if unknown := [token for token in named if not 0 <= token < known]:
            message = f"the vocabulary has {known} tokens, and no {min(unknown)}"
            raise ArgumentError("E-ARGUMENT-VALUE", message, hint="token ids are numbers from 0 up")

    @entry
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

    def _ids(self, prompt: str | Sequence[int]) -> list[int]:
        info = self.backend.tokenizer_info
        if isinstance(prompt, Prompt):
            return prompt.ids(info)
        return info.encode(prompt) if isinstance(prompt, str) else list(prompt)

    def close(self) -> None:
        """Stop the compiling threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)
