"""Hints of the library in the words of its commands: options in place of arguments of Python."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["in_options"]

_RULES: Final = (
    (re.compile(r"`?Limits\((\w+)=…\)`?"), r"`--limits \1=…`"),
    (re.compile(r"raise `?Limits\.(\w+)`?"), r"raise it with `--limits \1=…`"),
    (re.compile(r"`formats\.names\(\)`"), "`syntagma formats`"),
    (re.compile(r'load\("embedded"\) loads the shipped model'), "`--model embedded` is the shipped model"),
)


def in_options(hint: str) -> str:
    """The hint as someone reads it who runs a command or asks a server."""
    for pattern, words in _RULES:
        hint = pattern.sub(words, hint)
    return hint
