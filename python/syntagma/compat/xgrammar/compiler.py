"""`GrammarCompiler` and `CompiledGrammar` under xgrammar's names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from syntagma import _engine, decoding, grammars
from syntagma.compat.xgrammar.arguments import checked, integer, wrong_type
from syntagma.compat.xgrammar.exception import DeserializeFormatError
from syntagma.compat.xgrammar.grammar import Grammar, SchemaOptions, grammar_of, grammar_of_schema
from syntagma.compat.xgrammar.serialization import read, write
from syntagma.compat.xgrammar.support import errors
from syntagma.compat.xgrammar.tokenizer_info import TokenizerInfo, tokenizer_info_of

__all__ = ["CompiledGrammar", "GrammarCompiler"]


class CompiledGrammar:
    """A grammar compiled for a vocabulary. `GrammarCompiler` makes it."""

    _compiled: _engine.CompiledGrammar
    _grammar: Grammar
    _tokenizer_info: TokenizerInfo

    @classmethod
    def _of(cls, compiled: _engine.CompiledGrammar, grammar: Grammar, info: TokenizerInfo) -> CompiledGrammar:
        made = cls.__new__(cls)
        made._compiled, made._grammar, made._tokenizer_info = compiled, grammar, info
        return made

    @property
    def syntagma(self) -> _engine.CompiledGrammar:
        """The library's own compiled grammar."""
        return self._compiled

    @property
    def grammar(self) -> Grammar:
        """The grammar."""
        return self._grammar

    @property
    def tokenizer_info(self) -> TokenizerInfo:
        """The vocabulary."""
        return self._tokenizer_info

    @property
    def memory_size_bytes(self) -> int:
        """The approximate number of bytes it holds now; this grows with use, within bounds."""
        return self._compiled.stats()["bytes"]

    def serialize_json(self) -> str:
        """The grammar and the metadata that identify its vocabulary, as JSON text."""
        return write(
            "CompiledGrammar",
            grammar=self._grammar.serialize_json(),
            tokenizer=self._tokenizer_info.dump_metadata(),
        )

    @staticmethod
    def deserialize_json(json_str: str, tokenizer_info: TokenizerInfo | decoding.TokenizerInfo) -> CompiledGrammar:
        """Read what `serialize_json` wrote, for the same vocabulary.

        Raises:
            WrongTypeError: the text is not a string, or the vocabulary is not a `TokenizerInfo`.
            InvalidJSONError: the text is not JSON.
            DeserializeVersionError: it was written by another version.
            DeserializeFormatError: it is not a compiled grammar, or belongs to another vocabulary.
        """
        info = tokenizer_info_of(tokenizer_info)
        grammar, metadata = read(json_str, "CompiledGrammar", "grammar", "tokenizer")
        if metadata != info.dump_metadata():
            raise DeserializeFormatError("the text belongs to another vocabulary")
        if not isinstance(grammar, str):
            raise DeserializeFormatError(f"the grammar must be a string, not a {type(grammar).__name__}")
        return GrammarCompiler(info, cache_enabled=False).compile_grammar(Grammar.deserialize_json(grammar))


class GrammarCompiler:
    """Compiles grammars for one vocabulary.

    Args:
        tokenizer_info: the vocabulary; `syntagma.TokenizerInfo` is accepted, too.
        max_threads: accepted but unused: compiling does not look at the vocabulary, so it needs no threads.
        cache_enabled: False: compile every grammar anew.
        cache_limit_bytes: the limit of the cache; -1: the library's default.

    Raises:
        WrongTypeError: `tokenizer_info` is not a `TokenizerInfo`, or another argument has the wrong type.
        WrongValueError: a limit below -1.
    """

    @checked
    def __init__(
        self,
        tokenizer_info: TokenizerInfo | decoding.TokenizerInfo,
        *,
        max_threads: int = 8,
        cache_enabled: bool = True,
        cache_limit_bytes: int = -1,
    ) -> None:
        integer("max_threads", max_threads)
        if not isinstance(cache_enabled, bool):
            raise wrong_type("cache_enabled", "bool", cache_enabled)
        self._info = tokenizer_info_of(tokenizer_info)
        self._limit = integer("cache_limit_bytes", cache_limit_bytes, -1)
        self._cached = cache_enabled
        self._inner = self._compiler(self._info)
        self._named: dict[TokenizerInfo, decoding.GrammarCompiler] = {}

    def _compiler(self, info: TokenizerInfo) -> decoding.GrammarCompiler:
        limit = None if self._limit < 0 else self._limit
        return decoding.GrammarCompiler(info._info, cache=self._cached, cache_bytes=limit)

    def _compile(self, grammar: Grammar) -> CompiledGrammar:
        # A token named by its text need not be special, so the vocabulary is extended to know it by name.
        info = self._info._naming(grammar._names())
        with errors():
            if info is self._info:
                return CompiledGrammar._of(self._inner.compile(grammar._inner), grammar, info)
            if info not in self._named:
                self._named[info] = self._compiler(info)
            return CompiledGrammar._of(self._named[info].compile(grammar._inner), grammar, self._info)

    def compile_json_schema(
        self,
        schema: Any,
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        any_order: bool = False,
    ) -> CompiledGrammar:
        """As `Grammar.from_json_schema`, compiled."""
        options = SchemaOptions(any_whitespace, indent, separators, strict_mode, max_whitespace_cnt, any_order)
        return self._compile(grammar_of_schema(schema, options))

    def compile_builtin_json_grammar(self) -> CompiledGrammar:
        """As `Grammar.builtin_json_grammar`, compiled."""
        return self._compile(Grammar.builtin_json_grammar())

    def compile_regex(self, regex: str) -> CompiledGrammar:
        """As `Grammar.from_regex`, compiled."""
        return self._compile(Grammar.from_regex(regex))

    def compile_lark(
        self, lark_string: str, *, named_grammars: Mapping[str, Grammar | str] | None = None
    ) -> CompiledGrammar:
        """As `Grammar.from_lark`, compiled."""
        return self._compile(Grammar.from_lark(lark_string, named_grammars=named_grammars))

    def compile_structural_tag(self, *args: Any, **kwargs: Any) -> CompiledGrammar:
        """As `Grammar.from_structural_tag`, compiled."""
        return self._compile(Grammar.from_structural_tag(*args, **kwargs))

    def compile_grammar(
        self, grammar: str | Grammar | grammars.Grammar, *, root_rule_name: str = "root"
    ) -> CompiledGrammar:
        """Compile a grammar, also one of the library, or GBNF text.

        Raises:
            WrongTypeError: `grammar` is none of these.
            RuntimeError: a grammar that cannot be read or compiled.
        """
        if isinstance(grammar, str):
            return self._compile(Grammar.from_ebnf(grammar, root_rule_name=root_rule_name))
        return self._compile(grammar_of(grammar))

    def clear_cache(self) -> None:
        """Forget every compiled grammar; those in use remain valid."""
        self._inner.clear()
        self._named.clear()

    def get_cache_size_bytes(self) -> int:
        """The approximate size of the cache in bytes."""
        return sum(compiler.stats.bytes for compiler in (self._inner, *self._named.values()))

    @property
    def cache_limit_bytes(self) -> int:
        """The limit that was given, or -1."""
        return self._limit
