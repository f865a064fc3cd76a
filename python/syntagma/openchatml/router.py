"""Runs the calls of a conversation concurrently. Each call is run and answered exactly once (§8)."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from syntagma.entry import check_fields, entry, strict_entry
from syntagma.errors import ArgumentError
from syntagma.openchatml.constraint import arguments_of, violation
from syntagma.openchatml.errors import (
    CALL_SCHEMA,
    CONSTRAINT,
    TOOL_CANCELLED,
    TOOL_FAILED,
    TOOL_TIMEOUT,
    OpenChatMLError,
    ToolFailedError,
    error_for,
    log_error,
)
from syntagma.openchatml.tool_calls import channels_of_calls, error_details, open_calls
from syntagma.openchatml.tool_threads import run_in_thread
from syntagma.openchatml.transcript import Message, Problem
from syntagma.openchatml.visibility import tool_input
from syntagma.parsing.arguments.argument_check import mismatch

__all__ = ["Reply", "RoutedTool", "ToolRouter"]

ToolFunction: TypeAlias = Callable[[Any], Any]
_ENVELOPE = frozenset({"ok", "content", "error", "provenance"})
_LONGEST_MS = 10**12
"""longest deadline, about thirty years; longer ones are shortened to it"""


class RoutedTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the router can run.

    Attributes:
        run: the function. It gets the arguments as a dict, or the body's text if `raw_body` is set. A coroutine
            function is awaited; any other function runs in a thread of its own. The result is the content of the
            reply, or the whole reply if it is a dict with `ok`.
        schema: JSON Schema of the arguments, checked before the tool runs; None: no check.
        raw_body: the body is plain text, such as code, not JSON.
    """

    run: ToolFunction
    schema: Mapping[str, Any] | None = None
    raw_body: bool = False

    def __post_init__(self) -> None:
        check_fields(self)


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """The reply to a call, with the fields of the recommended envelope.

    `error` is normalised to an object with a `code` and a `message`.
    """

    call_id: str
    name: str
    ok: bool
    content: Any = None
    error: dict[str, Any] | None = None
    provenance: Any = None

    def __post_init__(self) -> None:
        is_wrong = bool(self.error) or not self.ok
        force_setattr(self, "error", error_details(self.error) if is_wrong else None)

    @property
    def error_code(self) -> str | None:
        """The error's code, or None."""
        return None if self.error is None else self.error.get("code")

    def message(self) -> Message:
        """The reply as a message of the conversation. Its body is always encodable as UTF-8."""
        envelope = {"ok": self.ok, "content": self.content, "error": self.error, "provenance": self.provenance}
        return Message(
            role="tool",
            name=self.name,
            call_id=self.call_id,
            recipient="assistant",
            channel="commentary",
            constrain="json",
            body=_as_json(envelope),
        )


