"""The frame of a turn: how the user's message closes, the assistant's header, and the end of the turn."""

from __future__ import annotations

import itertools
import unicodedata

import msgspec

from syntagma.analysis.locate.atoms import (
    atoms,
    common_prefix,
    equal_ignoring_whitespace,
    from_visible_atom,
    visible_atoms,
)
from syntagma.analysis.locate.located_turn import LocatedTurn
from syntagma.analysis.locate.observations import Observations

__all__ = ["Frame", "clean_tail", "find_frame", "without_shared_edges"]


_BRACKETS = {")": "(", "]": "[", "}": "{", ">": "<"}


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """The text around every turn.

    `lead` is all text from the user's sentinel to where the shapes of a turn begin to differ: `user_close + header`.
    """

    lead: str
    user_close: str
    end_of_turn: str
    epilogue: str
    """the text that the template appends to every conversation, with or without a generation prompt"""
    user_open: str
    """the opener of the user's message after the turn"""
    eos: str
    """the sentinel for the end-of-sequence token"""

    @property
    def header(self) -> str:
        """The opener of an assistant's turn, as far as all shapes share it."""
        return self.lead[len(self.user_close) :]

    @property
    def anchor(self) -> str:
        """The text after which the assistant's turn begins in a prompt; empty if there is none."""
        if self.header.strip():
            return self.header
        return from_visible_atom(self.lead, 1, self.eos) if self.lead.strip() else ""

    def shortened(self, count: int) -> Frame:
        """The frame without the last `count` characters of its lead, which belong to the parts of turns."""
        return msgspec.structs.replace(self, lead=self.lead[: len(self.lead) - count])

    def with_eos(self, token: str) -> Frame:
        """The frame with the real end-of-sequence token in place of the sentinel."""
        names = ("lead", "user_close", "end_of_turn", "epilogue", "user_open", "eos")
        return Frame(**{name: getattr(self, name).replace(self.eos, token) for name in names})

    def after_header(self, prompt: str) -> str | None:
        """The text of a prompt after the header; None if the header is not in it."""
        if prompt.startswith(self.lead):
            return prompt[len(self.lead) :]
        at = prompt.rfind(self.anchor) if self.anchor else -1
        return prompt[at + len(self.anchor) :] if at >= 0 else None

    def body(self, located: LocatedTurn) -> str:
        """The text between header and first element."""
        return located.head[len(self.lead) :]

    def tail(self, located: LocatedTurn) -> str:
        """The text after the last element, without the end of the turn and text outside of it."""
        return self.without_end(clean_tail(located, self.epilogue, self.user_open))

    def without_end(self, text: str) -> str:
        """The text without the complete end of the turn, ignoring whitespace; the text itself if it has no such end."""
        wanted = "".join(self.end_of_turn.split())
        at, missing = len(text), len(wanted)
        while at and missing:
            at -= 1
            if not text[at].isspace():
                if text[at] != wanted[missing - 1]:
                    return text
                missing -= 1
        if missing:
            return text
        return text[:at].removesuffix(self.end_space)

    @property
    def end_space(self) -> str:
        """The whitespace with which the end of the turn begins."""
        return self.end_of_turn[: len(self.end_of_turn) - len(self.end_of_turn.lstrip())]


def clean_tail(located: LocatedTurn, epilogue: str, user_open: str) -> str:
    """The text after the last element, without text that belongs to no turn."""
    return located.tail.removesuffix(epilogue if located.context == "last" else user_open)


