"""xgrammar's names take wrong arguments with errors of the library that name what came."""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import syntagma as sg
import syntagma.compat.xgrammar as xgr

INFO = xgr.TokenizerInfo(["a", "b", "</s>"], stop_token_ids=[2])
COMPILER = xgr.GrammarCompiler(INFO)
COMPILED = COMPILER.compile_grammar('root ::= "a" "b"')
GRAMMAR = COMPILED.grammar
BATCH = xgr.BatchGrammarMatcher


def matcher(**options: Any) -> xgr.GrammarMatcher:
    return xgr.GrammarMatcher(COMPILED, **options)


def words(*shape: int) -> Any:
    return np.full(shape, -1, np.int32)


def floats(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


class Odd:
    """A type that no function takes."""

    def __repr__(self) -> str:
        # Names of tests must be the same in each process.
        return "Odd()"


CALLS: dict[str, Callable[[Any], Any]] = {
    "token_id": lambda odd: matcher().accept_token(odd),
    "input_str": lambda odd: matcher().accept_string(odd),
    "bitmask": lambda odd: matcher().fill_next_token_bitmask(odd),
    "index": lambda odd: matcher().fill_next_token_bitmask(words(1, 1), odd),
    "num_tokens": lambda odd: matcher().rollback(odd),
    "compiled_grammar": xgr.GrammarMatcher,
    "default_temperature": lambda odd: matcher(default_temperature=odd),
    "override_stop_tokens": lambda odd: matcher(override_stop_tokens=odd),
    "encoded_vocab": xgr.TokenizerInfo,
    "encoded_vocab, one": lambda odd: xgr.TokenizerInfo([odd]),
    "vocab_type": lambda odd: xgr.TokenizerInfo(["a"], odd),
    "vocab_size": lambda odd: xgr.TokenizerInfo(["a"], vocab_size=odd),
    "stop_token_ids": lambda odd: xgr.TokenizerInfo(["a"], stop_token_ids=odd),
    "tokenizer": xgr.TokenizerInfo.from_huggingface,
    "metadata": lambda odd: xgr.TokenizerInfo.from_vocab_and_metadata(["a"], odd),
    "tokenizer_info": xgr.GrammarCompiler,
    "max_threads": lambda odd: xgr.GrammarCompiler(INFO, max_threads=odd),
    "cache_enabled": lambda odd: xgr.GrammarCompiler(INFO, cache_enabled=odd),
    "cache_limit_bytes": lambda odd: xgr.GrammarCompiler(INFO, cache_limit_bytes=odd),
    "grammar": COMPILER.compile_grammar,
    "root_rule_name": lambda odd: COMPILER.compile_grammar('root ::= "a"', root_rule_name=odd),
    "regex_string": COMPILER.compile_regex,
    "lark_string": COMPILER.compile_lark,
    "ebnf_string": xgr.Grammar.from_ebnf,
    "schema": COMPILER.compile_json_schema,
    "separators": lambda odd: xgr.Grammar.from_json_schema({}, any_whitespace=False, separators=odd),
    "indent": lambda odd: xgr.Grammar.from_json_schema({}, any_whitespace=False, indent=odd),
    "max_whitespace_cnt": lambda odd: xgr.Grammar.from_json_schema({}, max_whitespace_cnt=odd),
    "grammars": lambda odd: xgr.Grammar.concat(GRAMMAR, odd),
    "grammars, others": xgr.Grammar.union,
    "structural_tag": xgr.Grammar.from_structural_tag,
    "tags": lambda odd: xgr.Grammar.from_structural_tag([odd], ["<"]),
    "json_string": xgr.Grammar.deserialize_json,
    "json_string, others": xgr.TokenizerInfo.deserialize_json,
    "json_string, compiled": lambda odd: xgr.CompiledGrammar.deserialize_json(odd, INFO),
    "tokenizer_info, compiled": lambda odd: xgr.CompiledGrammar.deserialize_json(COMPILED.serialize_json(), odd),
    "batch_size": lambda odd: xgr.allocate_token_bitmask(odd, 3),
    "vocab_size, shape": lambda odd: xgr.get_bitmask_shape(1, odd),
    "bitmask, reset": xgr.reset_token_bitmask,
    "logits": lambda odd: xgr.apply_token_bitmask_inplace(odd, words(1, 1)),
    "bitmask, apply": lambda odd: xgr.apply_token_bitmask_inplace(floats(1, 32), odd),
    "indices": lambda odd: xgr.apply_token_bitmask_inplace(floats(1, 32), words(1, 1), indices=[odd]),
    "vocab_size, apply": lambda odd: xgr.apply_token_bitmask_inplace(floats(1, 32), words(1, 1), vocab_size=odd),
    "max_threads, batch": BATCH,
    "matchers": lambda odd: BATCH().batch_fill_next_token_bitmask([odd], words(1, 1)),
    "matchers, accept": lambda odd: BATCH.batch_accept_token(odd, [0]),
    "token_id, batch": lambda odd: BATCH.batch_accept_token([matcher()], [odd]),
    "input_str, batch": lambda odd: BATCH.batch_accept_string([matcher()], [odd]),
    "num_tokens, batch": lambda odd: BATCH.batch_rollback([matcher()], odd),
    "indices, batch": lambda odd: BATCH().batch_fill_next_token_bitmask([matcher()], words(1, 1), [odd]),
    "temperatures": lambda odd: BATCH.batch_fill_temperature([matcher()], odd),
    "retrieve_next_token": lambda odd: matcher().traverse_draft_tree(odd, words(1), words(1), words(1, 1)),
    "draft_tokens": lambda odd: matcher().traverse_draft_tree(words(1), words(1), [odd], words(1, 1)),
    "max_recursion_depth": xgr.set_max_recursion_depth,
    "tokens of a processor": xgr.hf.LogitsProcessor,
}
"""calls with one argument left open, by its name; behind a comma, what tells it from others of that name"""


@pytest.mark.parametrize("name", CALLS)
def test_an_argument_of_another_type_is_refused_by_name(name: str) -> None:
    with pytest.raises(TypeError) as caught:
        CALLS[name](Odd())
    error = caught.value
    assert isinstance(error, xgr.exception.WrongTypeError)
    # What callers of xgrammar catch: which of these it raises depends on the argument there.
    assert isinstance(error, ValueError)
    assert isinstance(error, RuntimeError)
    assert error.code == "E-ARGUMENT-TYPE"
    assert "Odd" in error.message
    assert error.pointer


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    "value", [True, 1.5, "odd", b"\xff", [], [Odd()], {}, 10**30, -7, "\ud800", math.nan, int], ids=repr
)
def test_no_argument_raises_anything_else(name: str, value: Any) -> None:
    """Whatever comes is taken, or refused with an error that says so: never an error from inside."""
    with xgr.max_recursion_depth(xgr.get_max_recursion_depth()), contextlib.suppress(sg.SyntagmaError, RuntimeError):
        CALLS[name](value)


