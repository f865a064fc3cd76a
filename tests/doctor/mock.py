"""A server without a model that keeps to the protocol of chat completions, but for faults that are switched on.

It writes the shortest right answer to each question. A fault is a function at one of the places where an answer is
made; `tests/doctor/faults.py` has them.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["KEY", "MODEL", "TOKEN", "Ask", "Choice", "Fault", "Mock", "Refusal", "mock"]

KEY, MODEL = "the-key", "mock"
TOKEN = 4
"""characters of a token"""
_PAUSE = 0.05
_DEEPEST = 50
NUMBERS = "one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen"
THOUGHTS = "This needs a moment of thought."
_ROLES = ("system", "developer", "user", "assistant", "tool")


class Refusal(Exception):
    """An error that is answered with."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.body: Any = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}


@dataclass
class Ask:
    """A request."""

    body: dict[str, Any]

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def tools(self) -> list[dict[str, Any]]:
        return [tool["function"] for tool in self.body.get("tools") or []]

    @property
    def choice(self) -> Any:
        return self.body.get("tool_choice", "auto" if self.tools else "none")

    @property
    def named(self) -> str | None:
        return self.choice["function"]["name"] if isinstance(self.choice, dict) else None

    @property
    def shape(self) -> dict[str, Any]:
        return self.body.get("response_format") or {"type": "text"}

    @property
    def schema(self) -> dict[str, Any] | None:
        return self.shape["json_schema"]["schema"] if self.shape["type"] == "json_schema" else None

    @property
    def plain(self) -> bool:
        """Whether nothing but text is asked for."""
        return not self.tools and self.shape["type"] == "text" and self.text.startswith("Say")

    @property
    def thinking(self) -> bool | None:
        return (self.body.get("chat_template_kwargs") or {}).get("enable_thinking")

    @property
    def most(self) -> int:
        return self.body.get("max_completion_tokens") or self.body.get("max_tokens") or 10**6

    @property
    def text(self) -> str:
        """What the user says."""
        return next(_text(one) for one in self.body["messages"] if one["role"] == "user")

    @property
    def roles(self) -> list[str]:
        return [one["role"] for one in self.body["messages"]]


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


@dataclass
class Choice:
    """An answer before it is written."""

    reasoning: str = ""
    content: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    reason: str = "stop"
    tokens: int = 0


@dataclass(frozen=True)
class Fault:
    """What is wrong with a server.

    Attributes:
        name: what it is called.
        check: the check that finds it.
        valid: changes the request before it is looked at, or raises; called with the ask.
        counted: changes the text whose tokens are counted, by the role of its message.
        answer: changes a choice.
        whole: changes the body of a whole answer.
        chunks: gives other chunks of a stream.
        wire: gives other bytes of a stream.
        refusal: changes a refusal, or returns None where it is none.
        other: gives the answer to any other path; None: as usual.
        content_type: of a whole answer, and of a streamed one.
        hides: checks that have nothing to look at then.
        places: how many long streams there may be at once, if one that a client leaves never gives its place back.
    """

    name: str
    check: str
    valid: Callable[[Ask, Mock], None] | None = None
    counted: Callable[[str, str], str] | None = None
    answer: Callable[[Ask, Choice], None] | None = None
    whole: Callable[[Ask, dict[str, Any]], None] | None = None
    chunks: Callable[[Ask, list[dict[str, Any]]], list[dict[str, Any]]] | None = None
    wire: Callable[[Ask, list[bytes]], list[bytes]] | None = None
    refusal: Callable[[Ask | None, Refusal], Refusal | None] | None = None
    other: Callable[[str, Any], Any] | None = None
    content_type: tuple[str, str] | None = None
    hides: frozenset[str] = frozenset()
    places: int | None = None


