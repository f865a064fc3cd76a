"""Transcripts and messages as plain frozen values."""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias, get_args

import msgspec
from msgspec.structs import astuple, force_setattr

from syntagma.entry import check_fields, entry
from syntagma.errors import ArgumentError
from syntagma.openchatml.errors import HEADER, OpenChatMLError, error_for
from syntagma.openchatml.tokens import TERMINATORS

__all__ = [
    "Dialect",
    "DocumentHeader",
    "Message",
    "PartialMessage",
    "Problem",
    "Profile",
    "ReadWarning",
    "SourceLocation",
    "Transcript",
    "checked_profile",
    "checked_stop",
    "is_version",
    "names_tool",
]

_VERSION = re.compile(r"(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})")
_RIGHT: set[tuple[type, ...]] = set()
"""tuples of field types that passed the check, so that each combination is checked once"""
_PEOPLE = frozenset({None, "user", "assistant", "system", "developer"})

Profile: TypeAlias = Literal["ocm", "harmony"]
Dialect: TypeAlias = Literal["ocm", "v0.1"]

_PROFILES: tuple[Profile, ...] = get_args(Profile)


def names_tool(recipient: str | None) -> bool:
    """Whether a recipient is a tool."""
    return recipient not in _PEOPLE


def checked_profile(profile: Profile | None) -> Profile | None:
    """The given profile, unchanged.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, the profile is unknown.
    """
    if profile is None or profile in _PROFILES:
        return profile
    hint = "profiles: " + ", ".join(_PROFILES)
    raise ArgumentError("E-ARGUMENT-VALUE", f"there is no profile {profile!r}", pointer="/profile", hint=hint)


def checked_stop(stop: str | None) -> str | None:
    """The given name of a stop token, unchanged.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, the name is not that of a terminator.
    """
    if stop is None or (isinstance(stop, str) and stop in TERMINATORS):
        return stop
    hint = "terminators: " + ", ".join(sorted(TERMINATORS))
    raise ArgumentError("E-ARGUMENT-VALUE", f"{stop!r} is not a terminator", pointer="/stop", hint=hint)


def is_version(text: str) -> bool:
    """Whether a text is `major.minor`."""
    return _VERSION.fullmatch(text) is not None


class SourceLocation(msgspec.Struct, frozen=True):
    """A location in a text: offset in code points, counted from 0; line and column, counted from 1."""

    offset: int
    line: int
    column: int = 1


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a transcript.

    Attributes:
        role: `system`, `developer`, `user`, `assistant` or `tool`.
        body: the text, with escapes and literal blocks resolved.
        channel: `analysis`, `commentary`, `final`, or None if the header has none.
        name: display name; for role `tool`, the tool's name.
        recipient: the addressee (`to=`), such as `functions.search`.
        call_id: id of the call, in the call and in its reply.
        intent: `preamble`, `status`, `debug` or another word; only `preamble` has an effect.
        content_type: a hint on the body's type.
        constrain: the type that the body must have; only `json` can be checked.
        terminator: `end`, `call` or `return`; None for a message that was cut off. The default is `call` if an
            assistant addresses a tool, else `end`.
        extra: unknown attributes.
        recovered: the header was malformed, so some fields may be guesses.
        lacks: what alone the recovered header of a message to a tool lacks; Harmony only. `beginning`: nothing was
            guessed, so the call may be run. `message`: the message token, so the call may be run if its tool is
            declared and its schema holds. None: more had to be guessed, so it is no call.
        header_raw: a malformed header as it was written, with its message token if there is one; Harmony only.
        role_raw: the role word as it was written, if it differs from `role`.
        place: where the message begins; `same` ignores it.
        end: offset of the end of the message, in code points.
    """

    role: str
    body: str = ""
    channel: str | None = None
    name: str | None = None
    recipient: str | None = None
    call_id: str | None = None
    intent: str | None = None
    content_type: str | None = None
    constrain: str | None = None
    terminator: str | None = ""
    extra: dict[str, str] = {}
    recovered: bool = False
    lacks: str | None = None
    header_raw: str | None = None
    role_raw: str | None = None
    place: SourceLocation | None = None
    end: int | None = None

    def __post_init__(self) -> None:
        kinds = tuple(map(type, astuple(self)))
        if self.extra or kinds not in _RIGHT:
            check_fields(self)
            _RIGHT.add(kinds)
        if self.terminator == "":
            is_call = self.role == "assistant" and names_tool(self.recipient)
            force_setattr(self, "terminator", "call" if is_call else "end")

    @property
    def effective_channel(self) -> str:
        """The channel, or `final` if the header has none."""
        return self.channel or "final"

    @property
    def is_call(self) -> bool:
        """Whether this is a tool call: an assistant message that ends with the call token."""
        return self.role == "assistant" and self.terminator == "call"

    @property
    def may_run(self) -> bool:
        """Whether nothing in the header had to be guessed, so that a call may be run."""
        return not self.recovered or self.lacks == "beginning"

    @property
    def is_reasoning(self) -> bool:
        """Whether this is private reasoning: an assistant message on the analysis channel that is not a call."""
        return self.role == "assistant" and self.channel == "analysis" and not self.is_call

    @entry
    def same(self, other: Message) -> bool:
        """Whether two messages are equal except for their places and spelling."""
        return self._without_places() == other._without_places()

    def _without_places(self) -> Message:
        return msgspec.structs.replace(
            self, role_raw=None, header_raw=None, place=None, end=None, recovered=False, lacks=None
        )

    def to_dict(self) -> dict[str, Any]:
        """The fields that are set, as plain data."""
        data: dict[str, Any] = {}
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if name == "place":
                if value is not None:
                    data |= {"offset": value.offset, "line": value.line}
            elif name in ("role", "body") or (value is not None and value not in ({}, False)):
                data[name] = value
        data["channel"] = self.effective_channel
        return data


class PartialMessage(msgspec.Struct, frozen=True):
    """A message that was cut off. Role and channel are None if its header was cut, too."""

    role: str | None = None
    channel: str | None = None
    recipient: str | None = None
    body: str = ""


class DocumentHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The YAML header of a transcript.

    Attributes:
        version: `major.minor`, as text, because 2.10 is not 2.1.
        model: the model's name.
        generation_settings: settings of the whole transcript.
        capabilities: capabilities of the writer; see `shared_capabilities`.
        profiles: settings of profiles, by name.
        extra: unknown keys, kept unchanged.
    """

    version: str = "2.2"
    model: str | None = None
    generation_settings: dict[str, Any] = {}
    capabilities: dict[str, Any] = {}
    profiles: dict[str, Any] = {}
    extra: dict[str, Any] = {}

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def number(self) -> tuple[int, int]:
        """The version as two numbers.

        Raises:
            HeaderError: `E-PARSE-HEADER`, the version is not `major.minor`.
        """
        if not is_version(self.version):
            raise error_for(HEADER, f"version {self.version!r} is not major.minor")
        major, minor = self.version.split(".")
        return int(major), int(minor)

    @property
    def profile(self) -> Profile:
        """`harmony` if that profile is enabled, else `ocm`."""
        settings = self.profiles.get("harmony")
        return "harmony" if isinstance(settings, dict) and settings.get("enabled") is True else "ocm"


