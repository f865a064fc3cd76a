"""Types that several threads need for the first time, and the sentences in which msgspec says what is wrong."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import pytest

from syntagma.typed import ANY_MEMBER, Problem, as_type, problem

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
PINNED = "0.22"

PROGRAM = """
from __future__ import annotations
import threading, time, msgspec
from syntagma.typed import as_type

def slowly():
    time.sleep(0.05)
    return int

class Inner(msgspec.Struct):
    one: int
    two: slowly()
    three: str

class Outer(msgspec.Struct):
    inner: list[Inner]

results, at_once = [], threading.Barrier(4)

def read(kind):
    at_once.wait()
    results.append(as_type({"inner": [{"one": 1, "two": 2, "three": "3"}]}, kind))

threads = [threading.Thread(target=read, args=(Outer,)) for _ in range(4)]
for one in threads:
    one.start()
for one in threads:
    one.join()
print(len(results), len(set(map(repr, results))))
"""


def test_the_first_use_of_a_type_by_several_threads_is_safe() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["4", "1"]), done.stderr


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    number: int
    word: Literal["one", "two"] = "one"
    either: int | str | None = None
    members: dict[str, list[int]] = {}
    pair: tuple[int, int] = (1, 2)
    share: float = 0.0


class Outer(msgspec.Struct):
    inner: list[Inner] = []
    hooked: complex = 0j


class Odd(ValueError):
    """What a hook may raise: any ValueError."""


def refuse(_: type, value: Any) -> Any:
    raise (TypeError if value == "type" else Odd)("it is `odd` - at all")


class Form(NamedTuple):
    """A form of msgspec's messages: a value that has it, the message, and how it is read."""

    value: Any
    message: str
    read: Problem


FORMS = {
    "missing": Form(
        {"inner": [{}]},
        "Object missing required field `number` - at `$.inner[0]`",
        Problem("missing", "Object missing required field `number`", ("inner", "0"), field="number"),
    ),
    "unknown": Form(
        {"inner": [{"number": 1, "a` - at `$.b": 2}]},
        "Object contains unknown field `a` - at `$.b` - at `$.inner[0]`",
        Problem("unknown", "Object contains unknown field `a` - at `$.b`", ("inner", "0"), field="a` - at `$.b"),
    ),
    "type": Form(
        {"inner": {}},
        "Expected `array`, got `object` - at `$.inner`",
        Problem("type", "Expected `array`, got `object`", ("inner",), wanted=("array",), given="object"),
    ),
    "type at the root": Form(
        [],
        "Expected `object`, got `array`",
        Problem("type", "Expected `object`, got `array`", wanted=("object",), given="array"),
    ),
    "several types": Form(
        {"inner": [{"number": 1}, {"number": 1, "either": 0.5}]},
        "Expected `int | str | null`, got `float` - at `$.inner[1].either`",
        Problem(
            "type",
            "Expected `int | str | null`, got `float`",
            ("inner", "1", "either"),
            wanted=("int", "str"),
            given="float",
        ),
    ),
    "type of any member": Form(
        {"inner": [{"number": 1, "members": {"a.b": [1, True]}}]},
        "Expected `int`, got `bool` - at `$.inner[0].members[...][1]`",
        Problem(
            "type",
            "Expected `int`, got `bool`",
            ("inner", "0", "members", ANY_MEMBER, "1"),
            wanted=("int",),
            given="bool",
        ),
    ),
    "choice": Form(
        {"inner": [{"number": 1, "word": "a' - at `$.b`\n"}]},
        'Invalid enum value "a\' - at `$.b`\\n" - at `$.inner[0].word`',
        Problem(
            "choice",
            'Invalid enum value "a\' - at `$.b`\\n"',
            ("inner", "0", "word"),
            given='"a\' - at `$.b`\\n"',
        ),
    ),
    "refused by a hook": Form(
        {"hooked": "value"},
        "it is `odd` - at all - at `$.hooked`",
        Problem("refused", "it is `odd` - at all", ("hooked",)),
    ),
    "a TypeError of a hook": Form(
        {"hooked": "type"},
        "it is `odd` - at all - at `$.hooked`",
        Problem("other", "it is `odd` - at all", ("hooked",)),
    ),
    "a length": Form(
        {"inner": [{"number": 1, "pair": [1]}]},
        "Expected `array` of length 2, got 1 - at `$.inner[0].pair`",
        Problem("other", "Expected `array` of length 2, got 1", ("inner", "0", "pair")),
    ),
    "a number out of range": Form(
        {"inner": [{"number": 1, "share": 10**400}]},
        "Number out of range - at `$.inner[0].share`",
        Problem("other", "Number out of range", ("inner", "0", "share")),
    ),
}
TEXTS = {
    "[1,]": ("JSON is malformed: trailing comma in array (byte 3)", "trailing comma in array (byte 3)"),
    '{"a": ': ("Input data was truncated", "Input data was truncated"),
    '{"a": 1e999}': ("Number out of range - at `$[...]`", "Number out of range"),
}
CHANGED = "read what changed, adapt syntagma.typed, then the message here and the bound in pyproject.toml"


@pytest.mark.parametrize("name", FORMS)
def test_what_msgspec_says_of_a_value(name: str) -> None:
    form = FORMS[name]
    with pytest.raises(msgspec.ValidationError) as raised:
        as_type(form.value, Outer, dec_hook=refuse)
    said = str(raised.value)
    assert said == form.message, f"msgspec {msgspec.__version__} says {said!r}; {CHANGED}"
    assert problem(raised.value) == form.read


@pytest.mark.parametrize("text", TEXTS)
def test_what_msgspec_says_of_a_text(text: str) -> None:
    with pytest.raises(msgspec.DecodeError) as raised:
        msgspec.json.decode(text)
    message, read = TEXTS[text]
    said = str(raised.value)
    assert said == message, f"msgspec {msgspec.__version__} says {said!r}; {CHANGED}"
    assert problem(raised.value).text == read


def test_minor_version_of_msgspec_is_bounded() -> None:
    requirements = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    (bound,) = (one for one in requirements if one.startswith("msgspec"))
    major, minor = PINNED.split(".")
    assert bound.endswith(f",<{major}.{int(minor) + 1}"), "its messages are read: bound the minor version"
    assert msgspec.__version__.startswith(f"{PINNED}."), f"the messages are those of msgspec {PINNED}; {CHANGED}"
