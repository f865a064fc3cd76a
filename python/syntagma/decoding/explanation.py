"""Explains what a matcher allows next and why it forbids a token."""

from __future__ import annotations

from syntagma._engine import GrammarMatcher
from syntagma.decoding.explanation_values import Expected, MatcherExplanation, Reason, TokenVerdict
from syntagma.deprecation import deprecated
from syntagma.errors import ArgumentError, ArgumentTypeError

__all__ = ["explain_matcher", "explanation_of"]

_FEW = 16
"""with at most this many possible next bytes, the forced text after each is listed"""
_MAX_LITERAL = 64
_MAX_TOKENS = 32
_MAX_RULES = 8

_SENTENCES: dict[Reason, str] = {
    "allowed": "allowed",
    "not expected": "this token is not expected here",
    "unused": "the token has no bytes, so it is never allowed",
    "ended": "the text has ended",
    "spent": "the budget of this part is spent",
    "dies": "",
}


def explanation_of(matcher: GrammarMatcher, token: int | str | None) -> MatcherExplanation:
    """See `GrammarMatcher.explain`."""
    if token is not None and (isinstance(token, bool) or not isinstance(token, int | str)):
        message = f"a token is an id or a text, not a {type(token).__name__}"
        raise ArgumentTypeError("E-ARGUMENT-TYPE", message, pointer="/token")
    if token == "":
        raise ArgumentError("E-ARGUMENT-VALUE", "the text is empty")
    told = matcher._explained(token if isinstance(token, int) else None)
    rules = tuple(dict.fromkeys(row["rule"] for row in told["expected"]))[:_MAX_RULES]
    verdict = None
    if isinstance(token, int):
        verdict = _verdict(matcher._token_bytes(token), told["token"], told["dies_at"])
    elif token is not None:
        verdict = _of_text(matcher, token)
    found = MatcherExplanation(rules=rules, expected=tuple(_expected(matcher)), token=verdict)
    found.__dict__["told"] = told
    return found


def explain_matcher(matcher: GrammarMatcher, info: object, token: int | str | None = None) -> MatcherExplanation:
    """The older name of `GrammarMatcher.explain`, which needs no vocabulary.

    Args:
        matcher: the matcher, at any place of its text.
        info: not needed.
        token: a token id, or a text in any tokens; None: no verdict.

    Raises:
        ArgumentError, LimitError: as `GrammarMatcher.explain`.
    """
    del info
    deprecated("explain_matcher(matcher, info, token)", "matcher.explain(token)")
    return matcher.explain(token)


def _expected(matcher: GrammarMatcher) -> list[Expected]:
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
    found += [Expected(kind="token", text=_text(matcher._token_bytes(token))) for token in ids[:_MAX_TOKENS]]
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
