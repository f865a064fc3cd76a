"""The frame of a turn: how the user's message closes, the header, what prompts add to it, and the end of the turn."""

from __future__ import annotations

import msgspec

from syntagma.analysis.atoms import atoms, common_prefix, cores
from syntagma.analysis.extents import Reading

__all__ = ["Frame", "find_frame"]


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """What surrounds every turn.

    `lead` is all text from the user's sentinel to where the shapes of a turn begin to differ: `user_close + header`.
    """

    lead: str
    user_close: str
    end_of_turn: str
    epilogue: str
    """what the template appends to every conversation, generation prompt or not"""
    user_open: str
    whole: str
    """the sentinel that stands for the end-of-sequence token"""

    @property
    def header(self) -> str:
        """The opener of an assistant's turn, as far as all shapes share it."""
        return self.lead[len(self.user_close) :]

    @property
    def anchor(self) -> str:
        """The text that tells where the assistant's turn begins in a prompt; empty if nothing does."""
        if self.header.strip():
            return self.header
        rest = self.lead
        if self.end_of_turn.strip() and rest.startswith(self.end_of_turn) and rest[len(self.end_of_turn) :].strip():
            return rest[len(self.end_of_turn) :]
        return _from_core(self.lead, 1, self.whole) if self.lead.strip() else ""

    def with_eos(self, token: str) -> Frame:
        """The frame with the real end-of-sequence token in place of the sentinel."""
        names = ("lead", "user_close", "end_of_turn", "epilogue", "user_open", "whole")
        return Frame(**{name: getattr(self, name).replace(self.whole, token) for name in names})

    def body(self, reading: Reading) -> str:
        """The text between header and first element."""
        return reading.head[len(self.lead) :]

    def tail(self, reading: Reading) -> str:
        """The text behind the last element, without the end of the turn and what is not part of it."""
        return self.without_end(clean_tail(reading, self.epilogue, self.user_open))

    def without_end(self, text: str) -> str:
        """The text without the whole end of the turn, blanks ignored; the text itself if it ends otherwise."""
        wanted = cores(self.end_of_turn, self.whole)
        pieces = atoms(text, self.whole)
        at, missing = len(pieces), len(wanted)
        while at and missing:
            at -= 1
            if not pieces[at].isspace():
                if pieces[at] != wanted[missing - 1]:
                    return text
                missing -= 1
        if missing:
            return text
        lead = self.end_of_turn[: len(self.end_of_turn) - len(self.end_of_turn.lstrip())]
        rest = "".join(pieces[:at])
        return rest.removesuffix(lead)


def clean_tail(reading: Reading, epilogue: str, user_open: str) -> str:
    """The text behind the last element, without what belongs to no turn."""
    return reading.tail.removesuffix(epilogue if reading.context == "last" else user_open)


def find_frame(
    readings: list[Reading], prompts: list[str], bare: str | None, user_openers: tuple[str, str] | None, whole: str
) -> Frame:
    """Find the frame.

    Args:
        readings: all shapes in both contexts.
        prompts: what stands behind the user's sentinel with a generation prompt, the default first, then every setting.
        bare: the same without a generation prompt, or None.
        user_openers: what stands before the first user's sentinel, and between a content and the second user's.
        whole: the sentinel of the end-of-sequence token.
    """
    heads = [reading.head for reading in readings]
    lead = common_prefix(heads, whole)
    if prompts and not _opens(prompts[0], lead, whole):
        lead = common_prefix([lead, prompts[0]], whole)
    # A setting may also change the user's message; its prompt then says nothing about the header.
    others = [text for text in prompts[1:] if not _opens(text, lead, whole)]
    lead = common_prefix([lead, *(text for text in others if common_prefix([lead, text], whole).strip())], whole)
    first = next(iter(cores(user_openers[0], whole)), "") if user_openers else ""
    user_close = lead if bare is None else common_prefix([lead, bare], whole)
    if user_close == lead:
        # The template appends the header without being asked. Where the first message opens like that, it begins there.
        user_close = lead[: _place(lead, first, whole)]
    user_open = _user_open(user_openers, whole)
    user_open = user_open[_place(user_open, first, whole) % (len(user_open) or 1) :]
    contents = {reading.context: reading.tail for reading in reversed(readings) if reading.shape == "C"}
    last, middle = contents.get("last", ""), contents.get("middle", "")
    shared = common_prefix([last, middle], whole)
    epilogue = ""
    if last[len(shared) :].strip() and shared.strip():
        epilogue = last[len(common_prefix([middle.removesuffix(user_open), last], whole)) :]
    ends = {
        context: [clean_tail(reading, epilogue, user_open) for reading in readings if reading.context == context]
        for context in ("last", "middle")
    }
    plain = {context: len(cores(text.removesuffix(epilogue), whole)) for context, text in contents.items()}
    plain["middle"] = len(cores(middle.removesuffix(user_open), whole))
    chosen = "middle" if plain["middle"] > plain.get("last", 0) else "last"
    end_of_turn = _common_end(ends[chosen], whole)
    if not end_of_turn.strip():
        # Turns of calls may end otherwise. What stands behind bare content can only be the end of its turn.
        bodies = [reading for reading in readings if reading.shape == "C" and reading.context == chosen]
        if bodies and not bodies[0].head[len(lead) :].strip():
            end_of_turn = clean_tail(bodies[0], epilogue, user_open)
    return Frame(
        lead=lead,
        user_close=user_close,
        end_of_turn=end_of_turn,
        epilogue=epilogue,
        user_open=user_open,
        whole=whole,
    )


def _opens(prompt: str, lead: str, whole: str) -> bool:
    """Whether a prompt holds the end of the lead, behind instructions perhaps: then it does not shorten it."""
    return len(cores(lead, whole)) > 1 and _from_core(lead, 2, whole) in prompt


def _place(text: str, atom: str, whole: str) -> int:
    """Where an atom stands in a text behind its beginning; the text's length if it does not."""
    at = 0
    for piece in atoms(text, whole):
        if at and atom and piece == atom:
            return at
        at += len(piece)
    return at


def _user_open(openers: tuple[str, str] | None, whole: str) -> str:
    """The opener of a user's message: what the texts before two of them end with."""
    if openers is None:
        return ""
    first, second = atoms(openers[0], whole), atoms(openers[1], whole)
    shared = 0
    while shared < min(len(first), len(second)) and first[-1 - shared] == second[-1 - shared]:
        shared += 1
    return "".join(second[len(second) - shared :])


def _common_end(tails: list[str], whole: str) -> str:
    """What all tails end with, blanks ignored; with the blanks before it that all of them have."""
    if not tails:
        return ""
    rows = [cores(tail, whole) for tail in tails]
    shared = 0
    while all(len(row) > shared for row in rows) and len({row[-1 - shared] for row in rows}) == 1:
        shared += 1
    if not shared:
        return ""
    ends = [_from_core(tail, shared, whole) for tail in tails]
    blanks = [tail[: len(tail) - len(end)] for tail, end in zip(tails, ends, strict=True)]
    common = blanks[0][len(blanks[0].rstrip()) :]
    for blank in blanks[1:]:
        run = blank[len(blank.rstrip()) :]
        while not run.endswith(common):
            common = common[1:]
    return common + max(ends, key=len)


def _from_core(text: str, count: int, whole: str) -> str:
    """The end of a text from its `count`-th last atom that is not blank."""
    pieces = atoms(text, whole)
    at = len(pieces)
    while count:
        at -= 1
        count -= not pieces[at].isspace()
    return "".join(pieces[at:])