def find_frame(seen: Observations, eos: str) -> Frame:
    """Find the frame by comparing all shapes, both contexts and all prompts.

    Args:
        seen: the turns and prompts to compare.
        eos: the sentinel for the end-of-sequence token.
    """
    lead = _lead([located.head for located in seen.turns], list(seen.prompts.values()), eos)
    user_marker = next(iter(visible_atoms(seen.user_openers[0], eos)), "") if seen.user_openers else ""
    user_close = lead if seen.bare_prompt is None else common_prefix([lead, seen.bare_prompt], eos)
    if user_close == lead:
        # The template always appends the header. It begins where the marker of the first message recurs.
        user_close = lead[: _find_atom(lead, user_marker, eos)]
    user_open = _user_open(seen.user_openers, eos) or _open_after(seen)
    if not user_open.startswith(user_marker):
        user_open = user_open[_find_atom(user_open, user_marker, eos) % (len(user_open) or 1) :]
    contents = {located.context: located.tail for located in reversed(seen.turns) if located.shape == "C"}
    last, middle = contents.get("last", ""), contents.get("middle", "")
    epilogue = _epilogue(last, middle, user_open, eos)
    # The end of the turn is taken from the context that writes more of it.
    visible = {context: len(visible_atoms(text.removesuffix(epilogue), eos)) for context, text in contents.items()}
    visible["middle"] = len(visible_atoms(middle.removesuffix(user_open), eos))
    context = "middle" if visible["middle"] > visible.get("last", 0) else "last"
    turns = [located for located in seen.turns if located.context == context]
    tails = [clean_tail(located, epilogue, user_open) for located in turns]
    end_of_turn = _without_closing_brackets(_common_end(tails, eos), tails)
    if not end_of_turn.strip():
        # Turns of calls may end differently. Text after bare content can only be the end of its turn.
        bare = next((located for located in turns if located.shape == "C"), None)
        closed = "" if bare is None else clean_tail(bare, epilogue, user_open)
        opens = seen.user_openers is not None and closed.strip() in visible_atoms(seen.user_openers[0], eos)
        if bare is not None and (not bare.head[len(lead) :].strip() or closed.strip() == user_close.strip() or opens):
            end_of_turn = closed
    return Frame(
        lead=lead, user_close=user_close, end_of_turn=end_of_turn, epilogue=epilogue, user_open=user_open, eos=eos
    )


def without_shared_edges(frame: Frame, seen: Observations) -> Frame:
    """The frame without text that belongs to the parts of a turn, since it also stands between them.

    If reasoning, content and calls open alike, their common marker follows the header in every shape; if they close
    alike, their common closer precedes the end of the turn in every shape.
    """
    pairs = [
        (other.kind, located.text[one.end : other.start])
        for located in seen.turns
        for one, other in itertools.pairwise(located.elements)
        if one.kind != other.kind
    ]
    gaps = [gap for _, gap in pairs]
    frame = _without_shared_closer(frame, seen)
    if not gaps or all(frame.header in gap for gap in gaps):
        return frame
    pieces = atoms(frame.header, frame.eos)
    suffixes = ("".join(pieces[at:]) for at in range(1, len(pieces)))
    opened = {one.elements[0].kind: frame.body(one) for one in reversed(seen.turns)}
    shared = next(
        (
            text
            for text in suffixes
            if _may_open(text) and all(_opens(text, gap, opened.get(kind)) for kind, gap in pairs)
        ),
        "",
    )
    shorter = frame.shortened(len(shared)) if shared and shared == shared.strip() else frame
    opener = common_prefix([shorter.body(located) for located in seen.turns], frame.eos).strip()
    if not opener or any(opener not in gap for gap in gaps):
        return frame
    closers = [gap.partition(opener)[0].rstrip() for gap in gaps]
    pieces = atoms(frame.end_of_turn, frame.eos)
    prefixes = ("".join(pieces[:at]) for at in range(len(pieces) - 1, 0, -1))
    closer = next((text for text in prefixes if text.strip() and all(one.endswith(text) for one in closers)), "")
    return msgspec.structs.replace(shorter, end_of_turn=frame.end_of_turn.removeprefix(closer))


def _without_shared_closer(frame: Frame, seen: Observations) -> Frame:
    """The frame without the beginning of its end that is the closer of content and calls before further parts."""
    firsts = {one.elements[0].kind: frame.body(one).strip() for one in reversed(seen.turns)}
    closers = []
    for located in seen.turns:
        for one, other in itertools.pairwise(located.elements):
            gap = located.text[one.end : other.start]
            opener = frame.header if frame.header.strip() and frame.header in gap else firsts.get(other.kind, "")
            if one.kind != "R" and opener and opener in gap:
                closers.append(gap[: gap.rfind(opener)])
    pieces = atoms(frame.end_of_turn, frame.eos)
    for at in range(len(pieces) - 1, 0, -1):
        closer, rest = "".join(pieces[:at]), "".join(pieces[at:])
        if closers and closer.strip() and rest.strip() and all(one.endswith(closer) for one in closers):
            if len(closer.strip()) > 1:
                closer = closer.rstrip()
            return msgspec.structs.replace(frame, end_of_turn=frame.end_of_turn[len(closer) :])
    return frame


def _opens(text: str, gap: str, body: str | None) -> bool:
    """Whether a text in the gap before a part is followed by the opener that this part has as the first one."""
    if body is None:
        return text in gap
    places = (at for at in range(len(gap)) if gap.startswith(text, at))
    return any(equal_ignoring_whitespace(gap[at:], text + body) for at in places)


