"""Rules about history: reasoning that is dropped from it, and prompts that do not begin with the one before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from syntagma.analysis.lint.report import Slip
from syntagma.analysis.lint.subject import ANSWER, REASONING, Subject, message_of, user
from syntagma.analysis.render.conversation import SampleTurn

__all__ = ["prefix_stability", "reasoning_in_history", "reasoning_in_tool_loop"]

_SECOND = "And the pot?"
_RESULT = "result amber arrived"
_SHOWN = 60
"""code points of each text that are shown, from the first difference on"""


def reasoning_in_history(subject: Subject) -> Iterator[Slip]:
    """Reasoning of an answer is written while it is the last message, and dropped once the user goes on."""
    if subject.analysis.capabilities.reasoning is None:
        return
    messages = [user(), message_of(subject, SampleTurn(reasoning=REASONING, content=ANSWER))]
    last = subject.render(messages)
    longer = [*messages, user(_SECOND)]
    text = subject.render(longer)
    if isinstance(last, str) and isinstance(text, str) and REASONING in last and REASONING not in text:
        message = "reasoning of earlier answers is dropped"
        yield Slip(message=message, request=subject.request(longer), shown=text[-300:])


def reasoning_in_tool_loop(subject: Subject) -> Iterator[Slip]:
    """Reasoning before a call is dropped as soon as the tool has answered: the model goes on without its own plan."""
    if subject.analysis.capabilities.reasoning is None or not subject.shows_calls:
        return
    call = subject.call()
    messages = [user(), message_of(subject, SampleTurn(reasoning=REASONING, calls=(call,)))]
    alone = subject.render(messages, tools=True)
    answer = {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": _RESULT}
    text = subject.render([*messages, answer], tools=True, prompt=True)
    if not isinstance(text, str) or call.name not in text or REASONING in text:
        return
    where = "once the tool has answered" if isinstance(alone, str) and REASONING in alone else "beside calls"
    yield Slip(
        message=f"reasoning before a call is dropped {where}",
        request=subject.request([*messages, answer], tools=True),
        shown=text[-300:],
    )


def prefix_stability(subject: Subject) -> Iterator[Slip]:
    """A prompt is not the beginning of the next prompt of the same conversation, and cannot be reused there."""
    reasoning = REASONING if subject.analysis.capabilities.reasoning is not None else None
    first = message_of(subject, SampleTurn(reasoning=reasoning, content=ANSWER))
    second = message_of(subject, SampleTurn(reasoning=reasoning, content="So does it."))
    found = _unstable(subject, [user(), first, user(_SECOND), second, user("And the lid?")], tools=False)
    if found is None and subject.shows_calls:
        call = subject.call()
        turn = message_of(subject, SampleTurn(reasoning=reasoning, calls=(call,)))
        answer = {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": _RESULT}
        found = _unstable(subject, [user(), turn, answer, first, user(_SECOND)], tools=True)
    if found is not None:
        yield found


def _unstable(subject: Subject, messages: Sequence[dict[str, Any]], *, tools: bool) -> Slip | None:
    """The first prompt of a conversation that the next one does not begin with; None if there is none."""
    ends = [end for end in range(1, len(messages) + 1) if messages[end - 1]["role"] != "assistant"]
    prompts = [subject.render(messages[:end], tools=tools, prompt=True) for end in ends]
    for end, one, other in zip(ends[1:], prompts, prompts[1:], strict=False):
        if not isinstance(one, str) or not isinstance(other, str) or other.startswith(one):
            continue
        pairs = zip(one, other, strict=False)
        at = next((i for i, (old, new) in enumerate(pairs) if old != new), min(len(one), len(other)))
        return Slip(
            message=f"the next prompt differs from character {at} on, of {len(one)}",
            request=subject.request(messages[:end], tools=tools),
            shown=f"{one[at : at + _SHOWN]!r} becomes {other[at : at + _SHOWN]!r}",
        )
    return None
