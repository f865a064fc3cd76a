"""What a grammar says of a text: whether it accepts it, why it does not, and where its labelled parts lie."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import msgspec

from syntagma import _engine
from syntagma.limits import Limits

__all__ = ["Check", "Match", "accept_text", "accepts_text", "check_text", "match_text"]

_END = 256
"""the id of the token that ends a text; the 256 before it are the bytes, and special tokens come after it"""
_END_TEXT = b"\xff<end>"
"""what it is called: no text, so that no marker has its name"""
_LONGEST_WORD = 64
"""code points before a refused one that are looked at for a word that a rule excludes"""
_SHOWN = 40
"""code points of a continuation that are shown"""


class Check(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result for one text.

    Attributes:
        accepted: the grammar accepts the whole text.
        reason: `refused`: a character cannot follow; `incomplete`: the text may not end yet.
        message: what is wrong, in one sentence.
        offset: 0-based offset in code points where the text is refused, or its end.
        line: 1-based.
        column: 1-based, in code points.
        excerpt: the line with a caret.
        rules: the rules of the grammar that were being read there, by their names in its source.
        expected: the characters that may follow, as ranges, then the special tokens; `beyond ASCII` means any character
            that is not ASCII.
        continuation: a shortest way on to an end, as text; None where there is none, or the text is accepted.
        violations: how an accepted text violates the JSON Schema, where the grammar is wider than its schema.
        out_of_order: the schema allows the text but for the order of its properties.
    """

    accepted: bool
    reason: str | None = None
    message: str | None = None
    offset: int | None = None
    line: int | None = None
    column: int | None = None
    excerpt: str | None = None
    rules: tuple[str, ...] = ()
    expected: str | None = None
    continuation: str | None = None
    violations: tuple[str, ...] = ()
    out_of_order: bool = False


class Match(msgspec.Struct, frozen=True):
    """A text that a grammar accepts.

    Attributes:
        text: the whole text.
        captures: where its labelled parts lie, by label: spans in code points, in the order of their beginnings. Every
            label of the grammar has an entry.
    """

    text: str
    captures: dict[str, list[tuple[int, int]]]

    def texts(self, label: str) -> list[str]:
        """The texts of the parts with a label.

        Raises:
            KeyError: the grammar has no such label.
        """
        return [self.text[start:end] for start, end in self.captures[label]]


def accept_text(matcher: _engine.GrammarMatcher, text: str, special: Sequence[tuple[str, int]]) -> int:
    """Accept a text as far as it goes, special tokens in it by their spelling where the grammar takes them.

    Args:
        matcher: it moves on.
        text: the text.
        special: special tokens as (text, id).

    Returns:
        How many code points were accepted; the length of the text if all were.
    """
    by_first: dict[str, list[tuple[str, int]]] = {}
    for spelled, token in sorted(special, key=lambda pair: -len(pair[0])):
        if spelled:
            by_first.setdefault(spelled[0], []).append((spelled, token))
    at = 0
    while at < len(text):
        for spelled, token in by_first.get(text[at], ()):
            if text.startswith(spelled, at) and matcher.accept_token(token):
                at += len(spelled)
                break
        else:
            if not matcher.accept_bytes(text[at].encode("utf-8", "replace")):
                return at
            at += 1
    return at


def check_text(grammar: _engine.Grammar, text: str, limits: Limits) -> Check:
    """Check a text. Its tokens are bytes, and the special tokens that the grammar names by their texts.

    A line feed at the end, as editors add it, is ignored if the grammar does not allow it: of a text that is complete,
    and of one that only begins an allowed text.

    Raises:
        GrammarError: the grammar does not compile, for instance because it names tokens by numbers.
    """
    matcher, at = _read(grammar, text, limits)
    if text[at:] == "\n":
        text = text[:at]
    if at == len(text) and matcher.is_accepting():
        return Check(accepted=True)
    return _rejection(grammar, matcher, limits, text, at)


def accepts_text(grammar: _engine.Grammar, text: str, limits: Limits) -> bool:
    """Whether a grammar accepts the whole text."""
    matcher, at = _read(grammar, text, limits)
    return at == len(text) and matcher.is_accepting()


def match_text(grammar: _engine.Grammar, text: str, limits: Limits) -> Match | None:
    """The captures of a text; None if the grammar does not accept it.

    Raises:
        LimitError: `E-LIMIT-STEP`, finding them is too much work.
    """
    matcher, at = _read(grammar, text, limits)
    if at < len(text) or not matcher.is_accepting():
        return None
    captures = matcher.captures()
    if not text.isascii():
        offsets = _code_points(text)
        captures = {
            label: [(offsets[start], offsets[end]) for start, end in spans] for label, spans in captures.items()
        }
    return Match(text, captures)


def _code_points(text: str) -> dict[int, int]:
    """Where characters begin in the bytes of a text → in the text; and its end."""
    sizes = (len(character.encode("utf-8", "replace")) for character in text)
    return {offset: at for at, offset in enumerate(itertools.accumulate(sizes, initial=0))}


def _read(grammar: _engine.Grammar, text: str, limits: Limits) -> tuple[_engine.GrammarMatcher, int]:
    """A matcher after what it accepts of a text, and how much that is."""
    special = grammar.symbol_texts()
    matcher = _engine.GrammarMatcher(_compiled(grammar, limits, special))
    return matcher, accept_text(matcher, text, [(spelled, _END + 1 + at) for at, spelled in enumerate(special)])