class Mock:
    """The server's state.

    Args:
        faults: what is wrong with it.
    """

    def __init__(self, faults: Collection[Fault] = ()) -> None:
        self.faults = tuple(faults)
        self.numbers = itertools.count()
        self.stuck = False
        self.taken = 0
        """places of long streams"""

    def models(self, path: str) -> Any:
        model = {"id": MODEL, "object": "model", "created": 1, "owned_by": "tests"}
        answers = {"/v1/models": {"object": "list", "data": [model]}, f"/v1/models/{MODEL}": model}
        answer = answers.get(path)
        for fault in self.faults:
            if fault.other is not None:
                answer = fault.other(path, answer)
        if answer is None:
            raise Refusal(404, "there is no such path")
        return answer

    def ask(self, raw: bytes, key: str | None) -> Ask:
        """The request, if it is right."""
        places = next((fault.places for fault in self.faults if fault.places is not None), self.taken + 1)
        if self.stuck or self.taken >= places:
            raise Refusal(503, "no place is free")
        ask = _asked(raw)
        if ask is None:
            raise Refusal(400, "this is too deep" if _is_deep(raw) else "this is no JSON")
        if key != f"Bearer {KEY}":
            raise Refusal(401, "this is no key")
        for fault in self.faults:
            if fault.valid is not None:
                fault.valid(ask, self)
        _check(ask)
        return ask

    def choices(self, ask: Ask) -> list[Choice]:
        made = []
        for _ in range(ask.body.get("n", 1)):
            choice = _answer(ask)
            for call in choice.calls:
                call["id"] = f"call_{next(self.numbers):08x}"
            for fault in self.faults:
                if fault.answer is not None:
                    fault.answer(ask, choice)
            made.append(choice)
        return made

    def usage(self, ask: Ask, choices: list[Choice]) -> dict[str, Any]:
        prompt = 5
        for message in ask.body["messages"]:
            text = _text(message)
            for fault in self.faults:
                if fault.counted is not None:
                    text = fault.counted(message["role"], text)
            prompt += -(-len(text) // 2)
        written = sum(choice.tokens for choice in choices)
        thought = sum(len(pieces(choice.reasoning)) for choice in choices)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": written,
            "total_tokens": prompt + written,
            "completion_tokens_details": {"reasoning_tokens": min(thought, written)},
        }

    def whole(self, ask: Ask) -> dict[str, Any]:
        choices = self.choices(ask)
        body = {
            **self._head("chat.completion"),
            "choices": [_whole(ask, index, choice) for index, choice in enumerate(choices)],
            "usage": self.usage(ask, choices),
        }
        for fault in self.faults:
            if fault.whole is not None:
                fault.whole(ask, body)
        return body

    def events(self, ask: Ask) -> list[bytes]:
        choices = self.choices(ask)
        head = self._head("chat.completion.chunk")
        wants = bool((ask.body.get("stream_options") or {}).get("include_usage"))
        chunks = [
            {**head, "choices": [{"index": index, "delta": delta, "finish_reason": reason, **more}]}
            for index, choice in enumerate(choices)
            for delta, reason, more in _deltas(ask, choice)
        ]
        if wants:
            chunks = [{**chunk, "usage": None} for chunk in chunks]
            chunks.append({**head, "choices": [], "usage": self.usage(ask, choices)})
        for fault in self.faults:
            if fault.chunks is not None:
                chunks = fault.chunks(ask, chunks)
        events = [b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n" for chunk in chunks]
        events.append(b"data: [DONE]\n\n")
        for fault in self.faults:
            if fault.wire is not None:
                events = fault.wire(ask, events)
        return events

    def _head(self, kind: str) -> dict[str, Any]:
        number = next(self.numbers)
        return {"id": f"chatcmpl-{number:08x}", "object": kind, "created": 1_700_000_000 + number, "model": MODEL}


def pieces(text: str) -> list[str]:
    """The tokens of a text."""
    return [text[at : at + TOKEN] for at in range(0, len(text), TOKEN)]


def _whole(ask: Ask, index: int, choice: Choice) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": choice.content or (None if choice.calls else "")}
    if choice.reasoning:
        message["reasoning_content"] = choice.reasoning
    if choice.calls:
        message["tool_calls"] = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
            for call in choice.calls
        ]
    made: dict[str, Any] = {"index": index, "message": message, "finish_reason": choice.reason, "logprobs": None}
    if ask.body.get("logprobs"):
        made["logprobs"] = {"content": [_entry(token) for token in pieces(choice.content)]}
    return made


