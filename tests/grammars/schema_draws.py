"""Schemas drawn at random, texts of their grammars, and values near those, judged by an independent validator.

    python -m tests.grammars.schema_draws [COUNT] [--from SEED] [--dev FILE]

draws COUNT schemas (and reads those of FILE, one `{"schema": …}` a line) and prints what goes wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema

import syntagma as sg
from tests.grammars.walks import DeadEnd, accepts, byte_compiler, random_text

_COMPILER = byte_compiler()
_WORDS = ["a", "b", "ab", "x1", "é"]
_PATTERNS = ["^a", "b$", "^[a-c]{1,3}$", "x", "^$", "^(a|b)*$"]
_VALUES = [
    None,
    True,
    False,
    0,
    1,
    -3,
    2.5,
    "",
    "a",
    "ab",
    "é\n",
    [],
    [1],
    ["a", None],
    {},
    {"a": 1},
    {"a": 1, "b": []},
]
_BEYOND_FLOATS = re.compile(r"\d[\d.]{14,}|[eE][-+]?\d{3,}")
"""numbers that the validator, which calculates in floating point, may judge wrong"""
_LENIENT = ("format",)
"""keywords that the validator may not enforce: formats need libraries"""
_LIMITS = sg.Limits(compile_fuel=300_000)
_TEXTS, _NEAR = 4, 6
"""texts of a grammar, and values near each"""
_MEMORY = 1 << 30
"""bytes that the long run may take"""

DRAFTS = {
    4: "http://json-schema.org/draft-04/schema#",
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    2019: "https://json-schema.org/draft/2019-09/schema",
    2020: "https://json-schema.org/draft/2020-12/schema",
}


class Draw:
    """Draws schemas of one draft, by default of any; deeper ones are plainer."""

    def __init__(self, rng: random.Random, draft: int | None = None) -> None:
        self._rng = rng
        self._draft = rng.choice([*DRAFTS, 2020, 2020]) if draft is None else draft
        self._definitions = "$defs" if self._draft >= 2019 else "definitions"

    def schema(self) -> dict[str, Any]:
        """A schema with definitions that it may refer to."""
        rng = self._rng
        whole = {"$schema": DRAFTS[self._draft]} | self._one(3)
        two = {"type": "object", "properties": {"a": self._refer("two"), "b": self._refer("one")}}
        definitions = {"one": self._one(1), "two": two, "three": self._one(2)}
        if self._draft >= 2019:
            definitions["three"]["$anchor"] = "three"
        if self._draft >= 2020 and self._maybe(0.3):
            whole["$dynamicAnchor"] = "node"
            two["properties"]["ab"] = {"$dynamicRef": "#node"}
        if self._draft == 2019 and self._maybe(0.3):
            whole["$recursiveAnchor"] = rng.choice([True, False])
            two["properties"]["ab"] = {"$recursiveRef": "#"}
        if self._draft == 2020 and self._maybe(0.1):
            del whole["$schema"]
        whole[self._definitions] = definitions
        return whole

    def _refer(self, name: str) -> dict[str, Any]:
        if name == "three" and self._draft >= 2019 and self._maybe(0.5):
            return {"$ref": "#three"}
        return {"$ref": f"#/{self._definitions}/{name}"}

    def _maybe(self, chance: float) -> bool:
        return self._rng.random() < chance

    def _some(self, depth: int, most: int = 3) -> list[Any]:
        return [self._sub(depth) for _ in range(self._rng.randint(1, most))]

    def _sub(self, depth: int) -> Any:
        rng = self._rng
        if depth <= 0 or self._maybe(0.1):
            everything: Any = True if self._draft >= 6 else {}
            return rng.choice(
                [
                    everything,
                    {"type": "null"},
                    {"type": "integer"},
                    {"type": "string"},
                    self._refer("two"),
                    {"enum": ["a", 1]},
                ]
            )
        if self._maybe(0.08):
            never: Any = False if self._draft >= 6 else {"not": {}}
            return rng.choice([never, self._refer("one"), self._refer("three"), {"$ref": "#"}])
        return self._one(depth - 1)

    def _one(self, depth: int) -> dict[str, Any]:
        rng = self._rng
        kind = rng.choice(["integer", "number", "string", "array", "object", "object", "array", "mixed", "values"])
        schema: dict[str, Any] = getattr(self, f"_{kind}")(depth)
        if self._maybe(0.15):
            schema.pop("type", None)
        while depth > 0 and self._maybe(0.35):
            keyword = rng.choice(["allOf", "anyOf", "oneOf", "not", "if"])
            if keyword == "not":
                schema["not"] = self._sub(depth - 1)
            elif keyword != "if":
                schema[keyword] = self._some(depth - 1)
            elif self._draft >= 7:
                schema["if"] = self._sub(depth - 1)
                for side in rng.choice([["then"], ["else"], ["then", "else"]]):
                    schema[side] = self._sub(depth - 1)
        if self._draft >= 2019 and self._maybe(0.05):
            schema |= self._refer("one")
        return schema

    def _mixed(self, _depth: int) -> dict[str, Any]:
        kinds = self._rng.sample(["null", "boolean", "integer", "number", "string", "array", "object"], 2)
        return {"type": kinds} if self._maybe(0.7) else {}

    def _values(self, _depth: int) -> dict[str, Any]:
        if self._draft >= 6 and self._maybe(0.3):
            return {"const": self._rng.choice(_VALUES)}
        return {"enum": self._rng.sample(_VALUES, self._rng.randint(1, 5))}

    def _bounds(self, keys: tuple[str, str], low: int, high: int) -> dict[str, Any]:
        first, last = sorted(self._rng.randint(low, high) for _ in range(2))
        chosen = {keys[0]: first} if self._maybe(0.4) else {}
        return chosen | ({keys[1]: last} if self._maybe(0.4) else {})

    def _range(self, low: int, high: int) -> dict[str, Any]:
        bounds = self._bounds(("minimum", "maximum"), low, high)
        for inclusive, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if inclusive not in bounds or self._maybe(0.6):
                continue
            if self._draft == 4:
                bounds[exclusive] = self._maybe(0.7)
            else:
                bounds[exclusive] = bounds.pop(inclusive)
        return bounds

    def _integer(self, _depth: int) -> dict[str, Any]:
        schema = {"type": "integer"} | self._range(-30, 40)
        if self._maybe(0.3):
            schema["multipleOf"] = self._rng.choice([2, 3, 5, 7, 1.5])
        return schema

    def _number(self, _depth: int) -> dict[str, Any]:
        schema = {"type": "number"} | self._range(-5, 9)
        if self._maybe(0.2):
            schema["multipleOf"] = self._rng.choice([0.5, 0.25, 3])
        return schema

    def _string(self, _depth: int) -> dict[str, Any]:
        schema = {"type": "string"} | self._bounds(("minLength", "maxLength"), 0, 5)
        if self._maybe(0.3):
            schema["pattern"] = self._rng.choice(_PATTERNS)
        return schema

    def _array(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "array"} | self._bounds(("minItems", "maxItems"), 0, 4)
        if self._maybe(0.6):
            schema["items"] = self._sub(depth - 1)
        if self._maybe(0.25):
            if self._draft >= 2020:
                schema["prefixItems"] = self._some(depth - 1)
            else:
                schema["items"] = self._some(depth - 1)
                if self._maybe(0.5):
                    schema["additionalItems"] = self._sub(depth - 1)
        if self._draft >= 6 and self._maybe(0.25):
            schema["contains"] = self._sub(depth - 1)
            if self._draft >= 2019:
                schema |= self._bounds(("minContains", "maxContains"), 0, 3)
        if self._draft >= 2019 and self._maybe(0.15):
            schema["unevaluatedItems"] = self._sub(depth - 1)
        if self._maybe(0.1):
            schema["uniqueItems"] = True
            schema["items"] = {"enum": ["a", 1, None]}
        return schema

    def _object(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "object"} | self._bounds(("minProperties", "maxProperties"), 0, 4)
        if self._maybe(0.8):
            names = self._rng.sample(_WORDS, self._rng.randint(1, 3))
            schema["properties"] = {name: self._sub(depth - 1) for name in names}
        if self._maybe(0.5):
            schema["required"] = self._rng.sample(_WORDS, self._rng.randint(1, 2))
        if self._maybe(0.25):
            patterns = self._rng.sample(_PATTERNS, self._rng.randint(1, 2))
            schema["patternProperties"] = {pattern: self._sub(depth - 1) for pattern in patterns}
        if self._maybe(0.35):
            never: Any = False if self._draft >= 6 else {"not": {}}
            schema["additionalProperties"] = self._rng.choice([never, self._sub(depth - 1)])
        elif self._draft >= 2019 and self._maybe(0.3):
            schema["unevaluatedProperties"] = self._rng.choice([False, self._sub(depth - 1)])
        if self._draft >= 6 and self._maybe(0.12):
            schema["propertyNames"] = self._rng.choice(
                [{"maxLength": 2}, {"pattern": "^a"}, {"enum": ["a", "b", "x1"]}, {"not": {"pattern": "b"}}]
            )
        self._dependencies(schema, depth)
        return schema

    def _dependencies(self, schema: dict[str, Any], depth: int) -> None:
        names = self._maybe(0.15)
        schemas = self._maybe(0.1)
        name, other = self._rng.choice(_WORDS), self._rng.choice(_WORDS)
        if names:
            schema["dependentRequired" if self._draft >= 2019 else "dependencies"] = {name: [other]}
        if schemas:
            keyword = "dependentSchemas" if self._draft >= 2019 else "dependencies"
            schema.setdefault(keyword, {})[other] = self._sub(depth - 1)


def mutated(value: Any, rng: random.Random) -> Any:
    """A value near this one."""
    if isinstance(value, dict) and value and rng.random() < 0.7:
        name = rng.choice(list(value))
        rest = {key: other for key, other in value.items() if key != name}
        if rng.random() < 0.3:
            return rest
        return rest | {name: mutated(value[name], rng)}
    if isinstance(value, dict) and rng.random() < 0.6:
        return value | {rng.choice(_WORDS): rng.choice([1, "a", None, [], {}])}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        if rng.random() < 0.3:
            return value[:at] + value[at + 1 :]
        return [*value[:at], mutated(value[at], rng), *value[at + 1 :]]
    if isinstance(value, list) and rng.random() < 0.6:
        return [*value, rng.choice([1, "a", None, [], {}])]
    if isinstance(value, int) and not isinstance(value, bool):
        return value + rng.choice([-2, -1, 1, 2])
    return rng.choice([None, True, 0, 7, -1, 0.5, "", "a", "abab", [], [0], {}, {"a": 0}])


def repeated(value: Any, rng: random.Random) -> str:
    """The value as text, one name in it written twice with another value first."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if not isinstance(value, dict) or not value:
        return text
    name = json.dumps(rng.choice(list(value)), ensure_ascii=False)
    first = json.dumps(rng.choice([1, "a", None, [], {}]))
    return "{" + name + ":" + first + "," + text[1:]


