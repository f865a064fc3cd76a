"""How calls are written: section, separator, and one call with its openers and closers."""

from __future__ import annotations

import itertools

import msgspec

from syntagma.analysis.infer.blocks import ContentBlock, ReasoningBlock, without_empty_content, without_empty_reasoning
from syntagma.analysis.infer.call_body import (
    ArgumentPatterns,
    find_argument_patterns,
    find_envelope,
    shared_marker,
)
from syntagma.analysis.infer.frame import Frame
from syntagma.analysis.infer.spellings import common_spelling, with_leading_counters, with_trailing_counters
from syntagma.analysis.locate.atoms import (
    atoms,
    common_prefix,
    common_suffix,
    equal_ignoring_whitespace,
    text_after,
)
from syntagma.analysis.locate.located_turn import Element, LocatedCall, LocatedTurn
from syntagma.analysis.locate.observations import Observations

__all__ = ["CallPatterns", "UnsupportedCalls", "find_call_patterns", "opener_in_lead"]


class UnsupportedCalls(Exception):
    """The calls are written in a way that is not understood; the message says how."""


class CallPatterns(msgspec.Struct, frozen=True, kw_only=True):
    """How calls are written, as pattern texts of a format's `[tools]`."""

    section: str
    separator: str
    call: str
    envelope: str | None = None
    id: str | None = None
    arguments: ArgumentPatterns | None = None
    after_content: str = ""
    """the text between content and the first call that is not there without content"""
    alternate: str = ""
    """the call without its outer opener, which models forget"""
    bare: str = ""
    """a call without arguments, if it is written differently"""
    drop: str = ""
    """a marker after the last call of a turn, if calls have no section"""
    counts_on: bool = False
    """whether running numbers go on through the conversation"""
    sorts_keys: bool = False
    """whether an object of arguments is written in the order of its keys"""
    separators_differ: bool = False
    """whether the text between calls differs from call to call"""
    unproved_split: bool = False
    """whether only single calls were seen, so that the boundary between section and call is not known"""


class _Split(msgspec.Struct, frozen=True):
    """The text around calls: `section_open (open … close) separator (open … close) section_close`."""

    section_open: str
    open: str
    close: str
    separator: str
    section_close: str


def find_call_patterns(
    seen: Observations, frame: Frame, reasoning: ReasoningBlock | None, content: ContentBlock | None
) -> CallPatterns | None:
    """Find how calls are written from a turn that shows them; None if no turn does.

    Raises:
        UnsupportedCalls: a turn shows calls, but they are not understood.
    """
    located = seen.best("T")
    if located is None or not located.calls:
        return None
    calls = located.calls
    if len(calls) < len(located.turn.calls):
        raise UnsupportedCalls("not every call of a message was found in its render")
    forms = {(bool(call.json), call.in_array, tuple(slot.kind for slot in call.slots)) for call in calls}
    if len(forms) != 1:
        raise UnsupportedCalls("the calls of one message are written in different ways")
    before = without_empty_content(without_empty_reasoning(frame.body(located), reasoning), content).lstrip()
    gaps = [_after(one, located.text[one.end : other.start]) for one, other in itertools.pairwise(calls)]
    after = _after(calls[-1], frame.tail(located))
    arguments = None
    if calls[0].tagged:
        follows = _before_last_id(located.text, calls[0])
        arguments = find_argument_patterns(located, follows or (gaps[0] if gaps else after), seen.without_arguments)
        if arguments is None:
            raise UnsupportedCalls("arguments are written one by one, in a way that is not understood")
        if not follows:
            gaps = [arguments.after_last(call, gap) for call, gap in zip(calls, gaps, strict=False)]
            after = arguments.after_last(calls[-1], after)
    if gaps:
        *gaps, after = with_leading_counters([*gaps, after])
        before, *gaps = with_trailing_counters([before, *gaps])
    gap, separators_differ = gaps[0] if gaps else None, len(set(gaps)) > 1
    split = _split(before, gap, after, frame, in_array=calls[0].in_array)
    space = _after_content(split, seen, content.close if content is not None else "")
    if space and _always_begins_with(located, frame, reasoning, space):
        split = msgspec.structs.replace(split, section_open=space + split.section_open)
        space = ""
    if calls[0].json is not None:
        envelope = find_envelope(located.text, calls)
        if envelope is None:
            raise UnsupportedCalls("the JSON of a call is not understood")
        made = _patterns(split, "{envelope}", envelope=envelope, unproved=not gaps)
    else:
        body, identity, split = _slots(located.text, calls, split, arguments)
        made = _patterns(split, body, identity=identity, arguments=arguments, unproved=not gaps)
        made = msgspec.structs.replace(made, alternate=_alternate(split, body))
    made = msgspec.structs.replace(made, separators_differ=separators_differ, after_content=space)
    return msgspec.structs.replace(made, bare=_bare(seen, frame, reasoning, content, made))


