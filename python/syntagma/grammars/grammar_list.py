"""Lists of grammars as llguidance takes them: `{"grammars": [{"lark_grammar": …}, {"name": …, "json_schema": …}]}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any, Protocol, Self, TypeVar

import msgspec

from syntagma.errors import GrammarError
from syntagma.grammars.pointer_prefix import HasPointers, with_pointer_prefix
from syntagma.limits import Limits

__all__ = ["ReadsParts", "is_grammar_list", "read_grammar_list"]

_REFERENCE = re.compile(r"@([A-Za-z0-9_][\w-]*)", re.ASCII)
_HINT = (
    'a list of grammars is written {"grammars": [{"lark_grammar": "start: @x"}, {"name": "x", "json_schema": {}}]}; '
    "the first one is what a text must match"
)


class ReadsParts(HasPointers, Protocol):
    """The readers of what a list is made of."""

    @classmethod
    def from_json_schema(cls, schema: str, /, *, limits: Limits) -> Self:
        """See `Grammar.from_json_schema`."""
        ...

    @classmethod
    def from_lark(cls, text: str, start: str, /, *, grammars: Mapping[str, Self], limits: Limits) -> Self:
        """See `Grammar.from_lark`."""
        ...


G = TypeVar("G", bound=ReadsParts)


class _Part(msgspec.Struct, forbid_unknown_fields=True):
    name: str | None = None
    lark_grammar: str | None = None
    json_schema: msgspec.Raw = msgspec.Raw(b"null")

    @property
    def has_schema(self) -> bool:
        return bytes(self.json_schema) != b"null"


class _List(msgspec.Struct, forbid_unknown_fields=True):
    grammars: list[_Part]
    max_tokens: None = None


def is_grammar_list(value: Any) -> bool:
    """Whether a JSON value is a list of grammars, and no schema."""
    parts = value.get("grammars") if isinstance(value, dict) else None
    kinds = {"json_schema", "lark_grammar"}
    return isinstance(parts, list) and any(isinstance(part, dict) and kinds & part.keys() for part in parts)


def read_grammar_list(text: str, reader: type[G], start: str, limits: Limits) -> G:
    """The first grammar of a list; `@name` in one in Lark stands for another, by its name or position.

    Args:
        text: the JSON text of the list.
        reader: reads the parts.
        start: the start rule of the first grammar.
        limits: bounds on each part.

    Raises:
        GrammarError: `E-GRAMMAR-SYNTAX`, no JSON, or an empty list; `E-GRAMMAR-UNSUPPORTED`, an unknown option, or
            grammars that refer to each other in a circle; `E-GRAMMAR-DUPLICATE`, two of one name; else as the reader of
            the part raises, with its pointer.
        LimitError: a part that is too large.
    """
    try:
        parts = msgspec.json.decode(text, type=_List).grammars
    except (msgspec.ValidationError, RecursionError) as error:
        raise GrammarError("E-GRAMMAR-UNSUPPORTED", f"the list of grammars: {error}", hint=_HINT) from None
    except msgspec.DecodeError as error:
        raise GrammarError("E-GRAMMAR-SYNTAX", f"the list of grammars: {error}", hint=_HINT) from None
    if not parts:
        raise GrammarError("E-GRAMMAR-SYNTAX", "the list of grammars is empty", hint=_HINT, pointer="/grammars")
    positions = {str(at): at for at in range(len(parts))}
    names: dict[str, int] = {}
    for at, part in enumerate(parts):
        if (part.lark_grammar is None) != part.has_schema:
            message = "a grammar of the list has either lark_grammar or json_schema"
            raise GrammarError("E-GRAMMAR-SYNTAX", message, hint=_HINT, pointer=f"/grammars/{at}")
        if part.name is not None and names.setdefault(part.name, at) != at:
            message = f"two grammars of the list are called {part.name!r}"
            raise GrammarError("E-GRAMMAR-DUPLICATE", message, pointer=f"/grammars/{at}/name")
    names = positions | names
    needs = {
        at: {names[name] for name in _REFERENCE.findall(part.lark_grammar or "") if name in names}
        for at, part in enumerate(parts)
    }
    read: dict[int, G] = {}
    try:
        order = list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        message = "grammars of the list refer to each other in a circle"
        hint = "write the rules of those that do in one grammar"
        raise GrammarError(
            "E-GRAMMAR-UNSUPPORTED", message, hint=hint, pointer=f"/grammars/{error.args[1][0]}"
        ) from None
    for at in order:
        part, pointer = parts[at], f"/grammars/{at}"
        if part.lark_grammar is None:
            schema = bytes(part.json_schema).decode()
            reads = partial(reader.from_json_schema, schema, limits=limits)
            read[at] = with_pointer_prefix(f"{pointer}/json_schema", reads)
        else:
            given = {name: read[of] for name, of in names.items() if of in needs[at]}
            rule = start if at == 0 else "start"
            reads = partial(reader.from_lark, part.lark_grammar, rule, grammars=given, limits=limits)
            read[at] = with_pointer_prefix(f"{pointer}/lark_grammar", reads)
    return read[0]
