"""The WebAssembly build in node beside web-xgrammar: schemas compiled, the first mask, new masks, and known ones.

Each engine has a process of its own and takes its turn, in two rounds; of a time the least counts. Both get the
vocabulary as text in the byte-level alphabet and each schema as text, through the same methods; neither has a cache of
compiled grammars. `new` are the masks along a valid document of each schema when it is read for the first time, `known`
the same again. Only schemas count that both read to their end. Times are microseconds.

Run: `python benchmarks/wasm.py [--quick] [vocabulary …]`, after `make wasm`. npm fetches web-xgrammar where it can.
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from support.arguments import LARGE, arguments, there
from support.cases import cases
from support.tables import Table, names_of, number, percentiles
from support.vocabularies import ROOT, Vocabulary

WASM = ROOT / "js" / "dist" / "syntagma.wasm"
SCRIPT = ROOT / "benchmarks" / "wasm.mjs"
PEER = "@mlc-ai/web-xgrammar@0.1.27"
SCHEMAS, QUICK = 60, 12
ROUNDS = 2
SHARES = (50, 90, 99, 100)
WHAT = {"compile": "compile", "first": "first mask", "masks": "new masks", "known": "known masks", "accept": "accept"}
_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_MOVED = [byte for byte in range(256) if byte not in set(_PRINTABLE)]
_ALPHABET = {byte: chr(byte) for byte in _PRINTABLE} | {byte: chr(256 + at) for at, byte in enumerate(_MOVED)}


def fetched(folder: Path) -> Path | None:
    """web-xgrammar's program, as node loads it; None where npm cannot fetch it."""
    npm = shutil.which("npm")
    command = [npm or "npm", "pack", "--silent", PEER]
    if npm is None or subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode:
        return None
    subprocess.run(["tar", "xzf", *(path.name for path in folder.glob("*.tgz"))], cwd=folder, check=True)
    # It calls itself a module of the newer kind, and is one of the older kind.
    return shutil.copyfile(folder / "package" / "lib" / "index.js", folder / "web-xgrammar.cjs")


def given(vocabulary: Vocabulary, count: int) -> dict[str, Any]:
    """What both engines get: the vocabulary, and schemas with the tokens of a valid document."""
    special = set(vocabulary.special)
    # A special token is not spelled, and is no text in either engine.
    spelled = (
        "" if token in special else "".join(_ALPHABET[byte] for byte in data)
        for token, data in enumerate(vocabulary.tokens)
    )
    found = [case for case in cases(vocabulary) if case.documents]
    chosen = found[:: max(1, len(found) // count)][:count]
    schemas = [{"schema": case.schema, "tokens": case.documents[0]} for case in chosen]
    return {"vocabulary": list(spelled), "type": "byte_level", "stops": vocabulary.eos, "schemas": schemas}


def measured(source: Path, peer: Path | None) -> dict[str, Any]:
    """What one engine tells."""
    command = ["node", SCRIPT, source, *([peer] if peer else [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def least(rounds: list[dict[str, Any]]) -> list[dict[str, np.ndarray] | None]:
    """The least of each time, schema by schema; None for what was not read to its end."""
    each = zip(*(one["schemas"] for one in rounds), strict=True)
    return [
        {name: np.min([one[name] for one in same], axis=0) for name in same[0]} if all(same) else None for same in each
    ]


def compare(name: str, count: int, folder: Path, peer: Path | None) -> None:
    source = folder / f"{name}.json"
    vocabulary = Vocabulary(name)
    source.write_text(json.dumps(given(vocabulary, count)), encoding="utf-8")
    engines = {"syntagma": None, **({"web-xgrammar": peer} if peer else {})}
    turns: dict[str, list[dict[str, Any]]] = {engine: [] for engine in engines}
    for _ in range(ROUNDS):
        for engine, program in engines.items():
            turns[engine].append(measured(source, program))
    found = {engine: least(rounds) for engine, rounds in turns.items()}
    both = [at for at, same in enumerate(zip(*found.values(), strict=True)) if all(one is not None for one in same)]
    title = f"{name}: {len(vocabulary.tokens):,} tokens, {len(both)} schemas that all read to their end"
    table = Table(["what", "engine", "n", *names_of(SHARES), "total, ms"], texts=2, title=title)
    for what, label in WHAT.items():
        for engine, schemas in found.items():
            times = np.concatenate([one[what] for at in both if (one := schemas[at]) is not None])
            total = f"{times.sum() / 1e3:,.1f}"
            table.row(label, engine, f"{times.size:,}", *percentiles(times, SHARES), total)
    table = Table(
        ["engine", "vocabulary and compiler, ms", "memory at the end, MiB", "schemas read"], title="beside that"
    )
    for engine, rounds in turns.items():
        setup = min(one["setup"] for one in rounds) / 1e3
        memory = max(one["bytes"] for one in rounds) / 2**20
        read = sum(one is not None for one in found[engine])
        table.row(engine, number(setup), f"{memory:,.0f}", f"{read} of {len(found[engine])}")


def main() -> None:
    options = arguments(__doc__, vocabularies=True)
    if not WASM.exists():
        sys.exit("there is no js/dist/syntagma.wasm: make wasm")
    with tempfile.TemporaryDirectory() as folder:
        peer = fetched(Path(folder))
        table = Table(["file", "MB", "MB with gzip"], title="what a page loads")
        for label, file in (("syntagma.wasm", WASM), ("web-xgrammar, one file", peer)):
            if file:
                data = file.read_bytes()
                table.row(label, f"{len(data) / 1e6:.2f}", f"{len(gzip.compress(data)) / 1e6:.2f}")
        for name in there(options.vocabularies or LARGE[:1]):
            compare(name, QUICK if options.quick else SCHEMAS, Path(folder), peer)


if __name__ == "__main__":
    main()
