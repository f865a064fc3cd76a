"""vLLM's structured outputs with Syntagma's engine, which compiles grammars and computes masks (experimental).

vLLM has no registry of such backends, so `install` replaces the one named `xgrammar`. It uses internal names of vLLM,
which may change without notice.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vllm.exceptions import VLLMValidationError
from vllm.sampling_params import SamplingParams
from vllm.v1.structured_output.backend_types import (
    StructuredOutputBackend,
    StructuredOutputGrammar,
    StructuredOutputOptions,
)
from vllm.v1.structured_output.request import get_structured_output_key

from syntagma.decoding import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from syntagma.errors import SyntagmaError
from syntagma.formats.styles import styled
from syntagma.grammars import Grammar

if TYPE_CHECKING:
    import torch

__all__ = ["SyntagmaBackend", "SyntagmaGrammar", "install", "read_grammar", "validate"]

_READERS: dict[StructuredOutputOptions, Callable[[str], Grammar]] = {
    StructuredOutputOptions.JSON: Grammar.from_json_schema,
    StructuredOutputOptions.JSON_OBJECT: lambda _: Grammar.from_json_schema({"type": "object"}),
    StructuredOutputOptions.REGEX: Grammar.from_regex,
    StructuredOutputOptions.GRAMMAR: Grammar.from_text,
    StructuredOutputOptions.CHOICE: lambda texts: Grammar.union(*map(Grammar.literal, json.loads(texts))),
    StructuredOutputOptions.STRUCTURAL_TAG: lambda tag: Grammar.from_structural_tag(tag, styles=styled),
}


def read_grammar(kind: StructuredOutputOptions, text: str) -> Grammar:
    """The grammar of a request, as vLLM passes it to a backend.

    Raises:
        SyntagmaError: the grammar cannot be read.
    """
    return _READERS[kind](text)


class SyntagmaGrammar(StructuredOutputGrammar):
    """The matcher of one output."""

    def __init__(self, compiled: CompiledGrammar) -> None:
        self._matcher = GrammarMatcher(compiled)
        self._beyond = 0
        """number of tokens accepted after the end, which are not steps of the matcher"""

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:  # noqa: ARG002
        """Accept tokens. False if one of them is not allowed; those before it are accepted."""
        steps = self._matcher.steps
        taken = self._matcher.accept_output(tokens)
        self._beyond += taken - (self._matcher.steps - steps)
        return taken == len(tokens)

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """The longest prefix of the tokens that could be accepted."""
        return tokens[: self._matcher.validate_tokens(tokens)]

    def rollback(self, num_tokens: int) -> None:
        """Take back the last tokens."""
        beyond = min(num_tokens, self._beyond)
        self._beyond -= beyond
        self._matcher.rollback(num_tokens - beyond)

    def fill_bitmask(self, bitmask: torch.Tensor, batch_index: int) -> None:
        """Write the mask of the next token into a row."""
        self._matcher.fill_next_token_bitmask(bitmask, batch_index)

    def is_terminated(self) -> bool:
        """Whether the output has ended."""
        return self._matcher.is_terminated()

    def reset(self) -> None:
        """Return to the start of the output."""
        self._matcher.reset()
        self._beyond = 0


class SyntagmaBackend(StructuredOutputBackend):
    """The compilers of one engine."""

    def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int) -> None:
        super().__init__(vllm_config, tokenizer, vocab_size)
        self._compilers: dict[tuple[int, ...], GrammarCompiler] = {}

    def compile_grammar(
        self, request_type: StructuredOutputOptions, grammar_spec: str, stop_token_ids: set[int] | None = None
    ) -> SyntagmaGrammar:
        """Compile the grammar of a request. Each set of stop tokens has its own compiler."""
        ends = tuple(sorted(stop_token_ids or {self.tokenizer.eos_token_id}))
        compiler = self._compilers.get(ends)
        if compiler is None:
            info = TokenizerInfo.from_huggingface(self.tokenizer, eos_token_ids=list(ends), vocab_size=self.vocab_size)
            compiler = self._compilers[ends] = GrammarCompiler(info)
        return SyntagmaGrammar(compiler.compile(read_grammar(request_type, grammar_spec)))

    def allocate_token_bitmask(self, max_num_seqs: int) -> torch.Tensor:
        """A bitmask in which every token is allowed."""
        import torch

        return torch.full((max_num_seqs, -(-self.vocab_size // 32)), -1, dtype=torch.int32)

    def destroy(self) -> None:
        """Release the compilers."""
        self._compilers.clear()


def validate(sampling_params: SamplingParams) -> None:
    """Reject a request whose grammar cannot be read, before it reaches the engine.

    Raises:
        VLLMValidationError: the grammar cannot be read; vLLM answers with status 400.
    """
    if sampling_params.structured_outputs is None:
        return
    try:
        read_grammar(*get_structured_output_key(sampling_params.structured_outputs))
    except SyntagmaError as error:
        raise VLLMValidationError(str(error), parameter="structured_outputs") from error


def install() -> None:
    """Replace the backend that vLLM calls `xgrammar`."""
    import vllm.v1.structured_output as manager
    from vllm.v1.structured_output import backend_xgrammar

    manager.XgrammarBackend = SyntagmaBackend
    backend_xgrammar.validate_xgrammar_grammar = validate
