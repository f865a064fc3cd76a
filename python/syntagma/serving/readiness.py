"""Whether the engines of the models answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from syntagma.decoding.upstream import Upstream
from syntagma.errors import RequestError
from syntagma.serving.model import ServedModel

__all__ = ["check_ready"]

_log = logging.getLogger("syntagma.serving")


async def check_ready(models: Iterable[ServedModel], late: Iterable[str] = ()) -> None:
    """Ask every running engine whether it answers. Backends in this process always do; `late` are known not to.

    Raises:
        RequestError: `E-REQUEST-NOT-READY`, 503, with the names of the models whose engines do not answer.
    """
    elsewhere = [(one.name, one.engine) for one in models if isinstance(one.engine, Upstream)]
    answers = await asyncio.gather(*(engine.check() for _, engine in elsewhere), return_exceptions=True)
    failed = {name: answer for (name, _), answer in zip(elsewhere, answers, strict=True) if answer is not None}
    for name, error in failed.items():
        _log.warning("the engine of %s does not answer: %s", name, " ".join(str(error).split()))
    names = [*failed, *late]
    if names:
        raise RequestError("E-REQUEST-NOT-READY", f"the engine of {', '.join(names)} does not answer", status=503)
