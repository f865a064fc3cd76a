"""The bundle: the input and output of one parser, as a value that can be stored in a file."""

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
"""version of the bundle's structure"""


class PromptText(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt and two offsets in its text, in code points.

    Attributes:
        text: the prompt's text.
        start: where the assistant's turn begins; None if that is unknown.
        begun: where the text already written by the assistant begins, if the turn continues a message; else the end
            of the text; None if that is unknown.
    """

    text: str
    start: int | None = None
    begun: int | None = None


class RecordedFormat(msgspec.Struct, frozen=True, kw_only=True):
    """A format: the text of its file, the SHA-256 of the text, and its name, if it has one."""

    toml: str
    sha256: str
    name: str | None = None


class RecordedToken(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A token of the vocabulary: its bytes, whether it is special, and whether it ends a turn."""

    data: bytes
    special: bool = False
    end: bool = False


class Chunk(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The input of one call of `feed` or `feed_tokens`: a text, bytes, or token ids.

    Attributes:
        seconds: time since the recording began, in seconds.
        text: the text, or None.
        data: the bytes, or None.
        special: the argument `special` of `StreamParser.feed`.
        ids: the token ids, or None.
    """

    seconds: float
    text: str | None = None
    data: bytes | None = None
    special: bool | None = None
    ids: tuple[int, ...] | None = None


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is needed to parse an answer again, and the result.

    Attributes:
        bundle: version of the bundle's structure.
        created: when the recording began, in seconds since the epoch.
        versions: versions of the library and of Python.
        format: the format of the answer.
        prompt: the prompt; None if the parser got none.
        request: the request, with its tools.
        reading: the parser's reading options; `id_seed` is set.
        tokens: the fed tokens and the special tokens of the vocabulary, by id; empty if no ids were fed.
        chunks: the chunks, in order.
        finished: `finish` was called.
        finish_reason: the argument of `finish`.
        events: all events of the parser.
        message: the parser's message.
        error: the code of the error that ended the parsing; None if there was none.
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
            data: the bundle as JSON.
            source: the name of its file, for errors.

        Raises:
            ArgumentError: `E-RECORDING-BUNDLE`, the data is not a bundle, or is one of a newer version.
        """
        try:
            version = msgspec.json.decode(data, type=_Version).bundle
            if version > BUNDLE_VERSION:
                hint = "read it with a newer version of Syntagma"
                message = f"bundle version {version} is not supported; the newest supported is {BUNDLE_VERSION}"
                raise ArgumentError("E-RECORDING-BUNDLE", message, hint=hint, pointer="/bundle", source=source)
            return msgspec.json.decode(data, type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ArgumentError("E-RECORDING-BUNDLE", f"not a bundle: {error}", source=source) from error

    def to_json(self) -> bytes:
        """The bundle as JSON."""
        return msgspec.json.encode(self)

    def chat_format(self) -> ChatFormat:
        """The recorded format.

        Raises:
            ArgumentError: `E-RECORDING-BUNDLE`, the format's text cannot be read.
        """
        try:
            return ChatFormat.from_toml(self.format.toml)
        except FormatError as error:
            message = f"the recorded format cannot be read: {error.message}"
            raise ArgumentError("E-RECORDING-BUNDLE", message, pointer="/format/toml") from error


class _Version(msgspec.Struct):
    bundle: int


def text_of(prompt: str) -> PromptText:
    """A parser's prompt as a value for a bundle."""
    if isinstance(prompt, Prompt):
        return PromptText(text=str(prompt), start=prompt.start, begun=prompt.begun)
    return PromptText(text=prompt)


def prompt_of(given: PromptText) -> str:
    """The prompt of a bundle as an argument for a parser."""
    return given.text if given.start is None else Prompt(given.text, given.start, None, given.begun)


def written_format(fmt: ChatFormat) -> RecordedFormat:
    """A format as a value for a bundle."""
    toml = fmt.to_toml()
    return RecordedFormat(toml=toml, sha256=hashlib.sha256(toml.encode()).hexdigest(), name=fmt.name)


def versions_here() -> dict[str, str]:
    """The running versions of the library and of Python."""
    return {"syntagma": __version__, "python": platform.python_version()}
