"""How calls are written: section, separator, and one call with its openers and closers."""

from __future__ import annotations

import itertools

import msgspec

from syntagma.analysis.atoms import atoms, common_prefix, common_suffix
from syntagma.analysis.envelopes import envelope_text
from syntagma.analysis.extents import CallExtent, Reading
from syntagma.analysis.frame import Frame
from syntagma.analysis.generalise import generalise, split_digits
from syntagma.analysis.reasoning import Thoughts, without_empty_block
from syntagma.analysis.survey import Survey
from syntagma.analysis.tagged import Arguments, find_arguments

__all__ = ["Calls", "Unsupported", "find_calls", "swallowed_opener"]


class Unsupported(Exception):
    """The calls are written in a way that is not understood; the text says how."""


class Calls(msgspec.Struct, frozen=True, kw_only=True):
    """How calls are written, as pattern texts of a format's `[tools]`."""

    section: str
    separator: str
    call: str
    envelope: str | None = None
    id: str | None = None
    arguments: Arguments | None = None
    edge: str = ""
    """blanks between content and the first call, which calls alone do not begin with"""
    alternate: str = ""
    """the call without its outer opener: models forget it"""
    drop: str = ""
    """a marker behind the last call of a turn whose calls have no section"""
    uneven: bool = False
    """what stands between calls differs from call to call"""
    unproved_split: bool = False
    """only single calls were seen, so where section ends and call begins is not known"""


class _Split(msgspec.Struct, frozen=True):
    """The text around calls: `section_open (open … close) separator (open … close) section_close`."""

    section_open: str
    open: str
    close: str
    separator: str
    section_close: str


def find_calls(survey: Survey, frame: Frame, thoughts: Thoughts | None, content_close: str) -> Calls | None:
    """Read how calls are written from the shapes that hold them; None if no shape does.

    Raises:
        Unsupported: they are written, but not understood.
    """
    reading = survey.best("T") or survey.best("RT", "CT", "RCT")
    if reading is None or not reading.calls:
        return None
    extents = reading.calls
    if len(extents) < len(reading.view.turn.calls):
        raise Unsupported("not every call of a message was found in its render")
    kinds = {(bool(extent.json), extent.in_array, tuple(slot.kind for slot in extent.slots)) for extent in extents}
    if len(kinds) != 1:
        raise Unsupported("the calls of one message are written in different ways")
    head = _head(reading, frame, thoughts)
    mids = [reading.text[one.end : other.start] for one, other in itertools.pairwise(extents)]
    tail = frame.tail(reading)
    arguments = None
    if extents[0].tagged:
        arguments = find_arguments(reading, mids[0] if mids else tail)
        if arguments is None:
            raise Unsupported("arguments are written one by one, in a way that is not understood")
        cut = len(arguments.closes)
        mids, tail = [mid[cut:] for mid in mids], tail[cut:]
    mid, uneven = _counted(mids)
    split = _split(head, mid, tail, frame, in_array=extents[0].in_array)
    edge = _edge(split, survey, frame, content_close)
    if edge and _always_behind(reading, frame, thoughts, edge):
        split = msgspec.structs.replace(split, section_open=edge + split.section_open)
        edge = ""
    if extents[0].json is not None:
        envelope = envelope_text(reading.text, extents)
        if envelope is None:
            raise Unsupported("the JSON of a call is not understood")
        made = _calls(split, "{envelope}", envelope=envelope, unproved=not mids)
    else:
        body, identity, split = _slots(reading.text, extents, split, arguments)
        made = _calls(split, body, identity=identity, arguments=arguments, unproved=not mids)
        made = msgspec.structs.replace(made, alternate=_alternate(split, body))
    return msgspec.structs.replace(made, uneven=uneven, edge=edge)


def _calls(
    split: _Split,
    body: str,
    *,
    envelope: str | None = None,
    identity: str | None = None,
    arguments: Arguments | None = None,
    unproved: bool,
) -> Calls:
    drop = ""
    if not split.section_open.strip() and split.section_close.strip():
        # A closer whose section nothing opens can only be taken out wherever it stands.
        drop = split.section_close.strip()
        split = msgspec.structs.replace(split, section_close="")
    return Calls(
        drop=drop,
        section=split.section_open + "{calls}" + split.section_close,
        separator=split.separator,
        call=split.open + body + split.close,
        envelope=envelope,
        id=identity,
        arguments=arguments,
        unproved_split=unproved and bool(split.open + split.section_open),
    )


def _head(reading: Reading, frame: Frame, thoughts: Thoughts | None) -> str:
    """The text that opens the first call, without header, thoughts and the blanks around them."""
    before = reading.before("T")
    if reading.elements[0].kind == "T":
        return without_empty_block(before[len(frame.lead) :], thoughts).lstrip()
    if thoughts is not None and reading.shape == "RT":
        return before.removeprefix(thoughts.end).lstrip()
    return before.lstrip()


