"""A recogniser that is plain enough to be trusted: Earley's algorithm over bytes, without sharing or caching.

It reads grammars as Python values (not the library's IR), so it checks front end, normal form and engine together.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Lit:
    data: bytes


@dataclass(frozen=True)
class Class:
    members: frozenset[int]


@dataclass(frozen=True)
class Seq:
    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Alt:
    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Rep:
    inner: Node
    low: int
    high: int | None


@dataclass(frozen=True)
class Ref:
    name: str


Node: TypeAlias = Lit | Class | Seq | Alt | Rep | Ref
Rules: TypeAlias = dict[str, Node]
Symbol: TypeAlias = "int | frozenset[int]"
Item: TypeAlias = tuple[int, tuple[Symbol, ...], int, int]  # left-hand side, right-hand side, dot, origin


def without(node: Node, dead: frozenset[str]) -> Node | None:
    """The node without what needs one of the rules `dead`, which can write nothing; None if nothing is left."""
    match node:
        case Ref(name):
            return None if name in dead else node
        case Seq(parts):
            left = [without(part, dead) for part in parts]
            whole = tuple(part for part in left if part is not None)
            return Seq(whole) if len(whole) == len(parts) else None
        case Alt(parts):
            some = tuple(part for part in (without(part, dead) for part in parts) if part is not None)
            return Alt(some) if some else None
        case Rep(inner, low, high):
            kept = without(inner, dead)
            if kept is None:
                return Lit(b"") if low == 0 else None
            return Rep(kept, low, high)
    return node


def to_ebnf(rules: Rules) -> str:
    """The grammar in the library's EBNF."""
    return "".join(f"{name} ::= {_text(node)};\n" for name, node in rules.items())


def _text(node: Node) -> str:
    match node:
        case Lit(data):
            return '"' + "".join(f"\\x{byte:02x}" for byte in data) + '"'
        case Class(members):
            return '#"[' + "".join(chr(byte) for byte in sorted(members)) + ']"'
        case Seq(parts):
            return "(" + " ".join(_text(part) for part in parts) + ")"
        case Alt(parts):
            return "(" + " | ".join(_text(part) for part in parts) + ")"
        case Rep(inner, 0, 1):
            return f"({_text(inner)})?"
        case Rep(inner, 0, None):
            return f"({_text(inner)})*"
        case Rep(inner, 1, None):
            return f"({_text(inner)})+"
        case Rep(inner, low, high):
            return f"({_text(inner)}){{{low},{'' if high is None else high}}}"
        case Ref(name):
            return name


class Recogniser:
    """Earley over bytes; `chart` holds one set of items a byte."""

    def __init__(self, rules: Rules, start: str = "start") -> None:
        self._productions: dict[int, list[tuple[Symbol, ...]]] = {}
        self._names = {name: i for i, name in enumerate(rules)}
        self._next = len(rules)
        for name, node in rules.items():
            self._productions[self._names[name]] = [(self._symbol(node),)]
        self._start = self._names[start]
        self.chart: list[set[Item]] = [{(self._start, rhs, 0, 0) for rhs in self._productions[self._start]}]
        self._close()

    def _symbol(self, node: Node) -> Symbol:
        match node:
            case Class(members):
                return members
            case Ref(name):
                return self._names[name]
        own = self._next
        self._next += 1
        productions: list[tuple[Symbol, ...]]
        match node:
            case Lit(data):
                productions = [tuple(frozenset([byte]) for byte in data)]
            case Seq(parts):
                productions = [tuple(self._symbol(part) for part in parts)]
            case Alt(parts):
                productions = [(self._symbol(part),) for part in parts]
            case Rep(inner, low, high):
                once = self._symbol(inner)
                if high is None:
                    productions = [(once,) * low, (own, once)]
                else:
                    productions = [(once,) * count for count in range(low, high + 1)]
        self._productions[own] = productions
        return own

    def _close(self) -> None:
        """Predict and complete until nothing is new; slow and plainly right for nullable rules, too."""
        here = len(self.chart) - 1
        items = self.chart[here]
        while True:
            new: set[Item] = set()
            for lhs, rhs, dot, origin in items:
                if dot == len(rhs):
                    waiting = self.chart[origin]
                    new |= {(left, r, d + 1, o) for left, r, d, o in waiting if d < len(r) and r[d] == lhs}
                elif isinstance(symbol := rhs[dot], int):
                    new |= {(symbol, production, 0, here) for production in self._productions[symbol]}
            if new <= items:
                return
            items |= new

    def step(self, byte: int) -> bool:
        """Read a byte; False (and nothing changes) if it cannot come next."""
        moved = {
            (lhs, rhs, dot + 1, origin)
            for lhs, rhs, dot, origin in self.chart[-1]
            if dot < len(rhs) and isinstance(rhs[dot], frozenset) and byte in rhs[dot]  # type: ignore[operator]
        }
        if not moved:
            return False
        self.chart.append(moved)
        self._close()
        return True

    def back(self, count: int) -> None:
        """Forget the last bytes."""
        del self.chart[len(self.chart) - count :]

    def reads(self, data: bytes) -> bool:
        """Whether the bytes could come next; nothing changes."""
        taken = 0
        for byte in data:
            if not self.step(byte):
                break
            taken += 1
        self.back(taken)
        return taken == len(data)

    def next_bytes(self) -> set[int]:
        """The bytes that may come next."""
        return {
            byte
            for _, rhs, dot, _ in self.chart[-1]
            if dot < len(rhs) and isinstance(rhs[dot], frozenset)
            for byte in rhs[dot]  # type: ignore[union-attr]
        }

    def accepts(self) -> bool:
        """Whether the text may end here."""
        return any(lhs == self._start and dot == len(rhs) and origin == 0 for lhs, rhs, dot, origin in self.chart[-1])


def random_rules(rng: random.Random, letters: bytes = b"ab") -> Rules:
    """A random grammar: recursion of every kind, nullable rules, ambiguity, cycles."""
    names = ["start", *(f"r{i}" for i in range(rng.randint(0, 3)))]
    rules = {name: _random_node(rng, names, letters, 3) for name in names}
    # An alternative that ends keeps most grammars from being endless; endless ones are made, too.
    for name in names:
        if rng.random() < 0.85:
            rules[name] = Alt((rules[name], Lit(bytes(rng.choices(letters, k=rng.randint(0, 2))))))
    return rules


def _random_node(rng: random.Random, names: list[str], letters: bytes, depth: int) -> Node:
    kind = rng.random()
    if depth == 0 or kind < 0.25:
        return Lit(bytes(rng.choices(letters, k=rng.randint(1, 3))))
    if kind < 0.35:
        return Class(frozenset(rng.sample(letters, rng.randint(1, len(letters)))))
    if kind < 0.55:
        return Ref(rng.choice(names))
    parts = tuple(_random_node(rng, names, letters, depth - 1) for _ in range(rng.randint(1, 3)))
    if kind < 0.75:
        return Seq(parts)
    if kind < 0.88:
        return Alt(parts)
    low, high = rng.choice([(0, 1), (0, None), (1, None), (0, 2), (2, 3), (1, 4)])
    return Rep(parts[0], low, high)
