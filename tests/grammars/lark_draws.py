"""Drawn grammars in Lark with lazy terminals, and what they mean by a reference of its own.

The reference keeps the stacks of what is still to come, as sets of ways to go on. At each place the terminals that may
begin there are matched with `re`. In the reading `plain` each may end wherever it matches; in `lazy` a lazy one that
matches first takes the text, and the others match nothing that goes on as long; in `longest` a terminal moreover ends
only where none that may begin with it can go on, as with a lexer.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

__all__ = ["LETTERS", "Drawn", "drawn", "texts"]

LETTERS = "abc"
Reading: TypeAlias = Literal["plain", "lazy", "longest"]
_Stack: TypeAlias = tuple[Any, Any] | None
"""What comes next, and the rest."""


class Text(NamedTuple):
    """A terminal that is a text."""

    text: str


class Name(NamedTuple):
    """A rule or a terminal."""

    name: str


class Many(NamedTuple):
    """An item with `?`, `*` or `+`."""

    item: Any
    sign: str


class Choice(NamedTuple):
    """Alternatives, each a tuple of items."""

    alternatives: tuple[tuple[Any, ...], ...]


class Terminal(NamedTuple):
    """A pattern; lazy with a text behind it, as `lazy` or `suffix` say."""

    pattern: str
    option: Literal["", "lazy", "suffix"] = ""
    end: str = ""


class Drawn(NamedTuple):
    """A grammar."""

    rules: dict[str, Choice]
    terminals: dict[str, Terminal]
    ignored: str | None = None

    def source(self) -> str:
        """The grammar in Lark."""
        lines = [f"{name}: {_written(body)}" for name, body in self.rules.items()]
        for name, (pattern, option, end) in self.terminals.items():
            match option:
                case "lazy":
                    lines.append(f'{name}[lazy]: /{pattern}/ "{end}"')
                case "suffix":
                    lines.append(f'{name}[suffix="{end}"]: /{pattern}/')
                case _:
                    lines.append(f"{name}: /{pattern}/")
        return "\n".join(lines + ([] if self.ignored is None else [f'%ignore "{self.ignored}"']))

    def accepts(self, text: str, reading: Reading) -> bool:
        """Whether the reference accepts a text."""
        seen: set[tuple[int, frozenset[_Stack]]] = set()
        work: list[tuple[int, frozenset[_Stack]]] = [(0, frozenset([(Name("start"), None)]))]
        while work:
            place = work.pop()
            if place in seen:
                continue
            seen.add(place)
            at, stacks = place
            heads, ends = self._heads(stacks)
            if at == len(text):
                if ends:
                    return True
                continue
            work.extend(self._steps(text, at, stacks, heads, reading))
        return False

    def _heads(self, stacks: frozenset[_Stack]) -> tuple[set[tuple[Text | Name, _Stack]], bool]:
        """Terminals that may come next with what follows them, and whether the text may end."""
        heads: set[tuple[Text | Name, _Stack]] = set()
        seen: set[_Stack] = set()
        work = list(stacks)
        while work:
            stack = work.pop()
            if stack in seen:
                continue
            seen.add(stack)
            if stack is None:
                continue
            item, rest = stack
            if isinstance(item, Name) and item.name in self.rules:
                item = self.rules[item.name]
            match item:
                case Many(inner, sign):
                    work += [rest] if sign in "?*" else []
                    work.append((inner, rest if sign == "?" else (Many(inner, "*"), rest)))
                case Choice(alternatives):
                    for alternative in alternatives:
                        stack = rest
                        for part in reversed(alternative):
                            stack = (part, stack)
                        work.append(stack)
                case _:
                    heads.add((item, rest))
                    if re.fullmatch(self._pattern(item)[0], "") is not None:
                        work.append(rest)
        return heads, None in seen

    def _steps(
        self,
        text: str,
        at: int,
        stacks: frozenset[_Stack],
        heads: set[tuple[Text | Name, _Stack]],
        reading: Reading,
    ) -> Iterator[tuple[int, frozenset[_Stack]]]:
        """Where the text may go on after the next terminal."""
        ignored = None if self.ignored is None else Text(self.ignored)
        items = {item for item, _ in heads} | ({ignored} if ignored is not None else set())
        ends: dict[int, set[Text | Name]] = {}
        for item in items:
            for end in self._ends(item, text, at):
                ends.setdefault(end, set()).add(item)
        taken = min((end for end, those in ends.items() if any(self._pattern(item)[1] for item in those)), default=None)
        for end, all_those in ends.items():
            those = all_those
            if reading != "plain" and taken is not None and end >= taken:
                if end > taken:
                    continue
                those = those - {item for item in those if not self._pattern(item)[1]}
            elif reading == "longest" and any(
                self._goes_on(item, text[at : end + 1]) for item in items if end < len(text)
            ):
                continue
            # A lexer does not tell apart terminals that match alike; the grammar does.
            for ways in [those] if reading == "longest" else [{item} for item in those]:
                going_on = {rest for item, rest in heads if item in ways}
                if ignored in ways:
                    going_on |= stacks
                if going_on:
                    yield end, frozenset(going_on)

    def _pattern(self, item: Text | Name) -> tuple[str, bool]:
        """What a terminal matches, and whether it is lazy."""
        if isinstance(item, Text):
            return re.escape(item.text), False
        pattern, option, end = self.terminals[item.name]
        return f"(?:{pattern}){end}", option != ""

    def _ends(self, item: Text | Name, text: str, at: int) -> list[int]:
        pattern, is_lazy = self._pattern(item)
        compiled = re.compile(pattern, re.DOTALL)
        ends = [end for end in range(at + 1, len(text) + 1) if compiled.fullmatch(text, at, end)]
        return ends[:1] if is_lazy else ends

    def _goes_on(self, item: Text | Name, text: str) -> bool:
        """Whether a text is the beginning of one that the terminal matches."""
        pattern, is_lazy = self._pattern(item)
        if is_lazy and any(re.fullmatch(pattern, text[:end], re.DOTALL) for end in range(1, len(text))):
            return False
        return _begins(pattern, text)


@lru_cache(None)
def _begins(pattern: str, text: str) -> bool:
    # The patterns that are drawn need at most three letters more.
    tails = ("".join(tail) for length in range(4) for tail in itertools.product(LETTERS, repeat=length))
    return any(re.fullmatch(pattern, text + tail, re.DOTALL) for tail in tails)


def _written(item: Any) -> str:
    match item:
        case Text(text):
            return f'"{text}"'
        case Name(name):
            return name
        case Many(inner, sign):
            inside = _written(inner)
            return (f"({inside})" if isinstance(inner, Choice) else inside) + sign
        case Choice(alternatives):
            return " | ".join(" ".join(_nested(part) for part in parts) for parts in alternatives)
    raise TypeError(item)


def _nested(item: Any) -> str:
    return f"({_written(item)})" if isinstance(item, Choice) else _written(item)


def drawn(draw: random.Random, *, lazy: bool) -> Drawn:
    """A grammar with one or two lazy terminals, or without any and with something to ignore."""
    patterns = ["[ab]*", "a*", "[abc]*", "(ab|c)*", ".*"] if lazy else []
    patterns += ["b+", "[ac]+", "a?b", "[ab]+", "ab?c?"]
    terminals = {}
    for number in range(draw.choice((1, 1, 2)) if lazy else 0):
        option: Literal["lazy", "suffix"] = draw.choice(("lazy", "suffix"))
        terminals[f"h{number}"] = Terminal(draw.choice(patterns), option, _letters(draw))
    for number in range(draw.choice((1, 2))):
        terminals[f"T{number}"] = Terminal(draw.choice(patterns))
    names = [Name(name) for name in terminals]
    rules = {}
    if draw.random() < 0.5:
        rules["r"] = _choice(draw, names, 1)
        names.append(Name("r"))
    rules = {"start": _choice(draw, names, 2), **rules}
    return Drawn(rules, terminals, None if lazy or draw.random() < 0.5 else "c")


def _choice(draw: random.Random, names: list[Name], depth: int) -> Choice:
    alternatives = []
    for _ in range(draw.choice((1, 2, 2, 3))):
        parts: list[Any] = []
        for _ in range(draw.choice((1, 2, 2, 3))):
            item: Any = draw.choice([*names, Text(_letters(draw))])
            if depth > 1 and draw.random() < 0.2:
                item = _choice(draw, names, depth - 1)
            sign = draw.choice(("", "", "", "", "*", "?", "+"))
            parts.append(Many(item, sign) if sign else item)
        alternatives.append(tuple(parts))
    return Choice(tuple(alternatives))


def _letters(draw: random.Random) -> str:
    return "".join(draw.choices(LETTERS, k=draw.choice((1, 1, 2))))


def texts(draw: random.Random, count: int, longest: int = 5) -> list[str]:
    """Different texts of the letters, `count` of them."""
    found = {"".join(draw.choices(LETTERS, k=draw.randint(0, longest))) for _ in range(4 * count)}
    return sorted(found)[:: max(1, len(found) // count)][:count]
