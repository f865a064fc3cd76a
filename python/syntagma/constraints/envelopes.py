"""Envelopes as grammars: the members of a call's JSON object in all allowed orders."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from syntagma.constraints.whitespace import WHITESPACE
from syntagma.format_schema import Envelope, EnvelopeNode, EnvelopePlaceholder, Members
from syntagma.grammars import Grammar

__all__ = ["Part", "Slot", "alike", "envelope_parts", "is_encoded"]

_MOST_ORDERS = 24
"""the most orders of one envelope; one that has more is only written in the order that it shows"""


class Slot(NamedTuple):
    """A placeholder of a call.

    Attributes:
        placeholder: its name.
        in_json: whether it stands in an envelope.
    """

    placeholder: str
    in_json: bool = False


Part: TypeAlias = Grammar | Slot
"""A part of a call: a grammar, or a placeholder to be filled in."""


@functools.lru_cache(maxsize=256)
def envelope_parts(envelope: Envelope, *, few_tools: bool) -> list[list[Part]]:
    """The ways to write an envelope; the first is as shown.

    A member that holds neither the name nor the arguments is optional and may stand anywhere. The arguments come before
    the name only where there are few tools, since those of all tools are then matched at once.
    """
    shown, every = _object(envelope.root, [range(len(envelope.root.items))]), _object(envelope.root, None)
    for orders in (*([every] if few_tools else []), [parts for parts in every if _name_first(parts)]):
        if len(orders) <= _MOST_ORDERS:
            return [*shown, *(parts for parts in orders if parts not in shown)]
    return shown


def alike(envelopes: Sequence[Envelope]) -> list[tuple[Envelope, ...]]:
    """The envelopes in groups: those whose arguments are an object, and those where they are encoded as a string.

    The first group holds the first envelope; without envelopes, there is one empty group.
    """
    groups: dict[bool, list[Envelope]] = {}
    for envelope in envelopes:
        groups.setdefault(is_encoded(envelope), []).append(envelope)
    return [tuple(group) for group in groups.values()] or [()]


@functools.lru_cache(maxsize=256)
def is_encoded(envelope: Envelope) -> bool:
    """Whether the arguments are an object that is encoded as a string."""
    return any(one.name == "arguments" and one.quoted for one in _placeholders(envelope.root))


def _object(members: Members, orders: Sequence[Sequence[int]] | None) -> list[list[Part]]:
    """The ways to write an object in these orders of its members; None: in all orders with the needed members."""
    found: list[list[Part]] = []
    for order in _orders(members) if orders is None else orders:
        inner = [_values(members.items[at][1], shown=orders is not None) for at in order]
        for values in itertools.product(*inner):
            parts: list[Part] = [_OPEN]
            for number, (at, value) in enumerate(zip(order, values, strict=True)):
                parts += [WHITESPACE, _COMMA] if number else []
                parts += [WHITESPACE, *_key(members.items[at][0]), WHITESPACE, _COLON, WHITESPACE, *value]
            found.append([*parts, WHITESPACE, _CLOSE])
    return found


def _orders(members: Members) -> Iterator[tuple[int, ...]]:
    """All orders of the members that are needed, with and without the others."""
    every = range(len(members.items))
    needed = {at for at in every if _is_needed(*members.items[at])}
    others = [at for at in every if at not in needed]
    for size in range(len(others), -1, -1):
        for kept in itertools.combinations(others, size):
            yield from itertools.permutations(at for at in every if at in needed or at in kept)


def _is_needed(key: str | EnvelopePlaceholder, node: EnvelopeNode) -> bool:
    names = {one.name for one in _placeholders(node)}
    return isinstance(key, EnvelopePlaceholder) or bool(names & {"name", "arguments"})


def _key(key: str | EnvelopePlaceholder) -> list[Part]:
    if isinstance(key, EnvelopePlaceholder):
        return [_QUOTE, Slot(key.name, in_json=True), _QUOTE]
    return [Grammar.literal(json.dumps(key, ensure_ascii=False))]


def _values(node: EnvelopeNode, *, shown: bool) -> list[list[Part]]:
    if isinstance(node, Members):
        return _object(node, [range(len(node.items))] if shown else None)
    if isinstance(node, EnvelopePlaceholder):
        slot = Slot(node.name, in_json=True)
        return [[_QUOTE, slot, _QUOTE] if node.quoted else [slot]]
    return [[Grammar.literal(node.json)]]


def _name_first(parts: Sequence[Part]) -> bool:
    slots = [part.placeholder for part in parts if isinstance(part, Slot)]
    return "name" not in slots or slots.index("name") < slots.index("arguments")


def _placeholders(node: EnvelopeNode) -> Iterator[EnvelopePlaceholder]:
    pending: list[EnvelopeNode] = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, EnvelopePlaceholder):
            yield current
        elif isinstance(current, Members):
            pending += [value for _, value in current.items]


_OPEN, _CLOSE, _COMMA, _COLON, _QUOTE = (Grammar.literal(sign) for sign in '{},:"')
