"""`syntagma openchatml …`: reads, writes, checks and converts transcripts."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any

import typer

from syntagma.cli.inputs import of_file, read_bytes
from syntagma.cli.output import JsonOption, reported, write, write_json
from syntagma.cli.progress import progress
from syntagma.errors import RequestError, SyntagmaError
from syntagma.openchatml import (
    OpenChatMLError,
    Problem,
    Transcript,
    from_json,
    from_openai,
    harmony,
    to_json,
    to_openai,
    visible,
)
from syntagma.openchatml import parse as read_transcript
from syntagma.openchatml import render as write_transcript
from syntagma.openchatml import validate as check_transcript

__all__ = ["openchatml"]

openchatml = typer.Typer(
    name="openchatml",
    help="Read, check and convert transcripts. OpenChatML 2.2, Harmony, JSON and OpenAI messages.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class _Profile(StrEnum):
    OCM = "ocm"
    HARMONY = "harmony"


class _Form(StrEnum):
    OPENCHATML = "openchatml"
    HARMONY = "harmony"
    JSON = "json"
    OPENAI = "openai"


TextInput = Annotated[str, typer.Argument(help="File with the transcript; - is standard input.")]
ProfileOption = Annotated[_Profile | None, typer.Option(help="Profile to read with. Default: the header's.")]
LenientOption = Annotated[bool, typer.Option("--lenient", help="Continue after errors, and list them.")]
CompletionOption = Annotated[bool, typer.Option("--completion", help="The input continues an assistant's header.")]
HeaderOption = Annotated[bool, typer.Option("--require-header", help="Require the document header.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show hidden messages as well.")]


def _read(source: str, profile: _Profile | None, *, lenient: bool, role: str | None = None) -> tuple[str, Transcript]:
    text = read_bytes(source).decode("utf-8", "replace")
    with progress(source):
        return text, _transcript(text, source, profile=profile, role=role, lenient=lenient)


def _transcript(
    text: str, source: str, *, profile: _Profile | None = None, role: str | None = None, lenient: bool = False
) -> Transcript:
    try:
        return read_transcript(text, strict=not lenient, profile=None if profile is None else profile.value, role=role)
    except OpenChatMLError as error:
        error.source = source
        error.excerpt = _excerpt(text, error.offset)
        raise


def _excerpt(text: str, offset: int | None) -> str | None:
    if offset is None:
        return None
    begin = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[begin : end if end >= 0 else len(text)]
    # Of a long line, only the text around the error is shown.
    first = max(0, offset - begin - 60)
    return f"{line[first : first + 100]}\n{' ' * (offset - begin - first)}^"


def _print_problems(text: str, problems: tuple[Problem, ...], *, kind: str = "") -> None:
    for problem in problems:
        error = problem.exception()
        error.excerpt = _excerpt(text, error.offset)
        named = f" [{problem.requirement}]" if problem.requirement else ""
        typer.echo(f"{kind}{error}{named}", err=True)


@openchatml.command()
@reported
def parse(
    text: TextInput = "-",
    *,
    profile: ProfileOption = None,
    lenient: LenientOption = False,
    completion: CompletionOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print the messages of a transcript. The exit code is 1 if there are errors."""
    source, transcript = _read(text, profile, lenient=lenient, role="assistant" if completion else None)
    if as_json:
        write_json(
            {
                "profile": transcript.profile,
                "dialect": transcript.dialect,
                "header": transcript.header,
                "messages": [message.to_dict() for message in transcript.messages],
                "errors": [problem.to_dict() for problem in transcript.errors],
                "warnings": [warning.to_dict() for warning in transcript.warnings],
                "incomplete": transcript.incomplete,
            }
        )
    else:
        for index, message in enumerate(transcript.messages):
            to = f" to={message.recipient}" if message.recipient else ""
            write(f"[{index}] {message.role} {message.effective_channel}{to} ({message.terminator})\n{message.body}")
        _print_problems(source, transcript.errors)
    raise typer.Exit(1 if transcript.errors else 0)


