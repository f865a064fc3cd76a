"""The content of a call: a JSON envelope, or separate arguments."""

from __future__ import annotations

import itertools
from typing import Any, Literal

import msgspec

from syntagma.analysis.infer.spellings import common_spelling
from syntagma.analysis.locate.atoms import (
    atoms,
    common_prefix,
    common_suffix,
    through_first_visible_atom,
    visible_atoms,
)
from syntagma.analysis.locate.located_turn import LocatedCall, LocatedTurn, is_arguments
from syntagma.format_schema import TypeMeaning

__all__ = ["ArgumentPatterns", "find_argument_patterns", "find_envelope", "shared_marker", "with_value_notation"]

_QUOTES = ('"', "'")


class ArgumentPatterns(msgspec.Struct, frozen=True, kw_only=True):
    """How separate arguments are written, as texts of a format's `[tools]`."""

    opens: str
    """the literal between the name and the first argument"""
    argument: str
    """pattern with `{key}` and `{value}`"""
    separator: str
    closes: str
    """the text after the last value that is not part of the call's closer; it may hold `{key}`"""
    is_object: bool = False
    """whether the arguments are one object in braces, in a notation other than JSON"""
    values: Literal["text", "literal"] = "text"
    notation: dict[str, Any] = {}
    """spellings that are not JSON's, as the keys of a format's `literals`"""
    types: dict[str, TypeMeaning] = {}
    item: str | None = None
    """the key of an array's elements, if objects and arrays are also written as elements"""
    escape: tuple[Literal["attributes", "values"], ...] = ()
    """where XML escapes are written"""

    def after_last(self, call: LocatedCall, text: str) -> str:
        """The text after the arguments of a call: `text` without the closer of its last value."""
        return text[len(self.closes.replace("{key}", list(call.call.arguments)[-1])) :]


class _ArgumentLiterals(msgspec.Struct, frozen=True):
    """The literals of a call with two arguments: `before key middle value between key second_middle value`."""

    before: str
    middle: str
    between: str
    second_middle: str


# -- separate arguments


def find_argument_patterns(
    located: LocatedTurn, after: str, without_arguments: str | None = None
) -> ArgumentPatterns | None:
    """Find how arguments are written, from the calls of a turn; None if it is not understood.

    Args:
        located: the turn, whose calls have two arguments each.
        after: the text that follows the last value of the first call.
        without_arguments: the text after the name of a call without arguments.
    """
    rows = [_argument_literals(located.text, call) for call in located.calls]
    literals = rows[0]
    if literals is None or literals.middle != literals.second_middle:
        return None
    befores = [row.before.replace(one.call.name, "{name}") for row, one in zip(rows, located.calls, strict=True) if row]
    before = common_spelling(befores) if len(befores) == len(rows) else None
    if before is None or not literals.middle:
        return None
    first_key, last_key = (key for key in located.calls[0].call.arguments)
    between, after = literals.between.replace(first_key, "{key}"), after.replace(last_key, "{key}")
    closes = _without_indentation(common_prefix([between, after]))
    opener = common_suffix([before, between[len(closes) :]])
    if not closes.strip():
        closes, opener = _without_closer(before, between, after, without_arguments)
    marker = shared_marker(closes) or (_begun_line(closes) if closes + opener == between else "")
    if marker and before.endswith(marker + opener):
        closes, opener = closes.removesuffix(marker), marker + opener
    separator = between[len(closes) : len(between) - len(opener)]
    opens = before[: len(before) - len(opener)]
    if not between or not (opener + opens):
        return None
    found = ArgumentPatterns(
        opens=opens,
        argument=opener + "{key}" + literals.middle + "{value}" + closes,
        separator=separator,
        closes=closes,
    )
    is_object = opens.endswith("{") and after[len(closes) :].startswith("}") and separator.strip() == ","
    if is_object and closes and literals.middle.endswith(closes) and literals.middle.startswith(opener + ":"):
        return msgspec.structs.replace(found, opens=opens[:-1], closes=closes + "}", is_object=True)
    return found


