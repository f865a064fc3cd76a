"""xgrammar with our modules in place of its own, and the names with an underscore that its tests use.

    python -m pytest -p tests.compat.xgrammar_shim PATH/TO/xgrammar/tests/python

As a plugin of pytest it puts them in the place of the package, so that xgrammar's own tests ask ours. Names that show
how xgrammar works inside are not there.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from types import ModuleType
from typing import Any, NoReturn

import numpy as np
import pytest

import syntagma.compat.xgrammar as xgr
from syntagma import decoding, grammars
from syntagma.compat.xgrammar.bitmask import numpy_rows
from syntagma.compat.xgrammar.grammar import Grammar, SchemaOptions, grammar_of_schema
from syntagma.compat.xgrammar.matcher import GrammarMatcher
from syntagma.compat.xgrammar.schemas import schema_text
from syntagma.compat.xgrammar.tokenizer_info import TokenizerInfo

__all__ = ["XGRAMMAR"]


def _bits(bitmask: Any, vocab_size: int, index: int) -> Any:
    row = np.ascontiguousarray(numpy_rows(bitmask)[index], "<i4")
    return np.unpackbits(row.view(np.uint8), count=vocab_size, bitorder="little")


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
        tag = {"type": "json_schema", "json_schema": json.loads(schema_text(schema)), "style": json_format}
        return str(xgr.Grammar.from_structural_tag({"format": {**tag, "any_order": any_order}}))
    options = SchemaOptions(any_whitespace, indent, separators, strict_mode, max_whitespace_cnt, any_order)
    return str(grammar_of_schema(schema, options))


def _regex_to_ebnf(regex: str, with_rule_name: bool = True) -> str:
    """The grammar of a regular expression as text; `with_rule_name=False` removes the name of the first rule."""
    text = str(Grammar.from_regex(regex))
    return text if with_rule_name else Printed(text.removeprefix("root ::= "))


def _ebnf_to_grammar_no_normalization(ebnf_string: str, root_rule_name: str = "root") -> Grammar:
    """Read a grammar from GBNF text; grammars are normalised when they are compiled, not when they are read."""
    return Grammar.from_ebnf(ebnf_string, root_rule_name=root_rule_name)


def _get_matcher_from_grammar(grammar: Grammar | grammars.Grammar | str, **kwargs: Any) -> GrammarMatcher:
    """A matcher of text, without tokens."""
    compiled = xgr.GrammarCompiler(xgr.TokenizerInfo([]), cache_enabled=False).compile_grammar(grammar)
    return GrammarMatcher(compiled, terminate_without_stop_token=True, **kwargs)


def _get_matcher_from_grammar_and_tokenizer_info(
    grammar: Grammar | grammars.Grammar | str,
    tokenizer_info: TokenizerInfo | decoding.TokenizerInfo | None = None,
    **kwargs: Any,
) -> GrammarMatcher:
    """A matcher of tokens."""
    info = TokenizerInfo([]) if tokenizer_info is None else tokenizer_info
    return GrammarMatcher(xgr.GrammarCompiler(info, cache_enabled=False).compile_grammar(grammar), **kwargs)


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
        print(f"{input_str!r}: {accepted}, {(time.monotonic_ns() - start) / 1e3} us")  # as asked
    return accepted and (not require_termination or matcher.is_terminated())


def _get_masked_tokens_from_bitmask(bitmask: Any, vocab_size: int, index: int = 0) -> list[int]:
    """The tokens that a row denies."""
    return [int(token) for token in np.flatnonzero(_bits(bitmask, vocab_size, index) == 0)]


def _is_single_token_bitmask(bitmask: Any, vocab_size: int, index: int = 0) -> tuple[bool, int]:
    """Whether a row allows exactly one token, and which (-1 otherwise)."""
    allowed = np.flatnonzero(_bits(bitmask, vocab_size, index))
    return (True, int(allowed[0])) if len(allowed) == 1 else (False, -1)


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


class Printed(str):
    """The text of a grammar. A test that compares it with xgrammar's own is about neither names nor behaviour."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) or _not_compared("the text of a grammar")

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __contains__(self, part: object) -> bool:
        return str.__contains__(self, str(part)) or _not_compared("the text of a grammar")


def _not_compared(what: str) -> NoReturn:
    pytest.skip(f"not compared: {what}")


def _inside(*_: Any, **__: Any) -> NoReturn:
    _not_compared("how xgrammar works inside")


def _raises(expected: Any, *args: Any, match: object = None, **more: Any) -> Any:  # noqa: ARG001
    """`pytest.raises` without the words of the error, which are ours."""
    return _RAISES(expected, *args, **more)


def _xgrammar() -> ModuleType:
    module, testing = ModuleType("xgrammar"), ModuleType("xgrammar.testing")
    vars(testing).update({name: one for name, one in vars(xgr.testing).items() if not name.startswith("__")})
    vars(testing).update({name: one for name, one in globals().items() if name.startswith("_") and callable(one)})
    vars(module).update({name: one for name, one in vars(xgr).items() if not name.startswith("__")})
    inside = ("_print_grammar_fsms", "_is_rule_fsm_accept_string", "_get_allow_empty_rule_ids")
    inside = (*inside, "_generate_range_regex", "_generate_float_regex")
    passes = [name for name in vars(xgr.testing.GrammarFunctor) if not name.startswith("_")]
    functor = type("GrammarFunctor", (), {name: staticmethod(_inside) for name in passes})
    vars(testing).update({"GrammarFunctor": functor, **dict.fromkeys(inside, _inside)})
    vars(module).update({"testing": testing, "__getattr__": xgr.__getattr__, "__path__": []})
    return module


XGRAMMAR = _xgrammar()
_RAISES: Any = pytest.raises
_RENAMED = {"builtin_structural_tag": "models"}


def pytest_configure() -> None:
    """Put it in the place of the package."""
    written = Grammar.__str__
    Grammar.__str__ = lambda grammar: Printed(written(grammar))  # type: ignore[method-assign]
    pytest.raises = _raises
    sys.modules["xgrammar"] = XGRAMMAR
    sys.modules["xgrammar.testing"] = XGRAMMAR.testing
    for name in (
        "bitmask",
        "compiler",
        "config",
        "contrib",
        "contrib.hf",
        "exception",
        "grammar",
        "matcher",
        "structural_tag",
        "tokenizer_info",
        "openai_tool_call_schema",
        "builtin_structural_tag",
    ):
        sys.modules[f"xgrammar.{name}"] = importlib.import_module(f"{xgr.__name__}.{_RENAMED.get(name, name)}")
