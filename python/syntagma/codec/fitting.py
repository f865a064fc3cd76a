"""Fits a conversation to a template: as it is where the prompt then shows it whole and in order, else by `STEPS`."""

from __future__ import annotations

import functools
import itertools
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from syntagma.analysis import Capabilities, probe_capabilities
from syntagma.codec.normalise import message_for_template, with_call_ids
from syntagma.codec.places import Places
from syntagma.codec.samples import SAMPLES, sample_tool
from syntagma.codec.steps import PROBED_INPUTS, SORTED, STEPS, applicable, order_of_results
from syntagma.codec.text_marks import Marks, thinks
from syntagma.errors import LimitError, SyntagmaError, TemplateError
from syntagma.formats import ChatFormat
from syntagma.templates import ChatTemplate, Prompt, RenderOptions

__all__ = ["Fitter"]

_log = logging.getLogger("syntagma.codec")

Messages: TypeAlias = list[dict[str, Any]]
Tools: TypeAlias = list[dict[str, Any]]
Taken: TypeAlias = tuple[str, ...]
"""names of steps, in the order of `STEPS`"""

_STEPS: Final = {step.name: step for step in STEPS}
_ORDER: Final = {name: at for at, name in enumerate(_STEPS)}
_LOOKED_AT: Final = frozenset(step.name for step in STEPS if step.loses_silently)
_MAX_RENDERS: Final = 60
"""the most renders of one search"""
_MIN_RENDERS: Final = 4
_MAX_MESSAGES: Final = 3_000
"""messages in all renders of one search, which has at least `_MIN_RENDERS`"""
_MAX_KNOWN: Final = 1_000
"""kinds of conversations that are remembered"""
_MAX_STEPS: Final = 3
"""the most steps that a search adds to those which the template is known to need"""


