"""The control tokens: names, spelling, finding and escaping (§3).

A control token is recognised by its ASCII spelling everywhere. An extra `<` directly before it makes it text:
`<<|end|>` means the text `<|end|>`, and a run of k extra `<` means k - 1 of them.
"""

from __future__ import annotations

import re

__all__ = [
    "CHANNELS",
    "CONTROL_TOKENS",
    "MAX_TOKEN_CHARS",
    "PREFIXES",
    "REASONING_MARKERS",
    "ROLES",
    "TERMINATORS",
    "TOKEN",
    "TOKENS",
    "WORD",
    "escape",
    "incomplete_token_from",
    "spell",
]

TOKENS = ("start", "channel", "message", "call", "constrain", "return", "end", "literal", "endliteral")
"""names of the nine control tokens"""

TERMINATORS = frozenset({"end", "call", "return"})
"""tokens that end a body"""

ROLES = ("system", "developer", "user", "assistant", "tool")
CHANNELS = ("analysis", "commentary", "final")
REASONING_MARKERS = ("<|start_reflect|>", "<|start_introspect|>", "<|start_reason|>")
"""markers of private reasoning; they are not control tokens"""

TOKEN = re.compile(r"<\|(start|channel|message|call|constrain|return|end|literal|endliteral)\|>")
WORD = re.compile(r"[^ \t\r\n]+")
"""a word of a header: only these four characters separate words"""


def spell(name: str) -> str:
    """The text of the control token of that name."""
    return f"<|{name}|>"


CONTROL_TOKENS = tuple(map(spell, TOKENS))
"""the nine control tokens as they are written; each should be one token of a vocabulary (§3)"""

PREFIXES = frozenset(spell(name)[:size] for name in TOKENS for size in range(1, len(spell(name))))
"""all proper prefixes of control tokens"""

MAX_TOKEN_CHARS = max(len(spell(name)) for name in TOKENS)
"""length of the longest control token in code points; a reader always withholds less than this"""


def incomplete_token_from(text: str, begin: int) -> int:
    """The index, from `begin` on, at which a cut control token may begin; the length of `text` if there is none."""
    last = text.rfind("<", max(begin, len(text) - MAX_TOKEN_CHARS + 1))
    return last if last >= 0 and text[last:] in PREFIXES else len(text)


def escape(text: str) -> str:
    """The text with each control token escaped by an extra `<`.

    A body that ends in `<` needs more than that, see `writer`.
    """
    return TOKEN.sub(r"<\g<0>", text) if "<|" in text else text
