"""Finds the start state, from the request, the prompt's tail, the template's variables and the format's default."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from syntagma.format_schema import FormatSpec, ReasoningSpec, StartState, answer_before_calls
from syntagma.parsing.call_reader import ReaderParts
from syntagma.parsing.emitter import Emitter
from syntagma.parsing.inline_turn import InlineTurnReader
from syntagma.parsing.message_turn import MessageTurnReader
from syntagma.parsing.states import State
from syntagma.parsing.turn_reader import TurnReader
from syntagma.request import ResolvedRequest

__all__ = ["read_prompt_tail", "turn_reader"]


def _tail(spec: FormatSpec, prompt: str) -> tuple[str, bool]:
    """The part of the prompt that begins the assistant's turn, and whether that is certain."""
    start = getattr(prompt, "start", None)
    begins = (spec.anchor,) if spec.anchor else spec.messages.start if spec.messages is not None else ()
    if isinstance(start, int):
        tail = str(prompt)[start:]
        # The header is left out: a bracket in it could close reasoning.
        return next((tail.partition(anchor)[2] for anchor in begins if anchor and anchor in tail), tail), True
    for anchor in begins:
        if anchor and anchor in prompt:
            return prompt[prompt.rindex(anchor) + len(anchor) :], True
    bare = prompt.rstrip()
    return prompt[max(bare.rfind("\n"), bare.rfind("\r")) + 1 :], False


def _switched(spec: ReasoningSpec, template_kwargs: Mapping[str, Any] | None) -> str:
    """The state, or the opener of reasoning, by the template's variables and the format's default."""
    for variable, states in spec.switch.items():
        if template_kwargs is not None and variable in template_kwargs:
            value = template_kwargs[variable]
            word = value if isinstance(value, str) else json.dumps(value, default=str)
            if word in states:
                return states[word]
    return spec.start


def turn_reader(parts: ReaderParts) -> TurnReader:
    """The turn reader that a format needs."""
    router = parts.compiled.router
    return InlineTurnReader(parts) if router is None else MessageTurnReader(parts, router)


def read_prompt_tail(
    reader: TurnReader, spec: FormatSpec, out: Emitter, request: ResolvedRequest, prompt: str | None
) -> StartState:
    """Bring a new turn reader to the beginning of the output; returns the start state.

    Args:
        reader: the turn reader, which has read nothing yet.
        spec: the format.
        out: the reader's emitter; what is read here is not emitted.
        request: the request, which may decide about reasoning.
        prompt: the rendered prompt; None: there is none.
    """
    block = spec.reasoning
    reasoning = request.reasoning
    off = reasoning == "off"
    decided = False
    opener = ""
    out.suppress()
    if prompt is not None:
        tail, certain = _tail(spec, prompt)
        decided = reader.read_prompt(tail, certain=certain)
        opener = reader.prompted_opener
    if block is None:
        pass
    elif reasoning == "open":
        if not _in_reasoning(reader):
            reader.open_reasoning(None)
    elif reasoning != "auto":
        if reader.state.is_reasoning:
            reader.close_reasoning()
    elif not decided and not (request.reasoning_in_content and prompt is None):
        state = _switched(block, request.template_kwargs)
        off = state == "off"
        if state not in ("closed", "off"):
            reader.open_reasoning(None if state == "open" else state)
    reader.begin_output()
    into_content = block is not None and block.to == "content"
    if block is not None and into_content and _in_reasoning(reader):
        # Inline content begins with the opener that the template wrote, whether or not the model repeats it.
        opener = opener or block.block[0].opener.strip()
    out.resume(opener, at_once=into_content, inside_call=reader.inside_call)
    return _start_state(reader, spec, off=off, prompted=prompt is not None)


def _in_reasoning(reader: TurnReader) -> bool:
    """Whether reasoning is open, and nothing seems to have interrupted it."""
    return reader.state.is_reasoning and reader.state is not State.INTERRUPTED


def _start_state(reader: TurnReader, spec: FormatSpec, *, off: bool, prompted: bool) -> StartState:
    """The start state."""
    open_now = reader.state.is_reasoning
    done = off or reader.reasoning_done
    several = spec.reasoning is not None and len(spec.reasoning.block) > 1
    state = StartState(
        reasoning="open" if open_now else "done" if done else "possible",
        opener=reader.opener if open_now and several else "",
        content_open=reader.wrapper_open,
    )
    if not prompted or open_now or reader.wrapper_open:
        return state
    return _pending(spec, state, reader.undecided)


def _pending(spec: FormatSpec, state: StartState, begun: str) -> StartState:
    """The start state if the prompt may end inside an opener."""
    reasoning, content, tools = spec.reasoning, spec.content, spec.tools
    blocks = [block.opener for block in reasoning.block[:1]] if reasoning and state.reasoning == "possible" else []
    answers = [block.opener for block in content.block[:1]] if content else []
    others = [tools.section[0].opener or tools.call[0].opener] if tools else []
    if content is not None and content.block and spec.messages is not None:
        before_calls = answer_before_calls(content, spec.messages).opener
        others += [before_calls] if before_calls not in answers else []
    near = [one for one in (*blocks, *answers) if begun and one.startswith(begun) and one != begun]
    if len(near) > 1 or any(begun and one.startswith(begun) for one in others):
        return msgspec.structs.replace(state, begun=begun)
    if not near:
        return state
    rest = near[0][len(begun) :]
    if near[0] in blocks:
        return msgspec.structs.replace(state, reasoning="open", pending=rest)
    return msgspec.structs.replace(state, content_open=True, pending=rest)
