"""Where the output begins: the caller's word, the prompt's tail, the template's variables, the format's default."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from syntagma.format_schema import FormatSpec, ReasoningSpec, StartState
from syntagma.parsing.compiled_format import CompiledFormat
from syntagma.parsing.emitter import Emitter
from syntagma.parsing.machine import Machine
from syntagma.request import ResolvedRequest

__all__ = ["enter"]


def _tail(spec: FormatSpec, prompt: str) -> tuple[str, bool]:
    """The part of the prompt that the assistant's turn begins with, and whether that is certain."""
    start = getattr(prompt, "start", None)
    if isinstance(start, int):
        return str(prompt)[start:], True
    begins = (spec.anchor,) if spec.anchor else spec.messages.start if spec.messages is not None else ()
    for anchor in begins:
        if anchor and anchor in prompt:
            return prompt[prompt.rindex(anchor) + len(anchor) :], True
    bare = prompt.rstrip()
    return prompt[max(bare.rfind("\n"), bare.rfind("\r")) + 1 :], False


def _switched(spec: ReasoningSpec, template_kwargs: Mapping[str, Any] | None) -> str:
    """The state, or the opener, that the template's variables and the format's default lead to."""
    for variable, states in spec.switch.items():
        if template_kwargs is not None and variable in template_kwargs:
            value = template_kwargs[variable]
            word = value if isinstance(value, str) else json.dumps(value, default=str)
            if word in states:
                return states[word]
    return spec.start


def enter(
    machine: Machine, compiled: CompiledFormat, out: Emitter, request: ResolvedRequest, prompt: str | None
) -> StartState:
    """Bring the machine to where the output begins; what is open there."""
    spec = compiled.spec.reasoning
    reasoning = request.reasoning
    off = reasoning == "off"
    decided = False
    out.mute()
    prefilled = ""
    if prompt is not None:
        decided = _read_tail(machine, compiled, prompt)
        prefilled = machine.prefilled_opener
    if spec is not None and reasoning in ("closed", "off") and machine.phase in ("reasoning", "interrupted"):
        machine.close_reasoning()
    elif spec is not None and reasoning == "open" and machine.phase != "reasoning":
        machine.open_reasoning(None)
    elif (
        spec is not None
        and reasoning == "auto"
        and not decided
        and not (request.reasoning_in_content and prompt is None)
    ):
        state = _switched(spec, request.template_kwargs)
        off = state == "off"
        if state not in ("closed", "off"):
            machine.open_reasoning(None if state == "open" else state)
    machine.begin_output()
    into_content = spec is not None and spec.to == "content"
    if into_content and machine.phase == "reasoning":
        # The opener that the template wrote is part of what the reader of the content expects, echoed or not.
        prefilled = prefilled or compiled.blocks[0].opener
    out.unmute(prefilled, at_once=into_content)
    return _state(machine, compiled.spec, off=off, prompted=prompt is not None)


def _state(machine: Machine, spec: FormatSpec, *, off: bool, prompted: bool) -> StartState:
    """What is open where the output begins."""
    open_now = machine.phase in ("reasoning", "interrupted")
    done = off or machine.thinking_done
    state = StartState(
        reasoning="open" if open_now else "done" if done else "possible", content_open=machine.wrapper_open
    )
    if not prompted or open_now or machine.wrapper_open:
        return state
    return _pending(spec, state, machine.begun)


def _read_tail(machine: Machine, compiled: CompiledFormat, prompt: str) -> bool:
    """Run the prompt's tail through the machine; whether it says anything about reasoning.

    Where it is not certain that the tail is the assistant's (a line may hold the whole conversation), only the last
    marker of reasoning or of the answer's wrapper in it counts.
    """
    tail, certain = _tail(compiled.spec, prompt)
    if compiled.routes is not None:
        machine.window.begin(tail if certain else "")
        machine.read()
        return machine.phase == "reasoning" or machine.wrapper_open
    before = machine.thinking_done
    closes = max((tail.rfind(block.closer) for block in compiled.blocks), default=-1)
    if certain:
        machine.window.begin(tail)
        machine.read()
        told = machine.phase in ("reasoning", "interrupted") or machine.thinking_done != before
        if closes >= 0 and not told:
            # A closer without its opener: the reasoning was open from the start, or opened before the tail.
            machine.thinking_done = told = True
        return told
    opens = max((tail.rfind(block.opener) for block in compiled.blocks if block.opener), default=-1)
    answers = max((tail.rfind(block.opener) for block in compiled.wrappers if block.opener), default=-1)
    last = max(opens, closes, answers)
    if last < 0:
        return False
    if last == closes:
        machine.open_reasoning(None)
    machine.window.begin(tail[last:])
    machine.read()
    machine.forget_calls()
    if machine.content_begun:
        # The block may belong to an earlier message on the same line.
        machine.thinking_done = before
    machine.thinking_done = machine.thinking_done or machine.wrapper_open
    return True


def _pending(spec: FormatSpec, state: StartState, begun: str) -> StartState:
    """The state where the prompt ends inside an opener, if it can be only one."""
    reasoning, content, tools = spec.reasoning, spec.content, spec.tools
    thoughts = [block.opener for block in reasoning.block[:1]] if reasoning and state.reasoning == "possible" else []
    answers = [block.opener for block in content.block[:1]] if content else []
    calls = [tools.section[0].opener or tools.call[0].opener] if tools else []
    near = [one for one in (*thoughts, *answers, *calls) if begun and one.startswith(begun) and one != begun]
    if len(near) != 1 or near[0] in calls:
        return state
    rest = near[0][len(begun) :]
    if near[0] in thoughts:
        return msgspec.structs.replace(state, reasoning="open", pending=rest)
    return msgspec.structs.replace(state, content_open=True, pending=rest)
