"""Test helpers under xgrammar's names, including the underscores."""

from __future__ import annotations

import time
from typing import Any, NoReturn

import numpy as np

from syntagma import decoding, grammars
from syntagma.compat.xgrammar.bitmask import allocate_token_bitmask, numpy_rows
from syntagma.compat.xgrammar.compiler import CompiledGrammar, GrammarCompiler
from syntagma.compat.xgrammar.grammar import Grammar, SchemaOptions, grammar_of_schema
from syntagma.compat.xgrammar.matcher import GrammarMatcher
from syntagma.compat.xgrammar.support import refuse
from syntagma.compat.xgrammar.tokenizer_info import TokenizerInfo

__all__ = ["GrammarFunctor", "bitmask_to_bool_mask", "bool_mask_to_bitmask"]


def _json_schema_to_ebnf(
    schema: Any,
    *,
    any_whitespace: bool = True,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    max_whitespace_cnt: int | None = None,
    strict_mode: bool = True,
    json_format: str = "json",
    any_order: bool = False,
) -> str:
    """The grammar of a schema as text."""
    if json_format != "json":
        refuse("structural_tag(format)")
    options = SchemaOptions(any_whitespace, indent, separators, strict_mode, max_whitespace_cnt, any_order)
    return str(grammar_of_schema(schema, options))


def _regex_to_ebnf(regex: str, with_rule_name: bool = True) -> str:
    """The grammar of a regular expression as text; `with_rule_name=False` removes the name of the first rule."""
    text = str(Grammar.from_regex(regex))
    return text if with_rule_name else text.removeprefix("root ::= ")


def _ebnf_to_grammar_no_normalization(ebnf_string: str, root_rule_name: str = "root") -> Grammar:
    """Read a grammar from GBNF text; grammars are normalised when they are compiled, not when they are read."""
    return Grammar.from_ebnf(ebnf_string, root_rule_name=root_rule_name)


def _get_matcher_from_grammar(grammar: Grammar | grammars.Grammar | str, **kwargs: Any) -> GrammarMatcher:
    """A matcher of text, without tokens."""
    compiled = GrammarCompiler(TokenizerInfo([]), cache_enabled=False).compile_grammar(grammar)
    return GrammarMatcher(compiled, terminate_without_stop_token=True, **kwargs)


def _get_matcher_from_grammar_and_tokenizer_info(
    grammar: Grammar | grammars.Grammar | str,
    tokenizer_info: TokenizerInfo | decoding.TokenizerInfo | None = None,
    **kwargs: Any,
) -> GrammarMatcher:
    """A matcher of tokens."""
    info = TokenizerInfo([]) if tokenizer_info is None else tokenizer_info
    return GrammarMatcher(GrammarCompiler(info, cache_enabled=False).compile_grammar(grammar), **kwargs)


def _is_grammar_accept_string(
    grammar: Grammar | grammars.Grammar | str,
    input_str: str,
    *,
    debug_print: bool = False,
    print_time: bool = False,
    require_termination: bool = True,
) -> bool:
    """Whether a grammar accepts a text; with `require_termination=False`, as the beginning of one."""
    matcher = _get_matcher_from_grammar(grammar)
    start = time.monotonic_ns()
    accepted = matcher.accept_string(input_str, debug_print=debug_print)
    if print_time:
        print(f"{input_str!r}: {accepted}, {(time.monotonic_ns() - start) / 1e3} us")  # noqa: T201  # as asked
    return accepted and (not require_termination or matcher.is_terminated())


def _bits(bitmask: Any, vocab_size: int, index: int) -> Any:
    row = np.ascontiguousarray(numpy_rows(bitmask)[index], "<i4")
    return np.unpackbits(row.view(np.uint8), count=vocab_size, bitorder="little")


def _get_masked_tokens_from_bitmask(bitmask: Any, vocab_size: int, index: int = 0) -> list[int]:
    """The tokens that a row denies."""
    return [int(token) for token in np.flatnonzero(_bits(bitmask, vocab_size, index) == 0)]


