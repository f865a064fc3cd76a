"""Tools to call: what they are called, what they take, and values for what they take.

Most tools are a verb and a noun put together. A fixed share of these pairs is held out: no dialogue for training
contains them. A part of the tools has made-up names, so that a name must be read from the prompt, not remembered.
"""

from __future__ import annotations

import random
import zlib
from dataclasses import dataclass

from words import (
    ARRAY_PARAMETERS,
    BOOLEAN_PARAMETERS,
    ENUM_PARAMETERS,
    ENUM_SETS,
    INTEGER_PARAMETERS,
    NOUNS,
    NUMBER_PARAMETERS,
    STRING_PARAMETERS,
    VERBS,
    syllables,
    text_value,
    word,
)

Value = str | int | float | bool | list[str] | list[int] | dict[str, str | int]

KINDS = ("string", "integer", "number", "boolean", "enum", "array", "integers", "object")

HELD_OUT_SHARE = 16
"""One pair of verb and noun in this many is never trained on."""

EVERYDAY = frozenset({"get_weather", "play_song", "create_user"})
"""Pairs that the share would hold out, but that people try first: `natural_tools` has them."""


@dataclass(frozen=True)
class Parameter:
    """One argument of a tool. `kind` is one of `KINDS`; an array holds strings, integers is an array of those."""

    name: str
    kind: str
    choices: tuple[str, ...] = ()
    required: bool = True

    def schema(self) -> dict[str, object]:
        """The parameter as a JSON schema."""
        if self.kind == "enum":
            return {"type": "string", "enum": list(self.choices)}
        if self.kind == "array":
            return {"type": "array", "items": {"type": "string"}}
        if self.kind == "integers":
            return {"type": "array", "items": {"type": "integer"}}
        return {"type": self.kind}

    def value(self, rng: random.Random) -> Value:
        """A value of the right type."""
        match self.kind:
            case "enum":
                return rng.choice(self.choices)
            case "array":
                return [
                    text_value(rng, self.name) if rng.random() < 0.3 else word(rng) for _ in range(rng.randint(1, 3))
                ]
            case "integers":
                return [integer(rng) for _ in range(rng.randint(1, 5))]
            case "object":
                names = rng.sample(STRING_PARAMETERS + INTEGER_PARAMETERS, rng.randint(1, 3))
                return {name: integer(rng) if name in INTEGER_PARAMETERS else text_value(rng, name) for name in names}
            case "boolean":
                return rng.random() < 0.5
            case "integer":
                return integer(rng)
            case "number":
                return number(rng)
            case _:
                return text_value(rng, self.name)


@dataclass(frozen=True)
class ToolSpec:
    """A tool as a request declares it. `verb` and `noun` are the words that a user would say for it."""

    name: str
    parameters: tuple[Parameter, ...]
    description: str = ""
    verb: str = ""
    noun: str = ""

    def declaration(self) -> dict[str, object]:
        """The tool in the shape of an OpenAI request."""
        function: dict[str, object] = {"name": self.name}
        if self.description:
            function["description"] = self.description
        function["parameters"] = {
            "type": "object",
            "properties": {parameter.name: parameter.schema() for parameter in self.parameters},
            "required": [parameter.name for parameter in self.parameters if parameter.required],
        }
        return {"type": "function", "function": function}


def integer(rng: random.Random) -> int:
    """A whole number, small ones more often."""
    return rng.choice((rng.randint(0, 12), rng.randint(0, 100), rng.randint(0, 100), rng.randint(-50, 9999)))


def number(rng: random.Random) -> float | int:
    """A number of at most three decimals, sometimes a whole one."""
    if rng.random() < 0.3:
        return integer(rng)
    return round(rng.uniform(-10, 200) if rng.random() < 0.5 else rng.uniform(0, 10), rng.randint(1, 3))


def is_held_out(verb: str, noun: str) -> bool:
    """Whether this pair belongs to the evaluation alone. Stable across runs and machines."""
    name = f"{verb}_{noun}"
    return zlib.crc32(name.encode()) % HELD_OUT_SHARE == 0 and name not in EVERYDAY