def _whole(value: Any) -> Any:
    """The value with whole numbers as integers are written."""
    if isinstance(value, dict):
        return {name: _whole(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Difference(NamedTuple):
    """Where validator and grammar are known to differ.

    Attributes:
        drafts: numbers of the drafts.
        keywords: that the schema holds, all of them.
        verdict: `written`: the validator refuses what the grammar allows; `rejected`: the other way; `fails`: it raises
            an error of its own; `recurses`: it does not end.
        reason: why.
    """

    drafts: list[int]
    keywords: list[str]
    verdict: str
    reason: str


def differences() -> list[Difference]:
    """The known differences."""
    text = (Path(__file__).resolve().parents[2] / "conformance/json_schema/differences.toml").read_text(
        encoding="utf-8"
    )
    return [Difference(**one) for one in tomllib.loads(text)["difference"]]


_KNOWN = differences()


def is_known(schema: Any, verdict: str) -> bool:
    """Whether a difference of this kind is expected of a schema."""
    draft = next((number for number, uri in DRAFTS.items() if uri == schema.get("$schema")), 2020)
    text = json.dumps(schema)
    return any(
        verdict == one.verdict and draft in one.drafts and all(f'"{word}":' in text for word in one.keywords)
        for one in _KNOWN
    )


_NAMED = ("patternProperties", "dependentSchemas", "dependentRequired", "dependencies")
_KEYWORDS = {
    *("not", "oneOf", "anyOf", "if", "enum", "const", "format", "pattern", "multipleOf", "contains", "uniqueItems"),
    *("minProperties", "maxProperties", "required", "propertyNames", "maxLength", "maxItems"),
    *("unevaluatedProperties", "unevaluatedItems"),
}


def names_a_keyword(schema: Any, pointer: str) -> bool:
    """Whether a pointer leads to a keyword, or to one name under a keyword that has names."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    for step in steps:
        if isinstance(schema, dict) and step in schema:
            schema = schema[step]
        elif isinstance(schema, list) and step.isdigit() and int(step) < len(schema):
            schema = schema[int(step)]
        else:
            return False
    return steps[-1:] != [] and (steps[-1] in _KEYWORDS or (steps[-2:-1] != [] and steps[-2] in _NAMED))


def _grammar(
    schema: Any, order: str, judge: Any, counts: Counter[str]
) -> tuple[sg.Grammar, sg.CompiledGrammar] | str | None:
    """The grammar, read and compiled; what is wrong; None where there is none."""
    try:
        grammar = sg.Grammar.from_json_schema(schema, order=order, whitespace="compact", limits=_LIMITS)
    except sg.GrammarError as error:
        counts[error.code] += 1
        if error.code == "E-SCHEMA-UNSATISFIABLE":
            valid = [value for value in [*_VALUES, 0.5, [[]], {"x1": 1}] if judge.is_valid(value)]
            return f"{valid[0]!r} is valid, and the schema refused as empty" if valid else None
        return None if error.code == "E-SCHEMA-REF" else f"refused: {error}"
    except sg.LimitError as error:
        counts[error.code] += 1
        return None
    try:
        return grammar, _COMPILER.compile(grammar)
    except sg.GrammarError as error:
        return f"read, and not compiled: {error}"
    except sg.LimitError as error:
        counts[error.code] += 1
        return None


def problems(schema: Any, rng: random.Random, counts: Counter[str]) -> Iterator[str]:
    """What is wrong with the grammars of one schema. `counts` says what was looked at."""
    found = _problems(schema, rng, counts)
    while True:
        try:
            verdict, problem = next(found)
        except StopIteration:
            return
        except TypeError as error:
            verdict, problem = "fails", f"the validator raises {error!r}"
        except RecursionError:
            verdict, problem = "recurses", "the validator does not end"
        if is_known(schema, verdict):
            counts["known differences"] += 1
        else:
            yield problem


def _problems(schema: Any, rng: random.Random, counts: Counter[str]) -> Iterator[tuple[str, str]]:
    """What is wrong, each with its kind: see `Difference`."""
    validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    judge = validator(schema, format_checker=validator.FORMAT_CHECKER)
    order = rng.choice(["any", "any", "declared"])
    made = _grammar(schema, order, judge, counts)
    if not isinstance(made, tuple):
        yield from [("refused", made)] if made else []
        return
    grammar, compiled = made
    counts[grammar.report.status] += 1
    for pointer, reason in grammar.report.pointers.items():
        if not names_a_keyword(schema, pointer):
            yield "report", f"the report names {pointer!r} ({reason})"
    exact = grammar.report.status == "exact"
    complete = order == "any" and not any(f'"{word}"' in json.dumps(schema) for word in _LENIENT)
    for _ in range(_TEXTS):
        try:
            text = random_text(compiled, rng, always_ends=True)
        except sg.LimitError as error:
            counts[error.code] += 1
            return
        except DeadEnd as end:
            yield "dead end", f"{str(end)!r} is begun, and cannot be finished"
            return
        counts["texts"] += 1
        value = json.loads(text)
        if _BEYOND_FLOATS.search(text) or "inf" in repr(value):
            continue
        if exact and not judge.is_valid(value):
            yield "written", f"{text} is written, and not valid"
        for _ in range(_NEAR):
            value = _whole(mutated(value, rng))
            valid = judge.is_valid(value)
            accepted = accepts(compiled, json.dumps(value, ensure_ascii=False, separators=(",", ":")))
            counts["valid near" if valid else "invalid near"] += 1
            if valid and not accepted and complete:
                yield "rejected", f"{value!r} is valid, and rejected"
            if accepted and not valid and exact:
                yield "written", f"{value!r} is not valid, and accepted"
            again = repeated(value, rng)
            if exact and not valid and not accepted and accepts(compiled, again):
                yield "written", f"{again} is not valid, and accepted"


def main() -> int:
    """The long run."""
    parser = argparse.ArgumentParser(description="judge grammars of schemas drawn at random")
    parser.add_argument("count", type=int, nargs="?", default=1_500)
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first seed")
    parser.add_argument("--dev", type=Path, help="a file of schemas, one a line")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    wrong = 0
    listed = options.dev.read_text(encoding="utf-8").splitlines() if options.dev else []
    schemas = [(f"line {at}", json.loads(line)["schema"]) for at, line in enumerate(listed, 1)]
    seeds = range(options.first, options.first + options.count)
    schemas += [(f"seed {seed}", Draw(random.Random(seed)).schema()) for seed in seeds]
    for name, schema in schemas:
        for problem in problems(schema, random.Random(name), counts):
            wrong += 1
            print(f"{name}: {problem}\n   {json.dumps(schema, ensure_ascii=False)[:1500]}", flush=True)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{len(schemas)} schemas, {wrong} wrong, {memory >> 20} MiB: {dict(counts)}")
    return 1 if wrong or memory > _MEMORY else 0


if __name__ == "__main__":
    sys.exit(main())
