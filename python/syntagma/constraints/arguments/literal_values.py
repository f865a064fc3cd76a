"""Grammars of values that are literals, as in a call of a program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from syntagma.constraints.arguments.values import Value, unsupported, with_definitions
from syntagma.constraints.literals import quoted
from syntagma.constraints.schemas import ValueWriter
from syntagma.errors import FormatError
from syntagma.format_schema import ToolsSpec
from syntagma.format_schema.names import KEYWORD_SIGNS, is_keyword, spelled
from syntagma.grammars import Grammar
from syntagma.limits import Limits

__all__ = ["LiteralValues"]

_CONTINUES_LITERAL = re.compile(r"[\w.+-]")
"""a character that the parser would read as more of a number or word"""
_KEY = r"[[\p{L}\p{N}&&\p{Age=14.0}]" + spelled(KEYWORD_SIGNS) + "]+"
"""the keys that the parser reads, with the letters that every supported Python knows"""


class LiteralValues:
    """The grammars of keys and values, if every value is a literal of the format's notation.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the parser could not find the end of a literal.
    """

    def __init__(self, tools: ToolsSpec, limits: Limits) -> None:
        self._writer = ValueWriter(tools.literals, limits)
        if tools.item is not None:
            raise unsupported("literals that nest", "/tools/item")
        # A call without arguments may have its own pattern.
        shown = next((one for one in tools.call if "arguments" in one.placeholders), tools.call[0])
        closer = shown.around("arguments")[1]
        own = tools.argument[0].around("value")[1]
        between = own + tools.argument_separator + tools.argument[0].opener
        self._not_key = closer.strip()
        """the closer of the arguments, for which the parser looks before a key"""
        # Without a closer, a literal ends with its line or with the turn.
        if any(map(_continues_literal, (between, own or closer or "\n"))):
            raise FormatError(
                "E-FORMAT-UNSUPPORTED",
                "what follows a literal would be read as more of a number, so no grammar of literals is exact",
                hint="a separator or closer that begins with neither a letter, a digit, a sign nor a point",
                pointer="/tools/argument_separator" if _continues_literal(between) else "/tools/call",
            )

    def any_value(self, _schema: Any, _root: Mapping[str, Any] | None) -> Value:
        """Any literal."""
        return Value(None, "free", [("any", self._writer.write(True, strict=False, pointer=""))])

    def by_schema(self, schema: Any, root: Mapping[str, Any], *, strict: bool, pointer: str) -> Value:
        """A literal by its schema."""
        whole = with_definitions(schema, root)
        return Value(None, "free", [("any", self._writer.write(whole, strict=strict, pointer=pointer))])

    def of_text(self, text: Grammar) -> Value:
        """A string that is a text of a grammar."""
        return Value(None, "free", [("string", self._writer.write_text(text))])

    def any_key(self, declared: Iterable[str]) -> Grammar:
        """An undeclared key that can be read back."""
        others = "".join(f" & ~{quoted(key)}" for key in declared)
        others += f" & ~({quoted(self._not_key)} any!)" if self._not_key else ""
        return Grammar.from_ebnf(f"start ::= #'{_KEY}'{others} ;")

    def can_be_key(self, key: str) -> bool:
        """Whether a key can be read back."""
        return is_keyword(key) and not (self._not_key and key.startswith(self._not_key))


def _continues_literal(after: str) -> bool:
    """Whether the text after a literal could be read as more of it."""
    return not after or _CONTINUES_LITERAL.match(after) is not None
