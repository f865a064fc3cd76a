"""What a matcher allows next, and why it forbids a token, as values and in words."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from syntagma.deprecation import deprecated

__all__ = ["Expected", "MatcherExplanation", "Reason", "TokenVerdict"]

Reason: TypeAlias = Literal["allowed", "dies", "not expected", "unused", "ended", "spent"]


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """One alternative for what may come next.

    Attributes:
        kind: `literal`: this text, with its forced continuation up to 64 bytes. `characters`: one character of a
            class, which `text` gives in the syntax of regular expressions. `token`: the special token with this text.
            `end`: the text may end.
        text: see `kind`; empty for `end`.
    """

    kind: Literal["literal", "characters", "token", "end"]
    text: str = ""

    def __str__(self) -> str:
        """The alternative in words."""
        return "the end of the turn" if self.kind == "end" else f"{self.kind} {self.text!r}"


class TokenVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a token or text is allowed next, and why.

    Attributes:
        text: the text, with U+FFFD for bytes that are not complete characters.
        allowed: whether it may come next.
        reason: `allowed`; `dies`: one of its bytes cannot follow; `not expected`: a special token, or the end, is not
            expected here; `unused`: the token has no bytes; `spent`: the budget of a part is spent; `ended`: the text
            has ended.
        at: for `dies`, the 0-based index of the first byte that cannot follow.
        message: the reason in words.
    """

    text: str
    allowed: bool
    reason: Reason
    message: str
    at: int | None = None


class MatcherExplanation(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A matcher's place in its grammar, and what may come next there.

    Attributes:
        rules: names of the rules that are open here, eight at most.
        expected: all alternatives. More than 16 possible next bytes are combined into one class of characters. At most
            32 special tokens are listed.
        token: the verdict on the token or text in question, if there is one.
    """

    rules: tuple[str, ...]
    expected: tuple[Expected, ...]
    token: TokenVerdict | None = None

    def __str__(self) -> str:
        """The explanation in words."""
        place = f"in {', '.join(self.rules)}: " if self.rules else ""
        following = ", or ".join(map(str, self.expected)) or "nothing"
        verdict = "" if self.token is None else f". {self.token.text!r}: {self.token.message}"
        return f"{place}next may come {following}{verdict}"

    def __getitem__(self, key: str) -> Any:
        """What was a dictionary before: deprecated, use the attributes."""
        deprecated(f"matcher.explain(token)[{key!r}]", "its attributes, such as token.reason")
        return self.__dict__["told"][key]
