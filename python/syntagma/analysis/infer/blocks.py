"""How reasoning and content are wrapped: openers and closers, from renders, prompts, or what the template cuts off."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Literal

import msgspec

from syntagma.analysis.infer.frame import Frame
from syntagma.analysis.locate.atoms import (
    atoms,
    common_prefix,
    equal_ignoring_whitespace,
    from_visible_atom,
    text_after,
    through_first_visible_atom,
    visible_atoms,
    without_last_visible_atoms,
)
from syntagma.analysis.locate.located_turn import LocatedTurn
from syntagma.analysis.locate.observations import Observations
from syntagma.analysis.render.conversation import Inputs, SampleTurn
from syntagma.analysis.render.turn_renderer import TurnRenderer

__all__ = [
    "ContentBlock",
    "ReasoningBlock",
    "find_content_block",
    "find_reasoning_block",
    "find_untold_wrapper",
    "is_empty_tag",
    "opener_before_calls",
    "opener_of",
    "without_empty_content",
    "without_empty_reasoning",
]

_CLOSER_LENGTHS = range(3, 61)
_MAX_LITERALS = 200


class ReasoningBlock(msgspec.Struct, frozen=True, kw_only=True):
    """How reasoning is written. `start` is empty where only the closer separates it from content."""

    start: str
    end: str
    evidence: Literal["rendered", "cut", "prompts", "prose"]
    """seen in renders; the template cuts content at `end`; only prompts show it; only instructions speak of it"""
    lead_cut: int = 0
    """how many characters at the end of the frame's lead belong to `start`"""
    ambiguous: bool = False
    """where `end` ends was decided without proof"""


class ContentBlock(msgspec.Struct, frozen=True, kw_only=True):
    """Opener and closer of content."""

    open: str
    close: str
    when: Literal["always", "reasoning"] = "always"
    opens_calls: bool = False
    """nothing closes it, and calls without content stand after its opener, too"""


def find_reasoning_block(
    seen: Observations,
    frame: Frame,
    renderer: TurnRenderer,
    inputs: Inputs,
    *,
    literals: Iterable[str],
    variables: Iterable[str],
) -> ReasoningBlock | None:
    """Find how reasoning is written; None if nothing tells.

    Turns that show reasoning are the best evidence. Without any, the text at which the template cuts content off,
    then what its prompts add, then what its instructions say.

    Args:
        seen: the turns and prompts to compare.
        frame: what surrounds every turn.
        renderer: makes further renders.
        inputs: what the template wants.
        literals: the template's string literals, which may be closers of reasoning.
        variables: undeclared variables that switch thinking.
    """
    return (
        _from_turns(seen, frame)
        or _from_cut_content(seen, frame, renderer, inputs, literals)
        or _from_prompts(seen, frame)
        or _from_instructions(renderer, inputs, variables)
    )


def _from_turns(seen: Observations, frame: Frame) -> ReasoningBlock | None:
    """From turns that show reasoning, with different elements following it."""
    before_content, before_calls = seen.best("RC", "RCT"), seen.best("RT")
    if before_content is not None and before_content.next_kind("R") != "C":
        before_content = None
    if before_calls is not None and before_calls.next_kind("R") != "T":
        before_calls = None
    shown = before_content or before_calls
    if shown is None:
        return None
    start = shown.before("R")[len(frame.lead) :]
    if start.strip() and before_content is not None and _opens_itself(seen, frame, start, before_content, before_calls):
        return ReasoningBlock(start=start, end="", evidence="rendered")
    ambiguous = False
    if before_content is not None and before_calls is not None:
        end = common_prefix([before_content.after("R"), before_calls.after("R")], frame.eos)
        end = _without_content_opener(seen, frame, end, opened=bool(start.strip()))
    elif before_content is not None:
        end = _end_before_content(seen, frame, before_content.after("R"), before_content.tail)
    else:
        end, ambiguous = _end_before_calls(seen, frame, start, shown.after("R"))
    if not end.strip() and end and not start.strip() and _has_place(seen, frame, end):
        opener = _last_marker(frame)
        return ReasoningBlock(start=opener, end=end, evidence="rendered", lead_cut=len(opener))
    if not end.strip() and not (end and start.strip()):
        return None
    if start.strip():
        return ReasoningBlock(start=start, end=end, evidence="rendered", ambiguous=ambiguous)
    plain = seen.best("C", "T")
    always_written = plain is not None and text_after(end.strip(), frame.body(plain)) is not None
    if always_written and frame.header.strip():
        # An empty block stands in turns without reasoning, so its opener became a part of the lead.
        opener = _last_marker(frame)
        return ReasoningBlock(
            start=opener + start, end=end, evidence="rendered", lead_cut=len(opener), ambiguous=ambiguous
        )
    return ReasoningBlock(start="", end=end, evidence="rendered", ambiguous=ambiguous)


