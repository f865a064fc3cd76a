"""Checks transcripts against the requirements of the specification that go beyond syntax."""

from __future__ import annotations

import json
from typing import Literal

import msgspec

from syntagma.entry import entry
from syntagma.openchatml.constraint import arguments_of
from syntagma.openchatml.errors import CALL_SCHEMA, HEADER, VISIBILITY, CallSchemaError, log_error
from syntagma.openchatml.tool_calls import CallIds, channels_of_calls, error_details, is_function, open_calls
from syntagma.openchatml.transcript import Message, Problem, SourceLocation, Transcript
from syntagma.openchatml.visibility import holds_reasoning, is_visible

__all__ = ["UnmetRequirement", "Validation", "validate"]


class UnmetRequirement(msgspec.Struct, frozen=True):
    """A requirement that a transcript does not meet."""

    level: Literal["must", "should"]
    problem: Problem


class Validation(msgspec.Struct, frozen=True, kw_only=True):
    """The result of `validate`.

    Attributes:
        unmet: unmet requirements: reading errors first, the others in the order of the messages.
        unresolved_calls: ids of calls without a reply; the recipient if a call has no id.
        tool_error_codes: error codes that tools returned, by call id.
    """

    unmet: tuple[UnmetRequirement, ...] = ()
    unresolved_calls: tuple[str, ...] = ()
    tool_error_codes: dict[str, str] = {}

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The unmet MUST requirements."""
        return tuple(item.problem for item in self.unmet if item.level == "must")

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The unmet SHOULD requirements."""
        return tuple(item.problem for item in self.unmet if item.level == "should")

    @property
    def valid(self) -> bool:
        """Whether every MUST requirement is met."""
        return not self.errors


@entry
def validate(transcript: Transcript, *, require_header: bool = False) -> Validation:
    """Check a transcript. Errors found by lenient reading are listed first.

    Args:
        transcript: the transcript.
        require_header: require a document header.
    """
    checker = _Checker(transcript)
    if require_header and transcript.header is None:
        checker.must(HEADER, "R-001", "the transcript has no document header", None)
    checker.run()
    messages = transcript.messages
    return Validation(
        unmet=tuple(UnmetRequirement("must", problem) for problem in transcript.errors) + tuple(checker.unmet),
        unresolved_calls=tuple(messages[i].call_id or messages[i].recipient or "" for i in open_calls(messages)),
        tool_error_codes=checker.codes,
    )


class _Checker:
    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.unmet: list[UnmetRequirement] = []
        self.codes: dict[str, str] = {}
        header = transcript.header
        self.harmony = transcript.profile == "harmony"
        # Version 2.2 introduced ids; Harmony has none.
        self.ids = CallIds(needed=not self.harmony and not (header is not None and header.number < (2, 2)))
        settings = {} if header is None else header.profiles.get("harmony")
        self.settings = settings if isinstance(settings, dict) and self.harmony else {}

    def must(self, code: str, requirement: str, message: str, index: int | None) -> None:
        self._add("must", code, requirement, message, index)

    def should(self, code: str, requirement: str, message: str, index: int | None) -> None:
        self._add("should", code, requirement, message, index)

    def _add(
        self, level: Literal["must", "should"], code: str, requirement: str, message: str, index: int | None
    ) -> None:
        place = SourceLocation(0, 1) if index is None else self.transcript.messages[index].place
        if level == "must":
            log_error(code, message)
        self.unmet.append(UnmetRequirement(level, Problem(code, message, place, requirement, index)))

    def run(self) -> None:
        if self.transcript.dialect == "v0.1":
            return
        for index, message in enumerate(self.transcript.messages):
            if message.role == "tool":
                self._reply(index, message)
            elif message.is_call:
                self._call(index, message)
            self._form(index, message)

    def _call(self, index: int, message: Message) -> None:
        if message.recipient is None:
            self.must(CALL_SCHEMA, "R-041", "the call does not name a tool", index)
            return
        wrong = self.ids.call(message)
        if wrong is not None:
            self.must(CALL_SCHEMA, "R-060", wrong, index)
        function = is_function(message.recipient)
        allowed = list(channels_of_calls(message.recipient))
        setting = self.settings.get("tool_calls_in" if function else "builtins_in")
        if isinstance(setting, str):
            allowed = [setting]
        elif isinstance(setting, list):
            allowed = setting
        if message.effective_channel not in allowed:
            requirement = "R-070" if function else "R-069"
            where = message.effective_channel
            self.must(CALL_SCHEMA, requirement, f"a call of {message.recipient} must not be on channel {where}", index)
        if function:
            try:
                arguments_of(message.body)
            except CallSchemaError as error:
                self.must(CALL_SCHEMA, "R-123", error.message, index)
            if self.harmony and message.constrain != "json":
                self.should(CALL_SCHEMA, "R-092", "the call does not declare the constraint json", index)

    def _reply(self, index: int, message: Message) -> None:
        if message.name is None:
            self.must(HEADER, "R-044", "the tool's reply has no tool name", index)
            return
        if message.role_raw is not None and not self.harmony:
            wanted = f"tool name={message.name}"
            self.should(HEADER, "R-025", f"the role is {message.role_raw}; the canonical form is {wanted}", index)
        wrong = self.ids.reply(message)
        if wrong is not None:
            self.must(CALL_SCHEMA, "R-061", wrong, index)
        code = _error_code(message.body)
        if code is not None and message.call_id is not None:
            self.codes[message.call_id] = code

    def _form(self, index: int, message: Message) -> None:
        if message.terminator == "return" and not (
            message.role == "assistant" and message.effective_channel == "final"
        ):
            self.should(HEADER, "R-017", "the return token ends a message that is not on the final channel", index)
        if message.role == "assistant" and not message.is_call and is_function(message.recipient or ""):
            self.should(CALL_SCHEMA, "R-049", f"the message to {message.recipient} is not a call", index)
        if message.terminator == "call" and message.role != "assistant":
            self.must(CALL_SCHEMA, "R-024", f"a call by {message.role} is not dispatched", index)
        if (
            message.role == "assistant"
            and is_visible(message)
            and holds_reasoning(message.body, is_legacy=self.transcript.is_legacy)
        ):
            self.must(VISIBILITY, "R-052", "a visible message contains markers of private reasoning", index)
        channels = self.settings.get("require_channels")
        if isinstance(channels, list) and message.channel is not None and message.channel not in channels:
            self.must(HEADER, "R-091", f"channel {message.channel} is not a channel of the profile", index)


def _error_code(body: str) -> str | None:
    """The error code of a reply that uses the recommended envelope and reports a failure; else None."""
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(reply, dict) or reply.get("ok") is not False:
        return None
    code: str = error_details(reply.get("error"))["code"]
    return code
