"""Which tests are short and which are long. `make test` runs the short ones, `make test-long` all of them.

CI runs the short ones and one of `PARTS` parts of the long ones, chosen by the number of the commit. Long are

* tests with the marker `long`;
* of a law with the marker `every_format`, the formats whose description adds nothing to those of the others: no kind of
  pattern, key or value that these lack. What the change touches is never long;
* of a law with the marker `some(n)`, all but n of its inputs.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
import pytest

from syntagma.format_schema import Envelope, Literal, Pattern
from syntagma.formats import ChatFormat
from tests.changes import changed_files
from tests.formats.every import FORMATS, SHIPPED

__all__ = ["PARTS", "in_part", "mark_long", "number_of", "touched_formats"]

PARTS = 8
_WORDS = ("/escape", "/numbers", "/otherwise", "/reasoning/start", "/to", "/types", "/values", "/when")
"""keys whose values are words of the format language, not texts of a format"""
_IGNORED = {"aliases", "anchor", "families", "prompt"}
"""keys that neither the parser nor the grammar reads"""


def mark_long(items: Sequence[pytest.Item]) -> None:
    """Give the marker `long` to the tests that have it by a rule."""
    for _, group in itertools.groupby(items, lambda item: item.nodeid.partition("[")[0]):
        law = list(group)
        some = law[0].get_closest_marker("some")
        if some is not None:
            _mark(sorted(law, key=number_of)[some.args[0] :])
        if law[0].get_closest_marker("every_format") is not None:
            names = {item: _format_of(item) for item in law}
            chosen = {*covering({*names.values()}), *touched_formats()}
            _mark(item for item, name in names.items() if name not in chosen)


def in_part(item: pytest.Item, part: int) -> bool:
    """Whether a test belongs to a part of the long ones."""
    return number_of(item) % PARTS == part % PARTS


def number_of(item: pytest.Item) -> int:
    """A number that is the same in every run, and says nothing of the test."""
    return zlib.crc32(item.nodeid.encode())


def touched_formats() -> set[str]:
    """The shipped formats whose file or cases the change touches."""
    changed = changed_files() or ()
    homes = ("python/syntagma/formats/data", "conformance/formats", "conformance/shapes")
    stems = {
        ("shape " if home.endswith("shapes") else "") + path[len(home) + 1 :].removesuffix(".toml")
        for path in changed
        for home in homes
        if path.startswith(home) and path.endswith(".toml")
    }
    return stems & {*FORMATS}


def covering(names: Iterable[str]) -> list[str]:
    """Formats that have, together, every feature of these; made-up ones before shipped ones, and few."""
    left = {name: set(_features(FORMATS[name].spec, "")) for name in sorted(names)}
    covered: set[str] = set()
    chosen = []
    while left:
        best = max(left, key=lambda name: (len(left[name] - covered), name not in SHIPPED))
        if not left[best] - covered:
            break
        covered |= left.pop(best)
        chosen.append(best)
    return chosen


def _mark(items: Iterable[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.long)


def _format_of(item: pytest.Item) -> str:
    """The format that a test is for: the parameter that is a name of one, or one itself."""
    for value in item.callspec.params.values():  # type: ignore[attr-defined]
        name = value.name if isinstance(value, ChatFormat) else value
        if isinstance(name, str) and name in FORMATS:
            return name
    raise AssertionError(f"{item.nodeid} is for no format")


def _features(value: Any, path: str) -> Iterator[str]:
    """What a description has: each key that is set, what stands beside what in its patterns, how many values it has."""
    if isinstance(value, Envelope):
        yield from _features(value.pattern, path)
    elif isinstance(value, Pattern):
        kinds = [_kind(item.text) if isinstance(item, Literal) else f"{{{item.name}}}" for item in value.items]
        yield from (f"{path} {before} {after}" for before, after in itertools.pairwise(["^", *kinds, "$"]))
    elif isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            inner = getattr(value, field.name)
            if inner != field.default and field.name not in _IGNORED:
                yield from _features(inner, f"{path}/{field.name}")
    elif isinstance(value, dict):
        yield from _features(tuple(value.values()), path)
    elif isinstance(value, tuple | frozenset):
        yield f"{path} {'one' if len(value) == 1 else 'several'}"
        for inner in value:
            yield from _features(inner, path)
    elif isinstance(value, str) and not path.endswith(_WORDS):
        yield f"{path} {_kind(value)}"
    else:
        yield f"{path} {value}"


def _kind(text: str) -> str:
    """What the reader distinguishes in a literal: whitespace, a tag, a word or signs."""
    inner = text.strip()
    if not inner:
        return "space"
    return "tag" if inner[0] in "<[" and inner[-1] in ">]" else "word" if any(map(str.isalnum, inner)) else "signs"
