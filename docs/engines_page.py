"""The page of engines: who holds what, and which cases each one held, from `engines.toml` and `tried.json`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

FOLDER = Path(__file__).parent / "engines"
INTRODUCTION = """# Engines

The turn is the same for every engine: prompt, grammar and parser come from one `Turn`. Engines differ in who masks the
logits, and in how thoroughly we could test them.

"""
CASES = """
## The table of cases

All engines run the same cases (`tests/upstreams/cases.py`): `make test-engines`, and `make test` for the mocks.
● passed whole and streamed, ◐ whole only, ◑ streamed only, ✕ is refused with the reason, – was not tested. `hot` is
temperature 2. `disconnect` checks that the model stops if the client disconnects or the stream is closed; without a
stream or connection of ours there is nothing to test.

"""


def engines_page() -> str:
    """The page as Markdown.

    Raises:
        KeyError: an engine was tried that `engines.toml` does not know.
    """
    engines = tomllib.loads((FOLDER / "engines.toml").read_text(encoding="utf-8"))["engine"]
    tried = json.loads((FOLDER / "tried.json").read_text(encoding="utf-8"))
    unknown = set(tried) - {engine["id"] for engine in engines}
    if unknown:
        raise KeyError(f"engines.toml has nothing of {', '.join(sorted(unknown))}")
    lines = ["| engine | constrained by | tested with |", "|:--|:--|:--|"]
    for engine in engines:
        name = f"[{engine['name']}]({engine['page']})" if "page" in engine else engine["name"]
        lines.append(f"| {name} | {engine['held']} | {engine['tried']} |")
    cases = sorted({case for held in tried.values() for case in held})
    table = [f"| engine | {' | '.join(cases)} |", "|:--|" + ":-:|" * len(cases)]
    for engine in engines:
        held = tried.get(engine["id"], {})
        table.append(f"| {engine['name']} | {' | '.join(_sign(held.get(case, [])) for case in cases)} |")
    return INTRODUCTION + "\n".join(lines) + "\n" + CASES + "\n".join(table) + "\n"


def _sign(ways: list[str]) -> str:
    """One cell: the ways in which a case was held."""
    if "refused" in ways:
        return "✕"
    return {(): "–", ("whole",): "◐", ("streamed",): "◑", ("whole", "streamed"): "●"}[tuple(ways)]
