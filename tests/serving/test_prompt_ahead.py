"""A prompt is read while its grammar is compiled: what that changes, and what it does not."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest

from syntagma.errors import GrammarError
from syntagma.serving import ServedModel, Settings, create_app
from tests.serving.support import body, model
from tests.serving.test_life import PATIENCE, Caller, run

PATH = "/v1/chat/completions"
HELD: dict[str, Any] = {"structured_outputs": {"choice": ["yes", "no"]}}


class Compiler:
    """Compiles as another compiler does, once it may."""

    def __init__(self, served: ServedModel) -> None:
        generator = served.model.generator
        self._compiler, generator.compiler = generator.compiler, self  # type: ignore[assignment]
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.error: Exception | None = None

    def compile(self, grammar: Any) -> Any:
        self.begun.set()
        assert self.may_end.wait(PATIENCE)
        if self.error is not None:
            raise self.error
        return self._compiler.compile(grammar)


class Scene:
    """A server with a scripted model, whose compiler waits until it may end."""

    def __init__(self, **settings: Any) -> None:
        self.read, self.may_be_read = threading.Event(), threading.Event()
        self.may_be_read.set()
        self.steps: list[int] = []
        self.served = model(self._script, on_step=self.steps.append)
        self.compiler = Compiler(self.served)
        self._app = create_app(self.served, Settings(**settings))

    def _script(self, prompt: str) -> str:
        self.read.set()
        assert self.may_be_read.wait(PATIENCE)
        return "free" if "free" in prompt else "yes"

    def ask(self, text: str = "hi", **fields: Any) -> asyncio.Task[Caller]:
        messages = [{"role": "user", "content": text}]
        return asyncio.ensure_future(Caller(self._app, PATH, body(messages=messages, **fields)).run())


async def happens(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, PATIENCE)


def content(caller: Caller) -> str:
    assert caller.status == 200, caller.received
    if caller.received.startswith(b"{"):
        said: str = json.loads(caller.received)["choices"][0]["message"]["content"]
        return said
    events = [line.removeprefix("data: ") for line in caller.received.decode().split("\n\n") if line.startswith("data")]
    deltas = (json.loads(event)["choices"][0]["delta"] for event in events if event != "[DONE]")
    return "".join(delta.get("content") or "" for delta in deltas)


@pytest.mark.parametrize("stream", [True, False])
def test_prompt_and_grammar_side_by_side(stream: bool) -> None:
    async def scene() -> None:
        made = Scene()
        asked = made.ask(stream=stream, **HELD)
        await happens(made.compiler.begun)
        await happens(made.read)  # which would not happen if the prompt waited for the grammar
        await asyncio.sleep(0.05)
        assert not asked.done()
        assert made.steps == []
        made.compiler.may_end.set()
        assert content(await asked) == "yes"
        assert len(made.served.model.backend.prompts) == 1  # type: ignore[attr-defined]

    run(scene)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("is_read", [True, False])
def test_a_grammar_that_fails_is_a_refusal(stream: bool, is_read: bool) -> None:
    async def scene() -> None:
        made = Scene(parallel=1)
        if not is_read:
            made.may_be_read.clear()
        made.compiler.error = GrammarError("E-GRAMMAR-SYNTAX", "no such grammar")
        asked = made.ask(stream=stream, **HELD)
        await happens(made.read)
        made.compiler.may_end.set()
        refused = await asked
        assert refused.status == 400
        assert b"no such grammar" in refused.received
        made.may_be_read.set()
        # Its place is free again, and the model has written nothing.
        assert content(await made.ask("free")) == "free"
        assert made.steps == list(range(1, len(made.steps) + 1))

    run(scene)


def test_a_prompt_that_is_read_gives_its_place_up() -> None:
    async def scene() -> None:
        made = Scene(parallel=1)
        held = made.ask(**HELD)
        await happens(made.read)
        assert content(await made.ask("free")) == "free"
        assert not held.done()
        made.compiler.may_end.set()
        assert content(await held) == "yes"

    run(scene)


def test_without_a_free_place_the_grammar_comes_first() -> None:
    async def scene() -> None:
        made = Scene(parallel=1)
        made.may_be_read.clear()
        free = made.ask("free")
        await happens(made.read)
        held = made.ask(**HELD)
        await happens(made.compiler.begun)
        await asyncio.sleep(0.05)
        made.compiler.may_end.set()
        made.may_be_read.set()
        assert content(await free) == "free"
        assert content(await held) == "yes"
        assert ["free" in prompt for prompt in made.served.model.backend.prompts] == [True, False]  # type: ignore[attr-defined]

    run(scene)


def test_a_client_that_leaves_frees_the_place() -> None:
    async def scene() -> None:
        made = Scene(parallel=1)
        made.may_be_read.clear()
        caller = Caller(made._app, PATH, body(**HELD))
        asked = asyncio.ensure_future(caller.run())
        await happens(made.read)
        caller.leave.set()
        await asked
        made.may_be_read.set()
        made.compiler.may_end.set()
        assert content(await made.ask("free")) == "free"

    run(scene)
