from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request


def test_the_command_serves_until_it_is_interrupted() -> None:
    command = [sys.executable, "-c", "from syntagma.cli import main; main()", "serve", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        lines = []
        while not lines or lines[-1].rstrip() != "}":
            line = server.stdout.readline()
            assert line, server.stderr.read() if server.stderr else ""
            lines.append(line)
        announced = json.loads("".join(lines))
        request = urllib.request.Request(
            announced["base_url"] + "/chat/completions",
            json.dumps({"messages": [{"role": "user", "content": "hi"}], "max_tokens": 5}).encode(),
            {"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert json.load(answer)["model"] == announced["model"]
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)
        assert server.returncode in (0, 130, -signal.SIGINT)
