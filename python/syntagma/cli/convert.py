"""`syntagma convert`: converts conversations from one form to another, and lists losses."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from syntagma.cli.inputs import of_file, read_bytes
from syntagma.cli.output import JsonOption, pretty_json, reported, warn, write
from syntagma.cli.progress import progress
from syntagma.conversion import Converted
from syntagma.conversion import convert as convert_document
from syntagma.errors import RequestError

__all__ = ["convert"]

_LINES = (".jsonl", ".ndjson")


class _Target(StrEnum):
    ANTHROPIC = "anthropic"
    HARMONY = "harmony"
    HF = "hf"
    OPENAI = "openai"
    OPENCHATML = "openchatml"
    RESPONSES = "responses"


class _Source(StrEnum):
    AUTO = "auto"
    ANTHROPIC = "anthropic"
    HARMONY = "harmony"
    HF = "hf"
    OPENAI = "openai"
    OPENCHATML = "openchatml"
    RESPONSES = "responses"


@reported
def convert(
    file: Annotated[
        str, typer.Argument(help="JSON, JSON lines (one conversation per line), or a transcript; - is standard input.")
    ] = "-",
    *,
    target: Annotated[_Target, typer.Option("--to", help="Form of the output.")],
    source: Annotated[_Source, typer.Option("--from", help="Form of the input.")] = _Source.AUTO,
    output: Annotated[str | None, typer.Option(help="File to write. Default: standard output.")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="If anything is lost, write nothing and exit with code 1.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Convert conversations between forms of chat messages.

    Forms: OpenAI's chat messages (openai) and Responses (responses), Anthropic's messages (anthropic), messages of
    chat templates (hf), and transcripts in Harmony and OpenChatML. JSON lines stay JSON lines. Losses are listed on
    standard error.
    """
    number_of, documents, is_lines = _documents(read_bytes(file), file)
    with _target(output) as put, progress(file, number_of, hidden=output is None and sys.stdout.isatty()) as show:
        for at, (number, document) in enumerate(documents, 1):
            with of_file(file, line=number):
                done = convert_document(document, target.value, source=source.value)
            refused = strict and bool(done.losses)
            if as_json:
                report: dict[str, Any] = {"line": number} if is_lines else {}
                report |= {"source": done.source, "document": None if refused else done.document, "losses": done.losses}
                put(_json(report, is_line=is_lines))
            else:
                _list(done, number)
                if not refused:
                    put(_spelled(done.document, is_line=is_lines))
            if refused:
                raise typer.Exit(1)
            if show is not None:
                show(at, f"{at:,} conversations")


def _documents(raw: bytes, file: str) -> tuple[int, Iterator[tuple[int | None, Any]], bool]:
    """The number of conversations in a file, the conversations with their line numbers, and whether it is JSON lines.

    Raises:
        RequestError: `E-REQUEST-FILE`, it is empty or not UTF-8; `E-REQUEST-JSON`, it begins like JSON but is not JSON.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RequestError("E-REQUEST-FILE", f"byte {error.start} is not UTF-8", source=file) from error
    if not text.strip():
        raise RequestError("E-REQUEST-FILE", "the file is empty", source=file)
    if not text.lstrip().startswith(("{", "[", '"')):
        return 1, iter([(None, text)]), False
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not file.endswith(_LINES):
        try:
            return 1, iter([(None, msgspec.json.decode(text))]), False
        except (msgspec.DecodeError, RecursionError) as error:
            if len(lines) == 1 or not _is_json(lines[0][1]):
                raise RequestError("E-REQUEST-JSON", f"not JSON: {error}", source=file) from error
    # Lines are decoded one by one, because a decoded data set would need much more memory.
    return len(lines), ((number, _decoded(line, number, file)) for number, line in lines), True


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _decoded(line: str, number: int, file: str) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise RequestError("E-REQUEST-JSON", f"not JSON: {error}", source=file, line=number) from error


@contextmanager
def _target(output: str | None) -> Iterator[Callable[[str], None]]:
    """A function that writes a text with a line break to a file, or to standard output.

    The file is written under another name and renamed when it is complete.

    Raises:
        RequestError: `E-REQUEST-FILE`, the file cannot be written.
    """
    if output is None:
        yield write
        return
    part = Path(f"{output}.part")
    try:
        with part.open("w", encoding="utf-8") as stream:
            yield lambda text: print(text, file=stream)
        part.replace(output)
    except OSError as error:
        raise RequestError("E-REQUEST-FILE", f"the file cannot be written: {error.strerror}", source=output) from error
    finally:
        part.unlink(missing_ok=True)


def _list(done: Converted, number: int | None) -> None:
    for loss in done.losses:
        warn(f"{'' if number is None else f'line {number}: '}{loss}")


def _json(value: Any, *, is_line: bool) -> str:
    return msgspec.json.encode(value).decode() if is_line else pretty_json(value)


def _spelled(document: Any, *, is_line: bool) -> str:
    if isinstance(document, str):
        return _json({"text": document}, is_line=True) if is_line else document
    return _json(document, is_line=is_line)