def _without_indentation(closes: str) -> str:
    """The text without spaces at its end after a line break: they belong to the next line."""
    kept = closes.rstrip(" \t")
    return kept if kept.endswith("\n") else closes


def _without_closer(before: str, between: str, after: str, without_arguments: str | None) -> tuple[str, str]:
    """The closer of a value and the opener of an argument, if only whitespace, or nothing, follows each value.

    The next key ends a value if a marker stands before keys; signs such as dashes also occur in values. Line breaks are
    a separator if the closer of a call without arguments has one, too.
    """
    opener = common_suffix([before, between])
    closes = _without_indentation(common_prefix([between, after]))
    led_by = next(iter(visible_atoms(opener)), "")
    is_marker = len(led_by) > 2 and not led_by[0].isalnum()
    if is_marker or (not opener.strip() and between.strip()) or not closes:
        return "", opener
    opener = common_suffix([before, between[len(closes) :]])
    opens = before[: len(before) - len(opener)]
    is_separator = without_arguments is not None and without_arguments.startswith(
        opens + through_first_visible_atom(after, "")
    )
    return ("", "") if is_separator else (closes, opener)


def shared_marker(text: str) -> str:
    """The marker with which a text both begins and ends, so that it leads the next text, too; empty without one."""
    pieces = atoms(text)
    for size in range((len(pieces) - 1) // 2, 0, -1):
        marker = "".join(pieces[:size])
        if pieces[:size] == pieces[-size:] and len(marker) > 1 and marker == marker.strip():
            return marker
    return ""


def _begun_line(text: str) -> str:
    """The text after the last line break, which leads the rest of that line; may be empty."""
    line = text[text.rfind("\n") + 1 :]
    return line if line != text and line.strip() else ""


def _argument_literals(text: str, call: LocatedCall) -> _ArgumentLiterals | None:
    slots = [slot for slot in call.slots if slot.kind in ("name", "key", "value")]
    if [slot.kind for slot in slots] != ["name", "key", "value", "key", "value"]:
        return None
    return _ArgumentLiterals(*(text[one.end : other.start] for one, other in itertools.pairwise(slots)))


def with_value_notation(arguments: ArgumentPatterns, numbers: LocatedTurn | None) -> ArgumentPatterns | None:
    """The patterns with the spelling of numbers, which shows the quotes around text; None if it is not understood.

    Args:
        arguments: the patterns as found with strings.
        numbers: the same turn with whole numbers as values, or None if it did not render.
    """
    if numbers is None or not numbers.calls or not numbers.calls[0].tagged:
        return None if arguments.is_object else arguments
    literals = _argument_literals(numbers.text, numbers.calls[0])
    if literals is None:
        return None
    before, _, rest = arguments.argument.partition("{key}")
    middle, _, closes = rest.partition("{value}")
    key = next(iter(numbers.calls[0].call.arguments))
    follows = literals.between.replace(key, "{key}")
    if literals.middle == middle and follows.startswith(closes.rstrip()):
        if not arguments.is_object:
            return arguments
        # Every value has the quotes, so they tell nothing of its type, and the braces only surround the arguments.
        opens, closer = arguments.opens + "{", arguments.closes.removesuffix("}")
        return msgspec.structs.replace(arguments, opens=opens, closes=closer, is_object=False)
    quotes = (closes,) if arguments.is_object else _QUOTES
    for quote in quotes:
        if middle == literals.middle + quote and closes.startswith(quote):
            shorter = closes[len(quote) :]
            found = msgspec.structs.replace(
                arguments,
                argument=before + "{key}" + literals.middle + "{value}" + shorter,
                values="literal",
                notation={"quotes": [quote] if len(quote) > 1 else [quote, '"']} if quote != '"' else {},
            )
            return _as_object(found, before, literals.middle) if arguments.is_object else found
    start, end = _around_word(middle, literals.middle)
    string_type = middle[len(start) : len(middle) - len(end)]
    other_type = literals.middle[len(start) : len(literals.middle) - len(end)]
    differ_in_a_word = string_type.isalnum() and other_type.isalnum() and start and end
    if differ_in_a_word and follows.startswith(closes.rstrip()) and not arguments.is_object:
        return msgspec.structs.replace(
            arguments,
            argument=before + "{key}" + start + "{type}" + end + "{value}" + closes,
            types={string_type: "string", other_type: "json"},
        )
    return None


def _around_word(one: str, other: str) -> tuple[str, str]:
    """The common beginning and end of two texts, without any letter of the word in which they differ."""
    start, end = 0, 0
    shorter = min(len(one), len(other))
    while start < shorter and one[start] == other[start]:
        start += 1
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    while start and one[start - 1].isalnum():
        start -= 1
    while end and one[-end].isalnum():
        end -= 1
    return one[:start], one[len(one) - end :]


def _as_object(arguments: ArgumentPatterns, key_quote: str, middle: str) -> ArgumentPatterns:
    """The patterns of an object in a notation: its keys may be bare, and its comma and colon spaced."""
    space = " " if key_quote else ""
    spelled: dict[str, Any] = dict(arguments.notation)
    if not key_quote:
        spelled["bare_keys"] = True
    if arguments.separator != "," + space:
        spelled["member_separator"] = arguments.separator
    if middle.removeprefix(key_quote) != ":" + space:
        spelled["key_separator"] = middle.removeprefix(key_quote)
    return msgspec.structs.replace(arguments, notation=spelled)


# -- calls in JSON


def find_envelope(text: str, calls: tuple[LocatedCall, ...]) -> str | None:
    """The JSON that all these calls share, with placeholders for the parts that differ.

    None if name or arguments are neither values nor keys of it, or the calls differ elsewhere. With several calls,
    numbers that run with the index (from 0 or 1) become counters, and strings of such digits become ids, since tool
    results refer to them.
    """
    for counting in (True, False) if len(calls) > 1 else (False,):
        texts = [_envelope(text, call, index if counting else None) for index, call in enumerate(calls)]
        if texts[0] is not None and all(other == texts[0] for other in texts):
            return texts[0]
    return None


def _envelope(text: str, located: LocatedCall, index: int | None) -> str | None:
    """One call's JSON with placeholders; `index`: its running number, if counters are looked for."""
    span, call = located.json, located.call
    if span is None:
        return None
    placeholders: list[tuple[int, int, str]] = []
    named = filled = False
    for inner in span.walk():
        for key, start, end, value in inner.members:
            if key == call.name and not named:
                placeholders.append((start, end, '"{name}"'))
                named = True
            if not filled and is_arguments(value, call):
                placeholder = '"{arguments}"' if isinstance(value.value, str) else "{arguments}"
                placeholders.append((value.start, value.end, placeholder))
                filled = True
            elif value.value == call.name and not named:
                placeholders.append((value.start, value.end, '"{name}"'))
                named = True
            elif call.id and value.value == call.id:
                placeholders.append((value.start, value.end, '"{id}"'))
            else:
                counter = _counter(value.value, index)
                placeholders += [(value.start, value.end, counter)] if counter else []
    if not named or not filled:
        return None
    inside = next((start, end) for start, end, placeholder in placeholders if "arguments" in placeholder)
    made, at = "", span.start
    for start, end, placeholder in sorted(placeholders):
        if not inside[0] < start < inside[1]:
            made += text[at:start] + placeholder
            at = end
    return made + text[at : span.end]


def _counter(value: object, index: int | None) -> str:
    """The placeholder for a value that is the running number or one more; empty for other values."""
    if index is None or isinstance(value, bool):
        return ""
    for word, number in (("index", index), ("ordinal", index + 1)):
        if value == number:
            return "{" + word + "}"
        if value == str(number):
            return '"{id}"'
    return ""
