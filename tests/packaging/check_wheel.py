"""Installs the wheel where there is nothing but Python, and does there what the README says.

    python -m tests.packaging.check_wheel [--dist DIR]

Each step is a line of a table: what was done, what came of it, and the seconds it took. The steps: what is in the
wheel; a wheel built from the source distribution; an empty environment of each Python version that the project
supports; the wheel run by uvx; a new Debian with Python and nothing else. No step but the one that builds finds a Rust
toolchain. A step whose tool is not on this machine is skipped, and its line says so. The exit status is 1 if a step
failed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = ROOT / "tests" / "docs" / "blocks.py"
PYTHONS = ("3.11", "3.12", "3.13")
MAX_WHEEL_BYTES = 8_000_000
DEBIAN = "bookworm"
SECONDS = 900
"""the longest that a command may take"""
_SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
# What a stranger types first; each must end well.
_COMMANDS = (["formats"], ["demo"])
_README = "import pathlib, blocks; blocks.run_blocks(pathlib.Path('README.md')); print('the README runs')"
_PAGE = "from syntagma.inspector import answer; print(answer(None, '', None).body.decode()[:15])"
_IMPORT = (
    "import subprocess, sys, time\n"
    "def seconds(code):\n"
    "    began = time.perf_counter()\n"
    "    subprocess.run([sys.executable, '-c', code], check=True)\n"
    "    return time.perf_counter() - began\n"
    "print(round(1000 * (min(seconds('import syntagma') for _ in range(9)) - min(seconds('') for _ in range(9)))))"
)


class Skipped(Exception):
    """This machine lacks what the step needs."""


@dataclass(frozen=True)
class Step:
    """A thing to check.

    Attributes:
        name: what is done.
        check: does it; returns what there is to say; raises `Skipped`, or anything else on failure.
    """

    name: str
    check: Callable[[], str]


def main() -> int:
    """Check a wheel and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="where the wheel and the sdist are")
    folder = parser.parse_args().dist.resolve()
    wheel, sdist = _only(folder, "*.whl"), _only(folder, "*.tar.gz")
    failed = False
    print("| step | result | seconds |\n|---|---|---:|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        for step in steps(wheel, sdist, Path(name)):
            began = time.monotonic()
            try:
                result = step.check()
            except Skipped as reason:
                result = f"skipped: {reason}"
            except (AssertionError, OSError, subprocess.SubprocessError) as error:
                failed = True
                result = f"FAILED: {_told(error)}"
            print(f"| {step.name} | {result} | {time.monotonic() - began:.0f} |", flush=True)
    return int(failed)


def steps(wheel: Path, sdist: Path, scratch: Path) -> Iterator[Step]:
    """Everything that is checked, in order."""
    yield Step("the wheel holds what it should", lambda: check_contents(wheel))
    yield Step("the source distribution builds", lambda: check_sdist(sdist, scratch))
    for version in PYTHONS:
        yield Step(f"Python {version}", lambda version=version: check_python(version, wheel, scratch))  # type: ignore[misc]
    yield Step("uvx", lambda: check_uvx(wheel, scratch))
    yield Step(f"Debian ({DEBIAN}) with Python only", lambda: check_debian(wheel, scratch))


def check_contents(wheel: Path) -> str:
    """Its size and its tag, the files that must be in it, and those that must not."""
    size = wheel.stat().st_size
    assert size <= MAX_WHEEL_BYTES, f"{size} bytes; at most {MAX_WHEEL_BYTES} are allowed"
    assert "-cp311-abi3-" in wheel.name, f"{wheel.name} is not for every Python from 3.11 on"
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    for wanted in ("syntagma/py.typed", "syntagma/_engine.pyi", "syntagma/embedded/data/model.safetensors"):
        assert wanted in names, f"{wanted} is missing"
    for part in ("/licenses/LICENSE", "/sboms/"):
        assert any(part in name for name in names), f"nothing is in {part}"
    other = sorted({name.split("/")[0] for name in names if not name.startswith(("syntagma/", "syntagma-"))})
    assert not other, f"{other} do not belong into it"
    return f"{size / 1e6:.1f} MB, {wheel.name.removesuffix('.whl').split('-', 2)[2]}"


def check_sdist(sdist: Path, scratch: Path) -> str:
    """Build a wheel from the source distribution; needs cargo."""
    if shutil.which("cargo") is None:
        raise Skipped("no cargo here")
    home = scratch / "sdist"
    with tarfile.open(sdist) as file:
        names = file.getnames()
    assert not [name for name in names if name.endswith((".so", ".pyc"))], "it holds what was built"
    python = _environment(sys.executable, home)
    target = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target" / "sdist")}
    _run([python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(home), str(sdist)], home, env=target)
    return f"{len(names)} files"


def check_python(version: str, wheel: Path, scratch: Path) -> str:
    """Install into an empty environment of this version, and try it there."""
    home = scratch / f"python{version}"
    python = _environment(_interpreter(version), home)
    _run([python, "-m", "pip", "install", "--quiet", str(wheel)], home)
    _run([python, "-m", "pip", "check"], home)
    _copy_readme(home)
    return _try([python], home)


def check_uvx(wheel: Path, scratch: Path) -> str:
    """Run the demonstration without installing anything by hand."""
    uvx = shutil.which("uvx")
    if uvx is None:
        raise Skipped("no uvx here")
    home = scratch / "uvx"
    home.mkdir()
    environment = {**_bare(), "UV_TOOL_DIR": str(home / "tools"), "UV_CACHE_DIR": str(home / "cache")}
    told = _run([uvx, "--python", sys.executable, "--from", str(wheel), "syntagma", "demo"], home, env=environment)
    assert told.strip(), "the demonstration says nothing"
    return "`uvx --from WHEEL syntagma demo` runs"


def check_debian(wheel: Path, scratch: Path) -> str:
    """Make a Debian with Python and nothing else, and try it there; needs debootstrap, and to be root.

    The root gets its wheels as files: it has neither a network nor pip.
    """
    if shutil.which("debootstrap", path=_SYSTEM_PATH) is None:
        raise Skipped("no debootstrap here")
    if os.geteuid() != 0:
        raise Skipped("only root can make one")
    root = scratch / "debian"
    made = ["debootstrap", "--variant=minbase", "--include=python3", DEBIAN, str(root)]
    try:
        _run(made, scratch, env={**os.environ, "PATH": _SYSTEM_PATH})
    except subprocess.SubprocessError as error:
        raise Skipped(f"debootstrap cannot make it: {_told(error)}") from None
    inside = ["chroot", str(root), "python3"]
    version = _run([*inside, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], scratch).strip()
    wheels, work = root / "wheels", root / "work"
    wheels.mkdir()
    work.mkdir()
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--python-version", version]
    _run([*fetch, "-d", str(wheels), "pip", str(wheel)], scratch, env=dict(os.environ))
    (pip,) = wheels.glob("pip-*.whl")
    install = [f"/wheels/{pip.name}/pip", "install", "--quiet", "--no-index", "--find-links", "/wheels"]
    _run([*inside, *install, "--break-system-packages", "--root-user-action=ignore", f"/wheels/{wheel.name}"], scratch)
    _copy_readme(work)
    return _try(["chroot", str(root), "env", "--chdir=/work", "python3"], scratch)


def _try(python: list[str], home: Path) -> str:
    """What every installation must be able to do; `python` starts its interpreter."""
    path = [*python, "-c", "import shutil, sys; print(shutil.which('cargo'), shutil.which('rustc'))"]
    assert _run(path, home).split() == ["None", "None"], "a Rust toolchain is within reach"
    milliseconds = _run([*python, "-c", _IMPORT], home).strip()
    assert "the README runs" in _run([*python, "-c", _README], home)
    assert "<!doctype html>" in _run([*python, "-c", _PAGE], home), "the inspector's page is missing"
    for command in _COMMANDS:
        assert _run([*python, "-m", "syntagma", *command], home).strip(), f"{command} says nothing"
    return f"the README's blocks and `syntagma demo` run; `import syntagma` takes {milliseconds} ms"


def _environment(python: str, home: Path) -> str:
    """An empty environment; the path of its interpreter."""
    _run([python, "-m", "venv", str(home)], home.parent)
    return str(home / "bin" / "python")


def _interpreter(version: str) -> str:
    """An interpreter of this version.

    Raises:
        Skipped: none is here.
    """
    name = f"python{version}"
    found = [sys.executable] if sys.version_info[:2] == tuple(map(int, version.split("."))) else []
    found += [shutil.which(name) or ""]
    uv = shutil.which("uv")
    if uv is not None:
        find = [uv, "python", "find", "--no-project", "--no-python-downloads", version]
        found += [subprocess.run(find, capture_output=True, text=True, check=False).stdout.strip()]
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    found += [str(path) for path in sorted(pyenv.glob(f"versions/{version}.*/bin/python"))]
    for path in filter(None, found):
        shown = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if shown.stdout.startswith(f"Python {version}."):
            return path
    raise Skipped(f"no {name} here")


def _copy_readme(home: Path) -> None:
    """Put what the README's blocks read, and what runs them, into a folder."""
    shutil.copy(ROOT / "README.md", home)
    shutil.copytree(ROOT / "examples", home / "examples")
    shutil.copy(BLOCKS, home)


def _bare() -> dict[str, str]:
    """This environment without a Rust toolchain, and without what else would come from around the wheel."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "CARGO", "RUST", "VIRTUAL_ENV"))
    }
    return {**kept, "PATH": _SYSTEM_PATH}


def _run(command: list[str], home: Path, *, env: dict[str, str] | None = None) -> str:
    """What a command prints; it must end with status 0."""
    done = subprocess.run(
        command,
        cwd=home,
        env=_bare() if env is None else env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    return done.stdout


def _told(error: BaseException) -> str:
    """An error in a line: what the command said last, if it was a command."""
    said = getattr(error, "output", None) or str(error)
    lines = [line for line in str(said).strip().splitlines() if line.strip()]
    return (lines[-1] if lines else repr(error)).replace("|", "\\|")


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"one {pattern} is expected in {folder}, and {len(found)} are there: run `make wheel`")
    return found[0]


if __name__ == "__main__":
    sys.exit(main())
