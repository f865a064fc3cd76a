"""Rules about work: the cost of a render may not grow faster than the conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from syntagma.analysis.lint.report import Slip
from syntagma.analysis.lint.subject import ANSWER, Subject, message_of, user
from syntagma.analysis.render.conversation import SampleTurn
from syntagma.errors import LimitError

__all__ = ["growing_work", "unbounded_work"]

_SIZES = (10, 20, 40)
_MAX_GROWTH = 3.0
"""the largest ratio of the second doubling's cost to the first's: 2 if the work is linear, 4 if it is quadratic"""
_MIN_STEPS = 200
"""steps below which growth is not significant, since work is charged in lumps"""
_MANY = 300
"""turns of a long conversation"""
_LONG = 20_000
"""words of a long text"""


def growing_work(subject: Subject) -> Iterator[Slip]:
    """The steps of a render grow faster than the number of messages, or than the length of a text."""
    kinds: tuple[tuple[str, Callable[[int], list[dict[str, Any]]]], ...] = (
        ("the number of messages", lambda size: _conversation(subject, size)),
        ("the length of a text", lambda size: [user("warm " * 20 * size)]),
    )
    for what, made in kinds:
        steps = [subject.steps(made(size)) for size in _SIZES]
        if None in steps:
            continue
        first, second = steps[1] - steps[0], steps[2] - steps[1]  # type: ignore[operator]
        if second > max(_MAX_GROWTH * first, _MIN_STEPS):
            yield Slip(
                message=f"work grows faster than {what}",
                request=subject.request(made(_SIZES[0])),
                shown=", ".join(f"{size}: {count} steps" for size, count in zip(_SIZES, steps, strict=True)),
            )


def unbounded_work(subject: Subject) -> Iterator[Slip]:
    """A long conversation or text goes beyond the limits of a render."""
    for what, messages in (
        (f"a conversation of {_MANY} turns", _conversation(subject, _MANY)),
        (f"a text of {_LONG} words", [user("warm " * _LONG)]),
    ):
        text = subject.render(messages)
        if isinstance(text, LimitError):
            request = subject.request(messages[:3] if len(messages) > 1 else [user("warm ...")])
            yield Slip(message=f"{what} is beyond a limit", request=request, shown=f"{text.code}: {text.message}")


def _conversation(subject: Subject, turns: int) -> list[dict[str, Any]]:
    answer = message_of(subject, SampleTurn(content=ANSWER))
    return [message for _ in range(turns) for message in (user(), answer)]
