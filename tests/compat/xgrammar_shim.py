"""xgrammar with our modules in place of its own, and the names with an underscore that its tests use.

    python -m pytest -p tests.compat.xgrammar_shim PATH/TO/xgrammar/tests/python

As a plugin of pytest it puts them in the place of the package, so that xgrammar's own tests ask ours. Names that show
how xgrammar works inside are not there.
"""

from __future__ import annotations

import functools
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


class _Asked:
    """What a test has asked so far: for the text of a grammar, and what a grammar or matcher does."""

    text = False
    matcher = False


class Printed(str):
    """Text in words of our own: of a grammar, or of an error. It equals whatever it is compared with.

    A test that compares nothing but such texts is skipped, see `pytest_pyfunc_call`.
    """

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, _other: object) -> bool:
        _Asked.text = True
        return True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __str__(self) -> str:
        return self

    def __contains__(self, _part: object) -> bool:
        _Asked.text = True
        return True


def _inside(*_: Any, **__: Any) -> NoReturn:
    pytest.skip("not compared: how xgrammar works inside")


def _of_kernels(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    _inside()


class _Raised:
    """The context of `pytest.raises` without the words of the error, which are ours."""

    def __init__(self, expected: Any) -> None:
        self._context = _RAISES(expected)

    def __enter__(self) -> Any:
        self._info = self._context.__enter__()
        return self._info

    def __exit__(self, *error: Any) -> bool:
        found = bool(self._context.__exit__(*error))
        if found:
            _Asked.matcher = True
            value = self._info.value
            value.args = tuple(Printed(one) if isinstance(one, str) else one for one in value.args)
        return found


def _raises(expected: Any, *args: Any, match: object = None, **more: Any) -> Any:  # noqa: ARG001
    return _RAISES(expected, *args, **more) if args else _Raised(expected)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Any:  # noqa: ARG001
    """Skip what only compares texts of grammars."""
    _Asked.text = _Asked.matcher = False
    result = yield
    if _Asked.text and not _Asked.matcher:
        pytest.skip("not compared: the text of a grammar")
    return result


def _asking(method: Any) -> Any:
    @functools.wraps(method)
    def asked(*args: Any, **options: Any) -> Any:
        _Asked.matcher = True
        return method(*args, **options)

    return asked


def _xgrammar() -> ModuleType:
    module, testing = ModuleType("xgrammar"), ModuleType("xgrammar.testing")
    vars(testing).update({name: one for name, one in vars(xgr.testing).items() if not name.startswith("__")})
    vars(testing).update({name: one for name, one in globals().items() if name.startswith("_") and callable(one)})
    vars(module).update({name: one for name, one in vars(xgr).items() if not name.startswith("__")})
    inside = ["_print_grammar_fsms", "_is_rule_fsm_accept_string", "_get_allow_empty_rule_ids"]
    inside += ["_generate_range_regex", "_generate_float_regex"]
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
    setattr(Grammar, "__str__", lambda grammar: Printed(written(grammar)))  # noqa: B010  # for the type checker
    setattr(pytest, "raises", _raises)  # noqa: B010
    for name in ("accept_string", "accept_token", "fill_next_token_bitmask", "get_captures"):
        setattr(GrammarMatcher, name, _asking(getattr(GrammarMatcher, name)))
    sys.modules["xgrammar"] = XGRAMMAR
    sys.modules["xgrammar.testing"] = XGRAMMAR.testing
    for name in ("kernels", "kernels.apply_token_bitmask_inplace_cpu"):
        module = sys.modules[f"xgrammar.{name}"] = ModuleType(f"xgrammar.{name}")
        vars(module).update({"__getattr__": _of_kernels, "__path__": []})
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
