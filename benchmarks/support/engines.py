"""Grammar engines behind one face, each through its cheapest public way to a bitmask.

An engine compiles a source, opens matchers and hands out two calls for each: one that fills a row, one that takes a
token and says whether it was allowed. Peers are imported when they are made; one that is not installed raises
ImportError there and is skipped by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import syntagma as sg
from support.vocabularies import Vocabulary
from syntagma.formats import styled

Row = NDArray[np.int32]
Calls = tuple[Callable[[], Any], Callable[[int], Any]]
"""Fills the row; takes a token, False if it was refused."""


class Engine(Protocol):
    """What a benchmark asks of an engine.

    Attributes:
        kinds: the sources that it reads, the best first: `json_schema`, `ebnf`, `gbnf`, `lark`, `regex`,
            `structural_tag`.
        version: of the package.
    """

    kinds: tuple[str, ...]
    version: str

    def compile(self, kind: str, source: str) -> Any:
        """Ready for matchers; raises where the source is refused."""
        ...

    def matcher(self, compiled: Any) -> Any: ...

    def calls(self, matcher: Any, row: Row) -> Calls: ...


class Syntagma:
    """This library through its public names."""

    kinds = ("json_schema", "ebnf", "gbnf", "lark", "regex", "structural_tag")
    version = sg.__version__

    def __init__(self, vocabulary: Vocabulary, *, cache: bool = True) -> None:
        self.info = sg.TokenizerInfo.from_tokens(
            vocabulary.tokens, eos_token_ids=vocabulary.eos, special_token_ids=vocabulary.special
        )
        self.compiler = sg.GrammarCompiler(self.info, cache=cache)

    def compile(self, kind: str, source: str) -> Any:
        read: Mapping[str, Callable[[str], sg.Grammar]] = {
            "json_schema": sg.Grammar.from_json_schema,
            "ebnf": sg.Grammar.from_ebnf,
            "gbnf": sg.Grammar.from_gbnf,
            "lark": sg.Grammar.from_lark,
            "regex": sg.Grammar.from_regex,
            "structural_tag": lambda source: sg.Grammar.from_structural_tag(json.loads(source), styles=styled),
        }
        compiled = self.compiler.compile(read[kind](source))
        sg.GrammarMatcher(compiled)
        return compiled

    def matcher(self, compiled: Any) -> Any:
        return sg.GrammarMatcher(compiled)

    def calls(self, matcher: Any, row: Row) -> Calls:
        return partial(matcher.fill_next_token_bitmask, row), matcher.accept_token

    def fill_batch(self, matchers: Sequence[Any], rows: NDArray[np.int32], threads: int) -> None:
        sg.fill_next_token_bitmask_batch(matchers, rows, threads=threads)


class Llguidance:
    """llguidance: masks are written through a pointer, matchers are copies of a compiled one."""

    kinds = ("json_schema", "lark", "regex", "structural_tag")

    def __init__(self, vocabulary: Vocabulary) -> None:
        import llguidance

        self.library = llguidance
        self.version = version("llguidance")
        if vocabulary.tokenizer is not None:
            self.tokenizer = llguidance.LLTokenizer(
                vocabulary.tokenizer.read_text(), n_vocab=len(vocabulary.tokens), eos_token=vocabulary.eos
            )
        else:
            wrapper = llguidance.TokenizerWrapper(_PlainTokenizer(vocabulary))
            self.tokenizer = llguidance.LLTokenizer(wrapper, n_vocab=len(vocabulary.tokens), eos_token=vocabulary.eos)
        self._pools: dict[int, Any] = {}

    def compile(self, kind: str, source: str) -> Any:
        matcher = self.library.LLMatcher
        if kind == "json_schema":
            grammar = matcher.grammar_from_json_schema(source)
        elif kind == "lark":
            grammar = matcher.grammar_from_lark(source)
        elif kind == "structural_tag":
            grammar = matcher.grammar_from_lark(self._written(json.loads(source)["format"]))
        else:
            grammar = matcher.grammar_from_regex(source)
        compiled = matcher(self.tokenizer, grammar, log_level=0)
        if compiled.is_error():
            raise ValueError(compiled.get_error())
        return compiled

    def _written(self, tag: Any) -> str:
        """The Lark text of a tag whose triggers each begin the tags of a schema; it has a class for no others."""
        if tag["type"] != "triggered_tags" or set(tag) - {"type", "triggers", "tags"}:
            raise ValueError("no class for this tag")
        parts = []
        for one in tag["tags"]:
            trigger = next(trigger for trigger in tag["triggers"] if one["begin"].startswith(trigger))
            schema = one["content"]["json_schema"]
            parts.append(self.library.StructTag(trigger=trigger, begin=one["begin"], grammar=schema, end=one["end"]))
        return str(self.library.StructTag.to_grammar(parts, assume_special=False))

    def matcher(self, compiled: Any) -> Any:
        return compiled.deep_copy()

    def calls(self, matcher: Any, row: Row) -> Calls:
        return partial(matcher.unsafe_compute_mask_ptr, row.ctypes.data, row.nbytes), matcher.consume_token

    def fill_batch(self, matchers: Sequence[Any], rows: NDArray[np.int32], threads: int) -> None:
        pool = self._pools.get(threads)
        if pool is None:
            pool = self._pools[threads] = self.library.LLExecutor(threads)
        indexed = [(matcher, index) for index, matcher in enumerate(matchers)]
        pool.unsafe_compute_mask_ptr(indexed, rows.ctypes.data, rows.shape[1] * 4, rows.shape[0])


class _PlainTokenizer:
    """The face that llguidance's wrapper asks for, where there is no `tokenizer.json`."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.tokens = vocabulary.tokens
        self.special_token_ids = vocabulary.special
        self.eos_token_id = vocabulary.eos[0]
        self.bos_token_id = None
        self._greedy = vocabulary.greedy

    def __call__(self, text: str | bytes) -> list[int]:
        return self._greedy(text if isinstance(text, bytes) else text.encode())


