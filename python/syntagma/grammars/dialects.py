"""In which notation the text of a grammar is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePath
from typing import Literal, TypeAlias, TypeVar

import msgspec

from syntagma.errors import ArgumentError, GrammarError, SyntagmaError
from syntagma.grammars.grammar_list import is_grammar_list

__all__ = [
    "NOTATIONS",
    "XGRAMMAR",
    "Dialect",
    "Notation",
    "default_start",
    "notation_of_file",
    "notation_of_text",
    "read_first",
]

Notation: TypeAlias = Literal[
    "ebnf", "gbnf", "xgrammar", "lark", "regex", "json_schema", "structural_tag", "grammar_list"
]
"""A notation that grammars are read from; KBNF is read as `ebnf`."""
Dialect: TypeAlias = Literal[
    "auto", "ebnf", "gbnf", "xgrammar", "lark", "regex", "json_schema", "structural_tag", "grammar_list"
]
"""A notation, or that the text tells."""

NOTATIONS: tuple[Notation, ...] = (
    "ebnf",
    "gbnf",
    "xgrammar",
    "lark",
    "regex",
    "json_schema",
    "structural_tag",
    "grammar_list",
)
XGRAMMAR: tuple[Notation, ...] = ("xgrammar", "gbnf")
"""for text that is meant for xgrammar"""
_OF_RULES: tuple[Notation, ...] = ("gbnf", "xgrammar", "ebnf", "lark")
_Read = TypeVar("_Read")
_SUFFIXES: dict[str, Notation] = {
    ".ebnf": "ebnf",
    ".kbnf": "ebnf",
    ".gbnf": "gbnf",
    ".lark": "lark",
    ".regex": "regex",
}
# Rules at the beginnings of lines. Lark's may have a priority, parameters, and marks before the name.
_DEFINITION = re.compile(r"^[ \t]*([A-Za-z_][\w.-]*)(?:\[[^\]\n]*\])?[ \t]*::?=", re.MULTILINE)
_LARK_RULE = re.compile(
    r"^[ \t]*[?!_]*[A-Za-z][\w-]*(?:::_|\.-?\d+|\{[^}]*\}|\[[^\]]*\])*[ \t]*:(?![:=])", re.MULTILINE
)
# A semicolon after a rule, a pattern: in GBNF the one means nothing, and the other would be a comment.
_EBNF_SIGN = re.compile(r"^[^#\n]*;[ \t]*$|#(?:ex?|substrs)?[\"']", re.MULTILINE)
_PLAIN_DEFINITION = re.compile(r"^[ \t]*[A-Za-z_][\w-]*[ \t]*=", re.MULTILINE)


def notation_of_file(name: str, text: str) -> tuple[Notation, ...]:
    """The notations that a file may be written in, by its suffix; where that says nothing, by its text."""
    known = _SUFFIXES.get(PurePath(name).suffix.lower())
    return notation_of_text(text) if known is None else (known,)


def notation_of_text(text: str) -> tuple[Notation, ...]:
    """The notations that a text may be written in, the likeliest first.

    JSON is a structural tag, a list of grammars or a schema. Rules `name ::= …` are GBNF where one is called `root` and
    no sign of EBNF is seen, such as a semicolon after a rule, or else xgrammar's, or else EBNF; otherwise EBNF first.
    `name: …` is Lark, and `name = …` EBNF.

    Raises:
        ArgumentError: `E-GRAMMAR-DIALECT`, it looks like none of them.
    """
    if text.lstrip()[:1] == "{":
        return (_json_notation(text),)
    names = {match.group(1) for match in _DEFINITION.finditer(text)}
    if names:
        is_gbnf = "root" in names and "start" not in names and _EBNF_SIGN.search(text) is None
        return ("gbnf", "xgrammar", "ebnf") if is_gbnf else ("ebnf", "gbnf", "xgrammar")
    if _LARK_RULE.search(text) is not None:
        return ("lark",)
    if _PLAIN_DEFINITION.search(text) is not None:
        return ("ebnf",)
    raise ArgumentError(
        "E-GRAMMAR-DIALECT",
        "the text looks like no notation of grammars",
        hint=f"name it: dialect is one of {', '.join(NOTATIONS)}",
    )


def default_start(text: str) -> str:
    """The start rule of a source in EBNF that nobody has named: `root` where there is no rule `start`."""
    names = {match.group(1) for match in _DEFINITION.finditer(text)}
    return "root" if "root" in names and "start" not in names else "start"


def _json_notation(text: str) -> Notation:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = None
    if is_grammar_list(value):
        return "grammar_list"
    return "structural_tag" if isinstance(value, dict) and value.get("type") == "structural_tag" else "json_schema"


def read_first(notations: tuple[Notation, ...], read: Callable[[Notation], _Read]) -> _Read:
    """What the first notation reads that can.

    Raises:
        GrammarError: no notation reads it. A mistake beyond syntax, such as an unknown rule, says that the notation is
            the right one; otherwise the error is that of the notation that came furthest. Its hint names another
            notation of rules that would read the text.
    """
    mistakes: list[GrammarError] = []
    for notation in notations:
        try:
            return read(notation)
        except GrammarError as error:
            mistakes.append(error)
    understood = [error for error in mistakes if error.code != "E-GRAMMAR-SYNTAX"]
    try:
        furthest = max(understood[:1] or mistakes, key=lambda error: error.offset or 0)
        if (other := _reader_of_rules(notations, read)) is not None:
            furthest.hint = f"{furthest.hint or furthest.message}; it reads as {other}: dialect={other!r}"
        raise furthest
    finally:
        # An error refers to this frame, which would refer to it.
        del mistakes, understood, furthest


def _reader_of_rules(tried: tuple[Notation, ...], read: Callable[[Notation], object]) -> Notation | None:
    """Another notation of rules that reads what the ones that were tried do not."""
    for notation in _OF_RULES:
        if notation not in tried and tried[0] in _OF_RULES:
            try:
                read(notation)
            except SyntagmaError:
                continue
            return notation
    return None