def _opens_itself(seen: Observations, frame: Frame, start: str, *reasoned: LocatedTurn | None) -> bool:
    """Whether what follows reasoning opens exactly as it does without it, so that nothing closes the reasoning.

    `start` opens it. Where a prompt has opened reasoning, nothing stands without it, and the same text closes it.
    """
    if any(text_after(start, extra) is not None for extra in _prompt_extras(seen, frame)):
        return False
    follow = [(one.after("R"), seen.best(one.next_kind("R"))) for one in reasoned if one is not None]
    return all(alone is not None and opener.strip() and opener == frame.body(alone) for opener, alone in follow)


def _has_place(seen: Observations, frame: Frame, end: str) -> bool:
    """Whether the whitespace after reasoning is written without reasoning, too, so that its place is empty then."""
    plain = [one for one in (seen.best("C"), seen.best("T")) if one is not None]
    return bool(frame.header.strip()) and bool(plain) and all(frame.body(one).startswith(end) for one in plain)


def _last_marker(frame: Frame) -> str:
    """The last marker of the header: its last visible atom, or, where that is a word, the line that it stands in."""
    found = from_visible_atom(frame.header, 1, frame.eos)
    if not found.strip().isalnum():
        return found
    before = frame.header[: len(frame.header) - len(found)]
    return before[before.rfind("\n") + 1 :] + found


def _without_content_opener(seen: Observations, frame: Frame, end: str, *, opened: bool) -> str:
    """The closer of reasoning without the opener of content, where calls without content have that, too.

    Nothing but whitespace may be left of it if a marker has `opened` reasoning.
    """
    plain = seen.best("C")
    opener = frame.body(plain).lstrip() if plain is not None else ""
    pieces = atoms(end, frame.eos)
    for at in range(1, len(pieces)):
        # What every part opens with follows the closer of reasoning, too.
        closer, begun = "".join(pieces[:at]), "".join(pieces[at:]).strip()
        if (closer.strip() or (opened and closer)) and begun and opener.startswith(begun):
            return closer.rstrip() or closer
    return end


def _shared_with_opener(seen: Observations, frame: Frame, text: str) -> int:
    """How many visible atoms at the end of a text are the opener of plain content."""
    plain = seen.best("C")
    opener = visible_atoms(frame.body(plain), frame.eos) if plain is not None else []
    pieces = visible_atoms(text, frame.eos)
    count = 0
    while count < len(opener) and count < len(pieces) and opener[-1 - count] == pieces[-1 - count]:
        count += 1
    return count


def _end_before_content(seen: Observations, frame: Frame, after: str, tail: str) -> str:
    """The closer of reasoning that only content follows: `after` without the opener of the content."""
    plain = seen.best("C")
    pieces = visible_atoms(after, frame.eos)
    count = _shared_with_opener(seen, frame, after)
    if not count and plain is not None:
        # A wrapper that is written only with reasoning shows in the closer that plain content does not have.
        located = seen.best("RC")
        closers = len(visible_atoms(frame.tail(located), frame.eos)) if located is not None else 0
        count = max(0, closers - len(visible_atoms(frame.tail(plain), frame.eos)))
    if not tail or not count or count >= len(pieces):
        return after
    return without_last_visible_atoms(after, count, frame.eos)


def _end_before_calls(seen: Observations, frame: Frame, start: str, after: str) -> tuple[str, bool]:
    """The closer of reasoning that only calls follow, and whether it was decided without proof."""
    for prompt in seen.prompts.values():
        extra = prompt[len(frame.lead) :] if prompt.startswith(frame.lead) else ""
        rest = text_after(start, extra) if start.strip() else None
        if rest and rest.strip() and text_after(rest, after) is not None:
            return rest, False
    plain = seen.best("T")
    if plain is not None:
        rest = text_after(start, frame.body(plain))
        shared = common_prefix([rest, after], frame.eos) if rest else ""
        if shared.strip() and start.strip():
            return through_first_visible_atom(shared, frame.eos), True
    return through_first_visible_atom(after, frame.eos), True


