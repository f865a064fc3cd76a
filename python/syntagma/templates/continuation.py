"""Prompts that end inside the final message, so that the model continues it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from syntagma.errors import TemplateError
from syntagma.templates.message_sentinels import message_text, new_sentinel, with_text

__all__ = ["Render", "render_continued"]

Render: TypeAlias = Callable[[Mapping[str, Any]], str]
"""Renders a template with these variables."""


def render_continued(render: Render, variables: Mapping[str, Any]) -> str:
    """The render, cut after the content of the final message, or after its reasoning if it has no content.

    A sentinel appended to the text shows where the text ends. The sentinel is followed by a space: if the render lacks
    it, the template trims its messages, and the whitespace at the end of the text is not part of the prompt either.

    Raises:
        TemplateError: `E-TEMPLATE-CONTINUE`, there is no final text or the template does not write it.
    """
    messages = variables["messages"]
    final = messages[-1] if messages else None
    text = message_text(final, or_reasoning=True) if isinstance(final, dict) else None
    if text is None or not isinstance(final, dict):
        raise TemplateError(
            "E-TEMPLATE-CONTINUE",
            "the final message has no text that could be continued",
            hint="continue_final_message needs a last message with content or reasoning",
            pointer=f"/messages/{max(len(messages) - 1, 0)}",
        )
    sentinel = new_sentinel()
    marked = [*messages[:-1], with_text(final, text + sentinel + " ", or_reasoning=True)]
    rendered = render({**variables, "messages": marked, "add_generation_prompt": False})
    end = rendered.rfind(sentinel)
    if end < 0:
        raise TemplateError(
            "E-TEMPLATE-CONTINUE",
            "the template does not write the text of the final message, so it cannot be continued",
            pointer=f"/messages/{len(messages) - 1}",
        )
    if not rendered.startswith(" ", end + len(sentinel)):
        whitespace = len(text) - len(text.rstrip())
        if rendered[end - whitespace : end].isspace():
            end -= whitespace
    return rendered[:end]
