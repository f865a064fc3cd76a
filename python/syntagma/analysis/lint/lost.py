"""Rules about texts that are lost: messages, contents, tools and the order of results that a prompt does not show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from syntagma.analysis.certify.shown import written_text
from syntagma.analysis.lint.report import Slip
from syntagma.analysis.lint.subject import ANSWER, QUESTION, REASONING, Subject, message_of, user
from syntagma.analysis.render.conversation import SampleTurn

__all__ = [
    "beside_calls",
    "developer",
    "first_message",
    "is_missing",
    "results_by_order",
    "system_text",
    "tool_members",
    "tools",
]

_RULE = "Quote zithers in every jingle."
_OTHER_RULE = "Weigh figs by the bushel only."
_LATER = "And the pot?"
_SHOWN = 300


def system_text(subject: Subject) -> Iterator[Slip]:
    """A system message is refused or left out: the first one, a second one, or one after a turn."""
    first, second = ({"role": "system", "content": text} for text in (_RULE, _OTHER_RULE))
    answer = message_of(subject, SampleTurn(content=ANSWER))
    for what, messages, texts in (
        ("a system message", [first, user()], (_RULE,)),
        ("a second system message", [first, second, user()], (_RULE, _OTHER_RULE)),
        ("a system message after a turn", [user(), answer, first, user(_LATER)], (_RULE,)),
    ):
        slips = list(_lost(subject, what, messages, *texts, QUESTION))
        yield from slips
        if slips:
            return


def developer(subject: Subject) -> Iterator[Slip]:
    """A message of role `developer`, which replaces the system's in newer requests, is refused or left out."""
    yield from _lost(subject, "a developer's message", [{"role": "developer", "content": _RULE}, user()], _RULE)


def first_message(subject: Subject) -> Iterator[Slip]:
    """The first message is left out if it is the user's, or a message of a plain conversation is."""
    answer = message_of(subject, SampleTurn(content=ANSWER))
    messages = [user(), answer, user(_LATER)]
    # A system message that a template cannot do without would be the first.
    if not subject.analysis.capabilities.needs_system:
        yield from _lost(subject, "the first message", messages, QUESTION)
    yield from _lost(subject, "an earlier answer", messages, ANSWER)


def beside_calls(subject: Subject) -> Iterator[Slip]:
    """Content in a message with calls is left out, or the message is refused; or so with reasoning beside both."""
    if not subject.shows_calls:
        return
    call = subject.call()
    turns = [("content beside a call", SampleTurn(content=ANSWER, calls=(call,)))]
    if subject.analysis.capabilities.reasoning is not None:
        turns.append(
            ("content beside reasoning and a call", SampleTurn(reasoning=REASONING, content=ANSWER, calls=(call,)))
        )
    for what, turn in turns:
        result = {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": "result amber arrived"}
        slips = list(_lost(subject, what, [user(), message_of(subject, turn), result], ANSWER, call.name, tools=True))
        yield from slips
        if slips:
            return


def tools(subject: Subject) -> Iterator[Slip]:
    """Of declared tools and their calls, one is written and the other left out."""
    calls = (subject.call(), subject.call(1))
    if subject.shows_calls:
        yield from _lost(subject, "declared tools", [user()], *(call.name for call in calls), tools=True)
    elif subject.analysis.capabilities.tools:
        messages = [user(), message_of(subject, SampleTurn(calls=calls[:1])), user(_LATER)]
        yield from _lost(subject, "calls", messages, *calls[0].arguments.values(), tools=True)


def tool_members(subject: Subject) -> Iterator[Slip]:
    """A tool without a description, or without parameters, makes the template fail, or is left out."""
    name = subject.call().name
    whole = subject.render([user()], tools=True)
    if not isinstance(whole, str) or name not in whole:
        return
    for member in ("description", "parameters"):
        declared = [
            {**tool, "function": {key: value for key, value in tool["function"].items() if key != member}}
            for tool in subject.tools
        ]
        text = subject.render([user()], tools=declared)
        if isinstance(text, str) and name in text:
            continue
        yield Slip(
            message=f"tools without {member} are {'left out' if isinstance(text, str) else 'refused'}",
            request={"messages": [user()], "tools": declared},
            shown=text[-_SHOWN:] if isinstance(text, str) else text.message,
        )


def results_by_order(subject: Subject) -> Iterator[Slip]:
    """Of parallel calls of one tool, only the order says whose result is whose: ids are neither shown nor looked at."""
    if not subject.shows_calls or not subject.analysis.capabilities.parallel_tool_calls:
        return
    first, second = subject.call(), subject.call(1, like_first=True)
    calls = message_of(subject, SampleTurn(calls=(first, second)))
    texts = []
    for pairs in (((first, "amber"), (second, "cobalt")), ((second, "amber"), (first, "cobalt"))):
        messages = [user(), calls]
        for call, word in pairs:
            content = f"result {word} arrived"
            messages.append({"role": "tool", "tool_call_id": call.id, "name": call.name, "content": content})
        texts.append(subject.render(messages, tools=True))
    one, other = texts
    if isinstance(one, str) and one == other and "amber" in one:
        yield Slip(
            message="results in another order than their calls are taken for those of other calls",
            request=subject.request(messages, tools=True),
            shown=one[-_SHOWN:],
        )


def _lost(
    subject: Subject, what: str, messages: list[dict[str, Any]], *texts: str, tools: bool = False
) -> Iterator[Slip]:
    """A slip if a conversation is refused, or if one of these texts is not in its render."""
    text = subject.render(messages, tools=tools, prompt=messages[-1]["role"] != "assistant")
    request = subject.request(messages, tools=tools)
    verb = "are" if what.endswith("s") else "is"
    if not isinstance(text, str):
        yield Slip(message=f"{what} {verb} refused", request=request, shown=text.message)
    elif any(is_missing(one, text) for one in texts):
        yield Slip(message=f"{what} {verb} left out", request=request, shown=text[-_SHOWN:])


def is_missing(text: str, rendered: str) -> bool:
    """Whether a text is not in a render, not even in other letters or with entities."""
    written = written_text(text, rendered)
    return written.text is None and not written.change
