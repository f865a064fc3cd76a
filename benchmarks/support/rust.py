"""Measurements without Python: the examples of the engine's crate, run by cargo."""

from __future__ import annotations

import re
import shutil
import subprocess

from support.tables import SHARES, number
from support.vocabularies import ENGINE_DATA, ROOT, SHIPPED

_LINE = re.compile(r"^(?P<label>[a-z][a-z, ]*?)\s+n\s+(?P<n>\d+)\s+mean\s+(?P<mean>-?[\d.]+)(?P<rest>.*)$")
_SHARE = re.compile(r"(p[\d.]+|max)\s+(-?[\d.]+)")


def schema_masks(vocabulary: str) -> list[tuple[str, list[str]]]:
    """Label, count, mean and percentiles of the replay of all schemas; empty without cargo or the data."""
    if vocabulary == SHIPPED or shutil.which("cargo") is None:
        return []
    command = ["cargo", "run", "--quiet", "--release", "-p", "syntagma-engine", "--example", "schema_masks", "--"]
    files = [f"vocabs/{vocabulary}.tkv", "schemas.jsonl", f"tokens/schemas.{vocabulary}.msgpack"]
    done = subprocess.run(
        [*command, *(str(ENGINE_DATA / file) for file in files), "rounds=3"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    rows = []
    for line in done.stdout.splitlines():
        if match := _LINE.match(line):
            values = {name.removeprefix("p"): float(value) for name, value in _SHARE.findall(match["rest"])}
            cells = [number(values["max" if share == 100 else f"{share:g}"]) for share in SHARES]
            rows.append((match["label"], [f"{int(match['n']):,}", number(float(match["mean"])), *cells]))
    return rows or [(f"failed ({done.stderr.strip().splitlines()[-1:]})", [])]
