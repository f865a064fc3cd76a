"""A turn's grammar as a constraint of an engine: in a language that the engine takes, or not at all."""

from __future__ import annotations

import functools
from typing import Any

from syntagma.codec import Turn
from syntagma.decoding.upstream import Constraint, Upstream
from syntagma.errors import FormatError, UpstreamError
from syntagma.grammars import Grammar
from syntagma.request import ResolvedRequest

__all__ = ["accepts", "constraint_for", "is_held_by_reading", "unheld"]

_KEPT = 64
"""constraints kept as text: every request of a conversation brings the same tools"""
_SCHEMA = "json_schema"


def constraint_for(upstream: Upstream, turn: Turn) -> Constraint | None:
    """The constraint that holds the engine to the turn's grammar; None if it takes none that does.

    Raises:
        RequestError: `E-REQUEST-PREFIX`, no text of the grammar begins with the part of the answer in the prompt.
        FormatError, GrammarError, LimitError: as `Turn.grammar`.
    """
    if turn.begun:
        turn.check_begun()
    try:
        grammar = turn.grammar
    except FormatError as error:
        if error.code != "E-FORMAT-BEGUN":
            raise
        return None
    assert grammar is not None
    for language in upstream.languages:
        source = _answer_schema(turn) if language == _SCHEMA else _source(grammar, language)
        constraint = Constraint(language=language, source=source)
        if source is not None and upstream.holds(constraint):
            return constraint
    return None


@functools.lru_cache(maxsize=_KEPT)
def _source(grammar: Grammar, language: str) -> Any:
    """The grammar in a language; None if the language cannot express it, or only without some of its bounds."""
    export = grammar.exports(languages=(language,))[language]
    # Parts of a schema that the grammar itself widens are no fault of the language.
    lost = set(export.where) - set(grammar.report.pointers)
    return None if lost else export.source


def _answer_schema(turn: Turn) -> Any:
    """The schema of the answer, if the whole turn may be JSON and nothing else; else None."""
    asked = turn.request.response_format
    if not asked.is_json or turn.request.choice.forced or turn.begun:
        return None
    schema = {"type": "object"} if asked.kind == "object" else asked.schema
    answer = Grammar.from_json_schema(schema).check("")
    # Any one answer shows whether reasoning, headers or wrappers must come first.
    fits = answer.continuation is not None and accepts(turn, answer.continuation)
    return schema if fits else None


def accepts(turn: Turn, text: str) -> bool:
    """Whether the turn's grammar accepts a text that an engine ended; the end of turn may be missing from it."""
    grammar, text = turn.whole_grammar, turn.begun + text
    return grammar is None or any(grammar.accepts(text + end) for end in ("", *turn.stop_strings))


def is_held_by_reading(request: ResolvedRequest) -> bool:
    """Whether the only constraint is that there is no call; the parser then reads what looks like one as content."""
    bounded = request.budgets is not None and request.budgets.bounds()
    return request.choice.mode == "none" and request.response_format.is_text and not bounded


def unheld(upstream: Upstream, request: ResolvedRequest) -> UpstreamError:
    """The error for a constraint that an engine cannot hold, with the field that asks for it."""
    if request.choice.forced:
        pointer, what = "/tool_choice", "a call"
    elif not request.response_format.is_text:
        pointer, what = request.response_format.pointer or "/response_format", "this response format"
    elif request.budgets is not None and request.budgets.bounds():
        pointer, what = "/thinking_token_budget", "this number of tokens"
    else:
        pointer, what = "/tools", "calls of these tools"
    return UpstreamError(
        "E-UPSTREAM-CONSTRAINT",
        f"the engine cannot be held to {what}",
        status=400,
        hint='it can be checked afterwards: unheld="check", or --unheld check of the server',
        pointer=pointer,
        source=upstream.address,
    )
