"""Input probing: what a template wants to be given. The first rung that renders *and shows what was put in* wins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from syntagma.analysis.capabilities import Capabilities
from syntagma.analysis.conversations import Call, EmptyContent, Inputs, Turn
from syntagma.analysis.scene import Context, Scene, View
from syntagma.errors import TemplateError

__all__ = ["Probed", "probe"]

_MOST_BOUND = 8
_MOST_SWITCHES = 12
_EMPTY: tuple[EmptyContent, ...] = ("text", "null", "absent")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "thought", "thoughts")
_BLOCKS = ("thinking", "reasoning", "thoughts")
_SWITCHES = ("enable_thinking", "thinking")
_IDS = (
    *("{word}", "functions.{name}:{index}", "{name}:{index}", "{name}", "{name}_{index}"),
    *("call_{word}{index}", "{index}"),
)
_CONTEXTS: tuple[Context, ...] = ("last", "middle")


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """What the ladders found."""

    inputs: Inputs
    capabilities: Capabilities
    most_calls: int
    """0, 1, or 3: how many calls one message may hold, as far as it was tried"""
    switches: tuple[tuple[str, Any], ...]
    """settings of one variable each that change the generation prompt"""

    thinking_names: tuple[str, ...]
    """undeclared variables that are switches of thinking by their customary names"""

    @property
    def id_form(self) -> str:
        """How the ids of calls are made."""
        return self.capabilities.call_id_form


def probe(scene: Scene, source: str, undeclared: frozenset[str]) -> Probed:
    """Climb all ladders.

    Raises:
        TemplateError: `E-TEMPLATE-ANALYSIS`, no assistant's turn renders, or the renders went beyond their limits.
    """
    inputs = _base(scene)
    inputs, most_calls, id_form = _calls(scene, inputs)
    switches = tuple(_switches(scene, inputs, source, undeclared))
    inputs = _reasoning(scene, inputs, source, switches, id_form if most_calls else None)
    return Probed(
        inputs=inputs,
        capabilities=_capabilities(scene, inputs, most_calls, id_form, switches),
        most_calls=most_calls,
        switches=switches,
        thinking_names=tuple(name for name in _SWITCHES if name in undeclared),
    )


def _base(scene: Scene) -> Inputs:
    rungs = (
        Inputs(),
        Inputs(tools="empty"),
        Inputs(system=True),
        Inputs(tools="empty", system=True),
        Inputs(omit_none=True),
        Inputs(tools="declared"),
        Inputs(tools="declared", system=True),
    )
    why = None
    for rung in rungs:
        found = _settle(scene, rung)
        if found is not None:
            return found
        why = why or scene.renders.last_error
    raise TemplateError(
        "E-TEMPLATE-ANALYSIS",
        "no assistant's turn can be rendered" + (f": {why.message}" if why else "; its content is not shown"),
        hint="a template that renders nothing of an assistant's message cannot be analysed",
        line=why.line if why else None,
        source=why.source if why else None,
    )


def _settle(scene: Scene, inputs: Inputs) -> Inputs | None:
    """Render a turn of content, binding what the template misses; None if its content does not appear."""
    turn = Turn(content=scene.sentinels.word("c"))
    for _ in range(_MOST_BOUND):
        view = scene.view(turn, inputs)
        if view is not None:
            return inputs if view.shows(turn.content or "") and scene.prompt(inputs) is not None else None
        error = scene.renders.last_error
        name = scene.renders.undefined_name()
        if error is not None and error.code == "E-TEMPLATE-SECURITY" and not inputs.lenient:
            inputs = msgspec.structs.replace(inputs, lenient=True)
        elif name is not None and name not in inputs.variables:
            inputs = msgspec.structs.replace(inputs, variables={**inputs.variables, name: "none"})
        else:
            return None
    return None


# -- calls


def _calls(scene: Scene, inputs: Inputs) -> tuple[Inputs, int, str]:
    """The form in which calls are shown best, how many may stand together, and the form of their ids."""
    for id_form in _IDS:
        call = scene.call(2, id_form)
        best = _best_form(scene, inputs, call)
        if best is None and not inputs.lenient:
            best = _best_form(scene, msgspec.structs.replace(inputs, lenient=True), call)
        if best is not None:
            many = Turn(calls=tuple(scene.call(2, id_form, index) for index in range(3)))
            two = Turn(calls=many.calls[:2])
            enough = all(_shown(scene, turn, best) for turn in (two, many))
            return best, 3 if enough else 1, id_form
    return inputs, 0, _IDS[0]


def _best_form(scene: Scene, inputs: Inputs, call: Call) -> Inputs | None:
    turn = Turn(calls=(call,))
    ranked: list[tuple[float, int, int, Inputs]] = []
    for form in ("object", "string"):
        for empty in _EMPTY:
            tried = msgspec.structs.replace(inputs, arguments=form, empty_content=empty)
            view = scene.view(turn, tried) or scene.view(turn, tried, "middle")
            if view is not None and _complete(view):
                ranked.append((-_score(view, call), len(view.text), len(ranked), tried))
        if ranked and min(ranked)[0] == 0:
            break
    return min(ranked)[3] if ranked else None


def _score(view: View, call: Call) -> float:
    """0 for calls that are rendered piece by piece, less for every sign that something was only passed through."""
    first = next(iter(call.arguments))
    lost = 2.5 if f'\\"{first}' in view.text else 0.0
    lost += 2.0 if f"'{first}'" in view.text else 0.0
    return -(lost + ("None" in view.text))


def _complete(view: View) -> bool:
    """Whether every sentinel of every call stands in the view."""
    return all(view.shows(call.name, *call.arguments, *map(str, call.arguments.values())) for call in view.turn.calls)


def _shown(scene: Scene, turn: Turn, inputs: Inputs) -> bool:
    view = scene.view(turn, inputs) or scene.view(turn, inputs, "middle")
    return view is not None and _complete(view)


# -- thinking


def _switches(scene: Scene, inputs: Inputs, source: str, undeclared: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """Settings of one variable that change what stands behind the user's message in a prompt."""
    names = [name for name in _SWITCHES if name in source]
    names += sorted(undeclared - set(names) - inputs.variables.keys())[:_MOST_SWITCHES]
    default = (scene.prompt(inputs), scene.prompt(inputs, tools=True))
    for name in names:
        shown = {
            value: (scene.prompt(inputs, {name: value}), scene.prompt(inputs, {name: value}, tools=True))
            for value in (True, False)
        }
        changed = [pair for pair in shown.values() if any(map(_differ, pair, default))]
        if changed:
            yield from ((name, value) for value, pair in shown.items() if pair[0] is not None)


