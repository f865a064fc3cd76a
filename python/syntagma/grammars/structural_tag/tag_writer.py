"""Writing structural tags: a grammar, by how it was put together, as a tree of formats.

Each part becomes the format that says the same. Parts that no format can say are grammar text inside of the tag, where
`embedded.toml` lists them with the reason; all else is refused, never approximated. Where a format accepts more than
its part, the tag says so in `wider`.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, Literal, Protocol, TypeAlias, get_args

from syntagma.errors import ArgumentError
from syntagma.grammars.made import Made, Recorded
from syntagma.grammars.structural_tag.fields import LAST_ID, limit_error, unsupported
from syntagma.grammars.structural_tag.formats import (
    EMPTY,
    Node,
    any_text,
    choice,
    constant,
    repetition,
    separated,
    sequence,
)
from syntagma.grammars.structural_tag.open_schemas import opened
from syntagma.limits import Limits

__all__ = ["Schemas", "StructuralTag", "write_structural_tag"]

Schemas: TypeAlias = Literal["json_schema", "text"]
"""what stands in a tag for a JSON Schema: itself, or grammar text"""

_SPACES = re.compile(r"\[ \\t\\n\\r\]\{0,([1-9]\d*)\}(?:\|\\n \{0,(\d+)\})?")
"""whitespace that a number of characters bounds: of any kind, or a line break and its indentation"""


class StructuralTag(dict[str, Any]):
    """A structural tag as plain data, and the pointers of parts that accept more than the source grammar.

    Attributes:
        wider: JSON pointer of such a part → what more it accepts; empty: the tag is exact.
        embedded: JSON pointer of a format that is grammar text → why no other format says it.
    """

    def __init__(self, value: Mapping[str, Any], wider: Mapping[str, str], embedded: Mapping[str, str]) -> None:
        super().__init__(value)
        self.wider = dict(wider)
        self.embedded = dict(embedded)


class Printable(Protocol):
    """A grammar, as far as its tag is made from it."""

    _bounds: tuple[tuple[str, str, int], ...]

    _made: Recorded

    def to_gbnf(self, token_ids: Mapping[str, int] | None = None) -> Any: ...


def write_structural_tag(
    grammar: Any, limits: Limits, *, schemas: Schemas = "json_schema", token_ids: Mapping[str, int] | None = None
) -> StructuralTag:
    """The tag of a grammar. See `Grammar.to_structural_tag`."""
    if schemas not in get_args(Schemas):
        raise ArgumentError("E-ARGUMENT-VALUE", f"{schemas=}", hint=f"one of {', '.join(get_args(Schemas))}")
    writer = _Writer(grammar, schemas, token_ids, limits.grammar_alternatives)
    whole = {"type": "structural_tag", "format": writer.format(grammar)}
    wider: dict[str, str] = {}
    embedded: dict[str, str] = {}
    for pointer, node in _formats(whole["format"], "/format"):
        if (note := writer.wider.get(id(node))) is not None:
            wider[pointer] = note
        if (reason := writer.embedded.get(id(node))) is not None:
            embedded[pointer] = reason
    size = len(json.dumps(whole))
    if size > limits.grammar_bytes:
        raise limit_error("E-LIMIT-GRAMMAR-BYTES", "grammar_bytes", size, limits.grammar_bytes, "")
    return StructuralTag(whole, wider, embedded)


@cache
def _embeddable() -> dict[str, str]:
    text = resources.files(__package__).joinpath("embedded.toml").read_text(encoding="utf-8")
    parts: dict[str, str] = tomllib.loads(text)["parts"]
    return parts


def _most_spaces(pattern: str | None) -> int | None:
    """The most whitespace characters in a row that a pattern allows; 0: unbounded; None: no pattern."""
    if pattern is None:
        return None
    found = _SPACES.fullmatch(pattern)
    return max(int(found[1]), int(found[2] or 0) + 1 if found[2] else 0) if found else 0


def _others(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ids that are in none of the ranges."""
    found, begin = [], 0
    for first, last in sorted(ranges):
        if first > begin:
            found.append((begin, first - 1))
        begin = max(begin, last + 1)
    return [*found, (begin, LAST_ID)] if begin <= LAST_ID else found


def _ids(ranges: Sequence[tuple[int, int]]) -> Iterator[int]:
    for first, last in ranges:
        yield from range(first, last + 1)