def _is_single_token_bitmask(bitmask: Any, vocab_size: int, index: int = 0) -> tuple[bool, int]:
    """Whether a row allows exactly one token, and which (-1 otherwise)."""
    allowed = np.flatnonzero(_bits(bitmask, vocab_size, index))
    return (True, int(allowed[0])) if len(allowed) == 1 else (False, -1)


def bool_mask_to_bitmask(bool_mask: Any) -> Any:
    """The bitmask, int32 [batch, words], of a boolean mask [batch, vocab] (True: allowed); padding is allowed."""
    values = np.asarray(bool_mask, dtype=bool)
    batch, width = values.shape
    bitmask = allocate_token_bitmask(batch, width)
    padded = np.ones((batch, -(-width // 32) * 32), dtype=bool)
    padded[:, :width] = values
    numpy_rows(bitmask)[:] = np.packbits(padded, axis=1, bitorder="little").view("<i4")
    return bitmask


def bitmask_to_bool_mask(bit_mask: Any, vocab_size: int | None = None) -> Any:
    """The boolean mask [batch, vocab_size] of a bitmask (True: allowed).

    Raises:
        ValueError: the bitmask has fewer tokens.
    """
    rows = numpy_rows(bit_mask)
    width = rows.shape[1] * 32 if vocab_size is None else vocab_size
    if width > rows.shape[1] * 32:
        raise ValueError(f"the bitmask has {rows.shape[1] * 32} tokens, not {width}")
    mask = np.stack([_bits(rows, width, index) for index in range(len(rows))]).astype(bool)
    if isinstance(bit_mask, np.ndarray):
        return mask
    import torch

    return torch.from_numpy(mask)


def _traverse_draft_tree(  # noqa: PLR0917  # as in xgrammar
    retrieve_next_token: Any,
    retrieve_next_sibling: Any,
    draft_tokens: Any,
    matcher: GrammarMatcher,
    allocate_token_bitmask: Any,
    time_threshold: float = -1.0,
) -> bool:
    """`GrammarMatcher.traverse_draft_tree` with the matcher as an argument."""
    return matcher.traverse_draft_tree(
        retrieve_next_token, retrieve_next_sibling, draft_tokens, allocate_token_bitmask, time_threshold
    )


def _is_rule_fsm_accept_string(grammar: Grammar, rule_id: int, input_str: str) -> NoReturn:  # noqa: ARG001
    refuse("testing._is_rule_fsm_accept_string")


def _get_allow_empty_rule_ids(compiled_grammar: CompiledGrammar) -> NoReturn:  # noqa: ARG001
    refuse("testing._get_allow_empty_rule_ids")


def _generate_range_regex(start: int | None = None, end: int | None = None) -> NoReturn:  # noqa: ARG001
    refuse("testing._generate_range_regex")


def _generate_float_regex(
    start: float | None = None,  # noqa: ARG001
    end: float | None = None,  # noqa: ARG001
    exclusive_start: bool = False,  # noqa: ARG001
    exclusive_end: bool = False,  # noqa: ARG001
) -> NoReturn:
    refuse("testing._generate_float_regex")


def _print_grammar_fsms(grammar: Grammar) -> NoReturn:  # noqa: ARG001
    refuse("testing._print_grammar_fsms")


def _no_pass(grammar: Grammar) -> NoReturn:  # noqa: ARG001
    refuse("testing.GrammarFunctor")


class GrammarFunctor:
    """Not supported: each pass raises `NotImplementedError`."""

    structure_normalizer = staticmethod(_no_pass)
    rule_inliner = staticmethod(_no_pass)
    byte_string_fuser = staticmethod(_no_pass)
    dead_code_eliminator = staticmethod(_no_pass)
    lookahead_assertion_analyzer = staticmethod(_no_pass)
    grammar_optimizer = staticmethod(_no_pass)
    fsm_builder = staticmethod(_no_pass)
    repetition_normalizer = staticmethod(_no_pass)
