"""Rules about calls: several in one message, the form of their arguments, and what tools answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from syntagma.analysis.lint.report import Slip
from syntagma.analysis.lint.subject import Subject, message_of, user
from syntagma.analysis.render.conversation import SampleTurn

__all__ = ["arguments_as_object", "arguments_as_text", "double_encoded", "parallel_calls", "tool_results"]

_ARGUMENTS_AS_JSON = re.compile(r"\b([A-Za-z_][\w.]*\.arguments)\s*\|\s*tojson(?!\()")


def parallel_calls(subject: Subject) -> Iterator[Slip]:
    """A message with two calls is refused, or one of them is lost."""
    if not subject.shows_calls:
        return
    calls = (subject.call(), subject.call(1))
    messages = [user(), message_of(subject, SampleTurn(calls=calls))]
    text = subject.render(messages, tools=True)
    request = subject.request(messages, tools=True)
    if not isinstance(text, str):
        yield Slip(message="a message with two calls is refused", request=request, shown=text.message)
    elif not all(call.name in text.rpartition(messages[0]["content"])[2] for call in calls):
        yield Slip(message="of two calls in one message, only one is written", request=request, shown=_end(text))


def arguments_as_text(subject: Subject) -> Iterator[Slip]:
    """Arguments as JSON text, as OpenAI's interface has them, are refused or lost."""
    text, messages = _with_arguments(subject, as_text=True)
    request = subject.request(messages, tools=True)
    if text is None:
        return
    if not isinstance(text, str):
        yield Slip(message="arguments given as JSON text are refused", request=request, shown=text.message)
    elif "samovar" not in text.rpartition(messages[0]["content"])[2]:
        yield Slip(message="arguments given as JSON text are lost", request=request, shown=_end(text))


def arguments_as_object(subject: Subject) -> Iterator[Slip]:
    """Arguments as an object are refused, or printed in Python's notation."""
    text, messages = _with_arguments(subject, as_text=False)
    request = subject.request(messages, tools=True)
    if text is None:
        return
    if not isinstance(text, str):
        yield Slip(message="arguments given as an object are refused", request=request, shown=text.message)
        return
    shown = text.rpartition(messages[0]["content"])[2]
    if "{'vessel': 'samovar'}" in shown:
        message = "arguments given as an object are printed in Python's notation"
        yield Slip(message=message, request=request, shown=_end(text))
    elif "samovar" not in shown:
        yield Slip(message="arguments given as an object are lost", request=request, shown=_end(text))


def double_encoded(subject: Subject) -> Iterator[Slip]:
    """Arguments as JSON text are encoded once more."""
    given, messages = _with_arguments(subject, as_text=True)
    usual, _ = _with_arguments(subject, as_text=False)
    if not isinstance(given, str) or not isinstance(usual, str) or "samovar" not in usual:
        return
    if _escapes(given) > _escapes(usual):
        yield Slip(
            message="arguments given as JSON text are encoded twice",
            request=subject.request(messages, tools=True),
            shown=_end(given),
            fixes=(_once(subject.template.source),),
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
    text = subject.render(messages, tools=True, prompt=True)
    request = subject.request(messages, tools=True)
    if not isinstance(text, str):
        yield Slip(message="results of tools are refused", request=request, shown=text.message)
        return
    lost = [result for result in results if result not in text]
    if lost:
        many = "the results of tools do" if len(lost) == count else "of two results of tools, one does"
        yield Slip(message=f"{many} not stand in the prompt", request=request, shown=_end(text))


def _with_arguments(subject: Subject, *, as_text: bool) -> tuple[Any, list[dict[str, Any]]]:
    """A conversation with one call whose arguments have this form, and its render; None where calls are not written."""
    if not subject.shows_calls:
        return None, []
    call = subject.call()
    message = message_of(subject, SampleTurn(calls=(call,)))
    given = json.dumps(call.arguments) if as_text else dict(call.arguments)
    entry = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": given}}
    messages = [user(), {**message, "tool_calls": [entry]}]
    return subject.render(messages, tools=True), messages


def _escapes(text: str) -> int:
    """How many backslashes stand before the quote of the argument's key, where it is written last."""
    at = text.rfind("vessel")
    before = text[:at]
    if not before.endswith('"'):
        return 0
    before = before[:-1]
    return len(before) - len(before.rstrip("\\"))


def _once(source: str) -> str:
    """The source, with arguments that are text already written as they are."""
    return _ARGUMENTS_AS_JSON.sub(r"(\1 if \1 is string else \1 | tojson)", source)


def _end(text: str) -> str:
    return text[-300:]
