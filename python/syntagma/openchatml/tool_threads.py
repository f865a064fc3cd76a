"""Runs tools that are plain functions in threads.

Every running function has its own thread, without a bound on their number, so that none waits for another while its
deadline runs. An idle thread waits a short time for the next function, because starting a thread takes longer than many
tools. The threads are daemons, so a function that never returns does not keep the program from exiting.
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
"""queues on which idle threads wait for their next function"""
os.register_at_fork(after_in_child=_idle.clear)


async def run_in_thread(function: Callable[[Any], Any], given: Any) -> Any:
    """Run a function in a thread with this task's context, and return its result.

    If the task is cancelled, the function goes on running, but its result is dropped.
    """
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
        except BaseException as error:  # raised again where the result is awaited
            raised = error
        with contextlib.suppress(RuntimeError):  # the loop is closed, so no task awaits the result
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
                continue  # the queue was just taken, so a function will arrive
            return
        work()
        del work  # frees what the function references while the thread is idle
        _idle.append(inbox)
