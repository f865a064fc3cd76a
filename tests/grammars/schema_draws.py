"""Schemas drawn at random, texts of their grammars, and values near those, judged by an independent validator.

    python -m tests.grammars.schema_draws [COUNT] [--dev FILE]

draws COUNT schemas (and reads those of FILE, one `{"schema": …}` a line) and prints what goes wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema

import syntagma as sg
from tests.grammars.walks import accepts, byte_compiler, random_text

_COMPILER = byte_compiler()
_WORDS = ["a", "b", "ab", "x1", "é"]
_PATTERNS = ["^a", "b$", "^[a-c]{1,3}$", "x", "^$"]
_BEYOND_FLOATS = re.compile(r"\d[\d.]{14,}")
"""numbers that the validator, which calculates in floating point, may judge wrong"""
_LENIENT = ("format", "dependencies")
"""keywords that the validator may not enforce: formats need libraries, and the latest draft has no dependencies"""
_LIMITS = sg.Limits(compile_fuel=300_000)


class Draw:
    """Draws schemas; deeper ones are plainer."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def schema(self) -> dict[str, Any]:
        """A schema with definitions that it may refer to."""
        whole = self._one(3)
        whole["$defs"] = {"one": self._one(1), "two": {"type": "object", "properties": {"a": {"$ref": "#/$defs/two"}}}}
        return whole

    def _maybe(self, chance: float) -> bool:
        return self._rng.random() < chance

    def _some(self, depth: int, most: int = 3) -> list[Any]:
        return [self._sub(depth) for _ in range(self._rng.randint(1, most))]

    def _sub(self, depth: int) -> Any:
        if depth <= 0 or self._maybe(0.1):
            return self._rng.choice(
                [True, {"type": "null"}, {"type": "integer"}, {"type": "string"}, {"$ref": "#/$defs/two"}]
            )
        if self._maybe(0.05):
            return self._rng.choice([False, {"$ref": "#/$defs/one"}])
        return self._one(depth - 1)

    def _one(self, depth: int) -> dict[str, Any]:
        rng = self._rng
        kind = rng.choice(["integer", "number", "string", "array", "object", "object", "array", "mixed", "values"])
        schema: dict[str, Any] = getattr(self, f"_{kind}")(depth)
        if depth > 0 and self._maybe(0.35):
            keyword = rng.choice(["allOf", "anyOf", "oneOf", "not", "if"])
            if keyword == "not":
                schema["not"] = self._sub(depth - 1)
            elif keyword == "if":
                schema["if"] = self._sub(depth - 1)
                schema[rng.choice(["then", "else"])] = self._sub(depth - 1)
            else:
                schema[keyword] = self._some(depth - 1)
        return schema

    def _mixed(self, _depth: int) -> dict[str, Any]:
        kinds = self._rng.sample(["null", "boolean", "integer", "number", "string", "array", "object"], 2)
        return {"type": kinds} if self._maybe(0.7) else {}

    def _values(self, _depth: int) -> dict[str, Any]:
        pool = [None, True, 0, 1, -3, 2.5, "", "a", "é\n", [], [1], {}, {"a": 1}]
        if self._maybe(0.3):
            return {"const": self._rng.choice(pool)}
        return {"enum": self._rng.sample(pool, self._rng.randint(1, 5))}

    def _bounds(self, keys: tuple[str, str], low: int, high: int) -> dict[str, Any]:
        first, last = sorted(self._rng.randint(low, high) for _ in range(2))
        chosen = {keys[0]: first} if self._maybe(0.4) else {}
        return chosen | ({keys[1]: last} if self._maybe(0.4) else {})

    def _integer(self, _depth: int) -> dict[str, Any]:
        schema = {"type": "integer"} | self._bounds(("minimum", "maximum"), -30, 40)
        if self._maybe(0.3):
            schema["multipleOf"] = self._rng.choice([2, 3, 5, 7, 1.5])
        return schema

    def _number(self, _depth: int) -> dict[str, Any]:
        schema = {"type": "number"} | self._bounds(("exclusiveMinimum", "maximum"), -5, 9)
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
            schema["prefixItems"] = self._some(depth - 1)
        if self._maybe(0.25):
            schema["contains"] = self._sub(depth - 1)
            schema |= self._bounds(("minContains", "maxContains"), 0, 3)
        if self._maybe(0.15):
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
            schema["patternProperties"] = {self._rng.choice(_PATTERNS): self._sub(depth - 1)}
        if self._maybe(0.35):
            schema["additionalProperties"] = self._rng.choice([False, self._sub(depth - 1)])
        elif self._maybe(0.2):
            schema["unevaluatedProperties"] = self._rng.choice([False, self._sub(depth - 1)])
        if self._maybe(0.1):
            schema["propertyNames"] = {"maxLength": 2}
        if self._maybe(0.15):
            schema["dependentRequired"] = {self._rng.choice(_WORDS): [self._rng.choice(_WORDS)]}
        if self._maybe(0.1):
            schema["dependentSchemas"] = {self._rng.choice(_WORDS): self._sub(depth - 1)}
        return schema


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


