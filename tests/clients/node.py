"""Clients of Node: a script says what its client gives, and the tests here judge it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.clients import asks
from tests.environments import HOME

__all__ = ["ask"]
_SECONDS = 180


def ask(script: str, endpoint: str, case: str) -> Any:
    """What a script beside this file gives for a case at an endpoint: one line of JSON.

    The script runs in the folder of its environment, where Node finds its packages.
    """
    copy = shutil.copy(Path(__file__).with_name(script), os.environ[HOME])
    node = shutil.which("node")
    assert node is not None
    told = {name: getattr(asks, name) for name in asks.__all__ if not callable(getattr(asks, name))}
    done = subprocess.run(
        [node, copy, endpoint, case],
        input=json.dumps(told),
        check=False,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
