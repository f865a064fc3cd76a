"""Left recursion in GBNF: rules that may begin with themselves, which llama.cpp refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

__all__ = ["left_recursive_rule"]

_Rules: TypeAlias = dict[str, list[list[str]]]
"""a rule by its name: its alternatives, each a list of the names of rules and of `_SOMETHING`"""

_WORD = re.compile(
    r"""
    (?P<comment>\#[^\n]*)
    | (?P<text>"(?:\\.|[^"\\])*")
    | (?P<one>\[(?:\\.|[^\]\\])*\] | !?<\[\d+\]> | !?<[^>\n]*> | \.)
    | (?P<rule>[\w-]+)\s*::=
    | (?P<name>[\w-]+)
    | (?P<times>[*+?] | \{\s*(?P<least>\d*)\s*(?P<comma>,?)\s*(?P<most>\d*)\s*\})
    | (?P<sign>[|()])
    """,
    re.DOTALL | re.VERBOSE,
)
_SOMETHING = "<something>"
"""what is never empty and begins with no rule: text, a class of characters, a token"""
_NOTHING = "<nothing>"
"""the empty text"""


def left_recursive_rule(source: str) -> str | None:
    """The name of a rule that may begin with itself, at once, over others or after parts that may be empty.

    Args:
        source: GBNF as the library writes it.

    Returns:
        The first such rule in the order of the source; None: there is none.
    """
    rules, owners = _read(source)
    empty = _may_be_empty(rules)
    first = {name: list(dict.fromkeys(_beginnings(alternatives, empty))) for name, alternatives in rules.items()}
    found = _on_a_cycle(first)
    return None if found is None else owners[found]


def _read(source: str) -> tuple[_Rules, dict[str, str]]:
    """The rules with groups and repetitions as rules of their own, and the named rule that each stands in."""
    rules: _Rules = {_NOTHING: [[]]}
    owners: dict[str, str] = {}
    owner = ""
    open_rules: list[str] = []

    def add(alternatives: list[list[str]]) -> str:
        name = f"<{len(rules)}>"
        rules[name], owners[name] = alternatives, owner
        return name

    for word in _WORD.finditer(source):
        match word.lastgroup:
            case "rule":
                owner = word["rule"]
                rules[owner], owners[owner] = [[]], owner
                open_rules = [owner]
            case "text":
                rules[open_rules[-1]][-1].append(_NOTHING if word[0] == '""' else _SOMETHING)
            case "one":
                rules[open_rules[-1]][-1].append(_SOMETHING)
            case "name":
                rules[open_rules[-1]][-1].append(word["name"])
            case "times":
                items = rules[open_rules[-1]][-1]
                items.append(_repeated(items.pop(), word, rules, add([[]])))
            case "sign" if word[0] == "|":
                rules[open_rules[-1]].append([])
            case "sign" if word[0] == "(":
                group = add([[]])
                rules[open_rules[-1]][-1].append(group)
                open_rules.append(group)
            case "sign":
                open_rules.pop()
    return rules, owners


def _repeated(item: str, times: re.Match[str], rules: _Rules, name: str) -> str:
    """An item so many times, as a rule of this name: without a bound, it goes on with itself after the item."""
    sign = times[0]
    counted = sign.startswith("{")
    optional = sign in "*?" or (counted and int(times["least"] or 0) == 0)
    endless = sign in "*+" or (counted and bool(times["comma"]) and not times["most"])
    rules[name] = [[item, name] if endless else [item]]
    if optional or endless:
        rules[name].append([] if optional else [item])
    return name


def _may_be_empty(rules: Mapping[str, Sequence[Sequence[str]]]) -> frozenset[str]:
    """The rules that the empty text fits."""
    alternatives = [(name, items) for name, given in rules.items() for items in given]
    # How many items of each alternative are not known to be empty: every item is looked at once.
    left = [len(items) for _, items in alternatives]
    users: dict[str, list[int]] = {}
    for number, (_, items) in enumerate(alternatives):
        for item in items:
            users.setdefault(item, []).append(number)
    empty: set[str] = set()
    waiting = [name for name, items in alternatives if not items]
    while waiting:
        name = waiting.pop()
        if name in empty:
            continue
        empty.add(name)
        for number in users.get(name, ()):
            left[number] -= 1
            if not left[number]:
                waiting.append(alternatives[number][0])
    return frozenset(empty)


def _beginnings(alternatives: Sequence[Sequence[str]], empty: frozenset[str]) -> Iterator[str]:
    """The rules that the alternatives may begin with."""
    for items in alternatives:
        for item in items:
            if item != _SOMETHING:
                yield item
            if item not in empty:
                break


def _on_a_cycle(following: Mapping[str, Sequence[str]]) -> str | None:
    """A name that leads back to itself, the first in order of those found; None: there is none."""
    done: set[str] = set()
    for start in following:
        # The way from the start to here, and what is still to be followed at each step of it.
        way: dict[str, Iterator[str]] = {start: iter(following[start])}
        steps = [start] if start not in done else []
        while steps:
            here = steps[-1]
            after = next((name for name in way[here] if name not in done), None)
            if after is None:
                done.add(here)
                del way[steps.pop()]
            elif after in way:
                return after
            else:
                way[after] = iter(following.get(after, ()))
                steps.append(after)
    return None
