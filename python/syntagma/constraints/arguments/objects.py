"""Grammars of arguments that are one object, in JSON or in a format's notation."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from syntagma.constraints.schemas import ValueWriter
from syntagma.grammars import Grammar

__all__ = ["ObjectArguments"]


class ObjectArguments:
    """The grammar of `{arguments}` in a form where they are one object; an `ArgumentsGrammar`.

    Args:
        writer: writes values in the notation of the format.
        encoded: whether the object is written as a JSON string.
    """

    any_differs = False

    def __init__(self, writer: ValueWriter, *, encoded: bool) -> None:
        self._writer = writer
        self._encoded = encoded

    def anything(self, _schema: Mapping[str, Any] | None) -> Grammar:
        """Any object."""
        return self._any_object

    def by_schema(self, schema: Mapping[str, Any], *, strict: bool, pointer: str) -> Grammar:
        """See `ArgumentsGrammar.by_schema`."""
        return self._spelled(self._writer.write(schema, strict=strict, pointer=pointer))

    def of_text(self, key: str, text: Grammar) -> Grammar:
        """See `ArgumentsGrammar.of_text`."""
        return self._spelled(self._writer.write_text_member(key, text))

    @functools.cached_property
    def _any_object(self) -> Grammar:
        return self._spelled(self._writer.write({"type": "object"}, strict=False, pointer=""))

    def _spelled(self, grammar: Grammar) -> Grammar:
        return grammar.inside_json_string() if self._encoded else grammar
