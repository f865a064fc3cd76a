"""`GrammarCompiler` and `CompiledGrammar` by xgrammar's names."""

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
    """A grammar compiled for a vocabulary. Made by a compiler."""

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
        """Approximate bytes that it holds at the moment; it grows while it is used, within bounds."""
        return self._compiled.stats()["bytes"]

    def serialize_json(self) -> str:
        """The grammar and what tells its vocabulary, as JSON text."""
        return write(
            "CompiledGrammar",
            grammar=self._grammar.serialize_json(),
            tokenizer=self._tokenizer_info.dump_metadata(),
        )

    @staticmethod
    def deserialize_json(json_str: str, tokenizer_info: TokenizerInfo | decoding.TokenizerInfo) -> CompiledGrammar:
        """What `serialize_json` wrote, for the same vocabulary.

        Raises:
            WrongTypeError: no text, or no vocabulary.
            InvalidJSONError, DeserializeVersionError: other text.
            DeserializeFormatError: other text, or another vocabulary.
        """
        info = tokenizer_info_of(tokenizer_info)
        grammar, metadata = read(json_str, "CompiledGrammar", "grammar", "tokenizer")
        if metadata != info.dump_metadata():
            raise DeserializeFormatError("the text belongs to another vocabulary")
        if not isinstance(grammar, str):
            raise DeserializeFormatError(f"the grammar is text, not a {type(grammar).__name__}")
        return GrammarCompiler(info, cache_enabled=False).compile_grammar(Grammar.deserialize_json(grammar))


class GrammarCompiler:
    """Compiles grammars for one vocabulary.

    Args:
        tokenizer_info: the vocabulary; `syntagma.TokenizerInfo` is taken, too.
        max_threads: kept for whoever gives it; compiling does not look at the vocabulary, so it takes no threads.
        cache_enabled: False compiles every grammar anew.
        cache_limit_bytes: bound on the cache; -1: the library's default.

    Raises:
        WrongTypeError: no `TokenizerInfo`, or another argument of another type.
        WrongValueError: a bound below -1.
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
        # A token that is named by its text need not be special: the vocabulary is made to know it by name.
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
        """A grammar, of the library too, or GBNF text.

        Raises:
            WrongTypeError: neither.
            RuntimeError: a grammar that cannot be read or compiled.
        """
        if isinstance(grammar, str):
            return self._compile(Grammar.from_ebnf(grammar, root_rule_name=root_rule_name))
        return self._compile(grammar_of(grammar))

    def clear_cache(self) -> None:
        """Forget every compiled grammar; those in use live on."""
        self._inner.clear()
        self._named.clear()

    def get_cache_size_bytes(self) -> int:
        """Approximate bytes of the cache."""
        return sum(compiler.stats.bytes for compiler in (self._inner, *self._named.values()))

    @property
    def cache_limit_bytes(self) -> int:
        """The bound that was given, or -1."""
        return self._limit