def _may_open(text: str) -> bool:
    """Whether a text may open a part of a turn: no opener begins with a closing bracket."""
    return bool(text.strip()) and unicodedata.category(text.strip()[0]) not in ("Pe", "Pf") and text.strip()[0] != ">"


def _lead(heads: list[str], prompts: list[str], eos: str) -> str:
    """The common beginning of all turns and all prompts, of which the first is the default one."""
    lead = common_prefix(heads, eos)
    if prompts and not _holds_header(prompts[0], lead, eos):
        lead = common_prefix([lead, prompts[0]], eos)
    # A setting may also change the user's message; its prompt then does not count.
    return common_prefix([lead, *(text for text in prompts[1:] if common_prefix([lead, text], eos).strip())], eos)


def _holds_header(prompt: str, lead: str, eos: str) -> bool:
    """Whether a prompt contains the end of the lead, perhaps after instructions, so that it does not shorten the lead.

    If the lead begins with the prompt, the prompt ends before the lead does, even if that end also occurs earlier.
    """
    if lead != prompt and lead.startswith(prompt):
        return False
    return len(visible_atoms(lead, eos)) > 1 and from_visible_atom(lead, 2, eos) in prompt


def _find_atom(text: str, atom: str, eos: str) -> int:
    """The index of an atom in a text, after the first atom; the text's length if it is not there."""
    at = 0
    for piece in atoms(text, eos):
        if at and atom and piece == atom:
            return at
        at += len(piece)
    return at


def _user_open(openers: tuple[str, str] | None, eos: str) -> str:
    """The opener of a user's message: the common end of the texts before two of them."""
    if openers is None:
        return ""
    first, second = atoms(openers[0], eos), atoms(openers[1], eos)
    shared = 0
    while shared < min(len(first), len(second)) and first[-1 - shared] == second[-1 - shared]:
        shared += 1
    opener = "".join(second[len(second) - shared :])
    rest = [row[: len(row) - shared] for row in (first, second)]
    return _cut_otherwise(rest) + opener


def _cut_otherwise(rows: list[list[str]]) -> str:
    """The marker of signs that all rows of atoms end with, cut in one way after a sign and in another elsewhere."""
    lasts = (row[-1] for row in rows if row)
    markers = (atom for atom in lasts if len(atom) > 1 and not atom[0].isalnum())
    return next((atom for atom in markers if all("".join(row).endswith(atom) for row in rows)), "")


def _open_after(seen: Observations) -> str:
    """The text after a turn in the middle of a conversation only, if the last turn ends alike."""
    tails = {located.context: located.tail for located in reversed(seen.turns) if located.shape == "C"}
    last, middle = tails.get("last", ""), tails.get("middle", "")
    return middle[len(last) :] if last.strip() and middle.startswith(last) else ""


def _epilogue(last: str, middle: str, user_open: str, eos: str) -> str:
    """The text after content in the last turn that is not there in the middle, if both begin alike."""
    shared = common_prefix([last, middle], eos)
    if not last[len(shared) :].strip() or not shared.strip():
        return ""
    return last[len(common_prefix([middle.removesuffix(user_open), last], eos)) :]


def _without_closing_brackets(end: str, tails: list[str]) -> str:
    """The end of the turn without closing brackets at its beginning that a part of the turn has opened."""
    while (bracket := end.lstrip()[:1]) and bracket in _BRACKETS:
        opened = (tail[: tail.rfind(end.strip())] for tail in tails if end.strip() in tail)
        if not any(text.count(_BRACKETS[bracket]) > text.count(bracket) for text in opened):
            break
        end = end.lstrip()[1:]
    return end


def _common_end(tails: list[str], eos: str) -> str:
    """The common end of all tails, ignoring whitespace, with the common whitespace before it."""
    rows = [visible_atoms(tail, eos) for tail in tails]
    shared = 0
    while all(len(row) > shared for row in rows) and len({row[-1 - shared] for row in rows}) == 1:
        shared += 1
    ends = [from_visible_atom(tail, shared, eos) for tail in tails]
    cut = _cut_otherwise([row[: len(row) - shared] for row in rows])
    if all(tail.endswith(cut + end) for tail, end in zip(tails, ends, strict=True)):
        ends = [cut + end for end in ends]
    before = [tail[: len(tail) - len(end)] for tail, end in zip(tails, ends, strict=True)]
    common = before[0][len(before[0].rstrip()) :]
    for text in before[1:]:
        space = text[len(text.rstrip()) :]
        while not space.endswith(common):
            common = common[1:]
    return common + max(ends, key=len)
