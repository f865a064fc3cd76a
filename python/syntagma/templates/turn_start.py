"""Finds where the assistant's turn begins in a prompt.

The prompt is never searched for the template's markers, because a user may write any text. Instead, two renders are
compared, one with and one without the generation prompt: the turn begins where they differ. If that is not conclusive,
the turn begins after the last sentinel appended to a non-assistant message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from syntagma.errors import SyntagmaError
from syntagma.templates.continuation import Render, render_continued
from syntagma.templates.message_sentinels import message_text, new_sentinel, with_text

__all__ = ["begun_at", "continued_start", "opened_start"]

T = TypeVar("T")


def opened_start(render: Render, variables: Mapping[str, Any], text: str) -> int:
    """The offset of the generation prompt in `text`, the render with these variables.

    Without a generation prompt, or with a template that always writes one, the turn begins after the last text that is
    not the assistant's. If that is unknown, the turn begins at the end, so that nothing is read from the prompt.
    """

    def render_messages(messages: list[Any]) -> str:
        return render({**variables, "messages": messages})

    if variables["add_generation_prompt"]:
        without = _render_or_none(render, {**variables, "add_generation_prompt": False})
        if without is not None and len(without) < len(text) and text.startswith(without):
            opening = text[len(without) :]
            if not any(written in opening for written in _texts_of_others(variables)):
                return len(without)
    return _end_of_others(render_messages, variables["messages"], text)


def continued_start(render: Render, variables: Mapping[str, Any], text: str) -> int:
    """The offset in `text` at which the turn of the final message begins. The prompt ends inside of this message."""

    def render_messages(messages: list[Any]) -> str:
        return render_continued(render, {**variables, "messages": messages})

    messages = variables["messages"]
    before = _render_or_none(render, {**variables, "messages": messages[:-1], "add_generation_prompt": False})
    if before is not None and text.startswith(before):
        opening = text[len(before) :]
        own = message_text(messages[-1], or_reasoning=True) or ""
        outside = opening[: -len(own)] if own and opening.endswith(own) else opening
        if not any(written in outside for written in _texts_of_others(variables)):
            return len(before)
    return _end_of_others(render_messages, messages, text)


def begun_at(render: Render, variables: Mapping[str, Any], text: str) -> int:
    """The offset in `text` of the text that the assistant has written. The prompt ends inside of the final message.

    This text follows the generation prompt. If the template does not repeat the generation prompt in past messages, it
    follows the text before a message's content instead. If both are unknown, the offset is the length of `text`.
    """
    messages = variables["messages"]
    opened = _render_or_none(render, {**variables, "messages": messages[:-1], "add_generation_prompt": True})
    if opened is not None and text.startswith(opened):
        return len(opened)
    sentinel = new_sentinel()
    alone = [*messages[:-1], {"role": messages[-1].get("role"), "content": sentinel}]
    shown = _render_or_none(lambda changed: render_continued(render, changed), {**variables, "messages": alone})
    header = None if shown is None or not shown.endswith(sentinel) else shown.removesuffix(sentinel)
    return len(header) if header is not None and text.startswith(header) else len(text)


def _texts_of_others(variables: Mapping[str, Any]) -> Iterator[str]:
    """Texts of users, tools and documents.

    One of them in the opening is only a reason to look closer, because short texts occur in every prompt by chance.
    """
    for message in variables["messages"]:
        if isinstance(message, dict) and message.get("role") != "assistant":
            yield from _strings(message.get("content"))
    yield from _strings(variables.get("documents"))
    for tool in variables.get("tools") or ():
        yield from (text for text in _strings(tool) if len(text) > len("function"))


def _strings(value: Any) -> Iterator[str]:
    """All strings in a value that contain more than whitespace."""
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


def _end_of_others(render_messages: Callable[[list[Any]], str], messages: list[Any], text: str) -> int:
    """The offset in `text` after the last text of a non-assistant message; the end of `text` if it is unknown."""
    sentinel = new_sentinel()
    rendered = _render_or_none(render_messages, [_with_sentinel(message, sentinel) for message in messages])
    if rendered is None or sentinel not in rendered:
        return len(text)
    tail = rendered[rendered.rindex(sentinel) + len(sentinel) :]
    return len(text) - len(tail) if text.endswith(tail) else len(text)


def _with_sentinel(message: Any, sentinel: str) -> Any:
    if not isinstance(message, dict) or message.get("role") == "assistant":
        return message
    text = message_text(message, or_reasoning=False)
    return message if text is None else with_text(message, text + sentinel, or_reasoning=False)


def _render_or_none(render: Callable[[T], str], argument: T) -> str | None:
    """The render; None if the template refuses the conversation."""
    try:
        return render(argument)
    except SyntagmaError:
        return None
