"""`syntagma replay`: parses a recorded answer again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import msgspec
import typer

from syntagma.cli.inputs import load_format, of_file, read_bytes
from syntagma.cli.output import JsonOption, reported, write, write_json
from syntagma.cli.progress import progress
from syntagma.recording import Bundle, Chunk, RecordedToken, Replay
from syntagma.recording import replay as replay_bundle

__all__ = ["replay"]


class _Chunks(StrEnum):
    AS_CAME = "as-came"
    WHOLE = "whole"
    EACH_CHARACTER = "each-character"


@reported
def replay(
    bundle: Annotated[str, typer.Argument(help="File with the recording; - is standard input.")],
    *,
    format_: Annotated[
        str | None, typer.Option("--format", help="Parse it with another format: name or TOML file.")
    ] = None,
    chunks: Annotated[_Chunks, typer.Option(help="How to cut the answer.")] = _Chunks.AS_CAME,
    prompt: Annotated[bool, typer.Option("--prompt", help="Print the prompt as well.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Parse a recorded answer again and show the events.

    The exit code is 1 if anything differs from the recording.
    """
    recorded = Bundle.from_json(read_bytes(bundle), source=bundle)
    with of_file(bundle), progress(bundle):
        done = replay_bundle(recorded, fmt=None if format_ is None else load_format(format_), chunks=chunks.value)
    if as_json:
        write_json(_report(recorded, done))
    else:
        _write_head(recorded)
        if prompt and recorded.prompt is not None:
            write(f"prompt: {json.dumps(recorded.prompt.text, ensure_ascii=False)}")
        _write_steps(done, recorded.tokens)
        _write_verdict(done)
    raise typer.Exit(0 if done.same else 1)


def _report(recorded: Bundle, done: Replay) -> dict[str, Any]:
    return {
        "same": done.same,
        "difference": done.difference,
        "events": done.events,
        "message": done.message,
        "error": done.error,
        "recorded_with": recorded.versions,
    }


def _write_head(recorded: Bundle) -> None:
    fmt = recorded.format
    write(f"format {fmt.name or 'without a name'} (sha256 {fmt.sha256[:12]})")
    with_ = ", ".join(f"{name} {version}" for name, version in sorted(recorded.versions.items()))
    seconds = recorded.chunks[-1].seconds if recorded.chunks else 0.0
    write(f"{len(recorded.chunks)} chunks in {seconds:.3f} s, recorded with {with_}")


def _write_steps(done: Replay, tokens: Mapping[int, RecordedToken]) -> None:
    for step in done.steps:
        write("end" if step.chunk is None else f"{step.chunk.seconds:9.3f} s  {_fed(step.chunk, tokens)}")
        for event in step.events:
            fields = msgspec.to_builtins(event)
            shown = " ".join(
                f"{name}={json.dumps(value, ensure_ascii=False)}"
                for name, value in fields.items()
                if name not in ("type", "span") and value is not None
            )
            write(f"             {fields['type']} {shown}".rstrip())


def _fed(chunk: Chunk, tokens: Mapping[int, RecordedToken]) -> str:
    if chunk.ids is not None:
        return "tokens " + ", ".join(f"{token} {_text(tokens.get(token))}".rstrip() for token in chunk.ids)
    text = json.dumps(chunk.text, ensure_ascii=False) if chunk.data is None else f"bytes {chunk.data!r}"
    return f"{text} (special)" if chunk.special else text


def _text(token: RecordedToken | None) -> str:
    return "" if token is None else json.dumps(token.data.decode("utf-8", "replace"), ensure_ascii=False)


def _write_verdict(done: Replay) -> None:
    if done.error is not None:
        write(f"parsing ended with {done.error}")
    difference = done.difference
    if difference is None:
        write("same: events and message are as recorded")
        return
    write(f"different at {difference.pointer}")
    for what, value in (("recorded", difference.recorded), ("now", difference.now)):
        write(f"  {what + ':':10}{json.dumps(value, ensure_ascii=False)}")