def _from_cut_content(
    seen: Observations, frame: Frame, renderer: TurnRenderer, inputs: Inputs, literals: Iterable[str]
) -> ReasoningBlock | None:
    """From a literal at which the template cuts content, so that only what follows it remains.

    A tag that the template also closes is the wrapper of the answer: it keeps what stands inside.
    """
    found: list[str] = []
    known = list(itertools.islice(literals, _MAX_LITERALS))
    closed = {opener_of(literal.strip()) for literal in known}
    for literal in known:
        if len(literal) not in _CLOSER_LENGTHS or literal.isidentifier() or literal.strip() in {"", *closed}:
            continue
        gone, kept = renderer.sentinels.word("c"), renderer.sentinels.word("c")
        turn = SampleTurn(content=gone + literal + kept)
        one = renderer.turn(turn, inputs, "middle"), renderer.turn(turn, inputs, "last")
        texts = [*(rendered.text for rendered in one if rendered is not None), renderer.earlier(turn, inputs) or ""]
        if any(kept in text and gone not in text for text in texts):
            found.append(literal)
    found = [one for one in found if not any(other != one and other in one for other in found)]
    if not found:
        return None
    end = min(found, key=len)
    extras = _prompt_extras(seen, frame)
    starts = [extra[: extra.find(end.strip())] if end.strip() in extra else extra for extra in extras]
    visible = [start for start in starts if start.strip()]
    if visible:
        return ReasoningBlock(start=min(visible, key=len), end=end, evidence="cut")
    if any(extra.strip() for extra in extras):
        opener = from_visible_atom(frame.lead, 1, frame.eos)
        return ReasoningBlock(start=opener, end=end, evidence="cut", lead_cut=len(opener))
    # No prompt opens it, so a turn may have none: its opener is the model's to write.
    opener = opener_of(end.strip())
    return ReasoningBlock(start=opener, end=end, evidence="cut") if opener else None


def _from_prompts(seen: Observations, frame: Frame) -> ReasoningBlock | None:
    """From a setting that adds a whole empty block to the prompt, which shows opener and closer."""
    extras = sorted({extra for extra in _prompt_extras(seen, frame) if extra.strip()}, key=len)
    for short in extras:
        for long in extras:
            rest = text_after(short, long)
            if short != long and rest and rest.strip():
                return ReasoningBlock(start=short, end=rest, evidence="prompts")
    for extra in extras:
        pieces = visible_atoms(extra, frame.eos)
        if len(pieces) == 2 and all(len(piece) > 2 and not piece.isalnum() for piece in pieces):
            return ReasoningBlock(start=pieces[0], end=pieces[1], evidence="prompts", ambiguous=True)
    return None


def _from_instructions(renderer: TurnRenderer, inputs: Inputs, variables: Iterable[str]) -> ReasoningBlock | None:
    """From a variable that changes only the instructions: the first pair of tags in what it adds to them."""
    pairs = _told_pairs(renderer, inputs, variables)
    return ReasoningBlock(start=pairs[0][0], end=pairs[0][1], evidence="prose") if pairs else None


def _told_pairs(renderer: TurnRenderer, inputs: Inputs, variables: Iterable[str]) -> list[tuple[str, str]]:
    """The pairs of tags in what the first variable that adds any adds to the instructions."""
    plain = renderer.instructions(inputs, {})
    for name in variables:
        changed = renderer.instructions(inputs, {name: True})
        if plain is None or changed is None or changed == plain:
            continue
        pieces = visible_atoms(changed[len(common_prefix([plain, changed])) :])
        pairs = dict.fromkeys((opener_of(piece), piece) for piece in pieces if opener_of(piece) in pieces)
        if pairs:
            return list(pairs)
    return []


def opener_of(closer: str) -> str:
    """The tag that a closing one closes, as `<think>` for `</think>`; empty if it is not a tag with a slash."""
    is_tag = len(visible_atoms(closer)) == 1 and len(closer) > 3 and not closer[0].isalnum() and closer[1] == "/"
    return closer[0] + closer[2:] if is_tag else ""


