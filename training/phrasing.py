"""How a user says what a call should hold."""

from __future__ import annotations

import json
import random

from tools import Parameter, ToolSpec, Value
from words import VERBS

Given = list[tuple[Parameter, Value]]

_CLAUSES = (
    "{name} {value}",
    "{name} {value}",
    "{name}: {value}",
    "{name} = {value}",
    "{name}={value}",
    "with {name} {value}",
    "with the {name} {value}",
    "the {name} is {value}",
    "{name} should be {value}",
    "{value} as the {name}",
    "{value} for {name}",
    "use {value} as {name}",
    "set {name} to {value}",
)


def written(value: object) -> str:
    """JSON as the model writes it: `", "` and `": "` between, text unescaped."""
    return json.dumps(value, ensure_ascii=False)


def plain(value: Value) -> str:
    """A value without quotes, for thoughts and reports."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return written(value)


def spoken(rng: random.Random, value: Value) -> str:
    """A value as a user would put it."""
    if isinstance(value, bool):
        pairs = (("false", "true"), ("false", "true"), ("false", "true"), ("no", "yes"), ("off", "on"))
        return rng.choice(pairs)[int(value)]
    if isinstance(value, dict):
        if rng.random() < 0.3:
            return written(value)
        between = rng.choice((" ", ": ", " = "))
        return ", ".join(f"{name}{between}{item}" for name, item in value.items())
    if isinstance(value, list):
        items = [str(item) for item in value]
        if len(items) > 1 and rng.random() < 0.6:
            return ", ".join(items[:-1]) + f" and {items[-1]}"
        return written(value) if rng.random() < 0.2 else ", ".join(items)
    if isinstance(value, str) and '"' not in value and (rng.random() < 0.3 or (" " in value and rng.random() < 0.4)):
        return f'"{value}"' if rng.random() < 0.8 else f"'{value}'"
    return str(value)


def clauses(rng: random.Random, given: Given) -> str:
    """All values with the names that they go by, mostly in declared order."""
    said = []
    style = rng.choice(_CLAUSES) if rng.random() < 0.6 else ""
    for item, value in given:
        name = item.name.replace("_", " ") if rng.random() < 0.3 else item.name
        if item.kind == "enum" and rng.random() < 0.1:
            said.append(str(value))
            continue
        said.append((style or rng.choice(_CLAUSES)).format(name=name, value=spoken(rng, value)))
    if rng.random() < 0.25:
        rng.shuffle(said)
    joint = rng.choice((", ", ", ", " and ", "; "))
    if len(said) > 2 and joint == ", " and rng.random() < 0.5:
        return ", ".join(said[:-1]) + f" and {said[-1]}"
    return joint.join(said)


def request(rng: random.Random, spec: ToolSpec, given: Given) -> str:
    """A request for one call."""
    verb = rng.choice(VERBS.get(spec.verb, (spec.verb,))) if rng.random() < 0.45 else spec.verb
    article = rng.choice(("the ", "the ", "a ", "", "my "))
    act = f"{verb} {article}{spec.noun}"
    if rng.random() < 0.08:
        act = rng.choice((f"call {spec.name}", f"use {spec.name}", f"run the tool {spec.name}"))
    if not given:
        text = act
    elif len(given) == 1 and given[0][0].kind == "string" and rng.random() < 0.25:
        text = f"{act} {spoken(rng, given[0][1])}"
    else:
        text = f"{act}{rng.choice((' ', ' ', ', ', ': ', '. '))}{clauses(rng, given)}"
    opening = rng.choice(("", "", "", "", "Please ", "please ", "Can you ", "Could you ", "I want you to ", "Now "))
    text = opening + text
    if rng.random() < 0.6:
        text = text[0].upper() + text[1:]
    return text + rng.choice(("", "", ".", ".", "?" if opening.startswith(("Can", "Could")) else "", " please", "!"))
