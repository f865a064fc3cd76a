"""The states of a turn reader, and its transitions: the tables that drive it.

There are two readers: `InlineTurnReader` for turns with markers in the text, and `MessageTurnReader` for turns that are
a sequence of messages with headers. Each has one method for each `State`, its step, which reads on and returns what was
read (`Outcome`), or None if more text is needed; the reader's table (`INLINE`, `MESSAGES`) says in which state it goes
on. `docs/reference/parser-states.md` is made from this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Literal, NamedTuple, TypeAlias

__all__ = ["INLINE", "MEANING", "MESSAGES", "Meaning", "Outcome", "ReadingNow", "State", "Transition", "Transitions"]

ReadingNow: TypeAlias = Literal["reasoning", "content", "call", "end"]

Outcome: TypeAlias = Literal[
    "text",  # what belongs to nothing else
    "whitespace",  # the whitespace beside a marker, or none
    "marker",  # a marker of the answer
    "reasoning",  # an opener of reasoning, or a header that leads there
    "content",  # a header that leads to the answer, or text that goes there
    "closer",
    "header",  # the beginning of a header, or a part of it
    "call",  # a call begins
    "quoted call",  # a message to a tool that is not to be called
    "object",  # an object that is no call, or that goes on after the arguments
    "malformed",  # what was meant as a call and cannot be read
    "whole",  # the arguments, or the object, are complete
    "truncated",  # a call, up to the end of the text
    "end",  # the end of a message, or of what is read
    "over",  # the turn
]
"""what a step has read"""


class State(StrEnum):
    """What is being read."""

    START_IN_REASONING = "start in reasoning"
    START_IN_ANSWER = "start in answer"
    ANSWER = "answer"
    BEFORE_ANSWER = "before answer"
    REASONING = "reasoning"
    BEFORE_REASONING = "before reasoning"
    CALL_IN_REASONING = "call in reasoning"
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
    State.CALL_IN_REASONING: Meaning("reasoning", "Text inside reasoning that may be a call, up to the commit point."),
    State.INTERRUPTED: Meaning(
        "reasoning", "A call has begun inside reasoning. It was quoted if the closer of reasoning follows."
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
        outcome: what its step has read.
        target: the state that is entered.
        when: a sentence that says what was read.
    """

    source: State
    outcome: Outcome
    target: State
    when: str


class Transitions:
    """All transitions of one reader.

    Attributes:
        rows: the transitions.
        starts: the states in which reading begins. The prompt's tail is read like output, so that the output itself may
            begin in any state.
        following: the next state, by the state and what was read in it.
    """

    def __init__(self, starts: Iterable[State], rows: Iterable[tuple[State, Outcome, State, str]]) -> None:
        self.starts = tuple(starts)
        self.rows = tuple(Transition(*row) for row in rows)
        self.following: Mapping[State, Mapping[Outcome, State]] = {
            state: {row.outcome: row.target for row in self.rows if row.source is state} for state in State
        }


_COMMON: tuple[tuple[State, Outcome, State, str], ...] = (
    (State.BEFORE_ANSWER, "whitespace", State.ANSWER, "The whitespace was read, or is missing."),
    (State.BEFORE_REASONING, "whitespace", State.REASONING, "The whitespace was read, or is missing."),
    (State.MATCHING, "call", State.ARGUMENTS, "The commit point was read."),
    (State.ARGUMENTS, "object", State.ENVELOPE, "The arguments are complete, and the object that holds them goes on."),
    (State.ARGUMENTS, "whole", State.CLOSERS, "The arguments are complete."),
    (State.ENVELOPE, "whole", State.CLOSERS, "The object is closed, or cannot be read further."),
)
"""the transitions of both readers"""