def _entry(token: str) -> dict[str, Any]:
    entry = {"token": token, "bytes": list(token.encode()), "logprob": -0.5}
    return {**entry, "top_logprobs": [dict(entry)]}


def _deltas(ask: Ask, choice: Choice) -> Iterator[tuple[dict[str, Any], str | None, dict[str, Any]]]:
    yield {"role": "assistant", "content": ""}, None, {}
    for token in pieces(choice.reasoning):
        yield {"reasoning_content": token}, None, {}
    for token in pieces(choice.content):
        more = {"logprobs": {"content": [_entry(token)]}} if ask.body.get("logprobs") else {}
        yield {"content": token}, None, more
    for index, call in enumerate(choice.calls):
        function = {"name": call["name"], "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": function}]}, None, {}
        for token in pieces(call["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": token}}]}, None, {}
    yield {}, choice.reason, {}


def _answer(ask: Ask) -> Choice:
    choice = Choice(reasoning=THOUGHTS if ask.thinking else "")
    if ask.tools and ask.choice != "none" and "tool" not in ask.roles:
        return _calls(ask, choice)
    if ask.schema is not None:
        choice.content = json.dumps(example(ask.schema, ask.schema), ensure_ascii=False)
    elif ask.shape["type"] == "json_object":
        choice.content = '{"colour": "blue", "salt": true}'
    elif ask.text.startswith("Repeat exactly"):
        choice.content = ask.text.partition(": ")[2]
    else:
        choice.content = NUMBERS if ask.text.startswith("Count") else "Hello, it is good to see you."
    stops = [choice.content.index(stop) for stop in ask.body.get("stop") or [] if stop in choice.content]
    if stops:
        choice.content = choice.content[: min(stops)]
    written = pieces(choice.reasoning) + pieces(choice.content)
    choice.tokens = min(len(written), ask.most)
    if len(written) > ask.most:
        room = ask.most * TOKEN
        choice.reason = "length"
        choice.reasoning, choice.content = (
            choice.reasoning[:room],
            choice.content[: max(0, room - len(choice.reasoning))],
        )
    return choice


def _calls(ask: Ask, choice: Choice) -> Choice:
    """One call, or two; cut where the tokens end."""
    tool = next(tool for tool in ask.tools if ask.named in (None, tool["name"]))
    two = "Lima" in ask.text and ask.body.get("parallel_tool_calls") is not False
    arguments = json.dumps(example(tool["parameters"], tool["parameters"]), ensure_ascii=False)
    opener = f'<call>{{"name": "{tool["name"]}", "arguments": '
    needed = len(pieces(opener + arguments + "}</call>")) * (1 + two) + len(pieces(choice.reasoning))
    choice.tokens = min(needed, ask.most)
    if needed <= ask.most:
        choice.calls = [{"name": tool["name"], "arguments": arguments} for _ in range(1 + two)]
        choice.reason = "tool_calls"
        return choice
    choice.reason = "length"
    room = ask.most * TOKEN
    if room >= len(opener):
        choice.calls = [{"name": tool["name"], "arguments": arguments[: room - len(opener)]}]
    return choice


def example(schema: dict[str, Any], top: dict[str, Any]) -> Any:
    """A value of a schema."""
    if "$ref" in schema:
        found: Any = top
        for name in schema["$ref"].removeprefix("#/").split("/"):
            found = found.get(name) if isinstance(found, dict) else None
        if found is None:
            raise Refusal(400, "the schema refers to nothing")
        return example(found, top)
    if "anyOf" in schema:
        return example(schema["anyOf"][0], top)
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object" if isinstance(schema.get("properties", {}), dict):
            return {name: example(one, top) for name, one in schema.get("properties", {}).items()}
        case "array":
            return [example(schema["items"], top)]
        case "integer":
            return schema.get("minimum", 0)
        case "boolean":
            return True
        case "null":
            return None
    raise Refusal(400, "this is no schema that can be held")


