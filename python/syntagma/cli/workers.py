"""`--workers N`: several processes that serve one address, and their parent, which supervises them.

Each worker loads its own models. They share the socket, and a folder for metrics. They get their options through a
pipe, because other users could see a command line. A worker ends when the pipe is closed, so none outlives the parent.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from syntagma.cli.serve_options import ServeOptions
from syntagma.errors import RequestError, SyntagmaError
from syntagma.serving.logs import configure
from syntagma.serving.metrics import SHARED_FOLDER, forget_process

__all__ = ["run_workers", "work"]

_STDERR: Final = 2
_LOOK_S: Final = 0.2
"""seconds between checks of the workers"""
_YOUNG_S: Final = 10.0
"""a worker that ends within this many seconds is not replaced, because its successor would end as well"""
_log = logging.getLogger("syntagma.serving")


class _Worker:
    """A worker process.

    Args:
        options: the options.
        listener: the shared socket.
        folder: the shared folder for metrics.
    """

    def __init__(self, options: ServeOptions, listener: socket.socket, folder: str) -> None:
        self.began = time.monotonic()
        self._output, says = os.pipe()
        shared = (listener.fileno(), says)
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from syntagma.cli.workers import work; work()", *map(str, shared)],
            stdin=subprocess.PIPE,
            # Output of libraries must not be mixed with this process's output.
            stdout=_STDERR,
            pass_fds=shared,
            env={**os.environ, SHARED_FOLDER: folder},
            # Only this process gets Ctrl-C and passes it on. A worker that got it twice would end at once.
            start_new_session=True,
        )
        os.close(says)
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(msgspec.json.encode(options) + b"\n")
            self._process.stdin.flush()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def names(self) -> list[str]:
        """The names of the models, once the worker has loaded them.

        Raises:
            RequestError: the worker's error; `E-REQUEST-WORKER`, it ended without reporting one.
        """
        line = _line(self._output)
        if not line:
            raise RequestError(
                "E-REQUEST-WORKER", f"a worker ended before it could serve, with status {self._process.wait()}"
            )
        said = msgspec.json.decode(line)
        if "error" in said:
            error = said["error"]
            raise RequestError(
                error.pop("code"), error.pop("message"), hint=error.get("hint"), source=error.get("source")
            )
        names: list[str] = said["models"]
        return names

    def status(self) -> int | None:
        """The exit status; None while it runs."""
        return self._process.poll()

    def tell(self, sent: int) -> None:
        """Send a signal to the process."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(sent)

    def wait(self) -> None:
        """Wait for the end of the process, and close its pipes."""
        self._process.wait()
        os.close(self._output)
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()


def run_workers(options: ServeOptions, listener: socket.socket, begun: Callable[[list[str]], None]) -> None:
    """Serve with several processes until a signal ends them. A process that ends by itself is replaced.

    Each SIGTERM or SIGINT is passed to all workers as SIGTERM. SIGHUP is passed on unchanged.

    Args:
        options: the options.
        listener: the bound socket.
        begun: called with the names of the models when all workers have loaded them.

    Raises:
        RequestError: `E-REQUEST-ARGUMENT`, the system cannot share sockets; `E-REQUEST-WORKER`, a worker ended soon
            after its start; or the error of a worker.
    """
    if os.name != "posix":
        raise RequestError("E-REQUEST-ARGUMENT", "--workers needs a POSIX system", hint="serve with one worker")
    configure(options.log_format, options.log_level)  # type: ignore[arg-type]
    told: list[int] = []
    with tempfile.TemporaryDirectory(prefix="syntagma-") as folder, _signals(told):
        workers: list[_Worker] = []
        try:
            workers += [_Worker(options, listener, folder) for _ in range(options.workers)]
            names = [one.names() for one in workers]
            begun(names[0])
            _look_after(workers, told, lambda: _Worker(options, listener, folder), folder)
        finally:
            for one in workers:
                if one.status() is None:
                    one.tell(signal.SIGTERM)
            for one in workers:
                one.wait()


@contextlib.contextmanager
def _signals(told: list[int]) -> Iterator[None]:
    """Collect signals in `told` instead of ending the process."""
    kinds = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = {kind: signal.signal(kind, lambda sent, _: told.append(sent)) for kind in kinds}
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


def _look_after(workers: list[_Worker], told: list[int], make: Callable[[], _Worker], folder: str) -> None:
    ending = False
    while not ending or any(one.status() is None for one in workers):
        time.sleep(_LOOK_S)
        while told:
            sent = told.pop(0)
            ends = sent in (signal.SIGTERM, signal.SIGINT)
            ending = ending or ends
            for one in workers:
                one.tell(signal.SIGTERM if ends else sent)
        for place, one in enumerate(workers):
            if ending or one.status() is None:
                continue
            one.wait()
            forget_process(one.pid, folder)
            if time.monotonic() - one.began < _YOUNG_S:
                raise RequestError(
                    "E-REQUEST-WORKER", f"a worker ended soon after its start, with status {one.status()}"
                )
            _log.error("worker %d ended with status %s and is replaced", one.pid, one.status())
            workers[place] = make()


def _line(pipe: int) -> bytes:
    """The next line of a pipe, read without a buffer that could read further; empty at the end of the pipe."""
    line = b""
    while not line.endswith(b"\n") and (piece := os.read(pipe, 1)):
        line += piece
    return line


def work() -> None:
    """Run a worker. The arguments are the socket and the pipe for its reports; options come on standard input."""
    from syntagma.cli.serve_run import run_here

    socket_number, says = map(int, sys.argv[-2:])
    options = msgspec.json.decode(_line(sys.stdin.fileno()), type=ServeOptions)
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def say(said: dict[str, Any]) -> None:
        os.write(says, msgspec.json.encode(said) + b"\n")

    with socket.socket(fileno=socket_number) as listener:
        try:
            run_here(options, listener, lambda names: say({"models": names}))
        except SyntagmaError as error:
            say({"error": error.to_dict()})
            sys.exit(2)


def _end_with_parent() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
