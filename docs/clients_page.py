"""The page of clients: a program for each, and which cases held, from `clients.toml` and `clients.json`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

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


def clients_page() -> str:
    """The page as Markdown.

    Raises:
        KeyError: a client was tried that `clients.toml` does not know, or the other way round.
    """
    clients = tomllib.loads((HERE / "clients.toml").read_text(encoding="utf-8"))["client"]
    tried = json.loads((HERE / "clients.json").read_text(encoding="utf-8"))
    unmatched = set(tried) ^ {client["id"] for client in clients}
    if unmatched:
        raise KeyError(f"clients.toml and clients.json do not agree on {', '.join(sorted(unmatched))}")
    programs = [f"\n## {client['name']}\n\n{_fenced(client['program'])}" for client in clients]
    table = [f"| client | endpoint | {' | '.join(CASES.values())} |", "|:--|:--|" + ":-:|" * len(CASES)]
    for client in clients:
        known = tried[client["id"]]
        for endpoint, held in sorted(known["held"].items()):
            signs = " | ".join({True: "●", False: "✕", None: "–"}[held.get(case)] for case in CASES)
            table.append(f"| {client['name']} {known['version']} | `{endpoint}` | {signs} |")
    return INTRODUCTION.rstrip() + "\n" + "".join(programs) + TRIED + "\n".join(table) + "\n"


def _fenced(program: str) -> str:
    language = "js" if "console.log" in program else "python no-run"
    return f"```{language}\n{program.strip()}\n```\n"