def _differ(text: str | None, base: str | None) -> bool:
    return text is not None and text != base


def _reasoning(
    scene: Scene, inputs: Inputs, source: str, switches: tuple[tuple[str, Any], ...], id_form: str | None
) -> Inputs:
    """The field whose thoughts are told apart from content in most shapes, and the settings for that."""
    fields = [name for name in _THOUGHTS if name in source]
    if "type" in source:
        fields += [f"content:{name}" for name in _BLOCKS if name in source]
    settings: list[dict[str, Any]] = [{}, *({name: value} for name, value in switches)]
    best: tuple[int, Inputs] = (0, inputs)
    for field in fields:
        for setting in settings:
            tried = msgspec.structs.replace(inputs, reasoning=field, settings=setting)
            shapes = _told_apart(scene, tried, id_form)
            if shapes > best[0]:
                best = (shapes, tried)
        if best[0] >= 3:
            break
    return best[1]


def _told_apart(scene: Scene, inputs: Inputs, id_form: str | None) -> int:
    """In how many shapes and contexts thoughts are shown and are not content."""
    words = scene.sentinels
    thought, content = words.word("r"), words.word("c")
    found = 0
    for context in _CONTEXTS:
        turn = Turn(reasoning=thought, content=content)
        view = scene.view(turn, inputs, context)
        if view is not None and view.shows(thought, content):
            between = view.text[view.text.find(thought) + len(thought) : view.text.find(content)]
            found += bool(between.strip())
    _, _, block = (inputs.reasoning or "").partition(":")
    if block:
        return found if found and not scene.block_leaks(Turn(reasoning=thought, content=content), inputs, block) else 0
    if id_form is not None:
        call = scene.call(2, id_form)
        view = scene.view(Turn(reasoning=thought, calls=(call,)), inputs)
        plain = scene.view(Turn(content=thought, calls=(call,)), inputs)
        if view is not None and view.shows(thought) and (plain is None or view.text != plain.text):
            found += 1
    return found


# -- the record


def _capabilities(
    scene: Scene, inputs: Inputs, most_calls: int, id_form: str, switches: tuple[tuple[str, Any], ...]
) -> Capabilities:
    content, call = scene.sentinels.word("c"), scene.call(1, id_form)
    beside = scene.view(Turn(content=content, calls=(call,)), inputs) if most_calls else None
    values: dict[str, tuple[Any, ...]] = {}
    for name, value in switches:
        values[name] = (*values.get(name, ()), value)
    no_tools = "undefined" if inputs.omit_none else inputs.tools
    return Capabilities(
        tools=scene.shows_tools(inputs),
        tool_calls=most_calls > 0,
        parallel_tool_calls=most_calls > 1,
        content_with_calls=beside is not None and beside.shows(content),
        call_ids=beside is not None and beside.shows(call.id),
        call_id_form=id_form,
        arguments=inputs.arguments,
        empty_content=inputs.empty_content,
        reasoning=inputs.reasoning,
        reasoning_settings=inputs.settings,
        thinking_switches=values,
        system=scene.renders_roles(inputs, "system", "user"),
        needs_system=inputs.system,
        alternation=not scene.renders_roles(inputs, "user", "user"),
        tool_results=most_calls > 0 and scene.renders_roles(inputs, "user", "call", "tool"),
        no_tools=no_tools,
        variables=inputs.variables,
        lenient=inputs.lenient,
    )
