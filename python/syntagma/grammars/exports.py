"""What a grammar looks like in the languages of others, and what of it they do not hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

from syntagma.errors import ArgumentError, GrammarError, LimitError
from syntagma.grammars.gbnf import Gbnf
from syntagma.grammars.made import Made, Recorded
from syntagma.grammars.structural_tag import StructuralTag

__all__ = ["Export", "exports_of"]


class Export(msgspec.Struct, frozen=True):
    """A grammar in another language.

    Attributes:
        status: `exact`, the same language; `wider`, it accepts more, see `where`; `no`, it cannot be said, see `why`.
        source: the grammar: text, or for `structural_tag` and `json_schema` plain data; None if there is none.
        where: what more is accepted: the place (a JSON pointer of the schema or the tag, or a label) → what.
        why: the reason why it cannot be said; None if it can.
        preserved_tokens: markers that stand in `source` as text: the engine must let special tokens of these texts
            match them.
    """

    status: Literal["exact", "wider", "no"]
    source: str | dict[str, Any] | bool | None = None
    where: Mapping[str, str] = {}
    why: str | None = None
    preserved_tokens: tuple[str, ...] = ()


class _Exported(Protocol):
    """A grammar, as far as it is exported."""

    _bounds: tuple[tuple[str, str, int], ...]
    _made: Recorded

    @property
    def report(self) -> Any: ...
    def to_ebnf(self) -> str: ...
    def to_gbnf(self, token_ids: Mapping[str, int] | None = None) -> Gbnf: ...
    def to_lark(self, token_ids: Mapping[str, int] | None = None) -> str: ...
    def to_structural_tag(self, *, token_ids: Mapping[str, int] | None = None) -> StructuralTag: ...


def exports_of(
    grammar: _Exported, token_ids: Mapping[str, int] | None, only: Sequence[str] | None = None
) -> dict[str, Export]:
    """A grammar in every language that it can be carried to, or in some. See `Grammar.exports`."""
    wider = dict(grammar.report.pointers)
    wider |= {label: f"more than {most} {unit} are accepted" for label, unit, most in grammar._bounds}

    def text(source: str, preserved: tuple[str, ...] = ()) -> Export:
        return Export("wider" if wider else "exact", source, wider, preserved_tokens=preserved)

    def gbnf() -> Export:
        written = grammar.to_gbnf(token_ids)
        rule = written.left_recursive_rule
        if rule is not None:
            return Export("no", why=f"the rule {rule!r} is recursive on the left, which llama.cpp refuses")
        return text(written.text, written.preserved_tokens)

    def xgrammar() -> Export:
        written = grammar.to_gbnf(token_ids)
        return text(written.for_xgrammar(), written.preserved_tokens)

    def tag() -> Export:
        written = grammar.to_structural_tag(token_ids=token_ids)
        where = {**grammar.report.pointers, **written.wider}
        return Export("wider" if where else "exact", dict(written), where)

    def json_schema() -> Export:
        made = Made.of(grammar._made)
        if made is None or made.how != "schema" or made.value[1].notation is not None:
            return Export("no", why="the grammar was not made from a JSON Schema")
        if made.value[1].resources:
            return Export("no", why="the schema refers to others that were given along with it")
        return Export("exact", json.loads(made.value[0]))

    writers: dict[str, Callable[[], Export]] = {
        "ebnf": lambda: text(grammar.to_ebnf()),
        "gbnf": gbnf,
        "lark": lambda: text(grammar.to_lark(token_ids)),
        "xgrammar": xgrammar,
        "structural_tag": tag,
        "json_schema": json_schema,
    }
    unknown = [name for name in only or () if name not in writers]
    if unknown:
        raise ArgumentError(
            "E-ARGUMENT-VALUE", f"languages={unknown[0]!r}", hint="some of " + ", ".join(writers), pointer="/languages"
        )
    return {name: _carried(writers[name]) for name in (writers if only is None else only)}


def _carried(export: Callable[[], Export]) -> Export:
    try:
        return export()
    except (GrammarError, LimitError) as error:
        return Export("no", why=error.message)
