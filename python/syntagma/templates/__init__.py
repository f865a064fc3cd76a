"""Chat templates: loading, rendering within bounds, and prompts that know where the assistant's turn begins."""

from __future__ import annotations

from syntagma.templates.prompt import Prompt
from syntagma.templates.render_options import RenderOptions
from syntagma.templates.segments import Origin, Segment
from syntagma.templates.template import ChatTemplate

__all__ = ["ChatTemplate", "Origin", "Prompt", "RenderOptions", "Segment"]
