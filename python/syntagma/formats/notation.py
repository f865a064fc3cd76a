"""JSON text as a notation spells it, and XML escapes."""

from __future__ import annotations

import json
import re
import string

from syntagma.format_schema import Notation
from syntagma.format_schema.names import KEYWORD_SIGNS

__all__ = ["in_notation"]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|, |: |[^\s"{}\[\],:]+')
_BARE = frozenset(string.ascii_letters + string.digits + KEYWORD_SIGNS)
_SHORT = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def in_notation(text: str, notation: Notation) -> str:
    """Canonical JSON text in a notation, with its first spellings and its separators."""
    separators = dict(zip((", ", ": "), notation.separators, strict=True))
    plain = notation.writes_json
    if plain and all(written == separator for separator, written in separators.items()):
        return text
    tokens = [match[0] for match in _TOKEN.finditer(text)]
    words = {"true": notation.true[0], "false": notation.false[0], "null": notation.null[0]}
    out = []
    for token, following in zip(tokens, (*tokens[1:], ""), strict=True):
        if token in separators:
            out.append(separators[token])
        elif plain:
            out.append(token)
        elif token[0] == '"':
            value = json.loads(token)
            bare = notation.bare_keys and following == ": " and value and _BARE.issuperset(value)
            out.append(value if bare else _quoted(value, notation.quotes[0]))
        else:
            out.append(words.get(token, token))
    return "".join(out)


def _quoted(value: str, quote: str) -> str:
    if len(quote) > 1:
        return quote + value + quote
    spelled = (
        _SHORT.get(char) or (f"\\{char}" if char == quote else f"\\x{ord(char):02x}" if ord(char) < 32 else char)
        for char in value
    )
    return quote + "".join(spelled) + quote
