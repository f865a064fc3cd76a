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
"""types of the fields of messages that were found right: they are checked once"""
_PEOPLE = frozenset({None, "user", "assistant", "system", "developer"})

Profile: TypeAlias = Literal["ocm", "harmony"]
Dialect: TypeAlias = Literal["ocm", "v0.1"]

_PROFILES: tuple[Profile, ...] = get_args(Profile)


def names_tool(recipient: str | None) -> bool:
    """Whether a recipient is a tool."""
    return recipient not in _PEOPLE


def checked_profile(profile: Profile | None) -> Profile | None:
    """The profile that was asked for.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, there is no such profile.
    """
    if profile is None or profile in _PROFILES:
        return profile
    hint = "profiles: " + ", ".join(_PROFILES)
    raise ArgumentError("E-ARGUMENT-VALUE", f"there is no profile {profile!r}", pointer="/profile", hint=hint)


def checked_stop(stop: str | None) -> str | None:
    """The name of the token that an engine took off the end.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, there is no such token.
    """
    if stop is None or (isinstance(stop, str) and stop in TERMINATORS):
        return stop
    hint = "names of tokens: " + ", ".join(sorted(TERMINATORS))
    raise ArgumentError("E-ARGUMENT-VALUE", f"no message ends with {stop!r}", pointer="/stop", hint=hint)


def is_version(text: str) -> bool:
    """Whether a text is `major.minor`."""
    return _VERSION.fullmatch(text) is not None


class SourceLocation(msgspec.Struct, frozen=True):
    """A location in a text: offset in code points from 0, line and column from 1."""

    offset: int
    line: int
    column: int = 1


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message.

    Attributes:
        role: `system`, `developer`, `user`, `assistant` or `tool`.
        body: the decoded text: no escapes, no literal blocks.
        channel: `analysis`, `commentary`, `final`, or None when none is written.
        name: display name; for role `tool` the tool's name.
        recipient: whom it is addressed to (`to=`), such as `functions.search`.
        call_id: id of the call, in the call and in its reply.
        intent: `preamble`, `status`, `debug` or anything else; only the first has a meaning.
        content_type: a hint on the body's type.
        constrain: the type that the body must have; only `json` can be checked.
        terminator: `end`, `call` or `return`; None for a message that was cut. Left out, it is `call` where an
            assistant addresses a tool, else `end`.
        extra: attributes that are not known.
        recovered: the header was malformed, this is what could be made of it.
        header_raw: the header as it was written, where it was malformed, with its message token if there is one; only
            of Harmony.
        role_raw: the role as it was written, where it was written otherwise.
        place: where the message begins; no part of what the message says.
        end: offset after the message, code points.
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
        """The channel, `final` where none is written."""
        return self.channel or "final"

    @property
    def is_call(self) -> bool:
        """Whether this is a tool call: an assistant's message that ends with the call token."""
        return self.role == "assistant" and self.terminator == "call"

    @property
    def is_reasoning(self) -> bool:
        """Whether this is private reasoning: the assistant's, on the analysis channel. A call is not."""
        return self.role == "assistant" and self.channel == "analysis" and not self.is_call

    @entry
    def same(self, other: Message) -> bool:
        """Whether both say the same, wherever and however they were written."""
        return self._said() == other._said()

    def _said(self) -> Message:
        return msgspec.structs.replace(self, role_raw=None, header_raw=None, place=None, end=None, recovered=False)

    def to_dict(self) -> dict[str, Any]:
        """What is set, as plain data."""
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
    """A message that was cut: role and channel are None where its header was cut, too."""

    role: str | None = None
    channel: str | None = None
    recipient: str | None = None
    body: str = ""


class DocumentHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The YAML header of a transcript.

    Attributes:
        version: `major.minor`, as text: 2.10 is not 2.1.
        model: the model's name.
        generation_settings: settings of the whole transcript.
        capabilities: what the writer can do; see `shared_capabilities`.
        profiles: settings of profiles, by name.
        extra: keys that are not known, kept as they came.
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
            HeaderError: `E-PARSE-HEADER`, it is not `major.minor`.
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
    """Something irregular that was read all the same."""

    code: str
    message: str
    place: SourceLocation

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"code": self.code, "message": self.message, "offset": self.place.offset, "line": self.place.line}


class Problem(msgspec.Struct, frozen=True):
    """An error as a value.

    Attributes:
        code: one of the codes in `openchatml.errors`.
        message: what is wrong.
        place: where; None for what has no place in a text.
        requirement: the requirement that is violated, such as `R-060`.
        index: number of the message, or None.
    """

    code: str
    message: str
    place: SourceLocation | None = None
    requirement: str | None = None
    index: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """What is set, as plain data."""
        data: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.place is not None:
            data |= {"offset": self.place.offset, "line": self.place.line, "column": self.place.column}
        if self.requirement is not None:
            data["requirement"] = self.requirement
        if self.index is not None:
            data["index"] = self.index
        return data

    def exception(self) -> OpenChatMLError:
        """The exception that says the same."""
        if self.place is None:
            return error_for(self.code, self.message)
        place = self.place
        return error_for(self.code, self.message, offset=place.offset, line=place.line, column=place.column)


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """What a text holds.

    Attributes:
        messages: complete messages in their order.
        header: the YAML header; None where there is none.
        profile: the profile it was read under.
        dialect: `ocm`, or `v0.1` for the first published syntax.
        errors: what was wrong (lenient reading only).
        warnings: what was irregular.
        incomplete: the message that the text ends in.
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
        """Whether it is of version 1 or older."""
        return self.dialect == "v0.1" or (self.header is not None and self.header.number[0] < 2)
