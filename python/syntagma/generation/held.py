"""How a turn's grammar goes to an engine: in a language that the engine can be held to, or not at all."""

from __future__ import annotations

import functools
from typing import Any

from syntagma.codec import Turn
from syntagma.decoding.upstream import Constraint, Upstream
from syntagma.errors import FormatError, UpstreamError
from syntagma.grammars import Grammar
from syntagma.request import ResolvedRequest

__all__ = ["accepts", "constraint_for", "is_held_by_reading", "unheld"]

_KEPT = 256
"""constraints that are kept as text: the same tools come with every request of a conversation"""
_SCHEMA = "json_schema"


def constraint_for(upstream: Upstream, turn: Turn) -> Constraint | None:
    """What the engine is held to, so that its text is one of the turn's grammar; None where it cannot be.

    Raises:
        RequestError: `E-REQUEST-PREFIX`, no text of the grammar begins with what the prompt holds of the answer.
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
    """The grammar in a language; None where that lacks words for it, or forgets what the grammar bounds."""
    export = grammar.exports(languages=(language,))[language]
    # What no grammar holds of a schema is no fault of the language.
    lost = set(export.where) - set(grammar.report.pointers)
    return None if lost else export.source


def _answer_schema(turn: Turn) -> Any:
    """The schema of an answer that is JSON and nothing else, where the turn may be that; else None."""
    asked = turn.request.response_format
    if not asked.is_json or turn.request.choice.forced or turn.begun:
        return None
    schema = {"type": "object"} if asked.kind == "object" else asked.schema
    answer = Grammar.from_json_schema(schema).check("")
    # Whether reasoning, headers or wrappers must come first is told by one answer as well as by any.
    fits = answer.continuation is not None and accepts(turn, answer.continuation)
    return schema if fits else None


def accepts(turn: Turn, text: str) -> bool:
    """Whether a text that an engine ended is one of the turn's grammar; what ends a turn may be missing from it."""
    grammar, text = turn.whole_grammar, turn.begun + text
    return grammar is None or any(grammar.accepts(text + end) for end in ("", *turn.stop_strings))


def is_held_by_reading(request: ResolvedRequest) -> bool:
    """Whether all that is asked for is that no call comes: what looks like one is then read as content."""
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
