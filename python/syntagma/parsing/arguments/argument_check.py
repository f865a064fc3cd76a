"""Checks the arguments of a call against the tool's JSON Schema.

Every keyword that can reject a value is checked, including those of older drafts. `format` and descriptive keywords are
annotations. References are resolved within the schema only. Patterns run in the engine, never in Python's `re`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from syntagma.errors import SyntagmaError
from syntagma.json_pointer import pointer_of, referred
from syntagma.json_types import is_of_type

__all__ = ["mismatch"]

_BOUNDS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "minimum": ("number", lambda value, bound: value >= bound),
    "maximum": ("number", lambda value, bound: value <= bound),
    "exclusiveMinimum": ("number", lambda value, bound: value > bound),
    "exclusiveMaximum": ("number", lambda value, bound: value < bound),
    "multipleOf": ("number", lambda value, bound: Fraction(str(value)) % Fraction(str(bound)) == 0),
    "minLength": ("string", lambda value, bound: len(value) >= bound),
    "maxLength": ("string", lambda value, bound: len(value) <= bound),
    "pattern": ("string", lambda value, bound: _matches(bound, value)),
    "minItems": ("array", lambda value, bound: len(value) >= bound),
    "maxItems": ("array", lambda value, bound: len(value) <= bound),
    "uniqueItems": ("array", lambda value, bound: not bound or _all_differ(value)),
    "minProperties": ("object", lambda value, bound: len(value) >= bound),
    "maxProperties": ("object", lambda value, bound: len(value) <= bound),
}


_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})


def mismatch(schema: Any, value: Any) -> str | None:
    """The reason why a value does not match a schema, with a JSON pointer; None if it matches."""
    try:
        return _check(schema, value, "", schema)
    except RecursionError:
        return "nested too deeply to be checked"
    except (TypeError, ValueError, LookupError, ArithmeticError, SyntagmaError) as error:
        return f"the schema cannot be checked: {error}"


def _check(schema: Any, value: Any, at: str, root: Any) -> str | None:
    if isinstance(schema, bool):
        return None if schema else f"{at or '/'} is not allowed"
    if not isinstance(schema, Mapping):
        raise TypeError("a schema is an object or a boolean")
    for keyword in _REFERENCES & schema.keys():
        wrong = _check(referred(schema[keyword], root), value, at, root)
        if wrong is not None:
            return wrong
    steps = (_parts, _dependencies, _choices, _unevaluated)
    return _plain(schema, value, at) or next(filter(None, (step(schema, value, at, root) for step in steps)), None)


def _plain(schema: Mapping[str, Any], value: Any, at: str) -> str | None:
    where = at or "/"
    if value is None and schema.get("nullable") is True:
        return None
    types = schema.get("type")
    if types is not None:
        allowed = [types] if isinstance(types, str) else types
        if not any(is_of_type(value, name) for name in allowed):
            return f"{where} is not of type {' or '.join(allowed)}"
    if "enum" in schema and not any(_equal(value, choice) for choice in schema["enum"]):
        return f"{where} is not one of the allowed values"
    if "const" in schema and not _equal(value, schema["const"]):
        return f"{where} is not the allowed value"
    for keyword, (kind, holds) in _BOUNDS.items():
        if keyword not in schema or not is_of_type(value, kind):
            continue
        if isinstance(schema[keyword], bool) != (keyword == "uniqueItems"):
            raise TypeError(f"{keyword} is {schema[keyword]!r}")
        if not holds(value, schema[keyword]):
            return f"{where} violates {keyword} {schema[keyword]!r}"
    return None


def _parts(schema: Mapping[str, Any], value: Any, at: str, root: Any) -> str | None:
    if isinstance(value, dict):
        missing = [name for name in schema.get("required", ()) if name not in value]
        if missing:
            return f"{at or '/'} lacks {missing[0]!r}"
        known = schema.get("properties", {})
        others = schema.get("additionalProperties", True)
        names = schema.get("propertyNames", True)
        patterns = schema.get("patternProperties", {})
        for name, part in value.items():
            place = at + pointer_of(name)
            fitting = [known[name]] if name in known else []
            fitting += [item for pattern, item in patterns.items() if _matches(pattern, name)]
            wrong = _check(names, name, place, root)
            for item in fitting or [others]:
                wrong = wrong or _check(item, part, place, root)
            if wrong is not None:
                return wrong
    if isinstance(value, list):
        first, rest = _items(schema)
        for index, part in enumerate(value):
            wrong = _check(first[index] if index < len(first) else rest, part, f"{at}/{index}", root)
            if wrong is not None:
                return wrong
        if "contains" in schema:
            count = sum(_check(schema["contains"], part, at, root) is None for part in value)
            if not schema.get("minContains", 1) <= count <= schema.get("maxContains", count):
                return f"{at or '/'} has {count} items that match contains"
    return None


def _items(schema: Mapping[str, Any]) -> tuple[list[Any], Any]:
    """The schemas of the first items, and the schema of the rest. Older drafts use other keywords for both."""
    items = schema.get("items", True)
    if isinstance(items, list):
        return items, schema.get("additionalItems", True)
    return schema.get("prefixItems", []), items


def _dependencies(schema: Mapping[str, Any], value: Any, at: str, root: Any) -> str | None:
    """Checks the keywords that apply only if a property is present."""
    if not isinstance(value, dict):
        return None
    for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
        for name, wanted in schema.get(keyword, {}).items():
            if name in value:
                needed = {"required": wanted} if isinstance(wanted, list) else wanted
                wrong = _check(needed, value, at, root)
                if wrong is not None:
                    return wrong
    return None


def _choices(schema: Mapping[str, Any], value: Any, at: str, root: Any) -> str | None:
    for item in schema.get("allOf", ()):
        wrong = _check(item, value, at, root)
        if wrong is not None:
            return wrong
    if "anyOf" in schema and all(_check(item, value, at, root) for item in schema["anyOf"]):
        return f"{at or '/'} matches no schema of anyOf"
    if "oneOf" in schema and sum(_check(item, value, at, root) is None for item in schema["oneOf"]) != 1:
        return f"{at or '/'} does not match exactly one schema of oneOf"
    if "not" in schema and _check(schema["not"], value, at, root) is None:
        return f"{at or '/'} matches the schema of not"
    if "if" in schema:
        branch = "then" if _check(schema["if"], value, at, root) is None else "else"
        return _check(schema.get(branch, True), value, at, root)
    return None


def _unevaluated(schema: Mapping[str, Any], value: Any, at: str, root: Any) -> str | None:
    """Checks the members that no other keyword of the schema has evaluated."""
    keyword = "unevaluatedProperties" if isinstance(value, dict) else "unevaluatedItems"
    if keyword not in schema or not isinstance(value, dict | list):
        return None
    seen = _evaluated({name: part for name, part in schema.items() if name != keyword}, value, root)
    for name, part in value.items() if isinstance(value, dict) else enumerate(value):
        wrong = None if name in seen else _check(schema[keyword], part, at + pointer_of(name), root)
        if wrong is not None:
            return wrong
    return None


def _evaluated(schema: Any, value: Any, root: Any) -> set[str | int]:
    """The members that a schema evaluates in a value that matches it: names in an object, indexes in a list."""
    if not isinstance(schema, Mapping):
        return set()
    seen: set[str | int] = set()
    if isinstance(value, dict):
        whole = not schema.keys().isdisjoint({"additionalProperties", "unevaluatedProperties"})
        known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        seen |= {name for name in value if whole or name in known or any(_matches(one, name) for one in patterns)}
    else:
        first, _ = _items(schema)
        others = (
            {"additionalItems", "unevaluatedItems"} if schema.get("items") is first else {"items", "unevaluatedItems"}
        )
        whole = not schema.keys().isdisjoint(others)
        seen |= set(range(len(value) if whole else min(len(first), len(value))))
        if "contains" in schema:
            seen |= {index for index, part in enumerate(value) if _check(schema["contains"], part, "", root) is None}
    for inner in _applied(schema, value, root):
        seen |= _evaluated(inner, value, root)
    return seen


def _applied(schema: Mapping[str, Any], value: Any, root: Any) -> Iterator[Any]:
    """The subschemas that apply to the value itself and match it."""
    for keyword in _REFERENCES & schema.keys():
        yield referred(schema[keyword], root)
    choices = [*schema.get("allOf", ()), *schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if isinstance(value, dict):
        choices += [part for name, part in schema.get("dependentSchemas", {}).items() if name in value]
    if "if" in schema:
        fits = _check(schema["if"], value, "", root) is None
        choices += [schema["if"], schema.get("then", True)] if fits else [schema.get("else", True)]
    for choice in choices:
        if _check(choice, value, "", root) is None:
            yield choice


def _equal(one: Any, two: Any) -> bool:
    """Equal as JSON values: 2 is 2.0, and true is not 1."""
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(_equal(one[name], two[name]) for name in one)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(_equal, one, two))
    return bool(one == two)


def _all_differ(values: list[Any]) -> bool:
    return len({_key(value) for value in values}) == len(values)


def _key(value: Any) -> Any:
    """A hashable key: two keys are equal if and only if their JSON values are equal."""
    if isinstance(value, dict):
        return "object", frozenset((name, _key(part)) for name, part in value.items())
    if isinstance(value, list):
        return "array", tuple(map(_key, value))
    return isinstance(value, bool), value


def _matches(pattern: str, text: str) -> bool:
    """Whether a pattern matches somewhere in a text, decided by the grammar of a JSON string with that pattern."""
    from syntagma.decoding import GrammarMatcher

    matcher = GrammarMatcher(_compiled(pattern))
    written = json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")
    return matcher.accept_bytes(written) and matcher.is_accepting()


@functools.lru_cache(maxsize=64)
def _compiled(pattern: str) -> Any:
    from syntagma.decoding import GrammarCompiler
    from syntagma.decoding.byte_vocabulary import byte_vocabulary
    from syntagma.grammars import Grammar

    return GrammarCompiler(byte_vocabulary()).compile(Grammar.from_json_schema({"type": "string", "pattern": pattern}))
