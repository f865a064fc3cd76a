"""What a matcher allows next, and why a token is out: in words, and as values."""

from __future__ import annotations

from typing import Literal

import msgspec

from syntagma._engine import GrammarMatcher
from syntagma.decoding.tokenizer_info import TokenizerInfo
from syntagma.entry import entry
from syntagma.errors import ArgumentError

__all__ = ["Expected", "MatcherExplanation", "TokenVerdict", "explain_matcher"]

_FEW = 16
"""so many bytes may come at most for their continuations to be followed"""
_MAX_LITERAL = 64
_MAX_TOKENS = 32
_MAX_RULES = 8

Reason = Literal["allowed", "dies", "not expected", "unused", "ended", "spent"]
_SENTENCES: dict[Reason, str] = {
    "allowed": "it may come",
    "not expected": "no such token is expected here",
    "unused": "the vocabulary has no text for it, so that it never may come",
    "ended": "the text has ended",
    "spent": "the budget of the part is spent",
    "dies": "",
}


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """Something that may come next.

    Attributes:
        kind: `literal`: this text; where it goes on without a choice, up to 64 bytes of it. `characters`: any one of a
            class, `text` is the class as regular expressions write it. `token`: the special token of this text. `end`:
            the text may end.
        text: as above; empty for `end`.
    """

    kind: Literal["literal", "characters", "token", "end"]
    text: str = ""

    def __str__(self) -> str:
        """In words."""
        return "the end of the turn" if self.kind == "end" else f"{self.kind} {self.text!r}"


class TokenVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a token or text.

    Attributes:
        text: it; U+FFFD where its bytes are no whole character.
        allowed: whether it may come.
        reason: `allowed`; `dies`: a byte of it cannot follow; `not expected`: a special token, or the end, that is not
            expected here; `unused`: it has no bytes; `spent`: the bound of a part; `ended`: nothing follows.
        at: for `dies`, the 0-based index of the first byte that cannot follow.
        message: the same in words.
    """

    text: str
    allowed: bool
    reason: Reason
    message: str
    at: int | None = None


class MatcherExplanation(msgspec.Struct, frozen=True, kw_only=True):
    """Where a matcher is in its grammar.

    Attributes:
        rules: rules that wait for what comes, eight at most.
        expected: all that may come next. Where more than 16 bytes may come, they are one class of characters; of
            special tokens the first 32 are named.
        token: what becomes of the token or text that was asked about.
    """

    rules: tuple[str, ...]
    expected: tuple[Expected, ...]
    token: TokenVerdict | None = None

    def __str__(self) -> str:
        """In words."""
        place = f"in {', '.join(self.rules)}: " if self.rules else ""
        following = ", or ".join(map(str, self.expected)) or "nothing"
        verdict = "" if self.token is None else f". {self.token.text!r}: {self.token.message}"
        return f"{place}next may come {following}{verdict}"


@entry
def explain_matcher(matcher: GrammarMatcher, info: TokenizerInfo, token: int | str | None = None) -> MatcherExplanation:
    """What may come next, and what becomes of a token or text. The matcher stays where it is.

    Args:
        matcher: at any place of its text.
        info: the vocabulary that its grammar was compiled for.
        token: a token id, or text as the model might write it, in any tokens; None: nothing is asked about.

    Raises:
        ArgumentError: `E-TOKEN-ID`, the vocabulary has no such token; `E-ARGUMENT-VALUE`, the text is empty.
        LimitError: `E-LIMIT-STEP`, following the grammar takes too much.
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
    """A byte, and what must come after it."""
    ahead = matcher.fork()
    ahead.accept_bytes(bytes([byte]))
    forced = bytes([byte]) + ahead.find_jump_forward_bytes()
    text = _beginning(forced[:_MAX_LITERAL])
    # A part of a character: no text names it.
    return Expected(kind="literal", text=text) if text else Expected(kind="characters", text=_class_of(bytes([byte])))


def _beginning(data: bytes) -> str:
    """As much of it as is whole characters."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start].decode()


def _class_of(following: bytes) -> str:
    """Bytes as a class: ranges of ASCII, and whether others may begin."""
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
