"""The JSON of a call as an envelope: values become placeholders, everything else stays as it was written."""

from __future__ import annotations

from syntagma.analysis.extents import CallExtent, is_arguments

__all__ = ["envelope_text"]


def envelope_text(text: str, extents: tuple[CallExtent, ...]) -> str | None:
    """The envelope that all these calls share; None if name or arguments are not values or keys of it, or they differ.

    With several calls, numbers that run with the index (from 0 or 1) become counters, and strings of digits that do so
    become ids: results refer to them.
    """
    for counting in (True, False) if len(extents) > 1 else (False,):
        texts = [_envelope(text, extent, index if counting else None) for index, extent in enumerate(extents)]
        if texts[0] is not None and all(other == texts[0] for other in texts):
            return texts[0]
    return None


def _envelope(text: str, extent: CallExtent, index: int | None) -> str | None:
    span, call = extent.json, extent.call
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
    """The placeholder for a value that is the running number, or one more."""
    if index is None or isinstance(value, bool):
        return ""
    for word, number in (("index", index), ("ordinal", index + 1)):
        if value == number:
            return "{" + word + "}"
        if value == str(number):
            return '"{id}"'
    return ""
