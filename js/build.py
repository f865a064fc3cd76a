"""Builds js/dist/syntagma.wasm, and says what is missing where it cannot: exit status 3.

    python js/build.py

A compiler of Rust needs the standard library for WebAssembly (`rustup target add wasm32-unknown-unknown`), or the
sources of exactly its version, from which that is built beside (Debian's `rustc-web` and `rust-web-src`, or rustup's
component `rust-src`). The first compiler on the path that has either is taken, or that of the variable
`SYNTAGMA_WASM_RUSTC`.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "js" / "dist" / "syntagma.wasm"
TARGET = "wasm32-unknown-unknown"
LEAST = (1, 89)
MISSING = 3
"""the exit status where nothing can build it"""
_STACK = 1 << 20
"""bytes; the stack of the machine that runs a page is as large"""
_LINKERS = ("rust-lld", "wasm-ld", "lld-22", "wasm-ld-22", "lld")


class Toolchain(NamedTuple):
    """A compiler that can build for WebAssembly.

    Attributes:
        rustc: the compiler.
        builds_std: whether the standard library is built from its sources.
        linker: the linker, None: the compiler's own.
    """

    rustc: Path
    builds_std: bool
    linker: Path | None


def toolchain() -> Toolchain | None:
    """The first compiler that can build for WebAssembly."""
    return next(filter(None, map(_read, _compilers())), None)


def _compilers() -> Iterator[Path]:
    named = os.environ.get("SYNTAGMA_WASM_RUSTC")
    folders = [] if named else os.environ.get("PATH", "").split(os.pathsep)
    found = [Path(named)] if named else [Path(folder) / "rustc" for folder in folders]
    found += [] if named else sorted(Path("/usr/lib").glob("rust-*/bin/rustc"), reverse=True)
    yield from (rustc for rustc in dict.fromkeys(found) if os.access(rustc, os.X_OK))


def _said(*command: str | Path) -> str:
    try:
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return run.stdout.strip()


def _read(rustc: Path) -> Toolchain | None:
    version = _said(rustc, "--version").split()
    if len(version) < 2 or tuple(map(int, version[1].split(".")[:2])) < LEAST:
        return None
    if any(Path(_said(rustc, "--print", "target-libdir", "--target", TARGET) or "-").glob("libcore-*.rlib")):
        return Toolchain(rustc, False, None)
    sysroot = Path(_said(rustc, "--print", "sysroot"))
    if not (sysroot / "lib/rustlib/src/rust/library/std/Cargo.toml").exists():
        return None
    linker = _linker(sysroot)
    return Toolchain(rustc, True, linker) if linker else None


def _linker(sysroot: Path) -> Path | None:
    """A linker for WebAssembly: the compiler's, that of any other one, or LLVM's."""
    own = Path(_said("rustc", "--print", "sysroot") or sysroot)
    listed = [path for root in (sysroot, own) for path in root.glob("lib/rustlib/*/bin/rust-lld")]
    listed += [Path(path) for path in map(shutil.which, _LINKERS) if path]
    return next((path for path in listed if "LLD" in _said(path, "-flavor", "wasm", "--version")), None)


def build(found: Toolchain) -> None:
    """Builds the module with a toolchain.

    Raises:
        subprocess.CalledProcessError: it does not build.
    """
    # What is built for other targets has other flags, and is not to be built again.
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "wasm"
    flags = [f"-Clink-arg=-zstack-size={_STACK}"]
    if found.linker:
        flags.append(f"-Clinker={found.linker}")
    settings = {
        "RUSTC": str(found.rustc),
        "CARGO_TARGET_DIR": str(folder),
        "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags),
    }
    command = [str(found.rustc.with_name("cargo")), "build", "--quiet", "--locked", "--profile", "wasm"]
    command += ["--package", "syntagma-wasm", "--target", TARGET]
    if found.builds_std:
        settings["RUSTC_BOOTSTRAP"] = "1"
        command.append("-Zbuild-std=std,panic_abort")
    subprocess.run(command, cwd=ROOT, env={**os.environ, **settings}, check=True)
    BUILT.parent.mkdir(exist_ok=True)
    shutil.copyfile(folder / TARGET / "wasm" / "syntagma_wasm.wasm", BUILT)


def main() -> int:
    """The exit status."""
    found = toolchain()
    if found is None:
        print(
            f"no compiler of Rust {LEAST[0]}.{LEAST[1]} or newer can build for {TARGET}: "
            f"run `rustup target add {TARGET}`, or install Debian's rustc-web and rust-web-src and lld",
            file=sys.stderr,
        )
        return MISSING
    beside = ", its standard library beside" if found.builds_std else ""
    print(f"{found.rustc} builds {BUILT.relative_to(ROOT)}{beside}: minutes, the first time")
    try:
        build(found)
    except subprocess.CalledProcessError as error:
        return error.returncode
    size, packed = BUILT.stat().st_size, len(gzip.compress(BUILT.read_bytes()))
    print(f"{size / 1e6:.2f} MB, {packed / 1e6:.2f} MB with gzip")
    return 0


if __name__ == "__main__":
    sys.exit(main())