def _compiled(grammar: _engine.Grammar, limits: Limits, special: Sequence[str] = ()) -> _engine.CompiledGrammar:
    tokens = [bytes([value]) for value in range(_END)] + [_END_TEXT, *(text.encode() for text in special)]
    ids = list(range(_END, len(tokens)))
    vocabulary = _engine.Vocabulary(tokens, [_END], ids, ids[1:], len(tokens))
    return _engine.GrammarCompiler(vocabulary, False, False, limits).compile(grammar)


def _rejection(
    grammar: _engine.Grammar, matcher: _engine.GrammarMatcher, limits: Limits, text: str, offset: int
) -> Check:
    expected = matcher._explained()["expected"]
    rules = tuple(dict.fromkeys(_source_name(item["rule"]) for item in expected))
    begun = {_source_name(item["rule"]) for item in expected if item["begun"]}
    continuation = _continuation(grammar, matcher)
    incomplete = offset == len(text)
    message = "the text may not end here" if incomplete else f"{text[offset]!r} cannot stand here"
    longer = tuple(_longer(grammar, matcher, text[offset:]))
    excluded = _excluded_word(grammar, begun, limits, text[:offset], longer) if longer else None
    if excluded is not None:
        message = f"{excluded[1]!r} is no {excluded[0]!r} here: the rule excludes it"
    elif continuation:
        shown = continuation if len(continuation) <= _SHOWN else continuation[:_SHOWN] + "…"
        message += f"; {shown!r} would end it" if incomplete else f"; it could continue with {shown!r}"
    elif not incomplete and matcher.is_accepting():
        message += "; the text is complete before it"
    begin = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[begin : end if end >= 0 else len(text)]
    # A tab is as wide in the line of the caret as in the one above.
    before = "".join(character if character == "\t" else " " for character in line[: offset - begin])
    return Check(
        accepted=False,
        reason="incomplete" if incomplete else "refused",
        message=message,
        offset=offset,
        line=text.count("\n", 0, offset) + 1,
        column=offset - begin + 1,
        excerpt=f"{line}\n{before}^",
        rules=rules,
        expected=" ".join(filter(None, (_ranges(matcher.next_bytes()), _special_next(grammar, matcher)))),
        continuation=continuation,
    )


def _source_name(rule: str) -> str:
    """The name that the source gave a rule: what a reader or the normal form made of it has more after."""
    return rule.split(" ", maxsplit=1)[0].rstrip("'#") or rule


def _continuation(grammar: _engine.Grammar, matcher: _engine.GrammarMatcher) -> str | None:
    tokens = matcher.shortest_close()
    if tokens is None:
        return None
    special = [text.encode() for text in grammar.symbol_texts()]
    parts = (bytes([token]) if token < _END else special[token - _END - 1] for token in tokens if token != _END)
    return b"".join(parts).decode("utf-8", "replace")


def _special_next(grammar: _engine.Grammar, matcher: _engine.GrammarMatcher) -> str:
    """The special tokens that may come next, by their texts."""
    special = grammar.symbol_texts()
    ranges = matcher.next_symbol_tokens()
    tokens = (token for first, last in ranges for token in range(max(first, _END + 1), last + 1))
    return " ".join(repr(special[token - _END - 1]) for token in tokens)


def _excluded_word(
    grammar: _engine.Grammar, begun: set[str], limits: Limits, before: str, longer: Sequence[bytes]
) -> tuple[str, str] | None:
    """A rule, and the longest word at the end of a text that it would match, did it not exclude that.

    Only where this is all that is wrong, so that the rule matches a longer word there.

    Args:
        grammar: the grammar.
        begun: the rules that are being read at the end of the text.
        limits: limits for the parts of the rules.
        before: the text.
        longer: what, written after the text, lets it go on as the one that is checked does.
    """
    for rule, *sides in grammar.exclusions():
        if _source_name(rule) not in begun:
            continue
        shape, excluded = (_compiled(side, limits) for side in sides)
        for start in range(max(0, len(before) - _LONGEST_WORD), len(before)):
            word = before[start:].encode("utf-8", "replace")
            if not (_matches(excluded, word) and _matches(shape, word)):
                continue
            if any(_matches(shape, word + more) and not _matches(excluded, word + more) for more in longer):
                return _source_name(rule), before[start:]
    return None


def _longer(grammar: _engine.Grammar, matcher: _engine.GrammarMatcher, after: str) -> Iterator[bytes]:
    """Beginnings of the shortest way on after which what follows in the text could stand, be it only the end."""
    special = [(spelled, _END + 1 + at) for at, spelled in enumerate(grammar.symbol_texts())]
    first = after[: max((1, *(len(spelled) for spelled, _ in special)))]
    way, matcher = b"", matcher.fork()
    for token in (matcher.shortest_close() or ())[:_LONGEST_WORD]:
        if token >= _END or not matcher.accept_token(token):
            return
        way += bytes([token])
        if accept_text(matcher.fork(), first, special) if after else matcher.is_accepting():
            yield way


def _matches(grammar: _engine.CompiledGrammar, text: bytes) -> bool:
    matcher = _engine.GrammarMatcher(grammar)
    return matcher.accept_bytes(text) and matcher.is_accepting()


def _ranges(following: bytes) -> str:
    """Bytes as ranges of characters."""
    ranges: list[list[int]] = []
    for byte in following:
        if byte >= 0x80:
            ranges.append([0x80, 0x80])
            break
        if ranges and ranges[-1][1] == byte - 1:
            ranges[-1][1] = byte
        else:
            ranges.append([byte, byte])
    spelled = []
    for first, last in ranges:
        ends = [repr(chr(end)) for end in (first, last)]
        if first == 0x80:
            spelled.append("beyond ASCII")
        else:
            spelled.append(ends[0] if first == last else "-".join(ends))
    return " ".join(spelled)
