"""A server in a process of its own, for what only a process shows: signals, and connections that are held.

Run by `tests.serving.test_process`: `python -m tests.serving.live_process '{"limits": {…}, "shutdown_s": 5}'`. It
writes its port, and then answers `script` with a pause before each token of a prompt that says `slowly`.
"""

from __future__ import annotations

import json
import socket
import sys
import time

import msgspec

from syntagma.limits import Limits
from syntagma.serving import Settings, create_app
from syntagma.serving.listening import serve
from tests.serving.support import model


def main() -> None:
    options = json.loads(sys.argv[1])
    limits = msgspec.structs.replace(Limits(), **options.get("limits", {}))
    paces = {"slowly": 0.05, "endlessly": 0.05}
    pace = 0.0

    def script(prompt: str) -> str:
        nonlocal pace
        pace = next((seconds for word, seconds in paces.items() if word in prompt), 0.0)
        return "x" * (10**6 if "endlessly" in prompt or "much" in prompt else 40)

    served = model(script, on_step=lambda _: time.sleep(pace), context_length=10**9)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        app = create_app(served, Settings(limits=limits))
        serve(app, listener, limits=limits, shutdown_s=options.get("shutdown_s", 30))


if __name__ == "__main__":
    main()