class _Writer:
    """Writes the formats of one grammar; parts that it shares are written once.

    Attributes:
        wider: what a format accepts beyond its part, by the identity of the format.
        embedded: why a format is grammar text.
    """

    def __init__(
        self, grammar: Printable, schemas: Schemas, token_ids: Mapping[str, int] | None, most_tokens: int
    ) -> None:
        self._schemas: Schemas = schemas
        self._most_tokens = most_tokens
        """that are named one by one: no more than a tag that is read may have formats"""
        self._token_ids_of = token_ids
        self.wider: dict[int, str] = {}
        self.embedded: dict[int, str] = {}
        self._bounds = {label: (unit, most) for label, unit, most in grammar._bounds}
        self._written: dict[int, Node] = {}
        self._kept: list[Any] = []
        """what the identities are of"""
        self._ways: dict[str, Callable[[Printable, Made], Node]] = {
            "literal": lambda _, made: constant(made.value),
            "marker": lambda _, made: constant(made.value),
            "text": self._text,
            "regex": lambda _, made: {"type": "regex", "pattern": made.value} if made.value else EMPTY,
            "schema": self._schema,
            "token": lambda _, made: {"type": "token", "token": made.value},
            "token_ids": self._token_ids,
            "token_except": lambda _, made: {"type": "exclude_token", "exclude_tokens": list(made.value)},
            "union": self._union,
            "concat": lambda _, made: sequence([self.format(part) for part in made.parts]),
            "repeat": self._repeat,
            "label": self._label,
        }
        for label, (unit, _most) in self._bounds.items():
            if unit != "tokens" or _most_times(grammar, label, {}) > 1:
                raise unsupported(
                    f"a structural tag cannot bound {label!r} in {unit}",
                    "",
                    hint="it bounds text that comes once, in tokens; leave out the budget, or use the grammar itself",
                )

    def format(self, grammar: Printable) -> Node:
        """Any grammar."""
        found = self._written.get(id(grammar))
        if found is None:
            made = Made.of(grammar._made)
            found = self._embed(grammar, "rules") if made is None else self._ways[made.how](grammar, made)
            self._written[id(grammar)] = found
            self._kept += (grammar, found)
        return found

    def _embed(self, grammar: Printable, part: str) -> Node:
        reason = _embeddable()[part]
        printed = grammar.to_gbnf(self._token_ids_of)
        if printed.preserved_tokens:
            reason += f"; the markers {', '.join(printed.preserved_tokens)} in it are text"
        node = {"type": "grammar", "grammar": printed.for_xgrammar()}
        self.embedded[id(node)] = reason
        self._kept.append(node)
        return node

    def _text(self, _: Printable, made: Made) -> Node:
        without, closer = made.value
        node = any_text([*without, *([closer] if closer else [])])
        if closer and any(closer.startswith(closer[size:]) for size in range(1, len(closer))):
            self.wider[id(node)] = f"text may end in the beginning of {closer!r}"
        return node

    def _schema(self, grammar: Printable, made: Made) -> Node:
        text, options = made.value
        if options.notation is not None:
            return self._embed(grammar, "notation")
        if self._schemas == "text" or options.resources:
            return self._embed(grammar, "schema")
        spaces = _most_spaces(options.whitespace_pattern)
        compact = options.whitespace == "compact" or spaces == 0
        if options.separators is not None or options.indent is not None or compact:
            return self._embed(grammar, "spacing")
        node = {"type": "json_schema", "json_schema": opened(json.loads(text))}
        if options.any_order:
            node["any_order"] = True
        if spaces is not None:
            node["max_whitespace_cnt"] = spaces
        if spaces is not None and "|" in options.whitespace_pattern:
            self.wider[id(node)] = f"whitespace in JSON: up to {spaces} characters of any kind in a row"
        return node

    def _token_ids(self, _: Printable, made: Made) -> Node:
        """Any of the tokens, or any but the others, whichever are fewer."""
        others = _others(made.value)
        named = _others(others)
        chosen, rest = (sum(last - first + 1 for first, last in ranges) for ranges in (named, others))
        if min(chosen, rest) > self._most_tokens:
            raise unsupported(
                f"a structural tag names tokens one by one, and {min(chosen, rest)} are too many",
                "",
                hint=f"the limit grammar_alternatives is {self._most_tokens}",
            )
        if rest < chosen:
            return {"type": "exclude_token", "exclude_tokens": list(_ids(others))}
        return choice([{"type": "token", "token": one} for one in _ids(named)])

    def _union(self, _: Printable, made: Made) -> Node:
        if len(made.parts) == 2:
            first, rest = made.parts
            inner = Made.of(first._made)
            if inner is not None and inner.how == "concat" and inner.parts[-1:] == (rest,) and inner.parts[-1] is rest:
                # What follows in either case is written once: else a list of optional parts would double with each.
                before = sequence([self.format(part) for part in inner.parts[:-1]])
                return sequence([repetition(before, 0, 1), self.format(rest)])
        return choice([self.format(part) for part in made.parts])

    def _repeat(self, _: Printable, made: Made) -> Node:
        least, most = made.value
        inner = self.format(made.parts[0])
        if len(made.parts) == 1:
            return repetition(inner, least, most)
        return separated(inner, self.format(made.parts[1]), least, most)

    def _label(self, _: Printable, made: Made) -> Node:
        inner = self.format(made.parts[0])
        if made.value not in self._bounds:
            return inner
        if inner["type"] != "any_text":
            raise unsupported(
                f"a structural tag cannot bound {made.value!r} in tokens",
                "",
                hint="it bounds free text; leave out the budget, or use the grammar itself",
            )
        bounded = {**inner, "max_tokens": self._bounds[made.value][1]}
        if (note := self.wider.get(id(inner))) is not None:
            self.wider[id(bounded)] = note
        return bounded


def _most_times(grammar: Printable, label: str, known: dict[int, float]) -> float:
    """How often a part with this label may come in one text."""
    made = Made.of(grammar._made)
    if made is None:
        return 0
    if id(grammar) in known:
        return known[id(grammar)]
    inner = [_most_times(part, label, known) for part in made.parts]
    match made.how:
        case "union":
            found = max(inner)
        case "repeat":
            often = made.value[1] is None or made.value[1] > 1
            found = math.inf if often and sum(inner) else sum(inner)
        case "label":
            found = inner[0] + (made.value == label)
        case _:
            found = sum(inner)
    known[id(grammar)] = found
    return found


def _formats(node: Any, pointer: str) -> Iterator[tuple[str, Node]]:
    """Every format in a format, with its JSON pointer."""
    yield pointer, node
    for field in ("elements", "tags"):
        for at, part in enumerate(node.get(field, ())):
            yield from _formats(part, f"{pointer}/{field}/{at}")
    if "content" in node:
        yield from _formats(node["content"], f"{pointer}/content")