def is_empty_tag(text: str, opener: str) -> bool:
    """Whether a text is an opener of reasoning with a slash in it, as in `<think/>`: the whole of an empty block."""
    return "/" in text and bool(opener.strip()) and equal_ignoring_whitespace(text.replace("/", "", 1), opener)


def _prompt_extras(seen: Observations, frame: Frame) -> list[str]:
    """What each prompt holds after the header."""
    return [frame.after_header(text) or "" for text in seen.prompts.values()]


def find_content_block(seen: Observations, frame: Frame, reasoning: ReasoningBlock | None) -> ContentBlock | None:
    """Compare content alone with content after reasoning; None if content has neither opener nor closer."""
    plain = seen.best("C")
    if plain is not None:
        opener = _content_opener(plain, frame, reasoning)
        if opener.strip():
            found = ContentBlock(open=opener, close=frame.tail(plain))
            return msgspec.structs.replace(found, opens_calls=_opens_calls(seen, frame, reasoning, found))
    return None


def find_untold_wrapper(
    reasoning: ReasoningBlock,
    renderer: TurnRenderer,
    inputs: Inputs,
    *,
    literals: Iterable[str],
    variables: Iterable[str],
) -> ContentBlock | None:
    """The tags around an answer after reasoning that no render shows.

    Of content in such tags the template keeps what stands inside. Or its instructions name the tags of reasoning,
    and one pair of others.
    """
    if reasoning.evidence == "prose":
        pairs = [pair for pair in _told_pairs(renderer, inputs, variables) if pair[0] != reasoning.start]
        return ContentBlock(open=pairs[0][0], close=pairs[0][1], when="reasoning") if len(pairs) == 1 else None
    known = list(itertools.islice(literals, _MAX_LITERALS))
    for closer in known:
        opener = opener_of(closer.strip())
        if not opener or not any(opener == literal.strip() for literal in known):
            continue
        before, kept, after = (renderer.sentinels.word("c") for _ in range(3))
        turn = SampleTurn(content=f"{before}{opener}{kept}{closer}{after}")
        shown = renderer.turn(turn, inputs, "last"), renderer.turn(turn, inputs, "middle")
        if any(one is not None and one.shows(kept) and not one.shows(before) and not one.shows(after) for one in shown):
            return ContentBlock(open=opener, close=closer.strip(), when="reasoning")
    return None


def _opens_calls(seen: Observations, frame: Frame, reasoning: ReasoningBlock | None, content: ContentBlock) -> bool:
    """Whether the opener of content stands before calls without content, and not between content and calls."""
    alone, both = seen.best("T"), next((one for one in seen.all("CT") if one.next_kind("C") == "T"), None)
    if alone is None or both is None or content.close.strip() or content.open.strip() in both.before("T"):
        return False
    return text_after(content.open, without_empty_reasoning(frame.body(alone), reasoning)) is not None


def opener_before_calls(seen: Observations, frame: Frame, reasoning: ReasoningBlock | None) -> str | None:
    """What opens content that calls follow, which may be nothing; None where content alone begins in the same way."""
    alone, before = seen.best("C"), next((one for one in seen.all("CT") if one.next_kind("C") == "T"), None)
    if alone is None or before is None or before.context != alone.context or before.elements[0].kind != "C":
        return None
    opener, other = (without_empty_reasoning(frame.body(one), reasoning) for one in (before, alone))
    return None if equal_ignoring_whitespace(opener, other) else opener


def _content_opener(located: LocatedTurn, frame: Frame, reasoning: ReasoningBlock | None) -> str:
    body = frame.body(located)
    if reasoning is not None and reasoning.start.strip() and equal_ignoring_whitespace(body, reasoning.start):
        return ""
    return without_empty_reasoning(body, reasoning)


def without_empty_content(text: str, content: ContentBlock | None) -> str:
    """The text without an empty wrapper of content at its beginning."""
    if content is None or not content.open.strip() or not (content.close.strip() or content.opens_calls):
        return text
    rest = text_after(content.open + content.close, text)
    return text if rest is None else rest


def without_empty_reasoning(text: str, reasoning: ReasoningBlock | None) -> str:
    """The text without an empty block of reasoning, or its closer alone, at its beginning."""
    if reasoning is None:
        return text
    rest = text_after(reasoning.start + reasoning.end, text) if reasoning.start.strip() else None
    if rest is None:
        rest = text_after(reasoning.end, text)
    return text if rest is None else rest