def _bare(
    seen: Observations,
    frame: Frame,
    reasoning: ReasoningBlock | None,
    content: ContentBlock | None,
    made: CallPatterns,
) -> str:
    """The pattern of a call without arguments, if the template does not write it with an empty object.

    Also empty if something else in the turn differs, such as the section.
    """
    shown = seen.bare_call
    if shown is None or "{name}" not in made.call or any(one in made.call for one in ("{index}", "{ordinal}")):
        return ""
    call = shown.turn.calls[0]
    at = shown.text.find(call.name)
    element = Element("T", at, at + len(call.name))
    located = LocatedTurn(shown.turn, shown.context, shown.text, (element,))
    opener, _, closer = made.section.partition("{calls}")
    before = without_empty_content(without_empty_reasoning(frame.body(located), reasoning), content)
    inside = text_after(opener, before)
    after = frame.tail(located).rstrip().removesuffix(made.drop).rstrip()
    if inside is None or not after.endswith(closer.strip()):
        return ""
    after = after.removesuffix(closer.strip()).rstrip()
    written = inside.lstrip() + "{name}" + after.replace(call.name, "{name}")
    if call.id:
        written = written.replace(call.id, "{id}")
    known = made.call.replace("{arguments}", "{}" if made.arguments is None or made.arguments.is_object else "")
    return "" if equal_ignoring_whitespace(written, known) or "{}" in written else written


def _patterns(
    split: _Split,
    body: str,
    *,
    envelope: str | None = None,
    identity: str | None = None,
    arguments: ArgumentPatterns | None = None,
    unproved: bool,
) -> CallPatterns:
    drop = ""
    if not split.section_open.strip() and split.section_close.strip():
        # A section's closer without an opener can only be removed wherever it stands.
        drop = split.section_close.strip()
        split = msgspec.structs.replace(split, section_close="")
    return CallPatterns(
        drop=drop,
        section=split.section_open + "{calls}" + split.section_close,
        separator=split.separator,
        call=split.open + body + split.close,
        envelope=envelope,
        id=identity,
        arguments=arguments,
        unproved_split=unproved and bool(split.open + split.section_open),
    )


def _after(call: LocatedCall, text: str) -> str:
    """The text after a call, with a placeholder if the closer repeats the name of its tool."""
    return text.replace(call.call.name, "{name}")


def opener_in_lead(seen: Observations, frame: Frame) -> int:
    """How many characters at the end of the frame's lead are the opener of calls, since they also stand between calls.

    0 if turns of calls show their own opener.
    """
    located = seen.best("T")
    if located is None or len(located.calls) < 2 or frame.body(located).strip():
        return 0
    first, second = located.calls[:2]
    shared = common_suffix([frame.lead, located.text[first.end : second.start]], frame.eos)
    return len(shared) if shared.strip() and len(shared) < len(frame.lead) else 0


def _split(before: str, gap: str | None, after: str, frame: Frame, *, in_array: bool) -> _Split:
    """Cut the texts before the first call, between calls (None: there is one only), and after the last one."""
    if gap is None:
        if in_array:
            return _Split(before, "", "", ", ", after)
        return _Split("", before, after if after.strip() else "", "\n", "")
    if gap == after + before and before.strip() and after.strip():
        # Only the end of one call and the beginning of the next stand between them.
        return _Split("", before, after, "", "")
    opener = common_suffix([before, gap], frame.eos)
    if not opener.strip():
        opener = ""
    closer = common_prefix([gap, after], frame.eos)
    if len(closer) + len(opener) > len(gap):
        opener = gap[len(closer) :]
    if not closer.strip():
        closer = ""
    marker = shared_marker(closer)
    if marker and before.endswith(marker + opener):
        closer, opener = closer.removesuffix(marker), marker + opener
    separator = gap[len(closer) : len(gap) - len(opener)]
    return _Split(before[: len(before) - len(opener)], opener, closer, separator, after[len(closer) :])


