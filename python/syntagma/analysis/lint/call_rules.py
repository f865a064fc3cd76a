"""Rules about calls: several in one message, the form of their arguments, and what tools answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from syntagma.analysis.lint.lost import is_missing
from syntagma.analysis.lint.report import Edit, Slip
from syntagma.analysis.lint.subject import Subject, message_of, user
from syntagma.analysis.render.conversation import SampleTurn
from syntagma.errors import SyntagmaError

__all__ = ["arguments_as_object", "arguments_as_text", "double_encoded", "parallel_calls", "tool_results"]

_VALUE = "samovar"
"""the value of the argument of `Subject.call`"""
_ARGUMENTS_AS_JSON = re.compile(r"\b([A-Za-z_][\w.]*\.arguments)\s*\|\s*tojson(?!\()")


def parallel_calls(subject: Subject) -> Iterator[Slip]:
    """A message with two calls is refused, or one of them is lost."""
    if not subject.shows_calls:
        return
    calls = (subject.call(), subject.call(1))
    messages = [user(), message_of(subject, SampleTurn(calls=calls))]

    def lost(shown: str) -> str:
        all_there = all(call.name in shown for call in calls)
        return "" if all_there else "of two calls in one message, only one is written"

    text = subject.render(messages, tools=True)
    yield from _refused_or_lost(subject, messages, text, "a message with two calls is", lost)


def arguments_as_text(subject: Subject) -> Iterator[Slip]:
    """Arguments as JSON text, as OpenAI's interface has them, are refused or lost."""
    what = "arguments given as JSON text are"
    text, messages = _with_arguments(subject, as_text=True)
    yield from _refused_or_lost(
        subject, messages, text, what, lambda shown: f"{what} lost" if is_missing(_VALUE, shown) else ""
    )


def arguments_as_object(subject: Subject) -> Iterator[Slip]:
    """Arguments as an object are refused, lost, or printed in Python's notation."""
    what = "arguments given as an object are"
    text, messages = _with_arguments(subject, as_text=False)

    def lost(shown: str) -> str:
        if f"{{'vessel': '{_VALUE}'}}" in shown:
            return f"{what} printed in Python's notation"
        return f"{what} lost" if is_missing(_VALUE, shown) else ""

    yield from _refused_or_lost(subject, messages, text, what, lost)


def double_encoded(subject: Subject) -> Iterator[Slip]:
    """Arguments as JSON text are encoded once more."""
    given, messages = _with_arguments(subject, as_text=True)
    usual, _ = _with_arguments(subject, as_text=False)
    if not isinstance(given, str) or not isinstance(usual, str) or _VALUE not in usual:
        return
    if _escapes(given) > _escapes(usual):
        yield Slip(
            message="arguments given as JSON text are encoded twice",
            request=subject.request(messages, tools=True),
            shown=_end(given),
            edits=_once(subject.template.source),
        )


def tool_results(subject: Subject) -> Iterator[Slip]:
    """What tools answer is refused, or does not stand in the prompt."""
    if not subject.shows_calls:
        return
    count = 2 if subject.analysis.capabilities.parallel_tool_calls else 1
    calls = tuple(subject.call(index) for index in range(count))
    results = [f"result {word} arrived" for word in ("amber", "cobalt")[:count]]
    messages = [user(), message_of(subject, SampleTurn(calls=calls))]
    for call, result in zip(calls, results, strict=True):
        messages.append({"role": "tool", "tool_call_id": call.id, "name": call.name, "content": result})

    def lost(shown: str) -> str:
        missing = sum(result not in shown for result in results)
        many = "the results of tools do" if missing == count else "of two results of tools, one does"
        return f"{many} not stand in the prompt" if missing else ""

    text = subject.render(messages, tools=True, prompt=True)
    yield from _refused_or_lost(subject, messages, text, "results of tools are", lost)


def _refused_or_lost(
    subject: Subject,
    messages: list[dict[str, Any]],
    text: str | SyntagmaError | None,
    what: str,
    lost: Callable[[str], str],
) -> Iterator[Slip]:
    """A slip if a conversation is refused, or if its render loses something.

    Args:
        subject: the template.
        messages: the conversation, which begins with the user's message.
        text: its render, or the error; None: it was not rendered, and there is no slip.
        what: the subject of the sentence, with its verb.
        lost: a sentence about what a text after the user's message loses; empty if nothing.
    """
    if text is None:
        return
    request = subject.request(messages, tools=True)
    if not isinstance(text, str):
        yield Slip(message=f"{what} refused", request=request, shown=text.message)
        return
    loss = lost(text.rpartition(messages[0]["content"])[2])
    if loss:
        yield Slip(message=loss, request=request, shown=_end(text))


def _with_arguments(subject: Subject, *, as_text: bool) -> tuple[str | SyntagmaError | None, list[dict[str, Any]]]:
    """A conversation with one call whose arguments have this form, and its render; None if no calls are written."""
    if not subject.shows_calls:
        return None, []
    call = subject.call()
    message = message_of(subject, SampleTurn(calls=(call,)))
    given = json.dumps(call.arguments) if as_text else dict(call.arguments)
    entry = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": given}}
    messages = [user(), {**message, "tool_calls": [entry]}]
    return subject.render(messages, tools=True), messages


def _escapes(text: str) -> int:
    """The number of backslashes before the quote of the argument's key, at its last occurrence."""
    at = text.rfind("vessel")
    before = text[:at]
    if not before.endswith('"'):
        return 0
    before = before[:-1]
    return len(before) - len(before.rstrip("\\"))


def _once(source: str) -> tuple[Edit, ...]:
    """Every place that encodes arguments, changed so that arguments that are already text are not encoded again."""
    return tuple(
        Edit(*match.span(), f"({match[1]} if {match[1]} is string else {match[1]} | tojson)")
        for match in _ARGUMENTS_AS_JSON.finditer(source)
    )


def _end(text: str) -> str:
    return text[-300:]