def _counted(mids: list[str]) -> tuple[str | None, bool]:
    """The text between two calls, running numbers as counters, and whether it differs otherwise; None for one call."""
    if not mids:
        return None, False
    if len(set(mids)) == 1:
        return mids[0], False
    rows = [split_digits(mid) for mid in mids]
    made = []
    for column in zip(*rows, strict=False):
        if len(set(column)) == 1:
            made.append(column[0])
        elif all(piece == str(index + 1) for index, piece in enumerate(column)):
            made.append("{index}")
        elif all(piece == str(index + 2) for index, piece in enumerate(column)):
            made.append("{ordinal}")
        else:
            return mids[0], True
    return ("".join(made), False) if len({len(row) for row in rows}) == 1 else (mids[0], True)


def swallowed_opener(survey: Survey) -> int:
    """How much of the frame's lead, from its end, is the opener of calls: it stands between calls, too."""
    reading = survey.best("T")
    if reading is None or len(reading.calls) < 2 or survey.frame.body(reading).strip():
        return 0
    first, second = reading.calls[:2]
    mid = reading.text[first.end : second.start]
    shared = common_suffix([survey.frame.lead, mid], survey.frame.whole)
    return len(shared) if shared.strip() and len(shared) < len(survey.frame.lead) else 0


def _split(head: str, mid: str | None, tail: str, frame: Frame, *, in_array: bool) -> _Split:
    whole = frame.whole
    if mid is None:
        if in_array:
            return _Split(head, "", "", ", ", tail)
        return _Split("", head, tail if tail.strip() else "", "\n", "")
    for counter, first in (("{index}", "0"), ("{ordinal}", "1")):
        if counter in mid and first in head:
            before, _, after = head.rpartition(first)
            head = before + counter + after
    opener = common_suffix([head, mid], whole)
    if not opener.strip():
        opener = ""
    closer = common_prefix([mid, tail], whole)
    if len(closer) + len(opener) > len(mid):
        opener = mid[len(closer) :]
    if not closer.strip():
        closer = ""
    separator = mid[len(closer) : len(mid) - len(opener)]
    return _Split(head[: len(head) - len(opener)], opener, closer, separator, tail[len(closer) :])


def _edge(split: _Split, survey: Survey, frame: Frame, content_close: str) -> str:
    """The blanks between content and the first call: there they are data, and belong to the calls."""
    beside = next((reading for reading in survey.all("CT") if reading.follower("C") == "T"), None)
    if beside is None or frame.lead != survey.frame.lead:
        return ""
    gap = beside.before("T").removeprefix(content_close)
    same = gap.lstrip() == (split.section_open + split.open).lstrip()
    return gap[: len(gap) - len(gap.lstrip())] if same else ""


def _always_behind(reading: Reading, frame: Frame, thoughts: Thoughts | None, edge: str) -> bool:
    """Whether calls without content begin with the same blanks."""
    if reading.shape != "T":
        return False
    body = frame.body(reading)
    rest = without_empty_block(body, thoughts)
    if thoughts is not None and rest != body:
        end = thoughts.end
        rest = rest.removeprefix(end[len(end.rstrip()) :])
    return rest.startswith(edge)


def _slots(
    text: str, extents: tuple[CallExtent, ...], split: _Split, arguments: Arguments | None
) -> tuple[str, str | None, _Split]:
    """The call's body from its slots and the literals between them, the id's pattern, and the split without it."""
    names = [extent.call.name for extent in extents]
    order = [slot for slot in extents[0].slots if slot.kind in ("name", "id", "arguments")]
    body = ""
    for at, slot in enumerate(order):
        if at:
            gaps = [_gap(text, extent, order[at - 1].kind, slot.kind) for extent in extents]
            literal = generalise(gaps, names)
            if literal is None:
                raise Unsupported("the literals inside a call differ from call to call")
            body += literal
        body += '"{arguments}"' if slot.encoded else "{" + slot.kind + "}"
    if any(slot.encoded for slot in order):
        raise Unsupported("arguments are written as JSON inside a string")
    if arguments is not None:
        body += arguments.opens + "{arguments}"
    return _with_glued_id(body, split)


def _alternate(split: _Split, body: str) -> str:
    """The call from its innermost opener on, where that is a tag left open for the name, behind another marker."""
    pieces = atoms(split.open)
    if len([piece for piece in pieces if not piece.isspace()]) < 2 or not body.startswith("{name}"):
        return ""
    inner = pieces[-1]
    is_open_tag = len(inner) > 3 and inner[0] == "<" and inner[-1] != ">"
    return inner + body + split.close if is_open_tag else ""


def _gap(text: str, extent: CallExtent, one: str, other: str) -> str:
    places = {slot.kind: slot for slot in extent.slots}
    return text[places[one].end : places[other].start]  # type: ignore[index]  # both kinds are there


def _with_glued_id(body: str, split: _Split) -> tuple[str, str | None, _Split]:
    """A counter glued to the name (no blank and no bracket between) means that the id is the whole run."""
    for counter in ("{index}", "{ordinal}"):
        head, found, rest = body.partition(counter)
        glue = head.removeprefix("{name}")
        if found and head.startswith("{name}") and _is_glue(glue):
            pieces = atoms(split.open)
            at = len(pieces)
            while at and _is_glue(pieces[at - 1]):
                at -= 1
            prefix = "".join(pieces[at:])
            opened = msgspec.structs.replace(split, open="".join(pieces[:at]))
            return "{id}" + rest, prefix + head + counter, opened
    return body, None, split


def _is_glue(text: str) -> bool:
    return all(char.isalnum() or char in "._:-/#@+~" for char in text)
