"""Requests of the page, and the answers to them."""

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
        format_file: the text of a format file, in place of a name; empty: none.
        messages: the conversation, as OpenAI messages.
        tools: the declared tools, as OpenAI's.
        tool_choice: as in a request.
        response_format: as in a request.
        grammar: a grammar of the content as text, in any notation that `Grammar.from_text` tells apart; empty: none.
        variables: template variables.
        reasoning: as in a request: `auto`, `open`, `closed` or `off`.
        answer: what the model wrote.
        finished: whether the answer is complete.
    """

    template: str = ""
    format: str = ""
    format_file: str = ""
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
        question: what the pair shows.
        before: the common beginning.
        first: text of the first alone.
        second: text of the second alone.
        after: the common end.
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
        certificate: the verdict and its reasons, in lines; empty for a named format.
        why: how sure the choice of the format is, and what speaks for it and against it, in lines.
        defects: what `lint-template` finds in the template, each with its fix, in lines.
        clean: whether the certificate is clean; None without one.
        facts: modes and kinds, by name.
        switches: template variables that change how the turn begins, with the values that were tested; none without
            an analysis.
    """

    chosen: str
    toml: str
    markers: dict[str, str]
    evidence: list[Evidence]
    proof: dict[str, list[int]]
    certificate: list[str]
    why: list[str]
    defects: list[str]
    clean: bool | None
    facts: dict[str, str]
    switches: dict[str, list[Any]]


class PromptSeen(msgspec.Struct, frozen=True, kw_only=True):
    """The prompt.

    Attributes:
        segments: text and origin of each piece.
        special: half-open ranges of code points with special tokens of the template.
        start: where the assistant's turn begins, in code points.
        tokens: how many tokens it has.
        reasoning: its state at the end of the prompt: `possible`, `open` or `done`.
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
        text: its text.
        special: whether it is a special token.
        state: `held`: it is allowed; `out`: it is not; `behind`: it comes after one that is not; `free`: there is no
            grammar.
        allowed: how many tokens are allowed there; None without a grammar, or after a token that is not allowed.
        end: code points of the answer up to its end, so that spans of events find their tokens.
    """

    id: int
    text: str
    special: bool
    end: int
    state: Literal["held", "out", "behind", "free"]
    allowed: int | None = None


class EventSeen(msgspec.Struct, frozen=True, kw_only=True):
    """An event of the parser, which reads the answer token by token.

    Attributes:
        token: the number of tokens before it.
        event: the event as JSON data.
    """

    token: int
    event: dict[str, Any]


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one request and its answer; `faults` has the parts that could not be made, by name."""

    format: FormatSeen | None = None
    prompt: PromptSeen | None = None
    grammar: str | None = None
    tokens: list[TokenSeen] = []
    events: list[EventSeen] = []
    message: dict[str, Any] | None = None
    may_end: bool | None = None
    faults: dict[str, Fault] = {}


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A possible token.

    Attributes:
        id: the token.
        text: its text.
        allowed: whether the grammar allows it.
        probability: the model's own, before the grammar; None without a model.
    """

    id: int
    text: str
    allowed: bool
    probability: float | None = None


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What is possible at one place of the answer.

    Attributes:
        at: how many tokens are before it.
        place: where the parser is, in words.
        expected: what is allowed, in words.
        allowed: how many tokens it allows; None without a grammar.
        may_end: whether the answer may end there.
        masked: the probability that the grammar masks; None without a model.
        candidates: the likeliest allowed tokens, and the likeliest others; some of each without a model.
        why: why the token in question is not allowed; empty if it is.
        keyword: JSON pointer, as a fragment, of the keyword that does not allow it; empty if none is known to.
    """

    at: int
    place: str = ""
    expected: list[str] = []
    allowed: int | None = None
    may_end: bool = False
    masked: float | None = None
    candidates: list[Candidate] = []
    why: str = ""
    keyword: str = ""


class Continued(msgspec.Struct, frozen=True, kw_only=True):
    """A continuation of the answer by the model.

    Attributes:
        text: the piece.
        finished: whether the answer is complete with it.
    """

    text: str
    finished: bool