def problems(schema: Any, rng: random.Random, counts: Counter[str], *, texts: int = 4, near: int = 6) -> Iterator[str]:
    """What is wrong with the grammars of one schema. `counts` says what was looked at."""
    validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    judge = validator(schema, format_checker=validator.FORMAT_CHECKER)
    try:
        grammar = sg.Grammar.from_json_schema(schema, order="any", whitespace="compact", limits=_LIMITS)
        compiled = _COMPILER.compile(grammar)
    except sg.GrammarError as error:
        counts[error.code] += 1
        if error.code in ("E-SCHEMA-UNSATISFIABLE", "E-GRAMMAR-EMPTY"):
            values = [None, True, 0, 1, "", "a", [], {}, 0.5]
            yield from (
                f"{value!r} is valid, and the schema refused as empty" for value in values if judge.is_valid(value)
            )
        return
    except sg.LimitError as error:
        counts[error.code] += 1
        return
    exact = grammar.report.status == "exact"
    lenient = any(f'"{word}"' in json.dumps(schema) for word in _LENIENT)
    counts[grammar.report.status] += 1
    for _ in range(texts):
        try:
            text = random_text(compiled, rng)
        except sg.LimitError as error:
            counts[error.code] += 1
            return
        counts["texts"] += 1
        value = json.loads(text)
        if _BEYOND_FLOATS.search(text) or "inf" in repr(value):
            continue
        if exact and not judge.is_valid(value):
            yield f"{text} is written, and not valid"
        for _ in range(near):
            value = mutated(value, rng)
            valid = judge.is_valid(value)
            accepted = accepts(compiled, json.dumps(value, ensure_ascii=False, separators=(",", ":")))
            counts["valid near" if valid else "invalid near"] += 1
            if valid and not accepted and not lenient:
                yield f"{value!r} is valid, and rejected"
            if accepted and not valid and exact:
                yield f"{value!r} is not valid, and accepted"


def main() -> int:
    """The long run."""
    parser = argparse.ArgumentParser(description="judge grammars of schemas drawn at random")
    parser.add_argument("count", type=int, nargs="?", default=1_500)
    parser.add_argument("--dev", type=Path, help="a file of schemas, one a line")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    wrong = 0
    listed = options.dev.read_text(encoding="utf-8").splitlines() if options.dev else []
    schemas = [json.loads(line)["schema"] for line in listed]
    schemas += [Draw(random.Random(seed)).schema() for seed in range(options.count)]
    for at, schema in enumerate(schemas):
        for problem in problems(schema, random.Random(at), counts):
            wrong += 1
            print(f"{at - len(listed)}: {problem}\n   {json.dumps(schema, ensure_ascii=False)[:1500]}")
    print(f"{len(schemas)} schemas, {wrong} wrong: {dict(counts)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
