"""Arguments that are literals, each with its key, as a call in a program has them, as grammars."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from syntagma.constraints.tagged import TaggedArguments, Value, unsupported
from syntagma.constraints.text import quoted
from syntagma.errors import FormatError
from syntagma.grammars import Grammar

__all__ = ["LiteralArguments"]

_SHARED = ("$defs", "definitions")
_GOES_ON = re.compile(r"[\w.+-]")
"""what would be read as more of a number or word"""
_KEY = r"[[\p{L}\p{N}&&\p{Age=14.0}]_.$\-]+"
"""what the reader takes for a key, with the letters that every supported Python knows"""


class LiteralArguments(TaggedArguments):
    """The grammar of `{arguments}` where every value is a literal of the format's notation."""

    def _check(self) -> None:
        tools = self._tools
        if tools.item is not None:
            raise unsupported("literals that nest")
        behind = (tools.argument_separator, tools.call[0].around("arguments")[1])
        if any(not text or _GOES_ON.match(text) for text in behind):
            raise FormatError(
                "E-FORMAT-UNSUPPORTED",
                "what stands behind literals would be read as more of a number, so no grammar of them is exact",
                hint="a separator or closer that begins with neither a letter, a digit, a sign nor a point",
            )

    def _loose(self, _schema: Any, _root: Mapping[str, Any] | None) -> Value:
        return None, [("any", self._literal(True, strict=False, pointer=""))]

    def _held(self, schema: Any, root: Mapping[str, Any], *, strict: bool, pointer: str) -> Value:
        if isinstance(schema, Mapping):
            schema = {**{key: root[key] for key in _SHARED if key in root}, **schema}
        return None, [("any", self._literal(schema, strict=strict, pointer=pointer))]

    def _any_key(self, but: Mapping[str, Any]) -> Grammar:
        others = "".join(f" & ~{quoted(key)}" for key in but)
        return Grammar.from_ebnf(f"start ::= #'{_KEY}'{others} ;")

    def _can_be_key(self, key: str) -> bool:
        return bool(key) and all(char.isalnum() or char in "_-.$" for char in key)
