"""`syntagma render`: renders messages with a chat template."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from syntagma.cli.inputs import load_messages, load_template, load_tools, of_file, read_json
from syntagma.cli.output import JsonOption, reported, write, write_json
from syntagma.errors import RequestError

__all__ = ["render"]


@reported
def render(
    template: Annotated[str, typer.Argument(help="Template file, model folder, GGUF file, or 'embedded'.")],
    *,
    messages: Annotated[str, typer.Option(help="JSON file with the messages; - is standard input.")] = "-",
    tools: Annotated[str | None, typer.Option(help="JSON file with the tools.")] = None,
    kwargs: Annotated[str | None, typer.Option(help="JSON file with further template variables.")] = None,
    generation_prompt: Annotated[bool, typer.Option(help="End with the beginning of the assistant's turn.")] = True,
    continue_final_message: Annotated[bool, typer.Option(help="Leave the final message open.")] = False,
    segments: Annotated[
        bool, typer.Option("--segments", help="Show who wrote which part, one line per piece.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the prompt for a conversation."""
    loaded = load_template(template)
    given, declared = load_messages(messages)
    variables = {} if kwargs is None else read_json(kwargs)
    if not isinstance(variables, dict):
        raise RequestError("E-REQUEST-FIELD", "template variables must be a JSON object", source=kwargs)
    declared = declared if tools is None else load_tools(tools)
    with of_file(messages):
        prompt = loaded.render(
            given,
            tools=declared,
            add_generation_prompt=generation_prompt and not continue_final_message,
            continue_final_message=continue_final_message,
            template_kwargs=variables,
        )
    if as_json:
        pieces = [{"origin": origin, "text": text} for text, origin in prompt.segments] if segments else None
        write_json({"prompt": str(prompt), "start": prompt.start} | ({} if pieces is None else {"segments": pieces}))
    elif segments:
        for text, origin in prompt.segments:
            write(f"{origin:9} {json.dumps(text, ensure_ascii=False)}")
    else:
        write(str(prompt))
