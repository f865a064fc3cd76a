"""The renders to compare: every shape of a turn in both contexts, located, and every generation prompt."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from syntagma.analysis.locate.located_turn import LocatedTurn, locate_turn
from syntagma.analysis.probe.inputs import ProbeResult
from syntagma.analysis.render.conversation import SampleTurn
from syntagma.analysis.render.turn_renderer import Context, RenderedTurn, TurnRenderer

__all__ = ["Observations", "Prompts", "observe"]

Prompts: TypeAlias = dict[tuple[str, Any] | None, str]
"""setting of a variable as (name, value), or None for the default → the text after the user's sentinel in the prompt"""

_SHAPES = ("C", "RC", "T", "CT", "RT", "RCT")
_CONTEXTS: tuple[Context, ...] = ("last", "middle")


class Observations(msgspec.Struct, frozen=True, kw_only=True):
    """Renders and located turns."""

    turns: tuple[LocatedTurn, ...]
    prompts: Prompts
    bare_prompt: str | None
    """the default prompt without a generation prompt; None if it does not render"""
    user_openers: tuple[str, str] | None
    """the text before the first user's sentinel, and that between content and the second user's"""
    bare_call: RenderedTurn | None = None
    """a turn of one call without arguments; None if there is none, or its name is not shown"""

    @property
    def without_arguments(self) -> str | None:
        """The text after the name of a call without arguments; None if none is shown."""
        shown = self.bare_call
        return None if shown is None else shown.text.partition(shown.turn.calls[0].name)[2]

    def best(self, *shapes: str) -> LocatedTurn | None:
        """The first turn with one of these shapes; turns at the end come before those in the middle.

        Turns with parts that the template does not show count only if there is no other.
        """
        for shape in shapes:
            for context in _CONTEXTS:
                for located in self.turns:
                    if located.shape == shape and located.context == context and located.turn.shape == shape:
                        return located
        return next((located for shape in shapes for located in self.all(shape)), None)

    def all(self, shape: str) -> list[LocatedTurn]:
        """All turns with this shape."""
        return [located for located in self.turns if located.shape == shape]


def observe(renderer: TurnRenderer, probed: ProbeResult) -> Observations:
    """Render and locate all turns that inference compares."""
    inputs = probed.inputs
    turns: list[LocatedTurn] = []
    for shape in _SHAPES:
        if ("R" in shape and inputs.reasoning is None) or ("T" in shape and not probed.max_calls):
            continue
        for context in _CONTEXTS:
            rendered = renderer.turn(_new_turn(renderer, shape, probed), inputs, context)
            located = None if rendered is None else locate_turn(rendered)
            if located is not None and located.elements:
                turns.append(located)
    prompts: Prompts = {}
    for setting in (None, *probed.switches):
        text = renderer.prompt(inputs, {} if setting is None else {setting[0]: setting[1]})
        if text is not None:
            prompts[setting] = text
    return Observations(
        turns=tuple(turns),
        prompts=prompts,
        bare_prompt=renderer.prompt(inputs, {}, generation=False),
        user_openers=renderer.user_openers(inputs),
        bare_call=_bare_call(renderer, probed) if probed.max_calls else None,
    )


def _bare_call(renderer: TurnRenderer, probed: ProbeResult) -> RenderedTurn | None:
    call = renderer.new_call(0, probed.id_form)
    rendered = renderer.in_any_context(SampleTurn(calls=(call,)), probed.inputs)
    return rendered if rendered is not None and rendered.shows(call.name) else None


def _new_turn(renderer: TurnRenderer, shape: str, probed: ProbeResult) -> SampleTurn:
    words = renderer.sentinels
    count = probed.max_calls if "T" in shape else 0
    return SampleTurn(
        reasoning=words.word("r") if "R" in shape else None,
        content=words.word("c") if "C" in shape else None,
        calls=tuple(renderer.new_call(2, probed.id_form, index) for index in range(count)),
    )
