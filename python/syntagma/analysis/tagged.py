"""Arguments that are written one by one: `opener key middle value closer`, from calls with two arguments each."""

from __future__ import annotations

import itertools
from typing import Literal

import msgspec

from syntagma.analysis.atoms import common_prefix, common_suffix
from syntagma.analysis.extents import CallExtent, Reading

__all__ = ["Arguments", "find_arguments", "value_notation"]

_QUOTES = ('"', "'")


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """How arguments are written, as texts of a format's `[tools]`."""

    opens: str
    """the literal between the name and the first argument"""
    argument: str
    """pattern with `{key}` and `{value}`"""
    separator: str
    closes: str
    """the part of `argument` behind the value, as it stands behind the last one too"""
    values: Literal["text", "literal"] = "text"
    notation: dict[str, tuple[str, ...]] = {}
    """spellings that are not JSON's, as the keys of a format's `literals`"""
    types: dict[str, Literal["string", "json"]] = {}


class _Frame(msgspec.Struct, frozen=True):
    """The literals around the two values of one call."""

    before: str
    middle: str
    second_middle: str
    between: str


def find_arguments(reading: Reading, behind: str) -> Arguments | None:
    """Read the frame of an argument from the first call of a reading; `behind` is the text behind that call."""
    frame = _frame(reading.text, reading.calls[0])
    if frame is None or frame.middle != frame.second_middle:
        return None
    closes = common_prefix([frame.between, behind])
    opener = common_suffix([frame.before, frame.between[len(closes) :]])
    if not closes:
        return None
    separator = frame.between[len(closes) : len(frame.between) - len(opener)]
    opens = frame.before[: len(frame.before) - len(opener)]
    if not (opener + opens).strip() or not frame.middle:
        return None
    return Arguments(
        opens=opens,
        argument=opener + "{key}" + frame.middle + "{value}" + closes,
        separator=separator,
        closes=closes,
    )


def _frame(text: str, extent: CallExtent) -> _Frame | None:
    slots = [slot for slot in extent.slots if slot.kind in ("name", "key", "value")]
    if [slot.kind for slot in slots] != ["name", "key", "value", "key", "value"]:
        return None
    gaps = [text[one.end : other.start] for one, other in itertools.pairwise(slots)]
    return _Frame(gaps[0], gaps[1], gaps[3], gaps[2])


def value_notation(arguments: Arguments, numbers: Reading | None) -> Arguments | None:
    """The arguments with how values of other types are written; None if that is not understood.

    Args:
        arguments: as found with strings.
        numbers: the same shape with whole numbers as values, or None if it did not render.
    """
    if numbers is None or not numbers.calls or not numbers.calls[0].tagged:
        return arguments
    frame = _frame(numbers.text, numbers.calls[0])
    if frame is None:
        return None
    before, _, rest = arguments.argument.partition("{key}")
    middle, _, closes = rest.partition("{value}")
    if frame.middle == middle and frame.between.startswith(closes.rstrip()):
        return arguments
    for quote in _QUOTES:
        if middle == frame.middle + quote and closes.startswith(quote):
            shorter = closes[len(quote) :]
            return msgspec.structs.replace(
                arguments,
                argument=before + "{key}" + frame.middle + "{value}" + shorter,
                values="literal",
                notation={"quotes": (quote, '"')} if quote != '"' else {},
            )
    start = common_prefix([middle, frame.middle])
    # Words are atoms, so a common end begins behind the word that differs.
    end = common_suffix([middle[len(start) :], frame.middle[len(start) :]])
    text = middle[len(start) : len(middle) - len(end)]
    other = frame.middle[len(start) : len(frame.middle) - len(end)]
    if text.isalnum() and other.isalnum() and start and end and frame.between.startswith(closes.rstrip()):
        return msgspec.structs.replace(
            arguments,
            argument=before + "{key}" + start + "{type}" + end + "{value}" + closes,
            types={text: "string", other: "json"},
        )
    return None
