"""Random strings of a grammar, drawn byte by byte through a matcher over a vocabulary of the 256 bytes."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from syntagma.decoding import GrammarCompiler, GrammarMatcher, allocate_token_bitmask
from syntagma.events import Event, Malformed
from syntagma.format_schema import ToolsSpec, is_open
from syntagma.formats import ChatFormat
from syntagma.grammars import Grammar
from syntagma.testing import byte_vocabulary

INFO = byte_vocabulary(["<|eos|>"])
COMPILER = GrammarCompiler(INFO)
_COMMON = tuple(b'abcz019 \n<>[]{}"\\/,:;|_-.')
_CLOSERS = (b'"', b"}", b"]", b">", b"0")
HINTS = ["weather", "clock", "save_note", '"place": "', '{"']


def matcher(grammar: Grammar) -> GrammarMatcher:
    return GrammarMatcher(COMPILER.compile(grammar))


def accepts(grammar: Grammar, text: str) -> bool:
    m = matcher(grammar)
    return m.accept_bytes(text.encode()) and m.is_accepting()


def walk(grammar: Grammar, rng: random.Random, hints: Sequence[str], *, steps: int = 120) -> str | None:
    """One string of the grammar; None if the walk did not find an end.

    Args:
        grammar: what is walked.
        rng: chooses.
        hints: texts that are tried now and then as a whole, such as markers.
        steps: choices before the walk looks for an end.
    """
    m = matcher(grammar)
    bitmask = allocate_token_bitmask(1, INFO.vocab_size)
    tried = [hint.encode() for hint in hints]
    out = bytearray()
    for step in range(steps * 8):
        closing = step >= steps
        if m.is_accepting() and (closing or rng.random() < 0.05):
            return out.decode()
        if rng.random() < (0.5 if closing else 0.3):
            piece = rng.choice([*tried, *_CLOSERS] if closing else tried)
            if m.accept_bytes(piece):
                out += piece
                continue
        m.fill_next_token_bitmask(bitmask)
        allowed = [int(i) for i in np.flatnonzero(np.unpackbits(bitmask[0].view(np.uint8), bitorder="little")[:256])]
        if not allowed:
            assert m.is_accepting()
            return out.decode()
        common = [byte for byte in _COMMON if byte in allowed]
        if closing and (quick := [byte for byte in b'"}]>' if byte in allowed]) and rng.random() < 0.7:
            common = quick
        byte = rng.choice(common if common and rng.random() < 0.9 else allowed)
        assert m.accept_token(byte)
        out.append(byte)
    return None


def unexpected(fmt: ChatFormat, events: Iterable[Event]) -> list[Malformed]:
    """What the parser reports of a text of the grammar, but for markers where grammars let them stand.

    That is in reasoning, and in messages, whose text ends at few of them.
    """
    found = [event for event in events if isinstance(event, Malformed)]
    return [
        one
        for one in found
        if one.code != "E-PARSE-MARKER" or (fmt.spec.messages is None and not one.message.endswith("reasoning"))
    ]


def hints(fmt: ChatFormat) -> list[str]:
    """Texts of a format that a walk tries as a whole."""
    reasoning = fmt.spec.reasoning
    closers = [block.closer for block in reasoning.block] if reasoning is not None else []
    if fmt.spec.tools is not None:
        tools = fmt.spec.tools
        after = "".join(one.closer for one in (*tools.argument[:1], tools.call[0], tools.section[0]))
        closers += [one.around("value")[1] for one in tools.argument[:1]] + [after, tools.call[0].closer]
        if tools.element is not None:
            keys = ("place", "days", "text", "tags", "meta", "pinned", *filter(None, [tools.item]))
            closers += [tools.element[2] + key + tools.element[3] for key in keys]
        if not tools.literals.writes_json:
            quote = tools.literals.quotes[0]
            closers += [one.around("key")[1] + "0" for one in tools.argument[:1]]
            closers += [
                quote,
                quote,
                quote + ": 0",
                quote + after,
                after,
                *(
                    tools.section[0].opener + "clock" + one.around("name")[1]
                    for one in tools.call[:1]
                    if "name" in one.placeholders
                ),
            ]
        openers = [tools.section[0].opener, tools.call[0].opener, *(one.pattern.opener for one in tools.envelope)]
        closers += [opener for opener in openers if opener]
    return [*fmt.preserved_tokens, *fmt.triggers, *HINTS, *closers]


def line_ends(tools: ToolsSpec) -> tuple[str, ...]:
    """What stands between arguments whose values have no marker after them."""
    return (tools.argument[0].around("value")[1], tools.argument_separator) if is_open(tools) else ()


def asked(fmt: ChatFormat) -> Any:
    """The option with which a format has reasoning that has none unless it is asked."""
    return {"reasoning": "closed"} if fmt.spec.reasoning is not None and fmt.spec.reasoning.start == "off" else {}
