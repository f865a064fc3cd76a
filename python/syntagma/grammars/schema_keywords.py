"""The keywords of a JSON Schema: those that are likely misspelt, and the one that forbids a text."""

from __future__ import annotations

import copy
import difflib
import time
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

from syntagma.errors import SyntagmaError
from syntagma.grammars.grammar import Grammar
from syntagma.json_pointer import follow, pointer_of
from syntagma.json_types import CONSTRAINTS

__all__ = [
    "CONSTRAINTS",
    "DATA",
    "NAMED",
    "forbidding_keyword",
    "keyword_pointers",
    "misspelt_keywords",
    "without_keyword",
]

NAMED: Final = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
"""keywords whose keys are names and whose values are schemas"""
DATA: Final = frozenset(("enum", "const", "default", "examples", "required", "dependentRequired"))
"""keywords whose values hold no schemas"""
_ANNOTATIONS: Final = frozenset((
    *("$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment", "title"),
    *("description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "nullable"),
    *("contentEncoding", "contentMediaType", "contentSchema", "discriminator"),
))  # fmt: skip
"""keywords that are known and constrain nothing"""
_HOLDERS: Final = frozenset(("properties", "items", "prefixItems", "$ref", "$defs", "definitions"))
"""keywords that lead to schemas, and forbid a text only by these"""
_ALIKE: Final = 0.8
"""how alike two words are, from 0 to 1, where one is taken for a misspelling of the other"""
_SHORTEST: Final = 4
"""letters of a keyword from which on a likeness means something"""


def misspelt_keywords(schema: Any) -> dict[str, str]:
    """Keywords that a schema likely misspells, such as `maxLenght`; the grammar ignores them.

    Words that resemble no keyword are left alone: a schema may have annotations of its own.

    Args:
        schema: a JSON Schema, as data.

    Returns:
        JSON pointer of each such word → the keyword that it resembles.
    """
    known = {keyword.lower(): keyword for keyword in sorted(CONSTRAINTS) if len(keyword) >= _SHORTEST}
    found: dict[str, str] = {}
    for pointer, word in _words(schema, ""):
        if word not in CONSTRAINTS and word not in _ANNOTATIONS:
            near = difflib.get_close_matches(word.lower(), known, n=1, cutoff=_ALIKE)
            if near:
                found[pointer] = known[near[0]]
    return found


def _words(part: Any, at: str) -> Iterator[tuple[str, str]]:
    """The pointer and the text of every key that stands where a keyword does."""
    if isinstance(part, list | tuple):
        for index, one in enumerate(part):
            yield from _words(one, at + pointer_of(index))
    if not isinstance(part, Mapping):
        return
    for word, value in part.items():
        here = at + pointer_of(word)
        yield here, word
        if word in NAMED and isinstance(value, Mapping):
            for name, one in value.items():
                yield from _words(one, here + pointer_of(name))
        elif word in CONSTRAINTS and word not in DATA:
            yield from _words(value, here)


def forbidding_keyword(schema: Mapping[str, Any], text: str, *, seconds: float = 1.0) -> str | None:
    """The keyword that forbids a text: without it, the schema allows the text as the beginning of a document.

    Keywords are left out one by one, the innermost first and those that only lead to other schemas last, so the time
    grows with their number.

    Args:
        schema: a JSON Schema.
        text: a text that begins no document of the schema; what counts is its part up to the first wrong character.
        seconds: no further keyword is tried after this time.

    Returns:
        JSON pointer of the keyword; None if no single keyword forbids the text.

    Raises:
        GrammarError, LimitError: the schema cannot be read.
    """
    at = _wrong_at(dict(schema), text)
    if at is None:
        return None
    text = text[: at + 1]
    until = time.monotonic() + seconds
    found = keyword_pointers(schema)
    for pointer in sorted(found, key=lambda one: (one.rpartition("/")[2] in _HOLDERS, -one.count("/"), one)):
        if time.monotonic() > until:
            break
        try:
            if _wrong_at(without_keyword(schema, pointer), text) is None:
                return pointer
        except SyntagmaError:
            continue  # what only makes sense together with this keyword says nothing
    return None


def _wrong_at(schema: Any, text: str) -> int | None:
    """The index of the first character with which a text begins no document; None if all of it begins one."""
    check = Grammar.from_json_schema(schema).check(text)
    return None if check.accepted or check.offset == len(text) else check.offset


def keyword_pointers(schema: Mapping[str, Any]) -> Iterator[str]:
    """The pointers of all keywords that constrain something, breadth first."""
    waiting: deque[tuple[str, Any]] = deque([("", schema)])
    while waiting:
        at, part = waiting.popleft()
        if isinstance(part, list):
            waiting.extend((at + pointer_of(index), one) for index, one in enumerate(part))
        if not isinstance(part, Mapping):
            continue
        for keyword, value in part.items():
            here = at + pointer_of(keyword)
            if keyword in CONSTRAINTS:
                yield here
            if keyword in NAMED and isinstance(value, Mapping):
                waiting.extend((here + pointer_of(name), one) for name, one in value.items())
            elif keyword not in DATA:
                waiting.append((here, value))


def without_keyword(schema: Mapping[str, Any], pointer: str) -> Any:
    """A copy of a schema that lacks the keyword at a pointer."""
    changed = copy.deepcopy(dict(schema))
    parent, _, _ = pointer.rpartition("/")
    holder = follow(changed, parent)
    name = next(key for key in holder if parent + pointer_of(key) == pointer)
    del holder[name]
    return changed
