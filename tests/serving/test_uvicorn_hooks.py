"""The hooks of uvicorn that the server overrides or reads, as they are in the newest version that is allowed.

uvicorn documents none of them, so any release may change them. A failure here means: read what changed, adapt
`syntagma.serving.listening`, then change the hook here and the bound in pyproject.toml.
"""

from __future__ import annotations

import asyncio
import inspect
import signal
import tomllib
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import Server, ServerState

from syntagma.serving import listening
from tests.hooks import signature_of

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
PINNED = "0.54"
READ = "read what changed and adapt syntagma.serving.listening"

OVERRIDDEN: dict[tuple[type, str], str] = {
    (Server, "handle_exit"): "(self, sig, frame)",
    (Server, "shutdown"): "(self, sockets=None)",
    (H11Protocol, "connection_made"): "(self, transport)",
    (H11Protocol, "connection_lost"): "(self, exc)",
    (H11Protocol, "data_received"): "(self, data)",
    (H11Protocol, "pause_writing"): "(self)",
    (H11Protocol, "resume_writing"): "(self)",
}
CALLED: dict[tuple[type, str], str] = {
    (Server, "run"): "(self, sockets=None)",
    (H11Protocol, "__init__"): "(self, config, server_state, app_state, _loop=None)",
}
OPTIONS = (
    "app",
    "http",
    "ws",
    "log_level",
    "access_log",
    "h11_max_incomplete_event_size",
    "timeout_graceful_shutdown",
    "ssl_certfile",
    "ssl_keyfile",
)
"""options of `uvicorn.Config` that are given"""
READ_OF_A_CONNECTION = ("transport", "conn", "connections", "cycle", "loop", "timeout_keep_alive_task")


@pytest.mark.parametrize(
    ("hook", "expected"),
    [*OVERRIDDEN.items(), *CALLED.items()],
    ids=lambda value: f"{value[0].__name__}.{value[1]}" if isinstance(value, tuple) else "",
)
def test_hooks_have_the_signature_that_is_used(hook: tuple[type, str], expected: str) -> None:
    owner, name = hook
    found = signature_of(owner, name)
    assert found == expected, (
        f"uvicorn {uvicorn.__version__}: {owner.__name__}.{name} is {found}, not {expected}; {READ}"
    )


@pytest.mark.parametrize(("ours", "base"), [(listening._Server, Server), (listening._Connection, H11Protocol)])
def test_every_overridden_method_is_listed(ours: type, base: type) -> None:
    overridden = {name for name, value in vars(ours).items() if isinstance(value, FunctionType) and hasattr(base, name)}
    listed = {name for owner, name in (*OVERRIDDEN, *CALLED) if owner is base}
    assert overridden <= listed, f"add to OVERRIDDEN, or rename: {sorted(overridden - listed)}"


def test_options_exist() -> None:
    known = inspect.signature(uvicorn.Config).parameters
    missing = [name for name in OPTIONS if name not in known]
    assert not missing, f"uvicorn {uvicorn.__version__} has no option {', '.join(missing)}; {READ}"


class Recorder(asyncio.Transport):
    """What stands in the place of a connection's transport."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False

    def write(self, data: Any) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True


async def _answer(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def test_a_connection_has_what_is_read_of_it() -> None:
    """A factory is called as a class is, and what replaces `transport` gets the answer and the close."""

    async def serve() -> None:
        config = uvicorn.Config(_answer, http=partial(H11Protocol), ws="none", lifespan="off")  # type: ignore[arg-type]
        config.load()
        state = ServerState()
        made: Any = config.http_protocol_class(config=config, server_state=state, app_state={})
        lacking = [name for name in READ_OF_A_CONNECTION if not hasattr(made, name)]
        assert not lacking, f"uvicorn {uvicorn.__version__}: a connection has no {', '.join(lacking)}; {READ}"
        made.connection_made(Recorder())
        assert (made.cycle, len(made.connections)) == (None, 1), READ
        made.transport = behind = Recorder()
        made.data_received(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        assert made.cycle.response_complete is False, READ
        assert len(state.tasks) == 1, f"Server.shutdown waits for {state.tasks}; {READ}"
        await asyncio.gather(*state.tasks)
        assert made.cycle.response_complete is True, READ
        assert behind.written.endswith(b"\r\n\r\nok"), READ
        assert isinstance(made.timeout_keep_alive_task, asyncio.TimerHandle), READ
        made.shutdown()
        assert behind.closed, READ
        made.connection_lost(None)

    asyncio.run(serve())


def test_a_server_raises_again_what_it_has_taken_itself_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGTERM is not passed on to `handle_exit` of uvicorn, which would raise it again after the shutdown."""
    raised: list[int] = []
    monkeypatch.setattr(signal, "raise_signal", raised.append)
    server = listening._Server(uvicorn.Config(_answer))
    with server.capture_signals():
        server.handle_exit(signal.SIGTERM, None)
    assert (server.should_exit, raised) == (True, []), f"uvicorn {uvicorn.__version__}: {READ}"


def test_minor_version_is_bounded() -> None:
    requirements = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]["serve"]
    (bound,) = (one for one in requirements if one.startswith("uvicorn"))
    major, minor = PINNED.split(".")
    assert bound.endswith(f",<{major}.{int(minor) + 1}"), "the server overrides hooks: bound the minor version"
    installed = tuple(map(int, uvicorn.__version__.split(".")[:2]))
    assert installed <= (int(major), int(minor)), f"uvicorn {uvicorn.__version__} is newer than {PINNED}; {READ}"