class Fitter:
    """Renders conversations with one template. Its results are those of each conversation alone.

    Args:
        template: the template.
        fmt: how the model writes.
        given: what the template needs; None: it is probed when a conversation asks for it.
    """

    def __init__(self, template: ChatTemplate, fmt: ChatFormat, given: Capabilities | None) -> None:
        self._template = template
        self._format = fmt
        self._given = given
        self._plain = given if given is not None else Capabilities()
        self._whole: set[tuple[Taken, frozenset[tuple[str, str]], bool, bool]] = set()
        """kinds of conversations that were shown whole without any step"""
        self._best: dict[Taken, tuple[Taken, bool]] = {}
        """steps that were best for earlier conversations, and whether these lose something all the same, by the steps
        that may change them"""
        self._told: set[str] = set()
        self._places = Places(lambda messages, tools: self._rendered(messages, (), tools, {}))

    def __reduce__(self) -> tuple[Any, ...]:
        # What was found out is found out again.
        return Fitter, (self._template, self._format, self._given)

    # -- what is known of the template

    @functools.cached_property
    def probed(self) -> Capabilities:
        """What the template needs, as given or probed; the defaults, if it cannot be probed."""
        if self._given is not None:
            return self._given
        try:
            return probe_capabilities(self._template)
        except SyntagmaError as error:
            _log.debug("the template cannot be probed: %s", error)
            return self._plain

    @functools.cached_property
    def capabilities(self) -> Capabilities:
        """What the template needs, with the steps that it needs and what it loses."""
        needed, losses = self._from_samples
        return msgspec.structs.replace(self.probed, steps=needed, losses=losses)

    @functools.cached_property
    def _from_samples(self) -> tuple[Taken, tuple[str, ...]]:
        """The steps that sample conversations need, and the names of those that are not shown whole."""
        needed: set[str] = set()
        losses: list[str] = []
        for name, sample in SAMPLES.items():
            options: RenderOptions = {"add_generation_prompt": True}
            tools = [sample_tool()] if sample.tools else []
            marks = self._marked(sample.messages)
            steps = self._applicable(sample.messages)
            try:
                if self._lost(marks, (), tools, options) == []:
                    continue
                taken, lost = self._search(marks, steps, tools, options, known=())
            except LimitError:
                taken, lost = (), None
            needed.update(taken)
            losses += [] if lost == [] else [name]
        return _in_order(needed), tuple(losses)

    # -- rendering

    def render(self, messages: Messages, tools: Tools, options: RenderOptions) -> Prompt:
        """The prompt.

        Args:
            messages: the conversation as dictionaries.
            tools: the declared tools, without a member that they lack.
            options: the other options of the render.

        Raises:
            ArgumentError: `E-MESSAGE-PART`, the template has no place for a part that is no text.
            TemplateError, LimitError: see `ChatTemplate.render`.
        """
        messages = self._places.placed(messages)
        tools = [self._places.filled(tool) for tool in tools]
        steps = self._applicable(messages)
        roles = itertools.pairwise(["", *(str(message.get("role")) for message in messages), ""])
        kind = (steps, frozenset(roles), any(map(thinks, messages)), bool(tools))
        if kind in self._whole and _LOOKED_AT.isdisjoint(steps):
            try:
                return self._rendered(messages, (), tools, options)
            except TemplateError:
                self._whole.discard(kind)
        marks = self._marked(messages)
        taken: Taken = ()
        if self._lost(marks, (), tools, options) == []:
            if len(self._whole) >= _MAX_KNOWN:
                self._whole.clear()
            self._whole.add(kind)
        else:
            taken = self._steps_for(marks, steps, tools, options)
        try:
            prompt = self._rendered(self._changed(messages, taken), taken, tools, options)
        except TemplateError as error:
            error.pointer = error.pointer or self._refused(messages, tools, options)
            raise
        if any(tool["function"]["name"] not in prompt for tool in tools):
            self._warn("tools", "it does not show the declared tools")
        return prompt

    def _steps_for(self, marks: Marks, steps: Taken, tools: Tools, options: RenderOptions) -> Taken:
        """The steps with which a conversation that is not shown whole as it is loses least."""
        taken, hopeless = self._best.get(steps, ((), False))
        lost = self._lost(marks, taken, tools, options) if taken or hopeless else None
        if lost != [] and (lost is None or not hopeless):
            needed = tuple(name for name in self._from_samples[0] if name in steps)
            taken, lost = self._search(marks, steps, tools, options, known=needed)
            if len(self._best) >= _MAX_KNOWN:
                self._best.clear()
            self._best[steps] = (taken, lost != [])
        self._tell(taken, lost)
        return taken

    def _refused(self, messages: Messages, tools: Tools, options: RenderOptions) -> str | None:
        """The pointer of the message without which, and without those after it, a conversation is rendered."""
        for end in range(len(messages) - 1, max(0, len(messages) - _renders_for(messages)), -1):
            try:
                self._rendered(messages[:end], (), tools, {**options, "continue_final_message": False})
            except TemplateError:
                continue
            return f"/messages/{end}"
        return None

    def tell_completed(self, pointer: str) -> None:
        """Log, once, that the arguments of a call at this pointer were cut off and are completed."""
        if "completed" not in self._told:
            self._told.add("completed")
            _log.info("the arguments of %s were cut off, and are completed in the prompt", pointer)

    def _tell(self, taken: Taken, lost: Sequence[str] | None) -> None:
        """Log, once each, what is done to conversations and what is lost."""
        for name in taken:
            if name not in self._told:
                self._told.add(name)
                _log.info("for this template, %s (step %s)", _STEPS[name].says, name)
        if lost:
            self._warn("texts", f"it does not show the texts of {', '.join(lost)}, or not in their order")

    def _warn(self, kind: str, what: str) -> None:
        """Log, once for each kind of loss, that the template loses something."""
        if kind not in self._told:
            self._told.add(kind)
            _log.warning("the template loses a part of this conversation: %s", what)

    def _search(
        self, marks: Marks, steps: Taken, tools: Tools, options: RenderOptions, *, known: Taken
    ) -> tuple[Taken, list[str] | None]:
        """The fewest steps with which the least is lost, and the places of what is lost; None: all are refused.

        Args:
            marks: the conversation.
            steps: those that may change it.
            tools: the declared tools.
            options: the other options of the render.
            known: steps that the template is known to need; they are tried first.
        """
        best: Taken = ()
        least: list[str] | None = None
        for tried in itertools.islice(_to_try(steps, known), _renders_for(marks.messages)):
            lost = self._lost(marks, tried, tools, options)
            if lost is not None and (least is None or len(lost) < len(least)):
                best, least = tried, lost
            if lost == []:
                break
        # The last steps change a conversation the most.
        for name in reversed(best) if len(best) > 1 and least == [] else ():
            if name == SORTED:
                continue
            fewer = tuple(one for one in best if one != name)
            if self._lost(marks, fewer, tools, options) == []:
                best = fewer
        return best, least

    def _applicable(self, messages: Messages) -> Taken:
        """The steps that may change a conversation, or how it is rendered."""
        return applicable(messages) if self._given is not None else (PROBED_INPUTS, *applicable(messages))

    def _changed(self, messages: Messages, taken: Taken) -> Messages:
        for name in taken:
            messages = _STEPS[name].change(messages, self._format)
        return messages

    def _marked(self, messages: Messages) -> Marks:
        # A codec that was analysed knows the member of reasoning; else it is found out by what a render shows.
        asks = self._given is None and any(map(thinks, messages)) and self.probed.reasoning is not None
        return Marks(messages, reasoning=asks)

    def _lost(self, marks: Marks, taken: Taken, tools: Tools, options: RenderOptions) -> list[str] | None:
        """The places of texts that are lost or out of order after these steps; None if the template refuses them."""
        messages = self._changed(marks.messages, taken)
        try:
            text = self._rendered(messages, taken, tools, options)
        except TemplateError:
            return None
        return marks.lost(order_of_results(messages), text)

    def _rendered(self, messages: Messages, taken: Taken, tools: Tools, options: RenderOptions) -> Prompt:
        """The prompt of a conversation after its steps."""
        wants = self.probed if PROBED_INPUTS in taken else self._plain
        declared: Tools | None = tools
        if not tools and wants.no_tools in ("none", "undefined"):
            declared = None
        template = self._template.variant(lenient=wants.lenient, omit_none=wants.no_tools == "undefined")
        prepared = [message_for_template(message, wants) for message in messages]
        if wants.needs_system and not any(message.get("role") == "system" for message in prepared):
            prepared.insert(0, {"role": "system", "content": ""})
        named = {} if wants.tools_variable is None or declared is None else {wants.tools_variable: declared}
        variables = {**wants.variables, **named, **(options.get("template_kwargs") or {})}
        whole: RenderOptions = {**options, "tools": declared, "template_kwargs": variables}
        try:
            return template.render(prepared, **whole)
        except TemplateError as refusal:
            # Some templates reject call ids of another form, such as those of another model.
            if refusal.code != "E-TEMPLATE-RAISED" or not any(message.get("tool_calls") for message in prepared):
                raise
            try:
                return template.render(with_call_ids(prepared, wants.call_id_form), **whole)
            except TemplateError:
                raise refusal from None


def _renders_for(messages: Sequence[Any]) -> int:
    """The most renders of a search: fewer for long conversations, whose renders may be slow."""
    return max(_MIN_RENDERS, min(_MAX_RENDERS, _MAX_MESSAGES // max(1, len(messages))))


def _in_order(names: Iterable[str]) -> Taken:
    return tuple(sorted(set(names), key=_ORDER.__getitem__))


def _to_try(steps: Taken, known: Taken) -> Iterator[Taken]:
    """Sets of steps, once each: none, those with all that is known to be needed, then others; the fewest first."""
    seen: set[Taken] = {()}
    yield ()
    # Results are in the order of calls before anything else is done.
    always = {SORTED} & {*steps}
    for base in dict.fromkeys((known, ())):
        others = [name for name in steps if name not in base]
        for more in range(_MAX_STEPS + 1):
            for chosen in itertools.combinations(others, more):
                tried = _in_order((*base, *chosen, *always))
                if tried not in seen:
                    seen.add(tried)
                    yield tried