class Xgrammar:
    """xgrammar, compiling on one thread; without `cache` every schema is compiled as if it were the first."""

    kinds = ("json_schema", "gbnf", "lark", "regex", "structural_tag")

    def __init__(self, vocabulary: Vocabulary, *, cache: bool = True) -> None:
        import xgrammar

        import torch

        torch.set_num_threads(1)
        self.library, self.torch = xgrammar, torch
        self.version = version("xgrammar")
        info = xgrammar.TokenizerInfo(
            vocabulary.tokens,
            xgrammar.VocabType.RAW,
            vocab_size=len(vocabulary.tokens),
            stop_token_ids=list(vocabulary.eos),
        )
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=cache)
        self._pools: dict[int, Any] = {}

    def compile(self, kind: str, source: str) -> Any:
        if kind == "json_schema":
            compiled = self.compiler.compile_json_schema(source)
        elif kind == "gbnf":
            compiled = self.compiler.compile_grammar(source)
        elif kind == "lark":
            compiled = self.compiler.compile_grammar(self.library.Grammar.from_lark(source))
        elif kind == "structural_tag":
            compiled = self.compiler.compile_structural_tag(json.loads(source))
        else:
            compiled = self.compiler.compile_regex(source)
        self.matcher(compiled)
        return compiled

    def matcher(self, compiled: Any) -> Any:
        return self.library.GrammarMatcher(compiled)

    def calls(self, matcher: Any, row: Row) -> Calls:
        return partial(matcher.fill_next_token_bitmask, self.torch.from_numpy(row)[None]), matcher.accept_token

    def fill_batch(self, matchers: Sequence[Any], rows: NDArray[np.int32], threads: int) -> None:
        pool = self._pools.get(threads)
        if pool is None:
            pool = self._pools[threads] = self.library.BatchGrammarMatcher(max_threads=threads)
        pool.batch_fill_next_token_bitmask(list(matchers), self.torch.from_numpy(rows))


class Outlines:
    """outlines-core: regular languages, indexed over the whole vocabulary when they are compiled."""

    kinds = ("json_schema", "regex")

    def __init__(self, vocabulary: Vocabulary) -> None:
        import outlines_core
        from outlines_core.json_schema import build_regex_from_schema

        self.library, self._regex = outlines_core, build_regex_from_schema
        self.version = version("outlines_core")
        ids: dict[bytes, list[int]] = {}
        special = set(vocabulary.special)
        for token, data in enumerate(vocabulary.tokens):
            if data and token not in special:
                ids.setdefault(data, []).append(token)
        self.vocabulary = outlines_core.Vocabulary(vocabulary.eos[0], ids)

    def compile(self, kind: str, source: str) -> Any:
        return self.library.Index(self._regex(source) if kind == "json_schema" else source, self.vocabulary)

    def matcher(self, compiled: Any) -> Any:
        return self.library.Guide(compiled)

    def calls(self, matcher: Any, row: Row) -> Calls:
        def take(token: int) -> bool:
            try:
                matcher.advance(token, False)
            except ValueError:
                return False
            return True

        return partial(matcher.write_mask_into, row.ctypes.data, row.size, 4), take


class Kbnf:
    """kbnf: it ends at the first possible end, so its texts end in what nothing follows."""

    kinds = ("ebnf",)

    def __init__(self, vocabulary: Vocabulary) -> None:
        import kbnf

        self.library = kbnf
        self.version = version("kbnf")
        special = set(vocabulary.special)
        used = {token: data for token, data in enumerate(vocabulary.tokens) if data and token not in special}
        self.vocabulary = kbnf.Vocabulary(
            {token: kbnf.Token(data) for token, data in used.items()},
            {token: data.decode("utf-8", "replace") for token, data in used.items()},
        )

    def compile(self, kind: str, source: str) -> Any:  # noqa: ARG002  # it reads one kind
        return self.library.Engine(source, self.vocabulary)

    def matcher(self, compiled: Any) -> Any:
        compiled.reset()
        return compiled

    def calls(self, matcher: Any, row: Row) -> Calls:
        def fill() -> None:
            matcher.compute_allowed_token_ids()
            row[:] = 0
            matcher.fill_torch_bitmask(row.ctypes.data)

        def take(token: int) -> bool:
            try:
                matcher.try_accept_new_token(token)
            except Exception:  # refusals are exceptions of several types
                return False
            return True

        return fill, take


ENGINES: dict[str, Callable[[Vocabulary], Any]] = {
    "syntagma": Syntagma,
    "syntagma, no cache": partial(Syntagma, cache=False),
    "llguidance": Llguidance,
    "xgrammar": Xgrammar,
    "xgrammar, no cache": partial(Xgrammar, cache=False),
    "outlines-core": Outlines,
    "kbnf": Kbnf,
}


def plain_json(value: Any) -> str:
    """JSON as the documents are written."""
    return json.dumps(value, ensure_ascii=False)