def _check(ask: Ask) -> None:
    """Refuse what is wrong with a request."""
    body = ask.body
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Refusal(400, "messages is a list that is not empty")
    if any(message.get("role") not in _ROLES for message in messages):
        raise Refusal(400, "there is no such role")
    if not isinstance(body.get("temperature", 0), int | float) or not isinstance(body.get("max_tokens", 1), int):
        raise Refusal(400, "this is no number")
    if not isinstance(body.get("tools", []), list):
        raise Refusal(400, "tools is a list")
    if body.get("model") not in (None, MODEL):
        raise Refusal(404, "there is no such model")
    if ask.choice != "none" and not ask.tools:
        raise Refusal(400, "there are no tools to choose from")
    if ask.named is not None and ask.named not in [tool["name"] for tool in ask.tools]:
        raise Refusal(400, "there is no such tool")
    if ask.shape["type"] not in ("text", "json_object", "json_schema"):
        raise Refusal(400, "there is no such response format")
    if ask.schema is not None:
        example(ask.schema, ask.schema)
    for tool in ask.tools:
        example(tool["parameters"], tool["parameters"])


def _handler(server: Mock) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            try:
                self._json(200, server.models(self.path))
            except Refusal as refusal:
                self._json(refusal.status, refusal.body)

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.path != "/v1/chat/completions":
                self.do_GET()
                return
            ask = None
            try:
                ask = _asked(raw)
                checked = server.ask(raw, self.headers.get("authorization"))
                if checked.stream:
                    self._stream(server.events(checked), long=checked.text.startswith("Count") and checked.most > 100)
                else:
                    self._json(200, server.whole(checked), self._kind(0, "application/json"))
            except Refusal as refusal:
                self._refuse(ask, refusal)

        def _refuse(self, ask: Ask | None, refusal: Refusal) -> None:
            changed: Refusal | None = refusal
            for fault in server.faults:
                if fault.refusal is not None and changed is not None:
                    changed = fault.refusal(ask, changed)
            if changed is None:
                body = server.whole(Ask({"messages": [{"role": "user", "content": "Say yes."}]}))
                self._json(200, body)
            else:
                self._json(changed.status, changed.body)

        def _kind(self, which: int, usual: str) -> str:
            given = [fault.content_type[which] for fault in server.faults if fault.content_type]
            return next((kind for kind in given if kind != usual), usual)

        def _stream(self, events: list[bytes], *, long: bool) -> None:
            # A client that leaves is noticed by writing, so a stream that may be left must not be over before.
            slow = long and any(fault.places is not None for fault in server.faults)
            server.taken += slow
            self._head(200, self._kind(1, "text/event-stream"))
            with contextlib.suppress(OSError):
                for event in events:
                    self.wfile.write(event)
                    time.sleep(_PAUSE if slow else 0)
                server.taken -= slow

        def _json(self, status: int, body: Any, kind: str = "application/json") -> None:
            self._head(status, kind)
            with contextlib.suppress(OSError):
                self.wfile.write(json.dumps(body).encode())

        def _head(self, status: int, kind: str) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.end_headers()

    return Handler


def _asked(raw: bytes) -> Ask | None:
    """The request, or None where it is no JSON, or deeper than any that is right."""
    if _is_deep(raw):
        return None
    try:
        return Ask(json.loads(raw))
    except ValueError:
        return None


def _is_deep(raw: bytes) -> bool:
    return raw.count(b'"items"') > _DEEPEST


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: Any) -> None:
        """Clients that leave are no error."""


@contextlib.contextmanager
def mock(*faults: Fault) -> Iterator[str]:
    """The base URL of such a server, while the context lasts."""
    with _Server(("127.0.0.1", 0), _handler(Mock(faults))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join(60)
