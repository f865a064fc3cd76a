"""What a parser was given and what it made of it, as a value that a file holds."""

from __future__ import annotations

import hashlib
import platform
from typing import Final

import msgspec

from syntagma.entry import entry
from syntagma.errors import ArgumentError, FormatError
from syntagma.events import Event
from syntagma.formats import ChatFormat
from syntagma.messages import Message
from syntagma.parsing import ReadingOptions
from syntagma.request import ResolvedRequest
from syntagma.templates import Prompt
from syntagma.version import __version__

__all__ = [
    "BUNDLE_VERSION",
    "Bundle",
    "Chunk",
    "PromptText",
    "RecordedFormat",
    "RecordedToken",
    "prompt_of",
    "text_of",
    "versions_here",
    "written_format",
]

BUNDLE_VERSION: Final = 1
"""of the shape of bundles; another shape gets another number"""


class PromptText(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt: its text, and where in it the assistant's turn begins and goes on; None: that is not known."""

    text: str
    start: int | None = None
    begun: int | None = None


class RecordedFormat(msgspec.Struct, frozen=True, kw_only=True):
    """A format: its file's text with the SHA-256 of that, and its name, if it has one."""

    toml: str
    sha256: str
    name: str | None = None


class RecordedToken(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A token of the vocabulary: its bytes, whether it is special, and whether it ends a turn."""

    data: bytes
    special: bool = False
    end: bool = False


class Chunk(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the parser was fed at once: a text, bytes, or token ids.

    Attributes:
        seconds: since the recording began.
        text: the text, or None.
        data: the bytes, or None.
        special: what was said of text or bytes; see `StreamParser.feed`.
        ids: the token ids, or None.
    """

    seconds: float
    text: str | None = None
    data: bytes | None = None
    special: bool | None = None
    ids: tuple[int, ...] | None = None


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """All that is needed to parse an answer again, and what came of it.

    Attributes:
        bundle: the version of this shape.
        created: when the recording began, seconds since the epoch.
        versions: of the library and of Python.
        format: the format of the answer.
        prompt: what the answer was given to; None: the parser was told of none.
        request: what was asked, with the tools.
        reading: how the text was read; its `id_seed` is set.
        tokens: those of the vocabulary that were fed, and its special ones, by id; empty where no ids were fed.
        chunks: in the order in which they came.
        finished: `finish` was called.
        finish_reason: what `finish` was told.
        events: all that the parser reported.
        message: what it made of the answer.
        error: the code of the error that ended it; None: there was none.
    """

    bundle: int = BUNDLE_VERSION
    created: float
    versions: dict[str, str]
    format: RecordedFormat
    prompt: PromptText | None = None
    request: ResolvedRequest
    reading: ReadingOptions
    tokens: dict[int, RecordedToken] = {}
    chunks: tuple[Chunk, ...] = ()
    finished: bool = False
    finish_reason: str | None = None
    events: tuple[Event, ...] = ()
    message: Message
    error: str | None = None

    @classmethod
    @entry
    def from_json(cls, data: bytes | str, *, source: str | None = None) -> Bundle:
        """Read a bundle.

        Args:
            data: the JSON.
            source: the name of its file, for errors.

        Raises:
            ArgumentError: `E-RECORDING-BUNDLE`, it is no bundle, or one of a newer version.
        """
        try:
            version = msgspec.json.decode(data, type=_Version).bundle
            if version > BUNDLE_VERSION:
                hint = "a newer Syntagma reads it"
                message = f"a bundle of version {version}; versions up to {BUNDLE_VERSION} are read"
                raise ArgumentError("E-RECORDING-BUNDLE", message, hint=hint, pointer="/bundle", source=source)
            return msgspec.json.decode(data, type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ArgumentError("E-RECORDING-BUNDLE", f"no bundle: {error}", source=source) from error

    def to_json(self) -> bytes:
        """The bundle as JSON."""
        return msgspec.json.encode(self)

    def chat_format(self) -> ChatFormat:
        """The format that was recorded.

        Raises:
            ArgumentError: `E-RECORDING-BUNDLE`, it cannot be read.
        """
        try:
            return ChatFormat.from_toml(self.format.toml)
        except FormatError as error:
            message = f"the recorded format cannot be read: {error.message}"
            raise ArgumentError("E-RECORDING-BUNDLE", message, pointer="/format/toml") from error


class _Version(msgspec.Struct):
    bundle: int


def text_of(prompt: str) -> PromptText:
    """A prompt as the parser was given it."""
    if isinstance(prompt, Prompt):
        return PromptText(text=str(prompt), start=prompt.start, begun=prompt.begun)
    return PromptText(text=prompt)


def prompt_of(given: PromptText) -> str:
    """The prompt for a parser."""
    return given.text if given.start is None else Prompt(given.text, given.start, None, given.begun)


def written_format(fmt: ChatFormat) -> RecordedFormat:
    """A format as it is written down."""
    toml = fmt.to_toml()
    return RecordedFormat(toml=toml, sha256=hashlib.sha256(toml.encode()).hexdigest(), name=fmt.name)


def versions_here() -> dict[str, str]:
    """The versions of the library and of Python."""
    return {"syntagma": __version__, "python": platform.python_version()}
