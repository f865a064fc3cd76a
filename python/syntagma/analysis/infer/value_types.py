"""How separate arguments write values other than plain texts, found by further renders."""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec

from syntagma.analysis.infer.call_body import ArgumentPatterns, with_value_notation
from syntagma.analysis.locate.located_turn import LocatedTurn, locate_turn
from syntagma.analysis.probe.inputs import ProbeResult
from syntagma.analysis.render.conversation import SampleCall, SampleTurn
from syntagma.analysis.render.turn_renderer import RenderedTurn, TurnRenderer
from syntagma.format_schema import TypeMeaning
from syntagma.json_types import json_type_of

__all__ = ["with_value_types"]


def with_value_types(
    renderer: TurnRenderer, probed: ProbeResult, arguments: ArgumentPatterns
) -> ArgumentPatterns | None:
    """The patterns of arguments, with the spelling of values of every type.

    None if strings and numbers are written in ways that do not fit together.

    Args:
        renderer: makes the further renders.
        probed: the result of probing.
        arguments: the patterns as found with strings.
    """
    probe = _Probe(renderer, probed)
    found = with_value_notation(arguments, probe.located(probe.number(), probe.number()))
    if found is None:
        return None
    found = _with_nesting(probe, _with_separating_whitespace(found))
    if found.types:
        found = _with_other_types(probe, found)
    found = _with_escapes(probe, found)
    notation = {**found.notation, **_words(probe, found)}
    return msgspec.structs.replace(found, notation=notation)


def _with_separating_whitespace(arguments: ArgumentPatterns) -> ArgumentPatterns:
    """The patterns with the whitespace before each key as a separator, if values are literals without a closer."""
    before, _, rest = arguments.argument.partition("{key}")
    if arguments.values != "literal" or not before.isspace() or arguments.separator or not rest.endswith("{value}"):
        return arguments
    return msgspec.structs.replace(arguments, opens=arguments.opens + before, argument="{key}" + rest, separator=before)


class _Probe:
    """Renders one call with two arguments."""

    def __init__(self, renderer: TurnRenderer, probed: ProbeResult) -> None:
        self._renderer = renderer
        self._probed = probed
        self.number = renderer.sentinels.number

    def word(self) -> str:
        return self._renderer.sentinels.word("v")

    def key(self) -> str:
        return self._renderer.sentinels.word("k")

    def keys(self) -> list[str]:
        """Two keys in the order in which a template that sorts keys writes them."""
        return sorted((self.key(), self.key()))

    def rendered(self, arguments: dict[str, Any]) -> RenderedTurn | None:
        made = self._renderer.new_call(0, self._probed.id_form)
        turn = SampleTurn(calls=(SampleCall(made.name, arguments, made.id),))
        return self._renderer.in_any_context(turn, self._probed.inputs)

    def located(self, first: Any, second: Any) -> LocatedTurn | None:
        one, other = self.keys()
        rendered = self.rendered({one: first, other: second})
        return None if rendered is None else locate_turn(rendered)

    def written(self, arguments: ArgumentPatterns, value: Any) -> tuple[str, str] | None:
        """The text of a value, and the word of its type; None if it is not found."""
        first, second = self.keys()
        rendered = self.rendered({first: value, second: self.number()})
        begin = rendered.text.find(first) if rendered is not None else -1
        if rendered is None or begin < 0:
            return None
        before, _, rest = arguments.argument.partition("{key}")
        middle, _, closes = rest.partition("{value}")
        end = rendered.text.find(closes.replace("{key}", first) + arguments.separator + before + second, begin)
        text = rendered.text[begin + len(first) : end] if end >= 0 else ""
        opener, has_type, closer = middle.partition("{type}")
        if not text.startswith(opener):
            return None
        text = text[len(opener) :]
        kind, found, text = text.partition(closer) if has_type else ("", "yes", text)
        return (text, kind) if found else None


def _with_nesting(probe: _Probe, arguments: ArgumentPatterns) -> ArgumentPatterns:
    """The patterns with the key of an array's elements, if objects and arrays are written as nested elements."""
    if arguments.values != "text" or arguments.argument.count("{key}") != 2:
        return arguments
    key, one, two = probe.key(), probe.word(), probe.word()
    as_object, as_array = probe.written(arguments, {key: one}), probe.written(arguments, [one, two])
    if as_object is None or as_array is None:
        return arguments
    before, _, middle = arguments.argument.partition("{value}")[0].partition("{key}")
    item = as_array[0].removeprefix(before).partition(middle)[0]

    def elements(*members: tuple[str, str]) -> str:
        made = (arguments.argument.replace("{key}", name).replace("{value}", text) for name, text in members)
        return arguments.separator.join(made).strip()

    is_nested = as_object[0].strip() == elements((key, one)) and as_array[0].strip() == elements(
        (item, one), (item, two)
    )
    return msgspec.structs.replace(arguments, item=item) if is_nested and item else arguments


def _with_other_types(probe: _Probe, arguments: ArgumentPatterns) -> ArgumentPatterns:
    """The patterns with the words of all other types: any word, if these are JSON Schema's names of the types.

    A word of several types means any JSON without a word of its own.
    """
    values = (probe.number(), 0.25, True, None, [probe.word()], {probe.key(): probe.word()})
    found = {json_type_of(value): probe.written(arguments, value) for value in values}
    words = {kind: one[1] for kind, one in found.items() if one is not None}
    texts: dict[str, TypeMeaning] = {word: kind for word, kind in arguments.types.items() if kind == "string"}
    if len(set(words.values())) <= 1:
        return arguments
    if all(word == kind or (kind, word) == ("integer", "number") for kind, word in words.items()):
        return msgspec.structs.replace(arguments, types={**texts, "*": "json"})
    types = dict(texts)
    for word in dict.fromkeys(words.values()):
        kinds = {kind for kind, one in words.items() if one == word}
        if word not in texts:
            types[word] = _meaning(kinds)
    return msgspec.structs.replace(arguments, types=types)


def _meaning(kinds: set[str]) -> TypeMeaning:
    """The meaning of a word that these types have."""
    if kinds == {"integer", "number"}:
        return "number"
    return next(iter(kinds)) if len(kinds) == 1 else "json"  # type: ignore[arg-type]  # names of types


def _with_escapes(probe: _Probe, arguments: ArgumentPatterns) -> ArgumentPatterns:
    """The patterns with the places where `&` and `<` become entities."""
    if arguments.values == "literal":
        return arguments
    value, key = probe.word(), probe.key()
    rendered = probe.rendered({key + "&<": value + "&<"})
    if rendered is None:
        return arguments
    places: list[Literal["attributes", "values"]] = []
    if rendered.shows(key + "&amp;&lt;"):
        places.append("attributes")
    if rendered.shows(value + "&amp;&lt;"):
        places.append("values")
    return msgspec.structs.replace(arguments, escape=tuple(places))


def _words(probe: _Probe, arguments: ArgumentPatterns) -> dict[str, list[str]]:
    """The spellings of true, false and null, and of texts in arrays, that are not JSON's."""
    found: dict[str, list[str]] = {}
    for name, value in (("true", True), ("false", False), ("null", None)):
        one = probe.written(arguments, value)
        if one is not None and one[0].isalpha() and one[0] != name:
            found[name] = [one[0], name]
    text = probe.word()
    one = probe.written(arguments, [text])
    if one is not None and "quotes" not in arguments.notation and one[0] != json.dumps([text]):
        before, _, after = one[0].partition(text)
        if before[:1] == "[" and before[1:] == after[:-1] == "'":
            found["quotes"] = ["'", '"']
    return found
