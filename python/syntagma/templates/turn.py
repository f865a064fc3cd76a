"""Where the assistant's turn begins in a prompt.

Text of the conversation is never searched for markers: a user may write any marker. The place is where two renders
part, one with and one without the generation prompt, or, where that says nothing, behind the last mark that was put
behind what others than the assistant wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from syntagma.errors import SyntagmaError
from syntagma.templates import continuation
from syntagma.templates.continuation import Run
from syntagma.templates.marks import marked_text, new_mark, with_text
from syntagma.templates.prompt import Prompt

__all__ = ["continued_prompt", "opened_prompt"]


def opened_prompt(run: Run, variables: Mapping[str, Any], *, add_generation_prompt: bool) -> Prompt:
    """The prompt with the place where its generation prompt begins.

    Without a generation prompt, or with a template that writes it always, the turn begins behind the last text that
    somebody else wrote. What cannot be told at all begins at the end: then nothing is read from the prompt.
    """

    def write(messages: list[Any]) -> str:
        return run({**variables, "messages": messages, "add_generation_prompt": add_generation_prompt})

    text = write(variables["messages"])
    if add_generation_prompt:
        without = _attempt(run, {**variables, "add_generation_prompt": False})
        if without is not None and len(without) < len(text) and text.startswith(without):
            opening = text[len(without) :]
            if not any(written in opening for written in _texts_of_others(variables)):
                return Prompt(text, len(without))
    return Prompt(text, _behind_others(write, variables["messages"], text))


def continued_prompt(run: Run, variables: Mapping[str, Any]) -> Prompt:
    """The prompt that ends inside the final message, with the place where that message's turn begins."""

    def write(messages: list[Any]) -> str:
        return continuation.render(run, {**variables, "messages": messages})

    messages = variables["messages"]
    text = write(messages)
    before = _attempt(run, {**variables, "messages": messages[:-1], "add_generation_prompt": False})
    if before is not None and text.startswith(before):
        opening = text[len(before) :]
        own = marked_text(messages[-1], thoughts=True) or ""
        outside = opening[: -len(own)] if own and opening.endswith(own) else opening
        if not any(written in outside for written in _texts_of_others(variables)):
            return Prompt(text, len(before))
    return Prompt(text, _behind_others(write, messages, text))


def _texts_of_others(variables: Mapping[str, Any]) -> Iterator[str]:
    # Only a hint that a closer look is needed: short texts stand in every prompt by chance.
    for message in variables["messages"]:
        if isinstance(message, dict) and message.get("role") != "assistant":
            yield from _leaves(message.get("content"))
    yield from _leaves(variables.get("documents"))
    for tool in variables.get("tools") or ():
        yield from (text for text in _leaves(tool) if len(text) > len("function"))


def _leaves(value: Any) -> Iterator[str]:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if item.strip():
                yield item
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list | tuple):
            stack.extend(item)


def _behind_others(write: Any, messages: list[Any], text: str) -> int:
    mark = new_mark()
    marked = [_marked(message, mark) for message in messages]
    rendered = _attempt(write, marked)
    if rendered is None or mark not in rendered:
        return len(text)
    tail = rendered[rendered.rindex(mark) + len(mark) :]
    return len(text) - len(tail) if text.endswith(tail) else len(text)


def _marked(message: Any, mark: str) -> Any:
    if not isinstance(message, dict) or message.get("role") == "assistant":
        return message
    written = marked_text(message, thoughts=False)
    return message if written is None else with_text(message, written + mark, thoughts=False)


def _attempt(write: Any, argument: Any) -> str | None:
    try:
        text: str = write(argument)
    except SyntagmaError:
        # Templates refuse conversations that they do not like; the question then has to be asked in another way.
        return None
    return text
