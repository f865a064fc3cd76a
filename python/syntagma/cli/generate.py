"""`syntagma generate`: generates one answer, constrained to a grammar, a schema or tools."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
import typer

from syntagma import load
from syntagma.cli.inputs import (
    EMBEDDED,
    GRAMMAR_FILE,
    grammar_of,
    load_format,
    load_messages,
    load_tools,
    read_text,
)
from syntagma.cli.output import JsonOption, reported, warn, write, write_json
from syntagma.cli.schemas import misspelt_in, schema_of, warn_of_misspelt
from syntagma.codec import ChatCodec
from syntagma.errors import RequestError
from syntagma.events import ContentDelta, Event, Malformed, MessageEnd, ReasoningDelta, ToolCallDelta, ToolCallStart
from syntagma.generation import Model
from syntagma.grammars.dialects import notation_of_file

__all__ = ["generate"]


@reported
def generate(
    prompt: Annotated[str | None, typer.Argument(help="Message of the user; - reads standard input.")] = None,
    *,
    model: Annotated[
        str, typer.Option(help="'embedded', a folder, a GGUF file, 'BACKEND:REST', or 'KIND:URL' of an engine.")
    ] = EMBEDDED,
    messages: Annotated[
        str | None, typer.Option(help="JSON file with a whole conversation, instead of one message.")
    ] = None,
    grammar: Annotated[str | None, typer.Option(help=f"Constrain the answer to this grammar. {GRAMMAR_FILE}")] = None,
    regex: Annotated[str | None, typer.Option(help="Constrain the answer to this regular expression.")] = None,
    tools: Annotated[str | None, typer.Option(help="JSON file with tools that the model may call.")] = None,
    tool_choice: Annotated[str, typer.Option(help="auto, required, none, or a tool's name.")] = "auto",
    format_: Annotated[
        str | None,
        typer.Option(
            "--format", help="Name or TOML file of the model's format, instead of deriving it from the template."
        ),
    ] = None,
    temperature: Annotated[float, typer.Option(help="0 always takes the likeliest token.")] = 1.0,
    max_tokens: Annotated[int | None, typer.Option(help="Maximum length of the answer, in tokens.")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same answer.")] = None,
    events: Annotated[bool, typer.Option("--events", help="Print the events, one JSON object per line.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Let a model answer.

    Content is printed as it is written, then calls, one JSON object per line. Reasoning goes to standard error.
    """
    conversation = _conversation(prompt, messages)
    shape = _shape(grammar, regex)
    listed = load_tools(tools) or []
    warn_of_misspelt(misspelt_in(schema_of(grammar), listed))
    choice: Any = tool_choice
    if tool_choice not in ("auto", "required", "none"):
        choice = {"type": "function", "function": {"name": tool_choice}}
    loaded = load(model)
    try:
        if format_ is not None:
            loaded = Model(loaded.engine, ChatCodec.from_format(load_format(format_), loaded.codec.template))
        asked: dict[str, Any] = {
            "tools": listed,
            "tool_choice": choice,
            "response_format": shape,
            "temperature": temperature,
            "max_tokens": max_tokens,
            "seed": seed,
        }
        if as_json:
            write_json(loaded.chat(conversation, **asked))
            return
        stream = loaded.stream(conversation, **asked)
        if events:
            for event in stream:
                write(msgspec.json.encode(event).decode())
        else:
            _print(stream)
    finally:
        loaded.close()


def _conversation(prompt: str | None, messages: str | None) -> Any:
    if (prompt is None) == (messages is None):
        raise RequestError("E-REQUEST-ARGUMENT", "give either the user's message or --messages")
    if messages is not None:
        return load_messages(messages)[0]
    return [{"role": "user", "content": read_text("-") if prompt == "-" else prompt}]


def _shape(grammar: str | None, regex: str | None) -> dict[str, Any] | None:
    """The response format of --grammar or --regex, of which at most one may be given; None without them."""
    if grammar is not None and regex is not None:
        raise RequestError("E-REQUEST-ARGUMENT", "give either --grammar or --regex")
    if regex is not None:
        return {"type": "regex", "regex": regex}
    if grammar is None:
        return None
    text = read_text(grammar)
    grammar_of(grammar, text)  # raises errors that name the file
    notations = notation_of_file(grammar, text)
    if notations == ("json_schema",):
        return {"type": "json_schema", "json_schema": {"name": "answer", "schema": text}}
    if notations == ("structural_tag",):
        return {**msgspec.json.decode(text), "type": "structural_tag"}
    return {"type": "grammar", "grammar": text, "syntax": notations[0] if len(notations) == 1 else "auto"}


def _print(events: Iterable[Event]) -> None:
    """Print content as it arrives, then each call with its arguments."""
    calls: dict[int, tuple[str, list[str]]] = {}
    wrote = False
    for event in events:
        match event:
            case ContentDelta(text=text):
                write(text, end="")
                wrote = True
            case ReasoningDelta(text=text):
                warn(text, end="")
            case ToolCallStart(index=index, name=name):
                calls[index] = (name, [])
            case ToolCallDelta(index=index, arguments=arguments):
                calls[index][1].append(arguments)
            case Malformed(code=code, message=message):
                warn(f"{code}: {message}")
            case MessageEnd(finish_reason="length"):
                warn("the answer was cut off: it reached --max-tokens or the model's context")
            case _:
                pass
    if wrote:
        write("")
    for name, pieces in calls.values():
        write(msgspec.json.encode({"name": name, "arguments": "".join(pieces)}).decode())
