"""Facts in plain sentences, and what they are as JSON."""

from __future__ import annotations

import random
from collections.abc import Callable

from tools import Parameter, Value, number
from words import FIRST_NAMES, PLAIN_WORDS, city, clock, date, email, person, syllables, word

Facts = tuple[list[Parameter], dict[str, Value], str]
"""the fields, their values, and the sentences that hold them"""

JOBS = (
    "teacher",
    "nurse",
    "driver",
    "baker",
    "lawyer",
    "painter",
    "pilot",
    "farmer",
    "doctor",
    "engineer",
    "student",
    "singer",
    "plumber",
    "writer",
    "chef",
)

_GOOD = (
    "I love this {0}.",
    "The {0} is great!",
    "What a wonderful {0}, I would buy it again.",
    "Best {0} ever.",
    "I am very happy with the {0}.",
    "The {0} works perfectly.",
    "Excellent {0}, thank you!",
    "I like it a lot.",
)
_BAD = (
    "I hate this {0}.",
    "The {0} is terrible.",
    "The {0} broke after one day.",
    "Worst {0} ever.",
    "I am very unhappy with the {0}.",
    "The {0} does not work at all.",
    "Awful {0}, I want my money back.",
    "What a waste of money.",
)
_EVEN = (
    "The {0} is okay.",
    "It is a {0}.",
    "The {0} arrived today.",
    "The {0} is average, nothing special.",
    "It is neither good nor bad.",
)


def _fields(*fields: tuple[str, str, Value]) -> tuple[list[Parameter], dict[str, Value]]:
    return [Parameter(name, kind) for name, kind, _ in fields], {name: value for name, _, value in fields}


def _person(rng: random.Random) -> Facts:
    name, age, place, job = person(rng), rng.randint(1, 99), city(rng), rng.choice(JOBS)
    text = rng.choice(
        (
            f"{name} is {age} years old and lives in {place}. {name} is a {job}.",
            f"{name}, a {age}-year-old {job} from {place}, called today.",
            f"My name is {name}, I am {age} and I work as a {job} in {place}.",
            f"{name} ({age}) is a {job} in {place}.",
            f"This is {name} from {place}. Age {age}. Works as a {job}.",
        )
    )
    all_fields: list[tuple[str, str, Value]] = [
        (rng.choice(("name", "name", "person", "full_name")), "string", name),
        ("age", "integer", age),
        (rng.choice(("city", "location", "place")), "string", place),
        (rng.choice(("job", "occupation", "profession")), "string", job),
    ]
    wanted = [field for field in all_fields if rng.random() < 0.75] or all_fields[:2]
    return *_fields(*wanted), text


def _product(rng: random.Random) -> Facts:
    name = rng.choice((word(rng), f"{word(rng)} {rng.choice(PLAIN_WORDS)}"))
    price, count = abs(number(rng)), rng.randint(0, 200)
    currency = rng.choice(("EUR", "USD", "GBP", "CHF"))
    text = rng.choice(
        (
            f"The {name} costs {price} {currency}; we have {count} of them.",
            f"{name}: {price} {currency}, {count} in stock.",
            f"We sell {name} for {price} {currency} and {count} are left.",
        )
    )
    fields: list[tuple[str, str, Value]] = [
        (rng.choice(("name", "product", "item")), "string", name),
        ("price", "number", price),
        ("currency", "string", currency),
        (rng.choice(("stock", "count", "quantity")), "integer", count),
    ]
    return *_fields(*(fields if rng.random() < 0.5 else fields[:2])), text


def _event(rng: random.Random) -> Facts:
    title, day, time, place = f"{word(rng)} {rng.choice(PLAIN_WORDS)}", date(rng), clock(rng), city(rng)
    text = rng.choice(
        (
            f"The {title} takes place on {day} at {time} in {place}.",
            f"Join us for the {title} in {place}, {day}, {time}.",
            f"{day} at {time}: {title} ({place}).",
        )
    )
    names = (
        rng.choice(("title", "event", "name")),
        rng.choice(("date", "day")),
        rng.choice(("time", "start")),
        rng.choice(("place", "city", "location")),
    )
    values: tuple[str, ...] = (title, day, time, place)
    fields = [(name, "string", value) for name, value in zip(names, values, strict=True)]
    return *_fields(*(fields[: rng.randint(2, 4)])), text


def _contact(rng: random.Random) -> Facts:
    name, address, phone = person(rng), email(rng), "".join(rng.choice("0123456789") for _ in range(rng.randint(6, 10)))
    text = rng.choice(
        (
            f"You can reach {name} at {address} or {phone}.",
            f"{name}, phone {phone}, mail {address}",
            f"Contact: {name} <{address}>, {phone}.",
        )
    )
    return *_fields(("name", "string", name), ("email", "string", address), ("phone", "string", phone)), text


def _people(rng: random.Random) -> Facts:
    names = [
        rng.choice(FIRST_NAMES) if rng.random() < 0.6 else syllables(rng).capitalize() for _ in range(rng.randint(2, 4))
    ]
    listed = ", ".join(names[:-1]) + f" and {names[-1]}"
    text = rng.choice((f"{listed} came to the party.", f"In the room were {listed}.", f"Invite {listed}."))
    key = rng.choice(("names", "people", "guests"))
    if rng.random() < 0.5:
        fields = [Parameter(key, "array"), Parameter("count", "integer")]
        return fields, {key: names, "count": len(names)}, text
    return [Parameter(key, "array")], {key: names}, text


def _sentiment(rng: random.Random) -> Facts:
    mood, lines = rng.choice((("positive", _GOOD), ("negative", _BAD), ("neutral", _EVEN)))
    text = rng.choice(lines).format(rng.choice(PLAIN_WORDS))
    key = rng.choice(("sentiment", "sentiment", "mood", "label"))
    return [Parameter(key, "enum", ("positive", "negative", "neutral"))], {key: mood}, text


FACTS: tuple[Callable[[random.Random], Facts], ...] = (
    _person,
    _person,
    _product,
    _event,
    _contact,
    _people,
    _sentiment,
)


def facts(rng: random.Random) -> Facts:
    """Some sentences with the fields that they hold."""
    return rng.choice(FACTS)(rng)
