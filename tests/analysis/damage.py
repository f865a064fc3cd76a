"""Damages derived formats at random, and counts how many that lose a case the certificate catches.

`python -m tests.analysis.damage [--seed 1] [--count 500]` prints the figures, and every damage that got through.
"""

from __future__ import annotations

import argparse
import copy
import functools
import json
import random
import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

from syntagma.analysis.analysis import Examined, examine
from syntagma.analysis.certify.certifier import Certifier
from syntagma.decoding import GrammarCompiler, GrammarMatcher
from syntagma.decoding.byte_vocabulary import byte_vocabulary
from syntagma.errors import SyntagmaError
from syntagma.format_schema import read_tables
from syntagma.formats import ChatFormat

from .invented import NAMES, TOOLS, USER, _plain, record, template

_BRACKETS = "<>[](){}|"


class Outcome(NamedTuple):
    """One damaged format: what was done to which template, whether a case is lost, and whether it is caught."""

    template: str
    damage: str
    loses: bool
    caught: bool


@functools.cache
def _examined(name: str) -> tuple[Examined, Certifier, ChatFormat, bool]:
    """A template, its certifier, the format that was derived, and whether its certificate is clean."""
    found = examine(template(name))
    certifier, fmt = found.certifier(), ChatFormat(found.inferred.spec)
    return found, certifier, fmt, certifier.certify(fmt, found.inferred.findings).clean


def _texts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every text in the tables of a format file."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(inner, (*path, key))


def _damaged_text(text: str, source: random.Random) -> str:
    """The text with one thing dropped, chopped, replaced or doubled."""
    kind = source.choice(("drop", "chop", "replace", "double", "insert", "space"))
    at = source.randrange(len(text))
    if kind == "drop":
        return text[:at] + text[at + 1 + source.randrange(4) :]
    if kind == "chop":
        return text[at:] if source.random() < 0.5 else text[:at]
    if kind == "replace":
        return text[:at] + source.choice("qxz" + _BRACKETS) + text[at + 1 :]
    if kind == "double":
        return text[:at] + text[at] + text[at:]
    if kind == "insert":
        return text[:at] + source.choice(("\n", " ", "q", "<", "]")) + text[at:]
    return "".join(text.split()) if source.random() < 0.5 else text.replace("\n", " ")


@functools.cache
def _follow_from_the_rest(fmt: ChatFormat) -> bool:
    """Whether the markers of a format are those that its other texts have: then they are damaged with these."""
    tables = tomllib.loads(fmt.to_toml())
    return tables.pop("markers", None) is not None and read_tables(tables) == fmt.spec


def damaged(fmt: ChatFormat, source: random.Random) -> tuple[str, ChatFormat] | None:
    """The format with one text of its file damaged or one key left out; None if it is then no format, or the same."""
    tables: dict[str, Any] = copy.deepcopy(tomllib.loads(fmt.to_toml()))
    paths = [path for path in _texts(tables) if path[0] != "markers"]
    path = source.choice(paths)
    holder: Any = functools.reduce(lambda value, key: value[key], path[:-1], tables)
    if source.random() < 0.1:
        what = f"{'/'.join(map(str, path))} left out"
        del holder[path[-1]]
    else:
        old = holder[path[-1]]
        holder[path[-1]] = _damaged_text(old, source) if old else "q"
        what = f"{'/'.join(map(str, path))}: {old!r} becomes {holder[path[-1]]!r}"
    if _follow_from_the_rest(fmt):
        del tables["markers"]
    try:
        made = ChatFormat(read_tables(tables))
        made.parser(TOOLS)
        return None if made.spec == fmt.spec else (what, made)
    except SyntagmaError:
        return None


def right_cases(name: str, fmt: ChatFormat, found: Examined) -> frozenset[str]:
    """The cases of a template that a format reads whole and by characters, and that its grammar accepts."""
    return frozenset(case["name"] for case in record(name)["case"] if _is_right(name, fmt, found, case))


def _is_right(name: str, fmt: ChatFormat, found: Examined, case: dict[str, Any]) -> bool:
    settings, raw = case.get("settings", {}), case["raw"]
    prompt = template(name).render(
        USER,
        tools=TOOLS,
        add_generation_prompt=True,
        template_kwargs={**found.probed.capabilities.variables, **settings},
    )
    calls = [[call["name"], json.loads(call["arguments"]), call.get("id")] for call in case.get("calls", [])]
    expected = {"reasoning": case.get("reasoning", ""), "content": case.get("content", ""), "calls": calls}
    try:
        for chunks in ([raw], list(raw)):
            parser = fmt.parser(TOOLS, prompt=prompt, id_seed="1", template_kwargs=settings)
            for chunk in chunks:
                parser.feed(chunk)
            parser.finish()
            if _plain(parser.message, with_ids=[call[2] is not None for call in calls]) != expected:
                return False
        if not case.get("grammar", True):
            return True
        grammar = fmt.grammar(TOOLS, prompt=prompt, template_kwargs=settings)
        compiled = GrammarCompiler(byte_vocabulary()).compile(grammar)
    except (SyntagmaError, ValueError):
        return False
    end = found.inferred.spec.written_end
    matchers = [(GrammarMatcher(compiled), text) for text in {raw, raw.removesuffix(end) if end else raw}]
    return any(matcher.accept_bytes(text.encode()) and matcher.is_accepting() for matcher, text in matchers)


def outcomes(seed: int, count: int) -> Iterator[Outcome]:
    """Damages that lose a case, `count` of them; those that lose none are passed over with `loses` false."""
    source = random.Random(seed)
    names = [name for name in NAMES if "beyond" not in record(name)]
    lost = 0
    while lost < count:
        name = source.choice(names)
        found, certifier, fmt, clean = _examined(name)
        made = damaged(fmt, source) if clean else None
        if made is None:
            continue
        what, other = made
        loses = bool(_right_before(name) - right_cases(name, other, found))
        lost += loses
        caught = loses and not certifier.certify(other, ()).clean
        yield Outcome(name, what, loses, caught)


@functools.cache
def _right_before(name: str) -> frozenset[str]:
    found, _, fmt, _ = _examined(name)
    return right_cases(name, fmt, found)


def _main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=500)
    given = options.parse_args()
    made = list(outcomes(given.seed, given.count))
    losing = [one for one in made if one.loses]
    for one in losing:
        if not one.caught:
            print(f"{one.template}: {one.damage}")
    caught = sum(one.caught for one in losing)
    print(f"{len(made)} damages, {len(losing)} lose a case; {caught} of these are caught ({caught / len(losing):.1%})")


if __name__ == "__main__":
    _main()
