"""Probes a template alone, without deriving a format."""

from __future__ import annotations

from syntagma.analysis.probe.capabilities import Capabilities
from syntagma.analysis.probe.inputs import probe_inputs
from syntagma.analysis.render.bounded_renderer import BoundedRenderer
from syntagma.analysis.render.conversation import Sentinels
from syntagma.analysis.render.turn_renderer import TurnRenderer
from syntagma.templates import ChatTemplate

__all__ = ["probe_capabilities"]


def probe_capabilities(template: ChatTemplate) -> Capabilities:
    """What a template shows and needs, found by rendering made-up messages.

    Raises:
        TemplateError: `E-TEMPLATE-ANALYSIS`, no assistant's turn renders, or the renders went beyond their limits.
    """
    sentinels = Sentinels()
    tokens = template.variant(bos_token="", eos_token=sentinels.word("z"))
    renderer = TurnRenderer(BoundedRenderer(tokens, template.limits), sentinels)
    return probe_inputs(renderer, template.source, template.switch_values()).capabilities
