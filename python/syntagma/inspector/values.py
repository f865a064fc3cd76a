"""What the page asks, and what it is told."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = [
    "Asked",
    "Candidate",
    "Continued",
    "EventSeen",
    "Evidence",
    "Fault",
    "FormatSeen",
    "PromptSeen",
    "Seen",
    "Step",
    "TokenSeen",
]


class Asked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One request with its answer, as the page has it.

    Attributes:
        template: the source of a chat template; empty: the one of `format`, or of the model.
        format: the name of a registered format; empty: derived from the template.
        messages: the conversation, as OpenAI messages.
        tools: the declared tools, as OpenAI's.
        tool_choice: as in a request.
        response_format: as in a request.
        grammar: a grammar of the content as text, in any notation that `Grammar.from_text` tells apart; empty: none.
        variables: template variables.
        reasoning: as in a request: `auto`, `open`, `closed` or `off`.
        answer: what the model wrote.
        finished: whether the answer is whole.
    """

    template: str = ""
    format: str = ""
    messages: list[dict[str, Any]] = []
    tools: list[dict[str, Any]] | None = None
    tool_choice: Any = "auto"
    response_format: dict[str, Any] | None = None
    grammar: str = ""
    variables: dict[str, Any] = {}
    reasoning: Literal["auto", "open", "closed", "off"] = "auto"
    answer: str = ""
    finished: bool = False


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Why a part could not be shown.

    Attributes:
        code: the code of the error.
        message: what is wrong.
        hint: what to do about it; empty if there is none.
        place: where: a JSON pointer, or line and column.
    """

    code: str
    message: str
    hint: str = ""
    place: str = ""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Two renders of the template that differ in one thing.

    Attributes:
        step: which question, such as `T1`.
        question: what the pair tells.
        before: what both begin with.
        first: what only the first has.
        second: what only the second has.
        after: what both end with.
    """

    step: str
    question: str
    before: str
    first: str
    second: str
    after: str


class FormatSeen(msgspec.Struct, frozen=True, kw_only=True):
    """How the model writes.

    Attributes:
        chosen: `derived`, or the name of a registered format.
        toml: the format file.
        markers: every literal by its name.
        evidence: pairs of renders.
        proof: by the name of a marker, the numbers of the pairs that show it.
        certificate: the verdict and what speaks against it, in lines; empty for a named format.
        clean: whether the certificate is clean; None without one.
        facts: modes and kinds, by name.
        switches: template variables that change how the turn begins, with the values that were tried; none are known
            without an analysis.
    """

    chosen: str
    toml: str
    markers: dict[str, str]
    evidence: list[Evidence]
    proof: dict[str, list[int]]
    certificate: list[str]
    clean: bool | None
    facts: dict[str, str]
    switches: dict[str, list[Any]]


class PromptSeen(msgspec.Struct, frozen=True, kw_only=True):
    """The prompt.

    Attributes:
        segments: text and origin of each piece.
        special: half-open ranges of code points in which special tokens of the template stand.
        start: where the assistant's turn begins, in code points.
        tokens: how many tokens it has.
        reasoning: what it has begun: `possible`, `open` or `done`.
    """

    segments: list[tuple[str, str]]
    special: list[tuple[int, int]]
    start: int
    tokens: int
    reasoning: str


class TokenSeen(msgspec.Struct, frozen=True, kw_only=True):
    """One token of the answer.

    Attributes:
        id: the token.
        text: what it stands for.
        special: whether it is a special token.
        state: `held`: it was allowed; `out`: it was not; `behind`: it comes after one that was not; `free`: there is no
            grammar.
        allowed: how many tokens were allowed there; None without a grammar, or behind one that was not.
        end: code points of the answer that are whole with it, so that spans of events find their tokens.
    """

    id: int
    text: str
    special: bool
    end: int
    state: Literal["held", "out", "behind", "free"]
    allowed: int | None = None


class EventSeen(msgspec.Struct, frozen=True, kw_only=True):
    """An event of the parser, which is given the answer token by token, as it comes from a model.

    Attributes:
        token: after how many tokens it came.
        event: the event as JSON data.
    """

    token: int
    event: dict[str, Any]


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one request and its answer; parts that could not be made are told in `faults`, by name."""

    format: FormatSeen | None = None
    prompt: PromptSeen | None = None
    grammar: str | None = None
    tokens: list[TokenSeen] = []
    events: list[EventSeen] = []
    message: dict[str, Any] | None = None
    may_end: bool | None = None
    faults: dict[str, Fault] = {}


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A token that might have come.

    Attributes:
        id: the token.
        text: what it stands for.
        allowed: whether the grammar allows it.
        probability: what the model gives it before the grammar; None without a model.
    """

    id: int
    text: str
    allowed: bool
    probability: float | None = None


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What could come at one place of the answer.

    Attributes:
        at: how many tokens are before it.
        place: where the parser is, in words.
        expected: what may come, in words.
        allowed: how many tokens it allows; None without a grammar.
        may_end: whether the answer may end there.
        masked: the probability that the grammar takes away; None without a model.
        candidates: the likeliest tokens that are allowed, and the likeliest that are not; some of each without a model.
        why: why the token that was asked about is out; empty if it is not.
    """

    at: int
    place: str = ""
    expected: list[str] = []
    allowed: int | None = None
    may_end: bool = False
    masked: float | None = None
    candidates: list[Candidate] = []
    why: str = ""


class Continued(msgspec.Struct, frozen=True, kw_only=True):
    """What the model adds to the answer.

    Attributes:
        text: the piece.
        finished: whether the answer is whole with it.
    """

    text: str
    finished: bool
