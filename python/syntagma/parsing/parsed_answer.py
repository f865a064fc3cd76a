"""The value of an answer whose response format is JSON, or the reason why there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from syntagma.answer_types import read_as
from syntagma.errors import SyntagmaError
from syntagma.grammars import Grammar
from syntagma.json_types import refuse_constant
from syntagma.messages import Message
from syntagma.request import ResponseFormat

__all__ = ["parsed_answer"]


def parsed_answer(wanted: ResponseFormat, reason: str | None, message: Message) -> tuple[Any, str | None]:
    """The value and None, or None and why.

    Args:
        wanted: the response format, which is JSON.
        reason: the reason for which the message is over; None: it is not.
        message: the message.
    """
    text = message.content
    if reason is None:
        return None, "the answer is not over"
    if message.incomplete or reason == "length":
        return None, "the answer was cut off"
    if not isinstance(text, str):
        return None, "the message has calls and no answer" if message.tool_calls else "the message has no answer"
    try:
        if wanted.answer_type is not None:
            return read_as(wanted.answer_type, text), None
        value = json.loads(text, parse_constant=refuse_constant)
        problem = _misfit(wanted, text, value)
    except (ValueError, RecursionError) as error:
        return None, f"the answer is no such value: {error}"
    except SyntagmaError as error:
        return None, f"the schema cannot be checked: {error}"
    return (value, None) if problem is None else (None, problem)


def _misfit(wanted: ResponseFormat, text: str, value: Any) -> str | None:
    """Why a value does not fit the response format, or None."""
    if wanted.kind == "object" or wanted.schema is None:
        return None if isinstance(value, Mapping) else "the answer is no JSON object"
    grammar = Grammar.from_json_schema(wanted.schema)
    # The text itself says where it is wrong; without its whitespace it may be right.
    check, compact = (grammar.check(one) for one in (text, json.dumps(value, ensure_ascii=False)))
    for one in (check, compact):
        if one.out_of_order or (one.accepted and not one.violations):
            return None
    if violations := check.violations or compact.violations:
        return f"the answer does not fit the schema: {'; '.join(violations)}"
    return f"the answer does not fit the schema at character {check.offset}: {check.message}"
