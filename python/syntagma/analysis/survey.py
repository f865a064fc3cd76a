"""The renders from which a format is inferred: every shape of a turn in both contexts, and every generation prompt."""

from __future__ import annotations

from typing import Any

import msgspec

from syntagma.analysis.conversations import Turn
from syntagma.analysis.extents import Reading, read_view
from syntagma.analysis.frame import Frame, find_frame
from syntagma.analysis.probes import Probed
from syntagma.analysis.scene import Context, Scene

__all__ = ["Survey", "survey"]

_SHAPES = ("C", "RC", "T", "CT", "RT", "RCT")
_CONTEXTS: tuple[Context, ...] = ("last", "middle")


class Survey(msgspec.Struct, frozen=True):
    """What was rendered and read; `prompts` maps a switch setting as (variable, value), or None, to its prompt."""

    readings: tuple[Reading, ...]
    prompts: dict[tuple[str, Any] | None, str]
    frame: Frame

    def best(self, *kinds: str) -> Reading | None:
        """The first reading that shows exactly one of these shapes, last turns before history."""
        for kind in kinds:
            for context in _CONTEXTS:
                for reading in self.readings:
                    if reading.shape == kind and reading.context == context and reading.view.turn.shape == kind:
                        return reading
        return next((reading for kind in kinds for reading in self.readings if reading.shape == kind), None)

    def extra(self, prompt: str) -> str | None:
        """What a prompt holds behind the header; None if the header is not in it."""
        if prompt.startswith(self.frame.lead):
            return prompt[len(self.frame.lead) :]
        at = prompt.rfind(self.frame.anchor) if self.frame.anchor else -1
        return prompt[at + len(self.frame.anchor) :] if at >= 0 else None

    def all(self, kind: str) -> list[Reading]:
        """Every reading that shows this shape."""
        return [reading for reading in self.readings if reading.shape == kind]


def survey(scene: Scene, probed: Probed, whole: str) -> Survey:
    """Render and read everything that inference compares."""
    inputs = probed.inputs
    readings: list[Reading] = []
    for shape in _SHAPES:
        if ("R" in shape and inputs.reasoning is None) or ("T" in shape and not probed.most_calls):
            continue
        for context in _CONTEXTS:
            view = scene.view(_turn(scene, shape, probed), inputs, context)
            if view is not None:
                reading = read_view(view)
                if reading.elements:
                    readings.append(reading)
    prompts: dict[tuple[str, Any] | None, str] = {}
    for setting in (None, *probed.switches):
        text = scene.prompt(inputs, {} if setting is None else {setting[0]: setting[1]})
        if text is not None:
            prompts[setting] = text
    frame = find_frame(
        readings,
        list(prompts.values()),
        scene.prompt(inputs, {}, generation=False),
        scene.user_openers(inputs),
        whole,
    )
    return Survey(tuple(readings), prompts, frame)


def _turn(scene: Scene, shape: str, probed: Probed) -> Turn:
    words = scene.sentinels
    count = probed.most_calls if "T" in shape else 0
    return Turn(
        reasoning=words.word("r") if "R" in shape else None,
        content=words.word("c") if "C" in shape else None,
        calls=tuple(scene.call(2, probed.id_form, index) for index in range(count)),
    )