WRONG_VALUES: dict[str, tuple[Callable[[], Any], str]] = {
    "rank": (lambda: matcher().fill_next_token_bitmask(words(1, 1, 1)), "E-BITMASK-SIZE"),
    "width": (lambda: matcher().fill_next_token_bitmask(words(1, 5)), "E-BITMASK-SIZE"),
    "elements": (lambda: matcher().fill_next_token_bitmask(floats(1, 1)), "E-BITMASK-TYPE"),
    "row": (lambda: matcher().fill_next_token_bitmask(words(1, 1), 1), "E-BITMASK-INDEX"),
    "negative row": (lambda: matcher().fill_next_token_bitmask(words(1, 1), -1), "E-BITMASK-INDEX"),
    "negative steps": (lambda: matcher().rollback(-1), "E-ARGUMENT-VALUE"),
    "negative temperature": (lambda: matcher(default_temperature=-0.5), "E-ARGUMENT-VALUE"),
    "no temperature": (lambda: matcher(default_temperature=math.nan), "E-ARGUMENT-VALUE"),
    "endless temperature": (lambda: matcher(default_temperature=math.inf), "E-ARGUMENT-VALUE"),
    "no stop token": (lambda: matcher(override_stop_tokens=[]), "E-ARGUMENT-VALUE"),
    "cache": (lambda: xgr.GrammarCompiler(INFO, cache_limit_bytes=-2), "E-ARGUMENT-VALUE"),
    "negative size": (lambda: xgr.get_bitmask_shape(1, -3), "E-ARGUMENT-VALUE"),
    "batches": (lambda: xgr.apply_token_bitmask_inplace(floats(2, 32), words(3, 1)), "E-BITMASK-SIZE"),
    "logits": (lambda: xgr.apply_token_bitmask_inplace(words(1, 32), words(1, 1)), "E-BITMASK-TYPE"),
    "vocab_size": (
        lambda: xgr.apply_token_bitmask_inplace(floats(1, 32), words(1, 1), vocab_size=33),
        "E-BITMASK-SIZE",
    ),
    "indices": (
        lambda: xgr.apply_token_bitmask_inplace(floats(2, 32), words(2, 1), indices=[5]),
        "E-BITMASK-INDEX",
    ),
    "fewer rows": (lambda: BATCH().batch_fill_next_token_bitmask([matcher()] * 2, words(1, 1)), "E-BITMASK-INDEX"),
    "more indices": (lambda: BATCH().batch_fill_next_token_bitmask([matcher()], words(2, 1), [0, 1]), "E-BATCH-SIZE"),
    "more tokens": (lambda: BATCH.batch_accept_token([matcher()], [0, 1]), "E-BATCH-SIZE"),
    "short temperatures": (lambda: BATCH.batch_fill_temperature([matcher()] * 2, floats(1)), "E-ARGUMENT-VALUE"),
    "flat temperatures": (lambda: BATCH.batch_fill_temperature([matcher()], floats(1, 1)), "E-ARGUMENT-VALUE"),
    "whole temperatures": (lambda: BATCH.batch_fill_temperature([matcher()], words(1)), "E-ARGUMENT-TYPE"),
    "tree": (lambda: matcher().traverse_draft_tree([-1], [-1, -1], [0], words(1, 1)), "E-BITMASK-SIZE"),
    "depth": (lambda: xgr.set_max_recursion_depth(0), "E-ARGUMENT-VALUE"),
    "text": (lambda: matcher().accept_string("\ud800"), "E-ARGUMENT-TEXT"),
}


