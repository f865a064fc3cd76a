"""The page of clients: a program for each, and which cases held, from `clients.toml` and `clients.json`.

Agent programs follow, from `agents.toml` and `agents.json`.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
INTRODUCTION = """# Clients

Start the server with `syntagma serve --model embedded`, or with your own model, and give its address to a client:
`http://127.0.0.1:8000/v1`. Anthropic's own client adds `/v1` itself. Without `--api-key` any key works. Fields,
endpoints and errors are in [the reference](reference/server.md).

"""
TRIED = """
## Test results

`make test-clients` uses the shipped model through each client, in separate environments.
● passed, ✕ failed, – not supported by the client, or not tested.

"""
# What tests show, by their names, and how it is called in the table.
CASES = {
    "chat": "chat",
    "stream": "streamed",
    "auto": "tools: auto",
    "required": "tools: required",
    "named": "tools: named",
    "streamed_call": "calls streamed",
    "result": "results fed back",
    "structured": "structured output",
    "errors": "errors",
    "prompt_logprobs": "log-probabilities of prompts",
}

AGENTS = """
## Agent programs

What such a program needs for your model, here `my-model`, and how it is run without a person.
"""
AGENTS_TRIED = """
### Test results of agent programs

`make test-agents` runs each program by itself against the server, with models that follow a script in the notation of
four models. The model reasons (if it can), says something and calls one of the program's own tools; the program runs it
and sends the result; the model answers. All is streamed. The server may warn of nothing but tools that a provider would
run, and nothing of the conversation may be lost, except what a program itself does not send back.

"""
# The notations of the scripted models, and whose they are.
NOTATIONS = {"qwen-xml": "Qwen3-Coder", "hermes": "Hermes 2 Pro", "gpt-oss": "gpt-oss", "glm": "GLM-4.7"}
TASK = "What does the note say?"
LANGUAGES = {"py": "python no-run", "yml": "yaml"}


def clients_page() -> str:
    """The page as Markdown.

    Raises:
        KeyError: a client was tried that its table does not know, or the other way round.
    """
    clients, tried = _known("client")
    programs = [f"\n## {client['name']}\n\n{_fenced(client['program'])}" for client in clients]
    table = [f"| client | endpoint | {' | '.join(CASES.values())} |", "|:--|:--|" + ":-:|" * len(CASES)]
    for client in clients:
        known = tried[client["id"]]
        for endpoint, held in sorted(known["held"].items()):
            signs = " | ".join({True: "●", False: "✕", None: "–"}[held.get(case)] for case in CASES)
            table.append(f"| {client['name']} {known['version']} | `{endpoint}` | {signs} |")
    agents = "".join([AGENTS, *map(_agent, _known("agent")[0]), AGENTS_TRIED, "\n".join(_agents_table())])
    return INTRODUCTION.rstrip() + "\n" + "".join(programs) + TRIED + "\n".join(table) + "\n" + agents + "\n"


def _known(kind: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The entries of a table, and what came of each."""
    entries = tomllib.loads((HERE / f"{kind}s.toml").read_text(encoding="utf-8"))[kind]
    tried = json.loads((HERE / f"{kind}s.json").read_text(encoding="utf-8"))
    unmatched = set(tried) ^ {entry["id"] for entry in entries}
    if unmatched:
        raise KeyError(f"{kind}s.toml and {kind}s.json do not agree on {', '.join(sorted(unmatched))}")
    return entries, tried


def _agent(agent: dict[str, Any]) -> str:
    """What a program needs, and how it is run."""
    files = "".join(
        f"\n`{name}`:\n\n```{LANGUAGES.get(end := name.rpartition('.')[2], end)}\n{text.strip()}\n```\n"
        for name, text in agent.get("files", {}).items()
    ).replace("TASK", TASK)
    variables = "".join(f"export {name}={shlex.quote(text)}\n" for name, text in agent.get("variables", {}).items())
    command = shlex.join(part.replace("TASK", TASK) for part in agent["command"])
    also = "".join(
        f"\nFor `{endpoint}`: " + ", ".join(f"`{new}` instead of `{old}`" for old, new in swaps.items()) + ".\n"
        for endpoint, swaps in agent.get("also", {}).items()
    )
    return f"\n### {agent['name']}\n{files}\n```sh no-run\n{variables}{command}\n```\n{also}"


def _agents_table() -> Iterator[str]:
    yield f"| program | endpoint | {' | '.join(NOTATIONS.values())} | does not send back | fields without effect |"
    yield "|:--|:--|" + ":-:|" * len(NOTATIONS) + ":--|:--|"
    agents, tried = _known("agent")
    for agent in agents:
        known = tried[agent["id"]]
        for endpoint, held in sorted(known["held"].items()):
            signs = " | ".join({True: "●", False: "✕", None: "–"}[held.get(notation)] for notation in NOTATIONS)
            drops = ", ".join(agent.get("drops", {}).get(endpoint, ())) or "–"
            ignored = ", ".join(f"`{name}`" for name in known["ignored"][endpoint]) or "–"
            yield f"| {agent['name']} {known['version']} | `{endpoint}` | {signs} | {drops} | {ignored} |"


def _fenced(program: str) -> str:
    language = "js" if "console.log" in program else "python no-run"
    return f"```{language}\n{program.strip()}\n```\n"