def _after_content(split: _Split, seen: Observations, content_close: str) -> str:
    """The text between content and the first call: whitespace after content belongs to the calls, not to the content.

    There is other text if content and calls are separate messages.
    """
    both = next((located for located in seen.all("CT") if located.next_kind("C") == "T"), None)
    if both is None:
        return ""
    gap, opener = both.before("T").removeprefix(content_close), (split.section_open + split.open).strip()
    if gap.strip() == opener:
        return gap[: len(gap) - len(gap.lstrip())]
    return gap[: gap.rstrip().rfind(opener)] if opener and gap.rstrip().endswith(opener) else ""


def _always_begins_with(located: LocatedTurn, frame: Frame, reasoning: ReasoningBlock | None, space: str) -> bool:
    """Whether calls without content begin with the same whitespace."""
    body = frame.body(located)
    rest = without_empty_reasoning(body, reasoning)
    if reasoning is not None and rest != body:
        end = reasoning.end
        rest = rest.removeprefix(end[len(end.rstrip()) :])
    return rest.startswith(space)


def _slots(
    text: str, calls: tuple[LocatedCall, ...], split: _Split, arguments: ArgumentPatterns | None
) -> tuple[str, str | None, _Split]:
    """The call's body from its slots and the literals between them, the id's pattern, and the split without it."""
    names = [call.call.name for call in calls]
    order = [slot for slot in calls[0].slots if slot.kind in ("name", "id", "arguments")]
    id_comes_last = bool(_before_last_id(text, calls[0]))
    if id_comes_last:
        order.pop()
    body = ""
    for at, slot in enumerate(order):
        if at:
            gaps = [_between(text, call, order[at - 1].kind, slot.kind) for call in calls]
            literal = common_spelling([text.replace(name, "{name}") for text, name in zip(gaps, names, strict=True)])
            if literal is None:
                raise UnsupportedCalls("the literals inside a call differ from call to call")
            body += literal
        body += '"{arguments}"' if slot.encoded else "{" + slot.kind + "}"
    if any(slot.encoded for slot in order):
        raise UnsupportedCalls("arguments are written as JSON inside a string")
    if arguments is not None:
        body += arguments.opens + "{arguments}"
        if id_comes_last:
            ends = [arguments.after_last(call, _after(call, _before_last_id(text, call))) for call in calls]
            literal = common_spelling(ends)
            if literal is None:
                raise UnsupportedCalls("what stands before the ids of calls differs from call to call")
            body += literal + "{id}"
    return _with_joined_id(body, split)


def _before_last_id(text: str, call: LocatedCall) -> str:
    """The text between the last of several arguments and an id after it; empty if there is none."""
    kinds = [slot.kind for slot in call.slots]
    if not call.tagged or kinds[-1] != "id":
        return ""
    return text[call.slots[-2].end : call.slots[-1].start]


def _alternate(split: _Split, body: str) -> str:
    """The call from its innermost opener on, if that is a tag that ends with the name, after another marker."""
    pieces = atoms(split.open)
    if len([piece for piece in pieces if not piece.isspace()]) < 2 or not body.startswith("{name}"):
        return ""
    inner = pieces[-1]
    is_open_tag = len(inner) > 3 and inner[0] == "<" and inner[-1] != ">"
    return inner + body + split.close if is_open_tag else ""


def _between(text: str, call: LocatedCall, one: str, other: str) -> str:
    slots = {slot.kind: slot for slot in call.slots}
    return text[slots[one].end : slots[other].start]  # type: ignore[index]  # both kinds are there


def _with_joined_id(body: str, split: _Split) -> tuple[str, str | None, _Split]:
    """Body, id and split; a counter joined to the name, without whitespace or brackets, makes the whole run an id."""
    for counter in ("{index}", "{ordinal}"):
        head, found, rest = body.partition(counter)
        between = head.removeprefix("{name}")
        if found and head.startswith("{name}") and _joins(between):
            pieces = atoms(split.open)
            at = len(pieces)
            while at and _joins(pieces[at - 1]):
                at -= 1
            prefix = "".join(pieces[at:])
            opened = msgspec.structs.replace(split, open="".join(pieces[:at]))
            return "{id}" + rest, prefix + head + counter, opened
    return body, None, split


def _joins(text: str) -> bool:
    return all(char.isalnum() or char in "._:-/#@+~" for char in text)