@pytest.mark.parametrize("name", WRONG_VALUES)
def test_a_value_that_does_not_fit_is_refused_with_its_code(name: str) -> None:
    call, code = WRONG_VALUES[name]
    with pytest.raises(xgr.exception.WrongValueError) as caught:
        call()
    assert caught.value.code == code
    assert isinstance(caught.value, RuntimeError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("token", [-1, 3, 10**30])
def test_a_token_outside_of_the_vocabulary_is_not_taken(token: int) -> None:
    one = matcher()
    assert not one.accept_token(token)
    assert one.accept_token(np.int64(0))


def test_refusals_leave_the_matcher_as_it_was() -> None:
    one = matcher()
    assert one.accept_token(0)
    for call in (lambda: one.accept_token(True), lambda: one.rollback(-1), lambda: one.accept_string(3)):  # type: ignore[arg-type]
        with pytest.raises(xgr.exception.WrongValueError):
            call()
    assert one.accept_token(1)
    assert one.is_completed()


def test_an_object_of_the_same_name_is_told_apart() -> None:
    """The message says whose object came: the names alone are the same."""
    with pytest.raises(xgr.exception.WrongTypeError, match=r"not a syntagma\.GrammarMatcher"):
        BATCH.batch_accept_token([matcher().syntagma], [0])  # type: ignore[list-item]


def test_signatures_are_seen_through_the_checks() -> None:
    assert list(inspect.signature(xgr.TokenizerInfo).parameters)[:2] == ["encoded_vocab", "vocab_type"]
