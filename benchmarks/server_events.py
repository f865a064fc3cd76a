"""What the server costs: CPU time per request and per streamed event, without a model and without a network.

The ASGI application is called in process, as an ASGI server would call it. The backend follows a script, a byte a
token, so that every token is an event. The format and the tool are made up. Three answers are streamed: plain text;
one tool call whose argument is a long string, held by the tool's schema; and the same call with `enforce="off"`,
where no grammar is needed.

`request` is the CPU time of a whole request with a short answer, from the first byte of the body to the last event
(its grammar is compiled already: a server keeps compiled grammars). `event` is the CPU time of one further event:
what a long answer costs above a short one, divided by the events that it has above it. `generating` is the part of
`event` that is spent on the token itself: the scripted logits, the mask and sampling. All are microseconds of CPU
time of the whole process, the median of the runs.

Run: `python benchmarks/server_events.py [--quick]`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from pathlib import Path
from typing import Any, NamedTuple

from support.tables import Table, number

from syntagma.codec import ChatCodec
from syntagma.decoding.sampling import Sampling
from syntagma.formats import ChatFormat
from syntagma.generation import GenerationOptions
from syntagma.serving import ServedModel, Settings, create_app
from syntagma.templates import ChatTemplate
from syntagma.testing import ScriptedBackend

RUNS = 9
SHORT = 8
LONG = 500
FORMAT = Path(__file__).resolve().parents[1] / "tests" / "serving" / "format.toml"
TEMPLATE = """
{%- if tools -%}<tools>{{ tools | tojson }}<end>{%- endif -%}
{%- for message in messages -%}<{{ message.role }}>{{ message.content }}<end>{%- endfor -%}
{%- if add_generation_prompt -%}<assistant>{%- endif -%}
"""
TOOL = {
    "type": "function",
    "function": {
        "name": "write",
        "parameters": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        },
    },
}
MESSAGES = [{"role": "user", "content": "Write."}]
WORDS = "it may rain in the hills, so take a coat. "


class Answer(NamedTuple):
    """One kind of answer: what stands around its text, and what the request declares."""

    before: str
    after: str
    tools: list[dict[str, Any]]
    settings: Settings

    def script(self, size: int) -> str:
        """The raw text of an answer with this many characters of text."""
        return self.before + (WORDS * (size // len(WORDS) + 1))[:size] + self.after


CALL = ('<call>{"name": "write", "arguments": {"text": "', '"}}</call>', [TOOL])
ANSWERS = {
    "plain text": Answer("", "", [], Settings()),
    "a call, by schema": Answer(*CALL, Settings()),
    "a call, free": Answer(*CALL, Settings(enforce="off")),
}


class Run(NamedTuple):
    """CPU time in microseconds, and what came out."""

    cpu_us: float
    events: int


class Served:
    """A server whose answer is one script."""

    def __init__(self, answer: Answer, size: int) -> None:
        self._answer = answer
        codec = ChatCodec.from_format(ChatFormat.from_toml(FORMAT.read_text(encoding="utf-8")), ChatTemplate(TEMPLATE))
        self.model = ServedModel(ScriptedBackend(answer.script(size)), codec)
        self._generator = self.model.model.generator
        self._app = create_app(self.model, answer.settings)
        request: dict[str, Any] = {
            "messages": MESSAGES,
            "temperature": 0,
            "stream": True,
            "tools": answer.tools,
        }
        self._body = json.dumps(request).encode()

    async def stream(self) -> Run:
        """Ask once and read the whole stream."""
        sent: list[bytes] = []
        waiting = [{"type": "http.request", "body": self._body, "more_body": False}]

        async def receive() -> dict[str, Any]:
            if waiting:
                return waiting.pop()
            await asyncio.Event().wait()  # the client stays until it has everything
            raise AssertionError

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.body" and message["body"]:
                sent.append(message["body"])

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/v1/chat/completions",
            "raw_path": b"/v1/chat/completions",
            "query_string": b"",
            "root_path": "",
            "headers": [(b"content-type", b"application/json")],
        }
        began = time.process_time_ns()
        await self._app(scope, receive, send)  # type: ignore[arg-type]  # starlette's types are narrower than ASGI's
        took = (time.process_time_ns() - began) / 1e3
        assert sent[-1] == b"data: [DONE]\n\n", sent[-1]
        return Run(took, len(sent))

    def generate(self) -> float:
        """CPU time of the same tokens without server and parser, microseconds."""
        turn = self.model.codec.prepare(
            MESSAGES, tools=self._answer.tools, enforce=self._answer.settings.enforce or "parameters"
        )
        options = GenerationOptions(sampling=Sampling(temperature=0.0))
        generation = self._generator.start(turn.prompt, grammar=turn.grammar, options=options)
        began = time.process_time_ns()
        for _ in generation:
            pass
        return (time.process_time_ns() - began) / 1e3


async def measure(answer: Answer, runs: int) -> tuple[float, float, float]:
    """Microseconds of a request, of an event, and of the generating in an event."""
    short, long = Served(answer, SHORT), Served(answer, LONG)
    requests, events, generating = [], [], []
    for number_of_run in range(runs + 1):
        one, many = await short.stream(), await long.stream()
        without = long.generate() / LONG
        if number_of_run:  # the first run compiles
            requests.append(one.cpu_us)
            events.append((many.cpu_us - one.cpu_us) / (many.events - one.events))
            generating.append(without)
    return statistics.median(requests), statistics.median(events), statistics.median(generating)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    runs = 3 if parser.parse_args().quick else RUNS
    table = Table(["answer", "request, µs", "event, µs", "generating, µs"])
    for name, answer in ANSWERS.items():
        table.row(name, *map(number, asyncio.run(measure(answer, runs))))


if __name__ == "__main__":
    main()
