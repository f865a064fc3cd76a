"""JSON Schemas with instances that are valid and instances that are not.

`engine/schemas.jsonl`, one object a line: `{"id", "schema", "tests": [{"valid", "data"}]}`. A valid instance must be
accepted, in the order of properties that the schema declares or, failing that, by the grammar of any order. An invalid
one must be refused by both, unless all that is wrong with it stands under a pointer that the grammar reports as not
held. One case a schema, and two for all of them together: how many are exact, how many refused.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import syntagma as sg
from syntagma.grammars import Report

_EXACT_AT_LEAST = 0.96
_REFUSED_AT_MOST = 0.01
_END = 256


class Held(NamedTuple):
    """One schema as a grammar: its compiled form, and what it does not hold."""

    compiled: sg.CompiledGrammar
    report: Report


class Outcome(NamedTuple):
    """What came of one schema.

    Attributes:
        status: `exact`, `widened`, `refused`, or `limit` where it passes a limit.
        problem: what is wrong with its verdicts, or None.
        valid_rejected: valid instances that neither order accepts.
        declared_rejected: valid instances that the declared order does not accept.
        invalid_accepted: invalid instances that an exact grammar accepts.
        widened_accepted: invalid instances that a widened grammar accepts.
    """

    status: str
    problem: str | None
    valid_rejected: int = 0
    declared_rejected: int = 0
    invalid_accepted: int = 0
    widened_accepted: int = 0


def compiler() -> sg.GrammarCompiler:
    """A compiler whose tokens are bytes: what a grammar says about text does not depend on a vocabulary."""
    tokens = [bytes([value]) for value in range(_END)] + [b"<end>"]
    return sg.GrammarCompiler(sg.TokenizerInfo.from_tokens(tokens, eos_token_ids=[_END]), cache=False)


def accepts(held: Held, text: str) -> bool:
    """Whether a whole text is in the language."""
    matcher = sg.GrammarMatcher(held.compiled)
    return matcher.accept_bytes(text.encode("utf-8", "replace")) and matcher.is_accepting()


def read(schema: Any, compile_with: sg.GrammarCompiler, order: Any = "declared") -> Held:
    """The grammar of a schema.

    Raises:
        UnsupportedSchema: it is refused.
        LimitError: it takes more than the default limits allow.
    """
    grammar = sg.Grammar.from_json_schema(schema, order=order)
    return Held(compile_with.compile(grammar), grammar.report)


def home(schema: Any, pointer: str) -> str:
    """Where a keyword stands, given the way a validator came to it: references are followed, as the report does."""
    node, place = schema, ""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        while isinstance(node, dict) and name not in node and str(node.get("$ref", "")).startswith("#"):
            place = node["$ref"][1:]
            node = schema
            for part in place.split("/")[1:]:
                node = node[int(part) if isinstance(node, list) else part.replace("~1", "/").replace("~0", "~")]
        node = node[int(name) if isinstance(node, list) else name]
        place += "/" + step
    return place


def not_told(schema: Any, report: Report, instance: Any) -> list[str]:
    """What is wrong with an instance and stands under none of the pointers that are reported."""
    wrong = [home(schema, violation.keyword) for violation in report.validate(instance)]
    told = [place for place in wrong if any(place == at or place.startswith(at + "/") for at in report.pointers)]
    return [place for place in wrong if place not in told] or ([] if told else ["nothing that the validator knows"])


def judge(row: dict[str, Any], compile_with: sg.GrammarCompiler) -> Outcome:
    """Offer all instances of one schema."""
    try:
        declared = read(row["schema"], compile_with)
    except sg.LimitError as error:
        return Outcome("limit", None if error.code.startswith("E-LIMIT-") else str(error))
    except sg.UnsupportedSchema as error:
        return Outcome("refused", f"{error.code}: {error.message}")
    in_any: Held | None = None
    count: Counter[str] = Counter()
    problems = []
    for at, test in enumerate(row["tests"]):
        text = json.dumps(test["data"], ensure_ascii=False)
        accepted = accepts(declared, text)
        by = declared
        if not accepted:
            count["declared"] += test["valid"]
            if in_any is None:
                try:
                    in_any = read(row["schema"], compile_with, "any")
                except sg.LimitError as error:
                    problems.append(f"in any order: {error.code}")
                    in_any = declared
            accepted = accepts(in_any, text)
            by = in_any
        if test["valid"] and not accepted:
            count["rejected"] += 1
            problems.append(f"valid instance {at} is rejected")
        elif accepted and not test["valid"] and by.report.status == "exact":
            count["accepted"] += 1
            problems.append(f"invalid instance {at} is accepted")
        elif accepted and not test["valid"]:
            count["widened"] += 1
            problems += [
                f"invalid instance {at} is accepted: {p}" for p in not_told(row["schema"], by.report, test["data"])
            ]
    return Outcome(
        declared.report.status,
        "; ".join(problems) or None,
        count["rejected"],
        count["declared"],
        count["accepted"],
        count["widened"],
    )


def run(data: Path) -> Iterator[tuple[str, str | None]]:
    """One case a schema; `all/…` for what holds for all of them together."""
    compile_with = compiler()
    statuses: Counter[str] = Counter()
    slowest = (0.0, "")
    with (data / "engine" / "schemas.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            begin = time.thread_time()
            outcome = judge(row, compile_with)
            slowest = max(slowest, (time.thread_time() - begin, row["id"]))
            statuses[outcome.status] += 1
            yield row["id"], outcome.problem
    total = sum(statuses.values())
    told = ", ".join(f"{count} {status}" for status, count in statuses.most_common())
    exact, refused = statuses["exact"] / total, (statuses["refused"] + statuses["limit"]) / total
    yield "all/exact", None if exact >= _EXACT_AT_LEAST else told
    yield "all/refused", None if refused <= _REFUSED_AT_MOST else told
    print(f"schemas: {told}; the slowest takes {slowest[0]:.2f} s with its instances ({slowest[1]})")