INLINE = Transitions(
    (State.START_IN_REASONING, State.START_IN_ANSWER, State.ANSWER, State.REASONING),
    (
        (State.START_IN_REASONING, "reasoning", State.BEFORE_REASONING, "A repeated opener of reasoning was read."),
        (State.START_IN_REASONING, "text", State.BEFORE_REASONING, "Something else was read."),
        (
            State.START_IN_ANSWER,
            "closer",
            State.BEFORE_ANSWER,
            "A closer of reasoning was read; none is open.",
        ),
        (State.START_IN_ANSWER, "text", State.BEFORE_ANSWER, "Something else was read."),
        (State.ANSWER, "reasoning", State.BEFORE_REASONING, "The opener of reasoning was read."),
        (State.ANSWER, "marker", State.BEFORE_ANSWER, "A marker of the answer, or the closer of a section, was read."),
        (State.ANSWER, "call", State.MATCHING, "The possible beginning of a call was read."),
        (
            State.REASONING,
            "closer",
            State.BEFORE_ANSWER,
            "The closer of reasoning was read, or the next begins.",
        ),
        (State.REASONING, "end", State.ANSWER, "The answer's wrapper begins, or a marker ends reasoning at once."),
        (State.REASONING, "call", State.CALL_IN_REASONING, "The possible beginning of a call was read."),
        (State.REASONING, "marker", State.INTERRUPTED, "A marker was read that opens no call, but may end reasoning."),
        (State.CALL_IN_REASONING, "call", State.INTERRUPTED, "The commit point was read."),
        (State.CALL_IN_REASONING, "end", State.ANSWER, "The same, and a call ends reasoning at once."),
        (State.CALL_IN_REASONING, "text", State.REASONING, "It is no call."),
        (State.INTERRUPTED, "closer", State.BEFORE_ANSWER, "The closer of reasoning was read: the call was quoted."),
        (State.INTERRUPTED, "end", State.ANSWER, "The text has ended without the closer: the call was not quoted."),
        (State.INTERRUPTED, "text", State.REASONING, "A limit has cut the text, so it is unknown whether it was."),
        *_COMMON,
        (State.MATCHING, "text", State.ANSWER, "It is no call."),
        (State.MATCHING, "truncated", State.ANSWER, "The text has ended between the name and the arguments."),
        (State.MATCHING, "object", State.CLOSERS, "It is a complete object but no call, in a section of objects."),
        (State.MATCHING, "malformed", State.DROPPING, "It is a malformed call, and such calls are left out."),
        (State.DROPPING, "end", State.ANSWER, "Its closer was read, or the next call begins, or its section ends."),
        (State.DROPPING, "closer", State.CLOSERS, "Its closer was read, inside a section."),
        (State.ARGUMENTS, "malformed", State.ANSWER, "The arguments cannot be read further."),
        (State.ARGUMENTS, "truncated", State.ANSWER, "The text has ended in the arguments."),
        (State.CLOSERS, "call", State.MATCHING, "A further call may begin."),
        (State.CLOSERS, "end", State.ANSWER, "No further call follows."),
    ),
)

MESSAGES = Transitions(
    (State.HEADER, State.START_IN_REASONING, State.ANSWER, State.REASONING),
    (
        (State.START_IN_REASONING, "header", State.HEADER, "The output begins with a header."),
        (State.START_IN_REASONING, "reasoning", State.BEFORE_REASONING, "Something else was read."),
        (State.HEADER, "header", State.HEADER, "A field, or a further message, begins in the header."),
        (
            State.HEADER,
            "content",
            State.BEFORE_ANSWER,
            "The header leads to the answer, or nowhere.",
        ),
        (State.HEADER, "reasoning", State.BEFORE_REASONING, "The header leads to reasoning, or nowhere."),
        (State.HEADER, "call", State.MATCHING, "The header leads to a tool."),
        (State.HEADER, "quoted call", State.CALL_AS_TEXT, "The header leads to a tool that is not to be called."),
        (State.HEADER, "end", State.BETWEEN_MESSAGES, "The message has ended in its header."),
        (State.ANSWER, "end", State.BETWEEN_MESSAGES, "The end of the message was read."),
        (State.REASONING, "end", State.BETWEEN_MESSAGES, "The end of the message was read."),
        (State.CALL_AS_TEXT, "end", State.BETWEEN_MESSAGES, "The end of the message was read."),
        (
            State.BETWEEN_MESSAGES,
            "header",
            State.HEADER,
            "A message begins, or a header without its opener.",
        ),
        (State.BETWEEN_MESSAGES, "end", State.BETWEEN_MESSAGES, "The end of a message that has not begun was read."),
        (State.BETWEEN_MESSAGES, "text", State.BETWEEN_MESSAGES, "Text was read that is too long for a header."),
        (State.BETWEEN_MESSAGES, "over", State.AFTER_TURN, "No message follows what may end the turn."),
        *_COMMON,
        (State.MATCHING, "malformed", State.UNREADABLE, "No pattern of the call matches."),
        (State.MATCHING, "content", State.BEFORE_ANSWER, "No pattern of the call matches, and its name is unknown."),
        (State.MATCHING, "reasoning", State.BEFORE_REASONING, "The same, where unrouted messages are reasoning."),
        (State.MATCHING, "truncated", State.BETWEEN_MESSAGES, "The text has ended before the arguments."),
        (
            State.ARGUMENTS,
            "closer",
            State.AFTER_ARGUMENTS,
            "The arguments are complete, and with them the call.",
        ),
        (State.ARGUMENTS, "malformed", State.UNREADABLE, "The arguments cannot be read further."),
        (State.ARGUMENTS, "end", State.BETWEEN_MESSAGES, "The message has ended in the arguments."),
        (State.ARGUMENTS, "truncated", State.BETWEEN_MESSAGES, "The text has ended, or cannot be read, in them."),
        (State.CLOSERS, "closer", State.AFTER_ARGUMENTS, "The closer of the call was read, or is missing."),
        (State.AFTER_ARGUMENTS, "end", State.BETWEEN_MESSAGES, "The end of the message was read."),
        (State.AFTER_ARGUMENTS, "malformed", State.UNREADABLE, "Text follows arguments without a closer."),
        (State.AFTER_ARGUMENTS, "content", State.BEFORE_ANSWER, "Text follows a call that was closed."),
        (State.AFTER_ARGUMENTS, "reasoning", State.BEFORE_REASONING, "The same, where such messages are reasoning."),
        (State.UNREADABLE, "end", State.BETWEEN_MESSAGES, "The end of the message, or of the text, was read."),
    ),
)
