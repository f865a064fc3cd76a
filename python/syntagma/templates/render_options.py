"""The options of a render."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from syntagma.messages import ToolLike

__all__ = ["RenderOptions"]


class RenderOptions(TypedDict, total=False):
    """Keyword arguments of `ChatTemplate.render`. All are optional.

    Attributes:
        tools: the declared tools. Dictionaries are passed to the template unchanged, a `Tool` as its OpenAI dictionary.
            Default: None, no tools.
        documents: documents, for templates that quote them. Default: None.
        add_generation_prompt: open the assistant's turn at the end. Default: True.
        continue_final_message: leave the final message open, so that the model continues its content, or its reasoning
            if it has no content. No generation prompt is added then. Default: False.
        template_kwargs: further variables of the template. Default: none.
        now: the clock of `strftime_now`. Default: None, the local time.
    """

    tools: Sequence[ToolLike] | None
    documents: Sequence[Mapping[str, Any]] | None
    add_generation_prompt: bool
    continue_final_message: bool
    template_kwargs: Mapping[str, Any] | None
    now: datetime.date | None
