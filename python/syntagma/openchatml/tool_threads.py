"""Threads for tools that are plain functions.

Every function that runs has a thread of its own, however many there are: it waits for no other while its deadline
passes. Threads that are done wait a moment for the next function: to start one takes longer than many a tool does. They
are daemons: a function that never ends does not keep the program from ending.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

__all__ = ["run_in_thread"]

_Work: TypeAlias = Callable[[], None]
_IDLE_S = 1.0

_idle: list[SimpleQueue[_Work]] = []
"""where the idle threads get their next function"""
# The child of a fork has none of the threads.
os.register_at_fork(after_in_child=_idle.clear)


async def run_in_thread(function: Callable[[Any], Any], given: Any) -> Any:
    """What a function returns, run in a thread with this task's context. Cancelled, it is no longer waited for."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def tell(result: Any, error: BaseException | None) -> None:
        if not done.done():
            done.set_result((result, error))

    def work() -> None:
        result, raised = None, None
        try:
            result = context.run(function, given)
        except BaseException as error:  # it is raised where the result is awaited
            raised = error
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(tell, result, raised)

    _start(work)
    result, error = await done
    if error is not None:
        raise error
    return result


def _start(work: _Work) -> None:
    try:
        inbox = _idle.pop()
    except IndexError:
        inbox = SimpleQueue()
        threading.Thread(target=_serve, args=(inbox,), name="syntagma-tool", daemon=True).start()
    inbox.put(work)


def _serve(inbox: SimpleQueue[_Work]) -> None:
    while True:
        try:
            work = inbox.get(timeout=_IDLE_S)
        except Empty:
            try:
                _idle.remove(inbox)
            except ValueError:
                continue  # it was just taken: a function is on its way
            return
        work()
        del work  # with all that it holds
        _idle.append(inbox)
