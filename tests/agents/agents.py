"""The programs of `docs/agents.toml`, and how one is run by itself."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from tests.environments import HOME, ROOT

__all__ = ["AGENTS", "Agent", "Ended", "run"]

_SHOWN_URL, _SHOWN_MODEL = "http://127.0.0.1:8000", "my-model"
"""what stands in the files of the table for the address of the server and the name of the model"""
_SECONDS = 90
_NOWHERE = "http://127.0.0.1:9"
"""a proxy that does not exist: of the network, a program reaches this machine only"""
_NO_NAMES = quote(
    'import dns from "node:dns";const own=dns.lookup;dns.lookup=(name,...rest)=>'
    'name==="localhost"?own(name,...rest):rest.at(-1)(new Error("no network"))'
)
"""the same for Node, which asks no proxy: a module with which it finds no other machine"""


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call that the model writes."""

    name: str
    arguments: dict[str, Any]


class Agent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program; the table says what the fields are."""

    id: str
    name: str
    endpoint: str
    command: list[str]
    call: Call | None = None
    says: str = ""
    files: dict[str, str] = {}
    variables: dict[str, str] = {}
    quiet: dict[str, str] = {}
    also: dict[str, dict[str, str]] = {}
    drops: dict[str, list[str]] = {}
    warns: list[str] = []

    def everywhere(self) -> list[Agent]:
        """The program at each of its endpoints."""
        return [self, *(self._at(endpoint, swaps) for endpoint, swaps in self.also.items())]

    def _at(self, endpoint: str, swaps: dict[str, str]) -> Agent:
        text = msgspec.json.encode(self).decode()
        for old, new in swaps.items():
            text = text.replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1])
        return msgspec.structs.replace(msgspec.json.decode(text, type=Agent), endpoint=endpoint)

    def call_in(self, folder: Path) -> tuple[str, dict[str, Any]] | None:
        """The tool's name and the arguments of the call, in a working folder."""
        if self.call is None:
            return None
        return self.call.name, json.loads(json.dumps(self.call.arguments).replace("FOLDER", str(folder)))


class Ended(msgspec.Struct, frozen=True):
    """How a run ended; the status is None if its time was over."""

    status: int | None
    output: str


def _read() -> Iterator[Agent]:
    table = tomllib.loads((ROOT / "docs" / "agents.toml").read_text(encoding="utf-8"))
    for agent in msgspec.convert(table["agent"], list[Agent]):
        yield from agent.everywhere()


AGENTS = tuple(_read())
"""each program at each of its endpoints"""


def run(agent: Agent, *, folder: Path, url: str, model: str, task: str) -> Ended:
    """Run the program of this environment with a home and a working folder of its own.

    Args:
        agent: the program.
        folder: an existing folder for both; the working folder is `work` in it, which may exist.
        url: where the server is.
        model: the name of the model.
        task: what it is asked.
    """
    home, work = folder / "home", folder / "work"
    for made in (home, work):
        made.mkdir(exist_ok=True)

    def here(text: str) -> str:
        known = {_SHOWN_URL: url, _SHOWN_MODEL: model, "FOLDER": str(work), "TASK": task}
        for shown, meant in known.items():
            text = text.replace(shown, meant)
        return text

    for name, text in agent.files.items():
        path = home / name[2:] if name.startswith("~/") else work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(here(text.lstrip("\n")), encoding="utf-8")
    environment = Path(os.environ[HOME])
    modules = environment / "node_modules"
    programs = [environment / "bin", *sorted(modules.glob("*/bin")), modules / ".bin"]
    surroundings = {
        "PATH": os.pathsep.join([*map(str, programs), os.environ["PATH"]]),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _NOWHERE),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
        "NODE_OPTIONS": f"--import=data:text/javascript,{_NO_NAMES}",
        **{name: here(value) for name, value in {**agent.variables, **agent.quiet}.items()},
    }
    command = ["/usr/bin/env", *(here(part) for part in agent.command)]
    said = folder / "output"
    with said.open("wb") as output:
        program = subprocess.Popen(
            command,
            cwd=work,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            status: int | None = program.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            # What it has started goes with it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
            program.wait()
    return Ended(status, said.read_text(encoding="utf-8", errors="replace"))