class ToolRouter:
    """Runs the calls of one conversation.

    Only assistant messages that end with the call token are run. A tool gets only the body of its own call. Every
    accepted call gets exactly one reply: the tool's, or an error if the call timed out, was cancelled or was refused. A
    result that arrives later is dropped.

    Attributes:
        rejected: calls that were neither run nor answered: without a tool or an id, with a used id, or recovered.
    """

    @strict_entry
    def __init__(
        self,
        tools: Mapping[str, RoutedTool | ToolFunction],
        *,
        default_deadline_ms: int | None = None,
        concurrency: int = 64,
    ) -> None:
        """Create a router.

        Args:
            tools: tools by recipient, such as `functions.search` or `python`.
            default_deadline_ms: deadline in milliseconds for calls that set none, counted from the start of the tool.
            concurrency: how many tools run at once. A cancelled tool no longer counts, even if it goes on running.

        Raises:
            ArgumentError: `E-ARGUMENT-VALUE`, the deadline or the concurrency is not positive.
        """
        for name, number in (("default_deadline_ms", default_deadline_ms), ("concurrency", concurrency)):
            if number is not None and number <= 0:
                raise ArgumentError("E-ARGUMENT-VALUE", f"{name} must be positive, not {number}", pointer=f"/{name}")
        self.tools = {
            name: tool if isinstance(tool, RoutedTool) else RoutedTool(run=tool) for name, tool in tools.items()
        }
        self.rejected: list[Problem] = []
        self._deadline = default_deadline_ms
        self._slots = asyncio.Semaphore(concurrency)
        self._cancelled: dict[str, asyncio.Future[str]] = {}
        self._seen: set[str] = set()
        self._leftover: set[asyncio.Future[Any]] = set()

    @entry
    def cancel(self, call_id: str, reason: str = "") -> bool:
        """Cancel a call. False if it is not running or already cancelled."""
        future = self._cancelled.get(call_id)
        if future is None or future.done():
            return False
        future.set_result(reason)
        return True

    def cancel_all(self, reason: str = "") -> int:
        """Cancel every running call, for example when the response is cancelled. Returns their number."""
        return sum(self.cancel(call_id, reason) for call_id in list(self._cancelled))

    async def run(self, messages: Sequence[Message]) -> list[Reply]:
        """Run the calls that have no reply yet. Returns the replies in order of arrival."""
        return [reply async for reply in self.stream(messages)]

    @entry
    async def stream(self, messages: Sequence[Message]) -> AsyncIterator[Reply]:
        """Run the calls that have no reply yet, and yield each reply as it arrives. Leaving early cancels the rest."""
        calls = [messages[index] for index in open_calls(messages) if self._accept(index, messages)]
        replies: asyncio.Queue[Reply] = asyncio.Queue()
        for call in calls:
            self._cancelled[call.call_id or ""] = asyncio.get_running_loop().create_future()
        tasks = [asyncio.ensure_future(self._serve(call, replies)) for call in calls]
        try:
            for _ in tasks:
                yield await replies.get()
        finally:
            for call, task in zip(calls, tasks, strict=True):
                if not task.done():
                    self.cancel(call.call_id or "", "the caller no longer waits for the reply")
            await asyncio.gather(*tasks)

    def _accept(self, index: int, messages: Sequence[Message]) -> bool:
        call = messages[index]
        reason = None
        if call.recipient is None:
            reason = "the call does not name a tool"
        elif call.call_id is None:
            reason = "the call has no id"
        elif call.call_id in self._seen or any(
            before.is_call and before.call_id == call.call_id for before in messages[:index]
        ):
            reason = f"the id {call.call_id} is already used by another call"
        elif not (call.may_run or (call.lacks == "message" and self._fits(call))):
            reason = "the header of the call is malformed"
        if reason is not None:
            self.rejected.append(Problem(CALL_SCHEMA, reason, call.place, index=index))
            log_error(CALL_SCHEMA, reason)
            return False
        self._seen.add(call.call_id or "")
        return True

    def _fits(self, call: Message) -> bool:
        """Whether the tool of a call is declared, and its arguments are as the tool's schema says."""
        try:
            self._prepare(call)
        except OpenChatMLError:
            return False
        return True

    async def _serve(self, call: Message, replies: asyncio.Queue[Reply]) -> None:
        call_id, name = call.call_id or "", call.recipient or ""
        try:
            reply = await self._answer(call)
        except Exception as raised:  # whatever happens, every call gets its reply
            error = raised if isinstance(raised, OpenChatMLError) else _failure(raised)
            log_error(error.code, error.message)
            details = {"code": error.code, "message": error.message}
            reply = Reply(call_id=call_id, name=name, ok=False, error=details)
        finally:
            self._cancelled.pop(call_id, None)
        replies.put_nowait(reply)

    async def _answer(self, call: Message) -> Reply:
        cancelled = self._cancelled[call.call_id or ""]
        tool, given, deadline = self._prepare(call)
        slot = asyncio.ensure_future(self._slots.acquire())
        waiting: set[asyncio.Future[Any]] = {slot, cancelled}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if cancelled.done():
            if not slot.cancel():
                self._slots.release()
            raise _cancellation(cancelled)
        try:
            work = asyncio.ensure_future(_run(tool.run, given))
            seconds = None if deadline is None else min(deadline, _LONGEST_MS) / 1000
            await asyncio.wait({work, cancelled}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            # A result that is ready when the deadline passes or the call is cancelled still counts.
            if not work.done():
                self._abandon(work)
                if cancelled.done():
                    raise _cancellation(cancelled)
                raise error_for(TOOL_TIMEOUT, f"the tool exceeded its deadline of {deadline} ms")
            return _reply(call, work)
        finally:
            self._slots.release()

    def _prepare(self, call: Message) -> tuple[RoutedTool, Any, int | None]:
        """The tool, its argument, and its deadline in milliseconds."""
        name = call.recipient or ""
        tool = self.tools.get(name)
        if tool is None:
            raise error_for(CALL_SCHEMA, f"there is no tool {name}")
        if call.effective_channel not in channels_of_calls(name):
            raise error_for(CALL_SCHEMA, f"a call of {name} must not be on channel {call.effective_channel}")
        body = tool_input(call)
        wrong = None if call.constrain is None else violation(call.constrain, body)
        if wrong is not None:
            raise error_for(CONSTRAINT, wrong)
        if tool.raw_body:
            return tool, body, self._deadline
        arguments = arguments_of(body)
        deadline = self._deadline
        if "deadline_ms" in arguments:
            deadline = arguments["deadline_ms"]
            if isinstance(deadline, bool) or not isinstance(deadline, int) or deadline <= 0:
                raise error_for(CALL_SCHEMA, "deadline_ms must be a positive integer")
            declared = (tool.schema or {}).get("properties")
            if not (isinstance(declared, Mapping) and "deadline_ms" in declared):
                del arguments["deadline_ms"]
        unfit = None if tool.schema is None else mismatch(tool.schema, arguments)
        if unfit is not None:
            raise error_for(CALL_SCHEMA, unfit)
        return tool, arguments, deadline

    def _abandon(self, work: asyncio.Future[Any]) -> None:
        """Cancel a tool that is no longer waited for. Its result or exception is dropped."""
        self._leftover.add(work)
        work.add_done_callback(self._drop)
        work.cancel()

    def _drop(self, work: asyncio.Future[Any]) -> None:
        self._leftover.discard(work)
        if not work.cancelled():
            work.exception()


async def _run(function: ToolFunction, given: Any) -> Any:
    try:
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004 - asks for its kind
            return await function(given)
        result = await run_in_thread(function, given)
        return await result if isinstance(result, Awaitable) else result
    except SystemExit as error:
        # A tool that exits must not end the program.
        raise _failure(error) from error


def _failure(error: BaseException) -> OpenChatMLError:
    """The error for an exception of a tool, with its type and text but no traceback."""
    try:
        said = f"{type(error).__name__}: {error}"
    except Exception:  # str(error) itself failed
        said = type(error).__name__
    return error_for(TOOL_FAILED, said)


def _as_json(envelope: dict[str, Any]) -> str:
    options: dict[str, Any] = {"separators": (",", ":"), "allow_nan": False}
    written = json.dumps(envelope, ensure_ascii=False, **options)
    try:
        written.encode()
    except UnicodeEncodeError:
        # A lone surrogate can only be escaped.
        return json.dumps(envelope, **options)
    return written


def _cancellation(cancelled: asyncio.Future[str]) -> OpenChatMLError:
    reason = cancelled.result()
    return error_for(TOOL_CANCELLED, f"cancelled: {reason}" if reason else "cancelled")


def _reply(call: Message, work: asyncio.Future[Any]) -> Reply:
    """The reply made from the result of a finished tool."""
    call_id, name = call.call_id or "", call.recipient or ""
    if work.cancelled():
        raise error_for(TOOL_CANCELLED, "the tool cancelled itself")
    failure = work.exception()
    if failure is not None:
        raise (failure if isinstance(failure, ToolFailedError) else _failure(failure)) from failure
    result = work.result()
    try:
        if isinstance(result, dict) and isinstance(result.get("ok"), bool) and result.keys() <= _ENVELOPE:
            reply = Reply(call_id=call_id, name=name, **result)
        else:
            reply = Reply(call_id=call_id, name=name, ok=True, content=result)
        reply.message()
    except (TypeError, ValueError, RecursionError) as error:
        raise error_for(TOOL_FAILED, f"the tool's result cannot be written as JSON: {error}") from error
    return reply
