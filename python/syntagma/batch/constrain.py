"""`Constrain`: writes the grammar of each row's turn in the language of an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias, Unpack, get_args

from syntagma.batch.asked import REQUEST, as_data, asked_by, prompt_of
from syntagma.batch.stage import Kind, Stage
from syntagma.batch.values import json_of
from syntagma.constraints import build_grammar
from syntagma.decoding import TokenizerInfo
from syntagma.entry import check_argument
from syntagma.errors import ArgumentError, GrammarError
from syntagma.format_schema import StartState
from syntagma.formats import ChatFormat
from syntagma.formats.styles import styled
from syntagma.grammars.lru_cache import LruCache
from syntagma.messages import ToolLike
from syntagma.parsing import StreamParser
from syntagma.request import RequestOptions, ResolvedRequest, resolve_request

__all__ = ["Constrain", "Dialect"]

Dialect: TypeAlias = Literal["ebnf", "gbnf", "lark", "structural_tag", "xgrammar"]
_CACHE_BYTES = 64 << 20
_ENTRY_BYTES = 32 << 10
"""approximate size of a grammar's text"""


class Constrain(Stage):
    """Writes a grammar of the allowed answers for each row, for engines that enforce grammars.

    Optional input columns, by standard names: `tools`, `tool_choice`, `response_format`, `prompt`, `prompt_start` and
    `template_kwargs`, as structures or as JSON text. Output columns: `grammar` (text; JSON text for `structural_tag`),
    `grammar_status` (`exact`; `wider`, it accepts more; `free`, the request constrains nothing, so there is no
    grammar), `preserved_tokens` (special tokens that the grammar spells as text) and `error`.

    Args:
        fmt: the format that the model writes.
        dialect: the grammar language: `gbnf` for llama.cpp, `lark` for llguidance, `xgrammar`, `structural_tag`, or
            `ebnf`, Syntagma's own.
        tools: the default tools, for rows without tools.
        info: the model's vocabulary, so that tokens are written as numbers if the language allows it; None: as text.
        columns: standard name → name in the data.
        **options: see `syntagma.request.RequestOptions`.

    Raises:
        ArgumentError: `E-BATCH-DIALECT`, the language is unknown; `E-BATCH-NAME`, `columns` has an unknown column; or
            see `ChatFormat.grammar`.
    """

    needs = None
    lists = False
    reads: ClassVar[tuple[str, ...]] = ("prompt", "prompt_start", *REQUEST)
    results: Mapping[str, Kind] = {"grammar": "text", "grammar_status": "text", "preserved_tokens": "texts"}

    def __init__(
        self,
        fmt: ChatFormat,
        dialect: Dialect,
        *,
        tools: Sequence[ToolLike] | None = None,
        info: TokenizerInfo | None = None,
        columns: Mapping[str, str] | None = None,
        **options: Unpack[RequestOptions],
    ) -> None:
        check_argument("fmt", fmt, ChatFormat)
        super().__init__(columns)
        if dialect not in get_args(Dialect):
            raise ArgumentError(
                "E-BATCH-DIALECT", f"unknown dialect {dialect!r}", hint=f"one of {', '.join(get_args(Dialect))}"
            )
        self._format, self._dialect = fmt, dialect
        self._token_ids = None if info is None else _token_ids(info)
        self._options: dict[str, Any] = as_data({**options, "tools": tools})
        self._cache: LruCache[dict[str, Any]] = LruCache(_CACHE_BYTES)
        # Errors in the options are raised here, not in every row. A tool choice may name a tool of a row.
        resolve_request(**self._options, for_reading=True)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_cache"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._cache = LruCache(_CACHE_BYTES)

    def _identity(self) -> list[Any]:
        return [self._format.to_toml(), self._dialect, self._token_ids, self._options]

    def _answer(self, given: Mapping[str, Any]) -> dict[str, Any]:
        asked = asked_by(given, self._options)
        request = resolve_request(asked.pop("tools"), **asked)
        if not request.constrains:
            return {"grammar": None, "grammar_status": "free", "preserved_tokens": []}
        start = StreamParser.from_request(self._format, request, prompt=prompt_of(given)).start_state
        # Rows of one task usually have the same request, so grammars are cached by its columns.
        key = json_of([given[name] for name in REQUEST]), start
        return self._cache.get(key, _ENTRY_BYTES + len(key[0]), lambda: self._written(request, start))

    def _written(self, request: ResolvedRequest, start: StartState) -> dict[str, Any]:
        grammar = build_grammar(self._format.spec, request, start, styled)
        export = grammar.exports(self._token_ids, languages=[self._dialect])[self._dialect]
        if export.status == "no":
            raise GrammarError("E-BATCH-DIALECT", f"the grammar cannot be written as {self._dialect}: {export.why}")
        source = export.source if isinstance(export.source, str) else json_of(export.source).decode()
        return {
            "grammar": source,
            "grammar_status": export.status,
            "preserved_tokens": list(export.preserved_tokens),
        }


def _token_ids(info: TokenizerInfo) -> dict[str, int]:
    """The ids of tokens that may replace a marker, by text."""
    return {info.token_bytes(token).decode("utf-8", "replace"): token for token in info.added_token_ids}