def parameter(rng: random.Random, taken: set[str]) -> Parameter:
    """A parameter whose name is not taken yet."""
    while True:
        kind = rng.choices(KINDS, (48, 14, 8, 10, 11, 5, 2, 2))[0]
        names = {
            "string": STRING_PARAMETERS,
            "integer": INTEGER_PARAMETERS,
            "number": NUMBER_PARAMETERS,
            "boolean": BOOLEAN_PARAMETERS,
            "enum": ENUM_PARAMETERS,
            "array": ARRAY_PARAMETERS,
            "integers": ARRAY_PARAMETERS,
            "object": STRING_PARAMETERS,
        }[kind]
        name = syllables(rng, 2) if rng.random() < 0.12 else rng.choice(names)
        if rng.random() < 0.06:
            name = f"{name}_{rng.choice(STRING_PARAMETERS)}"
        if name in taken:
            continue
        taken.add(name)
        choices: tuple[str, ...] = ()
        if kind == "enum":
            made_up = tuple(dict.fromkeys(word(rng) for _ in range(rng.randint(2, 4))))
            choices = rng.choice(ENUM_SETS) if rng.random() < 0.7 or len(made_up) < 2 else made_up
        return Parameter(name, kind, choices, required=rng.random() < 0.8)


def parameters(rng: random.Random, most: int = 4) -> tuple[Parameter, ...]:
    """No parameter to `most` of them, one or two most of the time."""
    taken: set[str] = set()
    count = min(most, rng.choices((0, 1, 2, 3, 4), (6, 34, 34, 18, 8))[0])
    return tuple(parameter(rng, taken) for _ in range(count))


def _styled(rng: random.Random, verb: str, noun: str) -> str:
    style = rng.random()
    if style < 0.8:
        return f"{verb}_{noun}"
    if style < 0.88:
        return verb + noun.capitalize()
    return rng.choice((f"{noun}_{verb}", f"{noun}.{verb}", f"{verb}-{noun}"))


def tool(rng: random.Random, *, held_out: bool = False, verb: str | None = None, noun: str | None = None) -> ToolSpec:
    """A tool. `held_out` draws from the pairs kept for evaluation, else from the others. A given verb or noun stays."""
    made_up = not held_out and rng.random() < 0.3
    while True:
        chosen_verb = verb or (syllables(rng, 2) if made_up and rng.random() < 0.6 else rng.choice(tuple(VERBS)))
        chosen_noun = noun or (syllables(rng, 3) if made_up else rng.choice(NOUNS))
        if is_held_out(chosen_verb, chosen_noun) == held_out:
            break
        if verb and noun:
            noun = None
    name = f"{chosen_verb}_{chosen_noun}" if held_out else _styled(rng, chosen_verb, chosen_noun)
    opaque = not held_out and rng.random() < 0.06
    if opaque:
        # What a name does not say, the description must.
        name = f"{rng.choice(('fn', 'svc', 'op', 'tool', 'x'))}_{rng.randint(1, 99)}"
    description = ""
    if opaque or rng.random() < 0.3:
        verb_said = chosen_verb if opaque else rng.choice(VERBS.get(chosen_verb, (chosen_verb,)))
        said = verb_said.capitalize() if rng.random() < 0.7 else verb_said
        endings = (f"{said} a {chosen_noun}", f"{said} the {chosen_noun}.", f"{said} {chosen_noun}s")
        description = rng.choice(
            (*endings, f"{said} a {chosen_noun} by {syllables(rng)}", f"Use this to {verb_said} {chosen_noun}s.")
        )
    return ToolSpec(name, parameters(rng), description, chosen_verb, chosen_noun)


def distractor(rng: random.Random, wanted: ToolSpec, *, held_out: bool = False) -> ToolSpec:
    """Another tool; at times one that shares the verb or the noun of the wanted one, so that both words count."""
    draw = rng.random()
    if wanted.verb in VERBS and draw < 0.25:
        return tool(rng, held_out=held_out, verb=wanted.verb)
    if wanted.noun in NOUNS and draw < 0.5:
        return tool(rng, held_out=held_out, noun=wanted.noun)
    return tool(rng, held_out=held_out)
