"""Commands of the pages that start a server start one: on the shipped model, or in front of engines' wire formats."""

from __future__ import annotations

import contextlib
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

import httpx
import pytest

from tests.docs.blocks import run_blocks
from tests.docs.commands import commands_of
from tests.docs.test_docs import PAGES, ROOT
from tests.upstreams.mock import MockEngine
from tests.upstreams.wires import WIRES

_UPSTREAM = re.compile(r"(?P<name>[\w-]+=)?(?P<kind>[\w-]+):http://[^#]+(?P<model>#.*)?")
_SECONDS = 60
"""the longest that a server may take to be ready"""
# What needs an engine runs with it, in `tests/engines`.
ENGINES = {"model.gguf": "llama.cpp", "mlx:FOLDER": "MLX"}
# Pages whose blocks run as programs start their servers there, on files of their own.
RUNNING = ("tutorials",)


def serve_commands() -> Iterator[tuple[Path, str]]:
    """The commands that serve what is here, and their pages."""
    for page in PAGES:
        for command in commands_of(page):
            words = shlex.split(command)
            if words[:1] == ["serve"] and page.parent.name not in RUNNING and not set(words) & set(ENGINES):
                yield page, " ".join(words)


COMMANDS = list(serve_commands())


def test_every_kind_of_engine_is_among_them() -> None:
    served = " ".join(command for _, command in COMMANDS)
    assert {kind.partition(" ")[0] for kind in WIRES} <= set(re.findall(r"([\w-]+):http", served))
    assert "--model FOLDER" in served


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("page", "command"),
    COMMANDS,
    ids=[f"{page.relative_to(ROOT)}-{number}" for number, (page, _) in enumerate(COMMANDS)],
)
def test_a_server_starts_and_answers(page: Path, command: str, tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(as_file(files("syntagma.embedded") / "data"))
        address = stack.enter_context(_served(_here(shlex.split(command), folder, stack), tmp_path, page))
        model = httpx.get(f"{address}/v1/models").json()["data"][0]["id"]
        asked = {"model": model, "messages": [{"role": "user", "content": "Hello there"}], "max_tokens": 8}
        answer = httpx.post(f"{address}/v1/chat/completions", json=asked, timeout=_SECONDS)
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("page", ["README.md", "docs/reference/server.md"])
def test_a_page_shows_what_the_server_answers(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with _served(["serve", "--model", "embedded"], tmp_path, ROOT / page) as address:
        run_blocks(ROOT / page, here={"server"}, ports={"8000": int(address.rpartition(":")[2])})


@contextlib.contextmanager
def _served(words: list[str], folder: Path, page: Path) -> Iterator[str]:
    """The address at which a command of a page serves, on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    run = [sys.executable, "-m", "syntagma", *words, "--port", str(port)]
    with (folder / "log").open("w+") as log, subprocess.Popen(run, cwd=folder, stdout=log, stderr=log) as server:
        try:
            address = f"http://127.0.0.1:{port}"
            assert _is_ready(address, server), f"{page.name}: {shlex.join(run)}\n{(folder / 'log').read_text()}"
            yield address
        finally:
            server.terminate()


def _here(words: list[str], folder: Path, stack: contextlib.ExitStack) -> list[str]:
    """The words of a command with engines and models that are here in place of those that a reader has."""
    changed = []
    for before, word in zip(["", *words], words, strict=False):
        upstream = _UPSTREAM.fullmatch(word)
        if upstream is not None:
            engine = stack.enter_context(MockEngine(WIRES[upstream["kind"]]))
            changed.append(f"{upstream['name'] or ''}{upstream['kind']}:{engine.url}")
        else:
            changed.append(str(folder) if before == "--model" and word != "embedded" else word)
    if "--port" in changed:
        at = changed.index("--port")
        del changed[at : at + 2]
    return changed


def _is_ready(address: str, server: subprocess.Popen[bytes]) -> bool:
    """Whether a server answers before it ends, or its time is over."""
    ends = time.monotonic() + _SECONDS
    while server.poll() is None and time.monotonic() < ends:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{address}/health").status_code == 200:
                return True
        time.sleep(0.1)
    return False
