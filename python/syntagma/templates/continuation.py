"""Prompts that end inside the final message, so that the model writes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from syntagma.errors import TemplateError
from syntagma.templates.marks import marked_text, new_mark, with_text

__all__ = ["Run", "render"]

Run: TypeAlias = Callable[[Mapping[str, Any]], str]


def render(run: Run, variables: Mapping[str, Any]) -> str:
    """The render, cut behind the content of the final message (behind its thoughts if it has no content).

    The place is found with a mark behind the text. A blank behind the mark tells whether the template trims its
    messages; if it does, the blanks at the end of the text are not in the prompt either.

    Raises:
        TemplateError: `E-TEMPLATE-CONTINUE`, there is no final text or the template does not write it.
    """
    messages = variables["messages"]
    final = messages[-1] if messages else None
    text = marked_text(final, thoughts=True) if isinstance(final, dict) else None
    if text is None or not isinstance(final, dict):
        raise TemplateError(
            "E-TEMPLATE-CONTINUE",
            "the final message has no text that could be continued",
            hint="continue_final_message needs a last message with content or thoughts",
            pointer=f"/messages/{max(len(messages) - 1, 0)}",
        )
    mark = new_mark()
    marked = [*messages[:-1], with_text(final, text + mark + " ", thoughts=True)]
    rendered = run({**variables, "messages": marked, "add_generation_prompt": False})
    place = rendered.rfind(mark)
    if place < 0:
        raise TemplateError(
            "E-TEMPLATE-CONTINUE",
            "the template does not write the text of the final message, so it cannot be continued",
            pointer=f"/messages/{len(messages) - 1}",
        )
    if not rendered.startswith(" ", place + len(mark)):
        blanks = len(text) - len(text.rstrip())
        if rendered[place - blanks : place].isspace():
            place -= blanks
    return rendered[:place]
