"""Explains what a matcher allows next and why it forbids a token, as values and in words."""

from __future__ import annotations

from typing import Literal

import msgspec

from syntagma._engine import GrammarMatcher
from syntagma.decoding.tokenizer_info import TokenizerInfo
from syntagma.entry import entry
from syntagma.errors import ArgumentError

__all__ = ["Expected", "MatcherExplanation", "TokenVerdict", "explain_matcher"]

_FEW = 16
"""with at most this many possible next bytes, the forced text after each is listed"""
_MAX_LITERAL = 64
_MAX_TOKENS = 32
_MAX_RULES = 8

Reason = Literal["allowed", "dies", "not expected", "unused", "ended", "spent"]
_SENTENCES: dict[Reason, str] = {
    "allowed": "allowed",
    "not expected": "this token is not expected here",
    "unused": "the token has no bytes, so it is never allowed",
    "ended": "the text has ended",
    "spent": "the budget of this part is spent",
    "dies": "",
}


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


class MatcherExplanation(msgspec.Struct, frozen=True, kw_only=True):
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


@entry
def explain_matcher(matcher: GrammarMatcher, info: TokenizerInfo, token: int | str | None = None) -> MatcherExplanation:
    """Explain what may come next, and whether a token or text may. The matcher is not changed.

    Args:
        matcher: the matcher, at any place of its text.
        info: the vocabulary for which its grammar was compiled.
        token: a token id, or a text in any tokens; None: no verdict.

    Raises:
        ArgumentError: `E-TOKEN-ID`, the vocabulary has no such token; `E-ARGUMENT-VALUE`, the text is empty.
        LimitError: `E-LIMIT-STEP`, the matcher spent its fuel.
    """
    if token == "":
        raise ArgumentError("E-ARGUMENT-VALUE", "the text is empty")
    told = matcher.explain(token if isinstance(token, int) else None)
    rules = tuple(dict.fromkeys(row["rule"] for row in told["expected"]))[:_MAX_RULES]
    verdict = None
    if isinstance(token, int):
        verdict = _verdict(info.token_bytes(token), told["token"], told["dies_at"])
    elif token is not None:
        verdict = _of_text(matcher, token)
    return MatcherExplanation(rules=rules, expected=tuple(_expected(matcher, info)), token=verdict)


def _expected(matcher: GrammarMatcher, info: TokenizerInfo) -> list[Expected]:
    if matcher.is_terminated():
        return []
    following = matcher.next_bytes()
    found = [Expected(kind="end")] if matcher.is_accepting() else []
    if len(following) > _FEW:
        found.append(Expected(kind="characters", text=_class_of(following)))
    else:
        found += [_followed(matcher, byte) for byte in following]
    ids = [
        token
        for first, last in matcher.next_symbol_tokens()
        for token in range(first, min(last, first + _MAX_TOKENS) + 1)
    ]
    found += [Expected(kind="token", text=_text(info.token_bytes(token))) for token in ids[:_MAX_TOKENS]]
    return found


def _followed(matcher: GrammarMatcher, byte: int) -> Expected:
    """A byte with the text that must follow it."""
    ahead = matcher.fork()
    ahead.accept_bytes(bytes([byte]))
    forced = bytes([byte]) + ahead.find_jump_forward_bytes()
    text = _beginning(forced[:_MAX_LITERAL])
    # The first byte alone of a character of several bytes is not a text.
    return Expected(kind="literal", text=text) if text else Expected(kind="characters", text=_class_of(bytes([byte])))


def _beginning(data: bytes) -> str:
    """The complete characters at the beginning of `data`."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start].decode()


def _class_of(following: bytes) -> str:
    """Bytes as a character class: ranges of ASCII, and one range for all other characters if any may begin."""
    plain = [byte for byte in following if byte < 0x80]
    ranges: list[list[int]] = []
    for byte in plain:
        if ranges and ranges[-1][1] == byte - 1:
            ranges[-1][1] = byte
        else:
            ranges.append([byte, byte])
    parts = [_one(first) if first == last else f"{_one(first)}-{_one(last)}" for first, last in ranges]
    if len(plain) < len(following):
        parts.append("\\x80-\\U0010ffff")
    return f"[{''.join(parts)}]"


def _one(byte: int) -> str:
    char = chr(byte)
    return f"\\{char}" if char in "\\]^-[" else char if char.isprintable() else f"\\x{byte:02x}"


def _of_text(matcher: GrammarMatcher, text: str) -> TokenVerdict:
    data = text.encode("utf-8", "replace")
    if matcher.is_terminated():
        return _verdict(data, "ended", None)
    ahead = matcher.fork()
    if ahead.accept_bytes(data):
        return _verdict(data, "allowed", None)
    ahead = matcher.fork()
    at = next((at for at, byte in enumerate(data) if not ahead.accept_bytes(bytes([byte]))), None)
    return _verdict(data, "spent" if at is None else "dies", at)


def _verdict(data: bytes, reason: Reason, at: int | None) -> TokenVerdict:
    message = _SENTENCES[reason]
    if at is not None:
        after = f" after {_text(data[:at])!r}" if at else ""
        message = f"{_text(data[at : at + 1])!r} cannot follow{after}"
    return TokenVerdict(text=_text(data), allowed=reason == "allowed", reason=reason, at=at, message=message)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
