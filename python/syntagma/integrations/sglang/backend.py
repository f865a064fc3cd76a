"""A grammar backend for SGLang with Syntagma's engine.

It delegates to the grammar objects of `syntagma.compat.sglang`. SGLang leaves reasoning to backends that are not its
own, so each grammar is enforced only from the end of reasoning on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sglang.srt.constrained.base_grammar_backend import BaseGrammarBackend, BaseGrammarObject, InvalidGrammarObject

from syntagma.compat.sglang import BaseGrammarObject as GrammarObject
from syntagma.compat.sglang import GrammarBackend, ReasonerGrammarObject
from syntagma.decoding import GrammarCompiler, TokenizerInfo, apply_token_bitmask_inplace
from syntagma.errors import SyntagmaError

__all__ = ["SyntagmaGrammarBackend", "SyntagmaGrammarObject"]


class SyntagmaGrammarObject(BaseGrammarObject):
    """The matcher of one output.

    Args:
        inner: the object of `syntagma.compat.sglang` to which this one delegates.
    """

    def __init__(self, inner: GrammarObject) -> None:
        super().__init__()
        self._inner = inner
        self._beyond = 0
        """number of tokens accepted after the end"""

    def maybe_init_reasoning(self, reasoning: bool) -> None:
        """Set whether the output begins inside reasoning."""
        self._inner.maybe_init_reasoning(reasoning)

    def accept_token(self, token: int) -> None:
        """Accept a token. After the end of the output, every token is accepted.

        Raises:
            ArgumentError: `E-ARGUMENT-TOKEN`, a `ValueError`: the token is not allowed.
        """
        if self._inner.is_terminated():
            self._beyond += 1
        else:
            self._inner.accept_token(token)
        self.current_token = token

    def rollback(self, k: int) -> None:
        """Take back the last `k` tokens."""
        beyond = min(k, self._beyond)
        self._beyond -= beyond
        self._inner.rollback(k - beyond)

    def is_terminated(self) -> bool:
        """Whether the output has ended."""
        return self._inner.is_terminated()

    def copy(self) -> SyntagmaGrammarObject:
        """A copy at the same place."""
        made = SyntagmaGrammarObject(self._inner.copy())
        made._beyond = self._beyond
        return made

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> Any:  # noqa: ARG002  # on the CPU
        """A bitmask in which every token is allowed."""
        import torch

        return torch.full((batch_size, -(-vocab_size // 32)), -1, dtype=torch.int32)

    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        """Write the mask of the next token into a row."""
        self._inner.fill_vocab_mask(vocab_mask, idx)

    @staticmethod
    def reset_vocab_mask(vocab_mask: Any) -> None:
        """Allow every token in all rows."""
        vocab_mask.fill_(-1)

    @staticmethod
    def move_vocab_mask(vocab_mask: Any, device: Any) -> Any:
        """The bitmask on a device."""
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: Any, vocab_mask: Any) -> None:
        """Set the logits of all tokens that may not come next to minus infinity."""
        apply_token_bitmask_inplace(logits, vocab_mask)

    def try_jump_forward(self, tokenizer: Any) -> None:
        """Return None, because inserted text would be cut into other tokens than the model's own."""


class SyntagmaGrammarBackend(BaseGrammarBackend):
    """The compiler of one server.

    Args:
        server_args: the server's arguments, which name the reasoning parser.
        tokenizer: the model's tokenizer.
        vocab_size: width of the model's logits.
        eos_token_ids: the tokens that end an output; None: the tokenizer's.
    """

    def __init__(
        self, server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Iterable[int] | None = None
    ) -> None:
        super().__init__()
        ends = sorted(eos_token_ids or [tokenizer.eos_token_id])
        info = TokenizerInfo.from_huggingface(tokenizer, eos_token_ids=ends, vocab_size=vocab_size)
        self._backend = GrammarBackend(GrammarCompiler(info))
        self._think_end_ids = _think_end_ids(getattr(server_args, "reasoning_parser", None), tokenizer)

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        """The grammar of a JSON Schema; `$$ANY$$` is any JSON object."""
        return self._object(self._backend.dispatch_json, key_string)

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        """The grammar of a regular expression."""
        return self._object(self._backend.dispatch_regex, key_string)

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        """The grammar of a GBNF text."""
        return self._object(self._backend.dispatch_ebnf, key_string)

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:
        """The grammar of a structural tag, in either form."""
        return self._object(self._backend.dispatch_structural_tag, key_string)

    def _init_value_dispatch(self, key: tuple[str, str], require_reasoning: bool) -> BaseGrammarObject:
        grammar = super()._init_value_dispatch(key, require_reasoning)
        # A grammar of the assistant's whole answer includes its reasoning.
        grammar.maybe_init_reasoning(require_reasoning and key[0] != "full_assistant_ebnf")
        return grammar

    def _object(self, make: Callable[[str], GrammarObject], text: str) -> BaseGrammarObject:
        try:
            made = make(text)
        except SyntagmaError as error:
            return InvalidGrammarObject(str(error))
        return SyntagmaGrammarObject(ReasonerGrammarObject(made, self._think_end_ids) if self._think_end_ids else made)


def _think_end_ids(reasoning_parser: str | None, tokenizer: Any) -> list[int]:
    """The tokens that end reasoning, from the server's reasoning parser; empty without one."""
    if not reasoning_parser:
        return []
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    parser = ReasoningParser(model_type=reasoning_parser, stream_reasoning=False, tokenizer=tokenizer)
    return list(parser.detector.get_think_end_token_ids(tokenizer))