@openchatml.command()
@reported
def render(text: TextInput = "-", *, profile: ProfileOption = None, as_json: JsonOption = False) -> None:
    """Print a transcript in its canonical form."""
    _, transcript = _read(text, profile, lenient=False)
    written = write_transcript(transcript)
    if as_json:
        write_json({"text": written})
    else:
        write(written)


@openchatml.command()
@reported
def validate(
    text: TextInput = "-",
    *,
    profile: ProfileOption = None,
    require_header: HeaderOption = False,
    as_json: JsonOption = False,
) -> None:
    """Check a transcript against every requirement; exit code 1 if it breaks a MUST."""
    source, transcript = _read(text, profile, lenient=True)
    with progress(text):
        checked = check_transcript(transcript, require_header=require_header)
    if as_json:
        write_json(
            {
                "valid": checked.valid,
                "errors": [problem.to_dict() for problem in checked.errors],
                "warnings": [problem.to_dict() for problem in checked.warnings],
                "unresolved_calls": checked.unresolved_calls,
            }
        )
    else:
        _print_problems(source, checked.errors)
        _print_problems(source, checked.warnings, kind="warning: ")
        write("valid" if checked.valid else "not valid")
    raise typer.Exit(0 if checked.valid else 1)


@openchatml.command("visible")
@reported
def visible_(
    text: TextInput = "-", *, profile: ProfileOption = None, debug: DebugOption = False, as_json: JsonOption = False
) -> None:
    """Print the part of a transcript that an end user sees."""
    _, transcript = _read(text, profile, lenient=False)
    shown = visible(transcript, debug=debug)
    if as_json:
        write_json(shown)
    else:
        for item in shown:
            write(f"{transcript.messages[item.index].role}: {item.text}")


@openchatml.command()
@reported
def convert(
    text: TextInput = "-",
    *,
    source: Annotated[_Form, typer.Option("--from", help="Form of the input.")] = _Form.OPENCHATML,
    target: Annotated[_Form, typer.Option("--to", help="Form of the output.")] = _Form.JSON,
    completion: CompletionOption = False,
    drop_cot: Annotated[
        bool, typer.Option("--drop-cot", help="To Harmony: leave out reasoning that sampling does not need.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Convert between forms. Losses are listed on standard error."""
    raw = read_bytes(text).decode("utf-8", "replace")
    with of_file(text):
        transcript, losses = _from(raw, source, "assistant" if completion else None, text)
        if target is _Form.HARMONY:
            written: Any = harmony.to_harmony(transcript.messages, drop_cot=drop_cot)
        elif target is _Form.OPENCHATML:
            written = write_transcript(transcript)
        elif target is _Form.JSON:
            written = to_json(transcript.messages)
        else:
            written, more = to_openai(transcript.messages, of_harmony=source is _Form.HARMONY)
            losses += [f"message {loss.index}, {loss.field}: {loss.reason}" for loss in more]
    if as_json:
        write_json({"result": written, "losses": losses})
        return
    for loss in losses:
        typer.echo(loss, err=True)
    if isinstance(written, str):
        write(written)
    else:
        write_json(written)


def _from(raw: str, form: _Form, role: str | None, source: str) -> tuple[Transcript, list[str]]:
    try:
        if form is _Form.OPENCHATML:
            return _transcript(raw, source, role=role), []
        if form is _Form.HARMONY:
            transcript = harmony.from_harmony(raw, role=role)
            return transcript, [f"{problem.code}: {problem.message}" for problem in transcript.errors]
        data = json.loads(raw)
        if not isinstance(data, list):
            raise RequestError("E-REQUEST-JSON", "the messages are not a list", source=source)
        if form is _Form.JSON:
            return Transcript(messages=tuple(from_json(data))), []
        messages, lost = from_openai(data)
        listed = [f"message {loss.index}, {loss.field}: {loss.reason}" for loss in lost]
        return Transcript(messages=tuple(messages)), listed
    except (ValueError, RecursionError) as error:
        if isinstance(error, SyntagmaError):
            raise
        raise RequestError("E-REQUEST-JSON", f"not JSON: {error}", source=source) from error