class ReadWarning(msgspec.Struct, frozen=True):
    """A warning about irregular but readable text."""

    code: str
    message: str
    place: SourceLocation

    def to_dict(self) -> dict[str, Any]:
        """The warning as plain data."""
        return {"code": self.code, "message": self.message, "offset": self.place.offset, "line": self.place.line}


class Problem(msgspec.Struct, frozen=True):
    """An error as a value.

    Attributes:
        code: one of the codes in `openchatml.errors`.
        message: a description of the fault.
        place: where the fault is; None if it has no place in a text.
        requirement: the requirement that is violated, such as `R-060`.
        index: number of the message, or None.
        text: the text from the place on that is in no message, as it was written (lenient reading); or None.
    """

    code: str
    message: str
    place: SourceLocation | None = None
    requirement: str | None = None
    index: int | None = None
    text: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields that are set, as plain data."""
        data: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.place is not None:
            data |= {"offset": self.place.offset, "line": self.place.line, "column": self.place.column}
        if self.requirement is not None:
            data["requirement"] = self.requirement
        if self.index is not None:
            data["index"] = self.index
        if self.text is not None:
            data["text"] = self.text
        return data

    def exception(self) -> OpenChatMLError:
        """The same error as an exception."""
        if self.place is None:
            return error_for(self.code, self.message)
        place = self.place
        return error_for(self.code, self.message, offset=place.offset, line=place.line, column=place.column)


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """A transcript as it was read from a text.

    Attributes:
        messages: the finished messages, in order.
        header: the YAML header; None if there is none.
        profile: the profile under which the text was read.
        dialect: `ocm`, or `v0.1` for the first published syntax.
        errors: the faults found (lenient reading only).
        warnings: irregular but readable text.
        incomplete: the message in which the text ends.
    """

    messages: tuple[Message, ...] = ()
    header: DocumentHeader | None = None
    profile: Profile = "ocm"
    dialect: Dialect = "ocm"
    errors: tuple[Problem, ...] = ()
    warnings: tuple[ReadWarning, ...] = ()
    incomplete: PartialMessage | None = None

    @property
    def is_legacy(self) -> bool:
        """Whether the transcript's version is below 2."""
        return self.dialect == "v0.1" or (self.header is not None and self.header.number[0] < 2)
