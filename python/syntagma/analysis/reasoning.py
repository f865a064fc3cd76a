"""How thoughts are written: opener and closer, from renders, from prompts, or from what the template cuts off."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Literal

import msgspec

from syntagma.analysis.atoms import atoms, common_prefix, cores, skip_prefix
from syntagma.analysis.conversations import Inputs, Turn
from syntagma.analysis.scene import Scene
from syntagma.analysis.survey import Survey

__all__ = ["Thoughts", "find_thoughts", "without_empty_block"]

_LITERAL = range(3, 61)
_MOST_LITERALS = 200


class Thoughts(msgspec.Struct, frozen=True, kw_only=True):
    """How thoughts are written. `start` is empty where only the closer tells them (a delimiter)."""

    start: str
    end: str
    evidence: Literal["rendered", "cut", "prompts", "prose"]
    """seen in renders; the template cuts content at `end`; only prompts show it; only instructions speak of it"""
    lead_cut: int = 0
    """how much of the frame's lead, from its end, belongs to `start`"""
    ambiguous: bool = False
    """where `end` ends was decided without proof"""


def find_thoughts(
    survey: Survey, scene: Scene, inputs: Inputs, literals: Iterable[str], variables: Iterable[str]
) -> Thoughts | None:
    """Compare the shapes that hold thoughts; without any, look what the template cuts off, then what it says."""
    return (
        _rendered(survey)
        or _cut(survey, scene, inputs, literals)
        or _switched(survey)
        or _told(scene, inputs, variables)
    )


def _rendered(survey: Survey) -> Thoughts | None:
    whole = survey.frame.whole
    before_content, before_calls = survey.best("RC", "RCT"), survey.best("RT")
    if before_content is not None and before_content.follower("R") != "C":
        before_content = None
    if before_calls is not None and before_calls.follower("R") != "T":
        before_calls = None
    shown = before_content or before_calls
    if shown is None:
        return None
    start = shown.before("R")[len(survey.frame.lead) :]
    ambiguous = False
    if before_content is not None and before_calls is not None:
        end = common_prefix([before_content.behind("R"), before_calls.behind("R")], whole)
    elif before_content is not None:
        end = _minus_content_opener(survey, before_content.behind("R"), before_content.tail)
    else:
        end, ambiguous = _end_before_calls(survey, start, shown.behind("R"))
    if not end.strip():
        return None
    if start.strip():
        return Thoughts(start=start, end=end, evidence="rendered", ambiguous=ambiguous)
    plain = survey.best("C", "T")
    empty = plain is not None and skip_prefix(survey.frame.body(plain), end.strip()) is not None
    if empty and survey.frame.header.strip():
        opener = _last_core(survey.frame.lead, whole)
        return Thoughts(start=opener + start, end=end, evidence="rendered", lead_cut=len(opener), ambiguous=ambiguous)
    return Thoughts(start="", end=end, evidence="rendered", ambiguous=ambiguous)


def _minus_content_opener(survey: Survey, post: str, tail: str) -> str:
    """The end of thoughts that only content follows: the rest is the opener of the content."""
    whole = survey.frame.whole
    plain = survey.best("C")
    opener = cores(survey.frame.body(plain), whole) if plain is not None else []
    pieces = cores(post, whole)
    count = 0
    while count < len(opener) and count < len(pieces) and opener[-1 - count] == pieces[-1 - count]:
        count += 1
    if not count and plain is not None:
        # A wrapper that is written only beside thoughts shows in the closer that plain content does not have.
        reading = survey.best("RC")
        extra = len(cores(survey.frame.tail(reading), whole)) if reading is not None else 0
        count = max(0, extra - len(cores(survey.frame.tail(plain), whole)))
    if not tail or not count or count >= len(pieces):
        return post
    return _without_last(post, count, whole)


def _end_before_calls(survey: Survey, start: str, post: str) -> tuple[str, bool]:
    """The end of thoughts that only calls follow, and whether it was decided without proof."""
    whole = survey.frame.whole
    for text in survey.prompts.values():
        extra = text[len(survey.frame.lead) :] if text.startswith(survey.frame.lead) else ""
        rest = skip_prefix(extra, start) if start.strip() else None
        if rest and rest.strip() and skip_prefix(post, rest) is not None:
            return rest, False
    plain = survey.best("T")
    if plain is not None:
        rest = skip_prefix(survey.frame.body(plain), start)
        shared = common_prefix([rest, post], whole) if rest else ""
        if shared.strip() and start.strip():
            return _first_core(shared, whole), True
    return _first_core(post, whole), True


