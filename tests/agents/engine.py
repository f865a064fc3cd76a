"""One server with a scripted model for each notation, as a program meets it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import syntagma as sg
from syntagma.codec import ChatCodec
from syntagma.serving import ServedModel, Settings, create_app
from syntagma.testing import ScriptedBackend
from tests.agents.notations import NOTATIONS, TEMPLATES
from tests.serving.live import listening

__all__ = ["Answered", "Scene", "serving"]

_CONTEXT = 1 << 21
"""tokens, which are bytes here"""


class Answered(NamedTuple):
    """A request that was answered: its path, the status, whether it was streamed, and the fields that had no effect."""

    path: str
    status: int
    streamed: bool
    ignored: str


@dataclass
class Scene:
    """What the models are to write, and what they saw.

    Attributes:
        url: where the server is, without `/v1`.
        call: the tool's name and the arguments of its call; None: what comes first is a text, too.
        seen: what makes the model write its last answer: a text that only the tool's result has.
        preamble: what it says first, before the call.
        answer: what it says in the end.
        called: the prompts after which the model wrote the call.
        ended: those after which it wrote its last answer.
        answered: the requests so far.
    """

    url: str = ""
    call: tuple[str, dict[str, Any]] | None = None
    seen: str = ""
    preamble: str = ""
    answer: str = ""
    called: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    answered: list[Answered] = field(default_factory=list)

    def begin(self, call: tuple[str, dict[str, Any]] | None, seen: str, preamble: str, answer: str) -> None:
        """Set what is written from now on, and forget what was seen."""
        self.call, self.seen, self.preamble, self.answer = call, seen, preamble, answer
        for noted in (self.called, self.ended, self.answered):
            noted.clear()

    def script(self, notation: str, prompt: str) -> str:
        """What the model writes after a prompt: the call, or the answer once it saw the result."""
        writer = NOTATIONS[notation]
        if self.seen in prompt:
            self.ended.append(prompt)
            return writer.write(self.answer)
        if self.call is not None and writer.declares.replace("NAME", self.call[0]) not in prompt:
            return writer.write("A note")  # such as the title of a conversation
        self.called.append(prompt)
        return writer.write(self.preamble, self.call)


@contextlib.contextmanager
def serving() -> Iterator[Scene]:
    """The server; models have the names of their notations."""
    scene = Scene()

    def model(name: str) -> ServedModel:
        source = (TEMPLATES / f"{NOTATIONS[name].template}.jinja").read_text(encoding="utf-8")
        codec = ChatCodec.from_template(sg.ChatTemplate(source))
        backend = ScriptedBackend(lambda prompt: scene.script(name, prompt), context_length=_CONTEXT)
        return ServedModel(backend, codec, name=name)

    app = create_app([model(name) for name in NOTATIONS], Settings(parallel=4))

    async def watched(scope: Any, receive: Any, send: Any) -> None:
        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = {name.decode(): value.decode() for name, value in message["headers"]}
                streamed = headers.get("content-type", "").startswith("text/event-stream")
                ignored = headers.get("x-syntagma-ignored", "")
                scene.answered.append(Answered(scope["path"], message["status"], streamed, ignored))
            await send(message)

        await app(scope, receive, sending)

    with listening(watched) as url:
        scene.url = url.removesuffix("/v1")
        yield scene
