"""A JSON object that is spelled inside a JSON string."""

from __future__ import annotations

import functools

from syntagma.grammars import Grammar

__all__ = ["encoded_object"]

# Quotes of the inner text carry one backslash, its backslashes two; a blank stands only where the writer puts one.
_ENCODED = r"""
start  ::= "{" [ member { "," " "? member } ] "}" ;
member ::= string ":" " "? value ;
value  ::= start | list | string | number | "true" | "false" | "null" ;
list   ::= "[" [ value { "," " "? value } ] "]" ;
string ::= #'\\"([^"\\\x00-\x1f]|\\\\(\\"|\\\\|[/bfnrt]|u[0-9a-fA-F]{4}))*\\"' ;
number ::= #'-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?' ;
"""


@functools.cache
def encoded_object() -> Grammar:
    """Any JSON object as the inside of a JSON string, without the quotes around it."""
    return Grammar.from_ebnf(_ENCODED)