def _cut(survey: Survey, scene: Scene, inputs: Inputs, literals: Iterable[str]) -> Thoughts | None:
    """Surgery: a literal at which the template cuts content, so that only what follows stays, ends thoughts."""
    found: list[str] = []
    for literal in itertools.islice(literals, _MOST_LITERALS):
        if len(literal) not in _LITERAL or literal.isidentifier() or not literal.strip():
            continue
        for context in ("middle", "last"):
            gone, kept = scene.sentinels.word("c"), scene.sentinels.word("c")
            view = scene.view(Turn(content=gone + literal + kept), inputs, context)
            if view is not None and view.shows(kept) and not view.shows(gone):
                found.append(literal)
                break
    found = [one for one in found if not any(other != one and other in one for other in found)]
    if not found:
        return None
    end = min(found, key=len)
    extras = _extras(survey)
    starts = [extra[: extra.find(end.strip())] if end.strip() in extra else extra for extra in extras]
    shown = [start for start in starts if start.strip()]
    if shown:
        return Thoughts(start=min(shown, key=len), end=end, evidence="cut")
    if any(extra.strip() for extra in extras):
        opener = _last_core(survey.frame.lead, survey.frame.whole)
        return Thoughts(start=opener, end=end, evidence="cut", lead_cut=len(opener))
    return Thoughts(start="", end=end, evidence="cut")


def _switched(survey: Survey) -> Thoughts | None:
    """A setting that adds a whole empty block to the prompt shows opener and closer."""
    extras = sorted({extra for extra in _extras(survey) if extra.strip()}, key=len)
    for short in extras:
        for long in extras:
            rest = skip_prefix(long, short)
            if short != long and rest and rest.strip():
                return Thoughts(start=short, end=rest, evidence="prompts")
    for extra in extras:
        pieces = cores(extra, survey.frame.whole)
        if len(pieces) == 2 and all(len(piece) > 2 and not piece.isalnum() for piece in pieces):
            return Thoughts(start=pieces[0], end=pieces[1], evidence="prompts", ambiguous=True)
    return None


def _told(scene: Scene, inputs: Inputs, variables: Iterable[str]) -> Thoughts | None:
    """A variable that changes only the instructions, and the first pair of tags in what it adds to them."""
    plain = scene.instructions(inputs, {})
    for name in variables:
        told = scene.instructions(inputs, {name: True})
        if plain is None or told is None or told == plain:
            continue
        before = common_prefix([plain, told])
        pieces = cores(told[len(before) :])
        for opener in pieces:
            closer = opener[0] + "/" + opener[1:]
            if len(opener) > 2 and not opener[0].isalnum() and opener[1] != "/" and closer in pieces:
                return Thoughts(start=opener, end=closer, evidence="prose")
    return None


def _extras(survey: Survey) -> list[str]:
    return [survey.extra(text) or "" for text in survey.prompts.values()]


def without_empty_block(text: str, thoughts: Thoughts | None) -> str:
    """The text without a block of thoughts, or its closer alone, that holds nothing and stands at the beginning."""
    if thoughts is None:
        return text
    rest = skip_prefix(text, thoughts.start + thoughts.end) if thoughts.start.strip() else None
    if rest is None:
        rest = skip_prefix(text, thoughts.end)
    return text if rest is None else rest


def _last_core(text: str, whole: str) -> str:
    """The end of a text from its last atom that is not blank."""
    pieces = atoms(text, whole)
    at = len(pieces)
    while at and pieces[at - 1].isspace():
        at -= 1
    return "".join(pieces[max(at - 1, 0) :])


def _first_core(text: str, whole: str) -> str:
    """The beginning of a text up to its first atom that is not blank."""
    pieces = atoms(text, whole)
    at = next((i for i, piece in enumerate(pieces) if not piece.isspace()), len(pieces) - 1)
    return "".join(pieces[: at + 1])


def _without_last(text: str, count: int, whole: str) -> str:
    """The text before its last `count` atoms that are not blank."""
    pieces = atoms(text, whole)
    while count and pieces:
        count -= not pieces.pop().isspace()
    return "".join(pieces)
