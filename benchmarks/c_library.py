"""The C library beside the one of llguidance: schemas compiled, the first mask, new masks, and known ones.

One program in C (`benchmarks/c/library.c`) is linked once with each; they take turns, in three rounds, and of a time
the least counts, in CPU of the thread. `compile` is from the text of a schema to a matcher, by a process that has not
seen it before; `both` is what the first token waits for, since an engine may do the work of the first mask while it
compiles. Masks are those along all valid documents of a schema, the mean of each schema: `new` when they are read for
the first time, `known` the same again. Only schemas count that both read to their end. Times are microseconds.

Run: `python benchmarks/c_library.py [--quick] [vocabulary …]`; it needs cargo and a C compiler. cargo fetches
llguidance where it can.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from support.arguments import LARGE, arguments, there
from support.cases import cases
from support.tables import Table, names_of, number, percentiles
from support.vocabularies import ROOT, Vocabulary

PEER = "1.9.1"
SOURCE = ROOT / "benchmarks" / "c" / "library.c"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
SCHEMAS, QUICK = 60, 12
ROUNDS = 3
SHARES = (50, 90, 99, 100)
WHAT = ("compile", "first mask", "both", "new masks", "known masks")
STATIC = ("-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl")
_CRATE = f"""
[package]
name = "peer"
version = "0.1.0"
edition = "2021"

[lib]
crate-type = ["staticlib"]
path = "lib.rs"

[dependencies]
llguidance = "={PEER}"

[profile.release]
lto = "thin"
codegen-units = 4
"""
"""how the library of the other is built: as this one is"""


def program(name: str, library: Path, folder: Path, *options: str) -> Path:
    """The program, linked with a library."""
    out = folder / name
    command = [os.environ.get("CC", "cc"), "-std=c11", "-O2", str(SOURCE), "-o", str(out), *options, str(library)]
    subprocess.run([*command, *STATIC], check=True)
    return out


def ours(folder: Path) -> Path:
    """The program with the library of this repository."""
    build = ["cargo", "build", "--release", "--quiet", "--package", "syntagma-capi"]
    subprocess.run(build, cwd=ROOT, check=True)
    include = f"-I{ROOT / 'crates' / 'capi' / 'include'}"
    return program("syntagma", TARGET / "release" / "libsyntagma.a", folder, include)


def peer(folder: Path) -> Path | None:
    """The program with llguidance; None where it cannot be fetched or built."""
    target = TARGET / "llguidance"
    (folder / "Cargo.toml").write_text(_CRATE, encoding="utf-8")
    (folder / "lib.rs").write_text("pub use llguidance::ffi::*;\n", encoding="utf-8")
    build = ["cargo", "build", "--release", "--quiet", "--target-dir", str(target)]
    if subprocess.run(build, cwd=folder, check=False).returncode:
        return None
    return program("llguidance", target / "release" / "libpeer.a", folder, "-DPEER")


def given(vocabulary: Vocabulary, count: int) -> tuple[bytes, int]:
    """What the program reads, and how many schemas are in it."""
    special = set(vocabulary.special)
    texts = [vocabulary.tokens[token] for token in range(len(vocabulary.tokens))]
    found = [case for case in cases(vocabulary) if case.documents]
    chosen = found[:: max(1, len(found) // count)][:count]
    bytes_ = b"".join(texts)
    out = [struct.pack("<4I", len(texts), vocabulary.eos[0], len(chosen), len(bytes_))]
    out.append(np.array([len(text) for text in texts], "<u4").tobytes())
    out.append(bytes(token in special for token in range(len(texts))))
    out.append(bytes_)
    for case in chosen:
        schema = case.schema.encode() + b"\0"
        documents = [struct.pack("<I", len(tokens)) + np.array(tokens, "<u4").tobytes() for tokens in case.documents]
        rest = struct.pack("<I", len(documents)) + b"".join(documents)
        out += [struct.pack("<2I", len(schema), len(rest)), schema, rest]
    return b"".join(out), len(chosen)


def measured(run: Path, file: Path) -> dict[int, list[float]]:
    """The times of each schema that was read to its end, the least of all rounds."""
    lines = subprocess.run([run, str(file), "1"], capture_output=True, text=True, check=True).stdout.splitlines()
    times: dict[int, list[float]] = {}
    for line in lines:
        schema, *found = line.split()
        if found:
            *spent, masks = map(float, found)
            times[int(schema)] = [*spent[:2], sum(spent[:2]), *(one / masks for one in spent[2:])]
    return times


def least(rounds: list[dict[int, list[float]]]) -> dict[int, list[float]]:
    """Of the times of several rounds the least."""
    return {schema: [min(of) for of in zip(*(one[schema] for one in rounds), strict=True)] for schema in rounds[0]}


def main() -> None:
    """Measure, and print the table."""
    options = arguments(__doc__, vocabularies=True)
    if not shutil.which("cargo") or not shutil.which(os.environ.get("CC", "cc")):
        sys.exit("cargo or a C compiler is missing")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        programs = {"syntagma": ours(folder), f"llguidance {PEER}": peer(folder)}
        for name in there(options.vocabularies or LARGE[:1]):
            data, count = given(Vocabulary(name), QUICK if options.quick else SCHEMAS)
            file = folder / "input"
            file.write_bytes(data)
            there_are = {engine: run for engine, run in programs.items() if run is not None}
            rounds: dict[str, list[dict[int, list[float]]]] = {engine: [] for engine in there_are}
            for _ in range(ROUNDS):
                for engine, run in there_are.items():
                    rounds[engine].append(measured(run, file))
            times = {engine: least(found) for engine, found in rounds.items()}
            both = set.intersection(*(set(found) for found in times.values()))
            print(f"\n### {name}\n")
            refused = ", ".join(f"{engine} {len(found)}" for engine, found in times.items())
            print(f"{len(both)} of {count} schemas count; read to their end: {refused}.")
            if len(times) < len(programs):
                print(f"llguidance {PEER} could not be fetched or built.")
            print()
            table = Table(["what", "engine", *names_of(SHARES), "mean"], texts=2)
            for at, what in enumerate(WHAT):
                for engine, found in times.items():
                    values = [found[schema][at] for schema in sorted(both)]
                    table.row(what, engine, *percentiles(values, SHARES), number(float(np.mean(values))))


if __name__ == "__main__":
    main()
