"""The states of a turn reader, and its transitions.

There are two readers: `InlineTurnReader` for turns with markers in the text, and `MessageTurnReader` for turns that are
a sequence of messages with headers. Each has one method for each `State`, and changes the state in one place only,
which asserts that its table here (`INLINE`, `MESSAGES`) has the transition.
`docs/reference/parser-states.md` is made from this file.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal, NamedTuple, TypeAlias

__all__ = ["INLINE", "MEANING", "MESSAGES", "Meaning", "ReadingNow", "State", "Transition", "Transitions"]

ReadingNow: TypeAlias = Literal["reasoning", "content", "call", "end"]


class State(StrEnum):
    """What is being read."""

    START_IN_REASONING = "start in reasoning"
    START_IN_ANSWER = "start in answer"
    ANSWER = "answer"
    BEFORE_ANSWER = "before answer"
    REASONING = "reasoning"
    BEFORE_REASONING = "before reasoning"
    INTERRUPTED = "interrupted reasoning"
    MATCHING = "matching"
    DROPPING = "dropping"
    ARGUMENTS = "arguments"
    ENVELOPE = "envelope"
    CLOSERS = "closers"
    BETWEEN_MESSAGES = "between messages"
    HEADER = "header"
    CALL_AS_TEXT = "call as text"
    UNREADABLE = "unreadable arguments"
    AFTER_ARGUMENTS = "after arguments"
    AFTER_TURN = "after turn"

    @property
    def now(self) -> ReadingNow:
        """The value of `StreamParser.state` in it."""
        return MEANING[self].now

    @property
    def is_reasoning(self) -> bool:
        """Whether reasoning is open."""
        return MEANING[self].now == "reasoning"


class Meaning(NamedTuple):
    """The meaning of a state.

    Attributes:
        now: the value of `StreamParser.state` in it.
        text: a sentence that says what is read in it.
    """

    now: ReadingNow
    text: str


MEANING: dict[State, Meaning] = {
    State.START_IN_REASONING: Meaning(
        "reasoning",
        "Reasoning is open before the first character. A repeated opener is removed.",
    ),
    State.START_IN_ANSWER: Meaning(
        "content", "Reasoning is closed before the first character. A closer at the start closes nothing."
    ),
    State.ANSWER: Meaning("content", "Text of the answer, up to a marker."),
    State.BEFORE_ANSWER: Meaning("content", "Whitespace that belongs to the marker before the answer."),
    State.REASONING: Meaning("reasoning", "Text of the reasoning, up to a marker."),
    State.BEFORE_REASONING: Meaning("reasoning", "Whitespace that belongs to the opener of reasoning."),
    State.INTERRUPTED: Meaning(
        "reasoning", "A call may have begun inside reasoning. It was quoted if the closer of reasoning follows."
    ),
    State.MATCHING: Meaning("content", "Text that may be a call, up to the commit point, or until no call matches."),
    State.DROPPING: Meaning("content", "A malformed call that is left out, up to its closer or the next call."),
    State.ARGUMENTS: Meaning("call", "The arguments of a call."),
    State.ENVELOPE: Meaning("call", "The rest of the object that holds a call's name and arguments."),
    State.CLOSERS: Meaning("call", "What may follow a call: closers of the call and its section, or the next call."),
    State.BETWEEN_MESSAGES: Meaning("content", "Stray text between messages, or a header without its opener."),
    State.HEADER: Meaning("content", "The header of a message."),
    State.CALL_AS_TEXT: Meaning("content", "A message to a tool that is left in the answer, with its markers."),
    State.UNREADABLE: Meaning("call", "The body of a call that cannot be read, passed on as it is."),
    State.AFTER_ARGUMENTS: Meaning("call", "After the arguments of a call: only the end of its message may come."),
    State.AFTER_TURN: Meaning("end", "The turn is over. Further text belongs to no part of it."),
}


class Transition(NamedTuple):
    """A transition from one state to another.

    Attributes:
        source: the state that is left.
        target: the state that is entered.
        when: a sentence that says what was read.
    """

    source: State
    target: State
    when: str


class Transitions:
    """All transitions of one reader.

    Attributes:
        rows: the transitions.
        starts: the states in which reading begins. The prompt's tail is read like output, so that the output itself may
            begin in any state.
    """

    def __init__(self, starts: Iterable[State], rows: Iterable[tuple[State, State, str]]) -> None:
        self.starts = tuple(starts)
        self.rows = tuple(Transition(*row) for row in rows)
        self._pairs = frozenset((row.source, row.target) for row in self.rows)

    def allow(self, source: State, target: State) -> bool:
        """Whether there is a transition from one state to the other."""
        return (source, target) in self._pairs


_CALLS: tuple[tuple[State, State, str], ...] = (
    (State.MATCHING, State.ARGUMENTS, "The commit point was read."),
    (State.ARGUMENTS, State.ENVELOPE, "The arguments are complete, and the object that holds them goes on."),
    (State.ARGUMENTS, State.CLOSERS, "The arguments are complete."),
    (State.ENVELOPE, State.CLOSERS, "The object is closed, or cannot be read further."),
)
"""the transitions of both readers inside calls"""

INLINE = Transitions(
    (State.START_IN_REASONING, State.START_IN_ANSWER, State.ANSWER, State.REASONING),
    (
        (State.START_IN_REASONING, State.BEFORE_REASONING, "A repeated opener of reasoning was read."),
        (State.START_IN_REASONING, State.REASONING, "Something else was read."),
        (State.START_IN_ANSWER, State.BEFORE_ANSWER, "A closer of reasoning was read, although none is open."),
        (State.START_IN_ANSWER, State.ANSWER, "Something else was read."),
        (State.BEFORE_ANSWER, State.ANSWER, "The whitespace was read, or is missing."),
        (State.BEFORE_REASONING, State.REASONING, "The whitespace was read, or is missing."),
        (State.ANSWER, State.BEFORE_REASONING, "The opener of reasoning was read."),
        (State.ANSWER, State.BEFORE_ANSWER, "A marker of the answer's wrapper, or the closer of a section, was read."),
        (State.ANSWER, State.MATCHING, "The possible beginning of a call was read."),
        (State.REASONING, State.BEFORE_ANSWER, "The closer of reasoning was read, or what follows it begins."),
        (State.REASONING, State.ANSWER, "The answer's wrapper begins, or a call ends reasoning at once."),
        (State.REASONING, State.INTERRUPTED, "The possible beginning of a call was read."),
        (State.INTERRUPTED, State.BEFORE_ANSWER, "The closer of reasoning was read: the call was quoted."),
        (State.INTERRUPTED, State.ANSWER, "The text has ended without the closer: the call was not quoted."),
        *_CALLS,
        (State.MATCHING, State.ANSWER, "It is no call, or the text has ended before its arguments."),
        (State.MATCHING, State.CLOSERS, "It is a complete object but no call, in a section of calls that are objects."),
        (State.MATCHING, State.DROPPING, "It is a malformed call, and such calls are left out."),
        (State.DROPPING, State.ANSWER, "Its closer was read, or the next call begins, or its section ends."),
        (State.DROPPING, State.CLOSERS, "Its closer was read, inside a section."),
        (State.ARGUMENTS, State.ANSWER, "The arguments cannot be read further, or the text has ended in them."),
        (State.CLOSERS, State.MATCHING, "A further call may begin."),
        (State.CLOSERS, State.ANSWER, "No further call follows."),
    ),
)

MESSAGES = Transitions(
    (State.HEADER, State.START_IN_REASONING, State.ANSWER, State.REASONING),
    (
        (State.START_IN_REASONING, State.HEADER, "The output begins with a header."),
        (State.START_IN_REASONING, State.REASONING, "Something else was read."),
        (State.HEADER, State.HEADER, "A message begins inside a header."),
        (State.HEADER, State.BEFORE_ANSWER, "The header leads to the answer."),
        (State.HEADER, State.BEFORE_REASONING, "The header leads to reasoning."),
        (State.HEADER, State.ANSWER, "The header leads nowhere, or does not end: the body is part of the answer."),
        (State.HEADER, State.REASONING, "The header leads nowhere, or does not end: the body is reasoning."),
        (State.HEADER, State.MATCHING, "The header leads to a tool."),
        (State.HEADER, State.CALL_AS_TEXT, "The header leads to a tool that is not to be called."),
        (State.HEADER, State.BETWEEN_MESSAGES, "The message has ended in its header."),
        (State.BEFORE_ANSWER, State.ANSWER, "The whitespace was read, or is missing."),
        (State.BEFORE_REASONING, State.REASONING, "The whitespace was read, or is missing."),
        (State.ANSWER, State.BETWEEN_MESSAGES, "The end of the message was read."),
        (State.REASONING, State.BETWEEN_MESSAGES, "The end of the message was read."),
        (State.CALL_AS_TEXT, State.BETWEEN_MESSAGES, "The end of the message was read."),
        (State.BETWEEN_MESSAGES, State.HEADER, "A message begins, or a field of a header without its opener."),
        (State.BETWEEN_MESSAGES, State.BETWEEN_MESSAGES, "The end of a message that has not begun was read."),
        (State.BETWEEN_MESSAGES, State.AFTER_TURN, "Something else than a message follows what may end the turn."),
        *_CALLS,
        (State.MATCHING, State.UNREADABLE, "No pattern of the call matches."),
        (State.MATCHING, State.ANSWER, "No pattern of the call matches, and its name is unknown."),
        (State.MATCHING, State.REASONING, "The same, in a format whose unrouted messages are reasoning."),
        (State.MATCHING, State.BETWEEN_MESSAGES, "The text has ended before the arguments."),
        (State.ARGUMENTS, State.AFTER_ARGUMENTS, "The arguments are complete, and nothing else belongs to the call."),
        (State.ARGUMENTS, State.UNREADABLE, "The arguments cannot be read further."),
        (State.ARGUMENTS, State.BETWEEN_MESSAGES, "The message, or the text, has ended in the arguments."),
        (State.CLOSERS, State.AFTER_ARGUMENTS, "The closer of the call was read, or is missing."),
        (State.AFTER_ARGUMENTS, State.BETWEEN_MESSAGES, "The end of the message was read."),
        (State.AFTER_ARGUMENTS, State.UNREADABLE, "Text follows arguments without a closer: the call is incomplete."),
        (State.AFTER_ARGUMENTS, State.ANSWER, "Text follows a call that was closed."),
        (State.AFTER_ARGUMENTS, State.REASONING, "The same, in a format whose unrouted messages are reasoning."),
        (State.UNREADABLE, State.BETWEEN_MESSAGES, "The end of the message, or of the text, was read."),
    ),
)
