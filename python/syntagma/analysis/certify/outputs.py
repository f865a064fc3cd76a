"""The outputs of a template: its turns, cut into prompts and the outputs after them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from syntagma.analysis.certify.read_back import PromptedOutput, reasoning_at_header
from syntagma.analysis.certify.roundtrip_cases import with_types
from syntagma.analysis.certify.shown import shown_turn
from syntagma.analysis.infer.frame import Frame
from syntagma.analysis.locate.atoms import text_after, visible_atoms
from syntagma.analysis.render.conversation import Inputs, SampleTurn
from syntagma.analysis.render.turn_renderer import Context, RenderedTurn, TurnRenderer
from syntagma.formats import ChatFormat

__all__ = ["TemplateOutputs", "without_empty_block"]


class TemplateOutputs:
    """Turns and prompts of a template, with its own end-of-sequence token in place of the sentinel.

    Renders are shared between all formats that are tried.

    Attributes:
        frame: the frame of a turn.
        prompts: the text after the user's message in each prompt.
        settings: the template variables that were set for all of them, beside those that the template needs.
    """

    def __init__(
        self,
        renderer: TurnRenderer,
        inputs: Inputs,
        frame: Frame,
        prompts: Iterable[str],
        *,
        eos_token: str,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self._renderer = renderer
        self._inputs = inputs
        self._sentinel = frame.eos
        self._eos_token = eos_token
        self.frame = frame.with_eos(eos_token)
        self.prompts = tuple(self._real(prompt) for prompt in prompts)
        self.settings = settings or {}
        self._ends: tuple[str, ...] = ()
        """the ends of a turn in the format that these outputs are fitted to"""

    def turn(self, turn: SampleTurn, context: Context, tools: list[dict[str, Any]] | None) -> RenderedTurn | None:
        """Render a turn, with those of the tools declared that it calls; None if that fails."""
        called = {call.name for call in turn.calls}
        declared = None if tools is None else [tool for tool in tools if tool["function"]["name"] in called]
        rendered = self._renderer.turn(turn, self._inputs, context, tools=declared)
        if rendered is None and declared:
            rendered = self._renderer.turn(turn, self._inputs, context, tools=with_types(declared))
        return None if rendered is None else msgspec.structs.replace(rendered, text=self._real(rendered.text))

    def shown(self, turn: SampleTurn, tools: list[dict[str, Any]] | None) -> RenderedTurn | None:
        """The turn as the last message, or in the middle if it does not render there, or shows calls only there."""
        last = self.turn(turn, "last", tools)
        if last is not None and (not turn.calls or shown_turn(last).turn.calls):
            return last
        middle = self.turn(turn, "middle", tools)
        return middle if middle is not None and (last is None or shown_turn(middle).turn.calls) else last

    def _real(self, text: str) -> str:
        return text.replace(self._sentinel, self._eos_token)

    @property
    def refusal(self) -> str:
        """The reason for which the template refused the last turn that it did not render."""
        error = self._renderer.bounded.last_error
        return "" if error is None else error.message

    def text(self, rendered: RenderedTurn) -> str:
        """The text of a turn, without the text after it in the conversation."""
        return rendered.text.removesuffix(self.frame.epilogue if rendered.context == "last" else self.frame.user_open)

    def after_header(self, prompt: str) -> str:
        """The text of a prompt after the header; empty if it does not begin with the header."""
        return prompt[len(self.frame.lead) :] if prompt.startswith(self.frame.lead) else ""

    def fitted(self, fmt: ChatFormat) -> TemplateOutputs:
        """The same outputs for a format whose parts open where the lead of these still goes on.

        The openers of a format are known whole, and comparisons cut them where all shapes of a turn begin alike.
        """
        spec = fmt.spec
        openers = [block.opener.strip() for block in (*spec.reasoning_blocks, *spec.wrappers)]
        openers += [section.opener.strip() for section in (spec.tools.section if spec.tools is not None else ())]
        made = copy.copy(self)
        made.frame = self.frame.shortened(max((begun_at_end(self.frame.lead, one) for one in openers), default=0))
        made._ends = tuple(text for texts in spec.turn_ends for text in texts if text.strip())
        return made

    def _ended(self, text: str) -> str:
        """The text of a turn without what follows its end: models write nothing after that."""
        bare = text.rstrip()
        return bare if bare.endswith(self._ends) else text

    def of(self, fmt: ChatFormat, rendered: RenderedTurn, shown: SampleTurn) -> list[PromptedOutput]:
        """The turn as outputs: all of it after the header, and the rest of it after every prompt that it fits.

        Args:
            fmt: the format that reads it.
            rendered: the turn.
            shown: the parts of the turn in the render.
        """
        text, lead = self._ended(self.text(rendered)), self.frame.lead
        found = []
        if text.startswith(lead):
            history = bool(self.prompts) and lead not in self.prompts
            state = reasoning_at_header(fmt, shown)
            found.append(PromptedOutput("header", lead, text[len(lead) :], state, history, self.settings))
        for prompt in dict.fromkeys(self.prompts):
            if prompt == lead:
                continue
            if text.startswith(prompt):
                found.append(PromptedOutput("prompt", prompt, text[len(prompt) :], settings=self.settings))
            elif text.startswith(lead) and shown.reasoning is None and fmt.spec.reasoning is not None:
                closed = self.after_closed_reasoning(fmt, prompt, text[len(lead) :])
                if closed is not None:
                    found.append(PromptedOutput("prompt with closed reasoning", prompt, closed, settings=self.settings))
        return found

    def without_end(self, fmt: ChatFormat, output: str) -> list[str]:
        """The output as engines give it: without the end of the turn, and with only the whitespace that begins it.

        That whitespace may be a part of the last call: then no end is written before it.
        """
        if self._ends:
            text = output
            inner = fmt.spec.messages.end if fmt.spec.messages is not None else ()
            for texts in reversed(fmt.spec.turn_ends):
                text = next((text.removesuffix(one) for one in texts if text.endswith(one) and one not in inner), text)
            return [text]
        text = next((output.removesuffix(end) for end in fmt.spec.drop if output.endswith(end)), "")
        text = text or self.frame.without_end(output)
        spaced = text + self.frame.end_space
        return [text, spaced] if spaced != text and output.startswith(spaced) else [text]

    def after_closed_reasoning(self, fmt: ChatFormat, prompt: str, body: str) -> str | None:
        """A turn without reasoning after a prompt that opens or has closed it; None if the prompt does neither.

        Args:
            fmt: the format.
            prompt: the prompt.
            body: the text of the turn after the header.
        """
        if fmt.spec.reasoning is None or not prompt.startswith(self.frame.lead):
            return None
        block = fmt.spec.reasoning.block[0]
        rest = text_after(block.opener, self.after_header(prompt))
        if rest is None or not block.opener.strip():
            return None
        body = without_empty_block(fmt, body)
        if not rest.strip():
            return block.closer + body
        return body if rest.strip() == block.closer.strip() else None


def begun_at_end(text: str, opener: str) -> int:
    """How many characters at the end of a text are the beginning of an opener, cut between atoms; 0 if none are."""
    pieces = visible_atoms(opener)
    sizes = (opener.find(piece) for piece in pieces[1:])
    return max((size for size in sizes if size > 0 and text.endswith(opener[:size])), default=0)


def without_empty_block(fmt: ChatFormat, body: str) -> str:
    """A turn's text without an empty block of reasoning, or its closer alone, at its beginning."""
    if fmt.spec.reasoning is None:
        return body
    block = fmt.spec.reasoning.block[0]
    rest = text_after(block.opener + block.closer, body) or text_after(block.closer, body)
    return body if rest is None else rest.lstrip()
