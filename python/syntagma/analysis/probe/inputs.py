"""Probing: the inputs that a template needs. The first attempt that renders *and shows the sentinels* wins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from syntagma.analysis.probe.capabilities import Capabilities
from syntagma.analysis.render.conversation import EmptyContent, Inputs, SampleCall, SampleTurn
from syntagma.analysis.render.turn_renderer import Context, RenderedTurn, TurnRenderer
from syntagma.errors import TemplateError
from syntagma.formats import get, names
from syntagma.templates import ChatTemplate

__all__ = ["ProbeResult", "probe_capabilities", "probe_inputs"]

_MAX_BOUND_VARIABLES = 8
_MAX_SWITCHES = 12
_MAX_VALUES = 8
"""the most constants that are tried for one variable"""
_OTHER_TEXT = "other"
"""a further text that is tried if a variable is compared with texts"""
_EMPTY_CONTENTS: tuple[EmptyContent, ...] = ("text", "null", "absent")
_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking", "thought", "thoughts")
_REASONING_PARTS = ("thinking", "reasoning", "thoughts")
_THINKING_VARIABLES = ("enable_thinking", "thinking")
_ATTRIBUTE = re.compile(r"\.([a-z]\w+)\b(?!\s*\()|\[['\"]([a-z]\w+)['\"]\]")
_MAX_FIELDS = 8
"""the most further fields of messages that are tried for reasoning"""
_KNOWN_FIELDS = frozenset(
    {
        *_REASONING_FIELDS,
        *("role", "content", "name", "tool_calls", "tool_call_id", "function", "arguments", "parameters", "id", "type"),
        *("text", "description", "properties", "required", "items", "enum", "default", "title", "strict", "output"),
        *("first", "last", "index", "index0", "length", "previtem", "nextitem", "image", "image_url", "audio", "video"),
        *("refusal", "annotations", "function_call", "anyOf", "additionalProperties", "json_schema", "schema"),
    }
)
_ID_FORMS = ("{name}", "{name}_{index}", "call_{word}{index}", "{index}")
_CONTEXTS: tuple[Context, ...] = ("last", "middle")


class ProbeResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of probing a template."""

    inputs: Inputs
    capabilities: Capabilities
    max_calls: int
    """the number of calls that one message may have, as far as it was tried: 0, 1 or 3"""
    switches: tuple[tuple[str, Any], ...]
    """settings of one variable each that change the generation prompt"""
    notations: tuple[tuple[str, Any], ...] = ()
    """settings of one variable each that change how a turn is written"""
    thinking_variables: tuple[str, ...]
    """undeclared variables that switch thinking, by their customary names"""
    untold_reasoning: str | None = None
    """the message field of reasoning that is rendered, but cannot be distinguished from content"""

    @property
    def certified_inputs(self) -> Inputs:
        """The inputs of round-trip cases: with reasoning if the template renders any."""
        if self.inputs.reasoning is not None or self.untold_reasoning is None:
            return self.inputs
        return msgspec.structs.replace(self.inputs, reasoning=self.untold_reasoning)

    @property
    def id_form(self) -> str:
        """The form of call ids."""
        return self.capabilities.call_id_form


def probe_inputs(renderer: TurnRenderer, source: str, variables: Mapping[str, tuple[Any, ...]]) -> ProbeResult:
    """Find the inputs that a template needs.

    Args:
        renderer: renders the probes.
        source: the template's text; only names in it are tried.
        variables: the variables that a caller may set, each with the constants that it is compared with.

    Raises:
        TemplateError: `E-TEMPLATE-ANALYSIS`, no assistant's turn renders, or the renders went beyond their limits.
    """
    inputs = _base_inputs(renderer)
    inputs, max_calls, id_form = _call_inputs(renderer, inputs)
    switches = tuple(_prompt_switches(renderer, inputs, source, variables))
    inputs = _reasoning_inputs(renderer, inputs, source, switches, id_form if max_calls else None)
    return ProbeResult(
        inputs=inputs,
        capabilities=_capabilities(renderer, inputs, max_calls, id_form, switches, variables=variables),
        max_calls=max_calls,
        switches=switches,
        notations=tuple(_turn_switches(renderer, inputs, variables, id_form if max_calls else None)),
        thinking_variables=tuple(name for name in _THINKING_VARIABLES if name in variables),
        untold_reasoning=None if inputs.reasoning is not None else _untold_reasoning(renderer, inputs, source),
    )


def probe_capabilities(template: ChatTemplate) -> Capabilities:
    """What a template shows and needs, without deriving a format.

    Raises:
        TemplateError: `E-TEMPLATE-ANALYSIS`, no assistant's turn renders, or the renders went beyond their limits.
    """
    return probe_inputs(TurnRenderer(template), template.source, template.switch_values()).capabilities


def _base_inputs(renderer: TurnRenderer) -> Inputs:
    """The inputs with which a turn of plain content renders."""
    attempts = (
        Inputs(),
        Inputs(tools="empty"),
        Inputs(system=True),
        Inputs(tools="empty", system=True),
        Inputs(omit_none=True),
        Inputs(tools="declared"),
        Inputs(tools="declared", system=True),
        Inputs(parts=True),
        Inputs(tools="empty", parts=True),
    )
    why = None
    for attempt in attempts:
        found = _with_bound_variables(renderer, attempt)
        if found is not None:
            return found
        why = why or renderer.bounded.last_error
    raise TemplateError(
        "E-TEMPLATE-ANALYSIS",
        "no assistant's turn can be rendered" + (f": {why.message}" if why else "; its content is not shown"),
        hint="a template that renders nothing of an assistant's message cannot be analysed",
        line=why.line if why else None,
        source=why.source if why else None,
    )


def _with_bound_variables(renderer: TurnRenderer, inputs: Inputs) -> Inputs | None:
    """Render a turn of content, binding missing variables; None if the content does not appear."""
    turn = SampleTurn(content=renderer.sentinels.word("c"))
    for _ in range(_MAX_BOUND_VARIABLES):
        rendered = renderer.turn(turn, inputs)
        if rendered is not None:
            return inputs if rendered.shows(turn.content or "") and renderer.prompt(inputs) is not None else None
        error = renderer.bounded.last_error
        name = renderer.bounded.undefined_name()
        if error is not None and error.code == "E-TEMPLATE-SECURITY" and not inputs.lenient:
            inputs = msgspec.structs.replace(inputs, lenient=True)
        elif name is not None and name not in inputs.variables:
            inputs = msgspec.structs.replace(inputs, variables={**inputs.variables, name: "none"})
        else:
            return None
    return None


# -- calls


def _call_inputs(renderer: TurnRenderer, inputs: Inputs) -> tuple[Inputs, int, str]:
    """The inputs with which calls are shown best, the most calls of one message, and the form of their ids."""
    first_form = "{word}"
    for id_form in _id_forms(first_form):
        call = renderer.new_call(2, id_form)
        best = _best_call_inputs(renderer, inputs, call)
        if best is None and not inputs.lenient:
            best = _best_call_inputs(renderer, msgspec.structs.replace(inputs, lenient=True), call)
        if best is not None:
            three = SampleTurn(calls=tuple(renderer.new_call(2, id_form, index) for index in range(3)))
            two = SampleTurn(calls=three.calls[:2])
            several = all(_shows_calls(renderer.in_any_context(turn, best)) for turn in (two, three))
            return best, 3 if several else 1, id_form
    return inputs, 0, first_form


def _id_forms(first: str) -> Iterator[str]:
    """The forms of ids to try, `first` first.

    A template that refuses an arbitrary id usually reads the tool's name from it. So ids of named formats that hold the
    name come next, then other customary forms. The registry is read only if the first form fails.
    """
    yield first
    specs = (get(name).spec.tools for name in names())
    patterns = [pattern for tools in specs if tools is not None for form in tools.forms for pattern in form.id]
    named = [
        pattern.text
        for pattern in patterns
        if "name" in pattern.placeholders and set(pattern.placeholders) <= {"name", "index"}
    ]
    yield from dict.fromkeys((*named, *_ID_FORMS))


def _best_call_inputs(renderer: TurnRenderer, inputs: Inputs, call: SampleCall) -> Inputs | None:
    """The inputs with the form of arguments and empty content in which a call is rendered completely and in parts."""
    turn = SampleTurn(calls=(call,))
    marked = msgspec.structs.replace(call, arguments=dict.fromkeys(call.arguments, _MARKED))
    ranked: list[tuple[float, int, int, Inputs]] = []
    for form in ("object", "string"):
        for empty in _EMPTY_CONTENTS:
            tried = msgspec.structs.replace(inputs, arguments=form, empty_content=empty)
            rendered = renderer.in_any_context(turn, tried)
            if rendered is not None and _shows_calls(rendered):
                again = renderer.in_any_context(SampleTurn(calls=(marked,)), tried)
                altered = 1.5 * (again is not None and not again.shows(_MARKED))
                ranked.append((_pass_through_penalty(rendered, call) + altered, len(rendered.text), len(ranked), tried))
        if ranked and min(ranked)[0] == 0:
            break
    return min(ranked)[3] if ranked else None


_MARKED = "Xqj Kvz"
"""a text of letters of both cases and spaces, which every notation writes as it is"""


def _pass_through_penalty(rendered: RenderedTurn, call: SampleCall) -> float:
    """0 for calls that are rendered in parts, more for every sign that a value was only passed through."""
    first = next(iter(call.arguments))
    penalty = 2.5 if f'\\"{first}' in rendered.text else 0.0
    penalty += 2.0 if f"'{first}'" in rendered.text else 0.0
    return penalty + ("None" in rendered.text)


def _shows_calls(rendered: RenderedTurn | None) -> bool:
    """Whether every sentinel of every call is shown."""
    return rendered is not None and all(
        rendered.shows(call.name, *call.arguments, *map(str, call.arguments.values())) for call in rendered.turn.calls
    )


# -- reasoning


def _prompt_switches(
    renderer: TurnRenderer, inputs: Inputs, source: str, variables: Mapping[str, tuple[Any, ...]]
) -> Iterator[tuple[str, Any]]:
    """Settings of one variable that change what follows the user's message in a prompt."""
    tried = [name for name in _THINKING_VARIABLES if name in source]
    tried += sorted(variables.keys() - set(tried) - inputs.variables.keys())[:_MAX_SWITCHES]
    default = (renderer.prompt(inputs), renderer.prompt(inputs, tools=True))
    for name in tried:
        prompts = {
            value: (renderer.prompt(inputs, {name: value}), renderer.prompt(inputs, {name: value}, tools=True))
            for value in _values_to_try(variables.get(name, ()))
        }
        # A text may be anything, such as a name. It is a switch only if it makes the end of the prompt longer or
        # shorter.
        prompts = {
            value: pair
            for value, pair in prompts.items()
            if isinstance(value, bool) or all(map(_is_longer_or_shorter, pair, default))
        }
        if any(any(map(_differs, pair, default)) for pair in prompts.values()):
            yield from ((name, value) for value, pair in prompts.items() if pair[0] is not None)


def _is_longer_or_shorter(text: str | None, default: str | None) -> bool:
    return text is not None and default is not None and (text.startswith(default) or default.startswith(text))


def _values_to_try(compared: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values to try for a variable: the constants that it is compared with, and another value."""
    texts_only = bool(compared) and all(isinstance(value, str) for value in compared)
    return (*compared[:_MAX_VALUES], _OTHER_TEXT) if texts_only else (True, False, *compared[:_MAX_VALUES])


def _turn_switches(
    renderer: TurnRenderer, inputs: Inputs, variables: Mapping[str, tuple[Any, ...]], id_form: str | None
) -> Iterator[tuple[str, Any]]:
    """Settings of one variable that change how a turn is written; of those with the same effect, the first."""
    words = renderer.sentinels
    turns = [SampleTurn(content=words.word("c"))]
    if inputs.reasoning is not None:
        turns.append(SampleTurn(reasoning=words.word("r"), content=words.word("c")))
    if id_form is not None:
        turns.append(SampleTurn(calls=(renderer.new_call(2, id_form),)))

    def written(inputs: Inputs) -> tuple[str | None, ...]:
        found = (renderer.turn(turn, inputs) for turn in turns)
        return tuple(None if one is None else one.text for one in found)

    seen = [written(inputs)]
    for name in sorted(variables, key=lambda name: (not variables[name], name))[:_MAX_SWITCHES]:
        for value in _values_to_try(variables[name]):
            changed = inputs.with_variable(name, value)
            texts = written(changed)
            # A setting with which the template refuses a turn is no other way to write it; and with an unknown text the
            # template may write nothing.
            known = value != _OTHER_TEXT or id_form is None or _shows_calls(renderer.turn(turns[-1], changed))
            if known and texts not in seen and any(map(_differs, texts, seen[0])):
                seen.append(texts)
                yield name, value


def _differs(text: str | None, default: str | None) -> bool:
    return text is not None and text != default


def _reasoning_inputs(
    renderer: TurnRenderer, inputs: Inputs, source: str, switches: tuple[tuple[str, Any], ...], id_form: str | None
) -> Inputs:
    """The inputs with which reasoning is distinguished from content in most shapes: the field and its settings."""
    fields = [name for name in _REASONING_FIELDS if name in source]
    # A template may read reasoning from a field of any name.
    words = renderer.sentinels.word("r"), renderer.sentinels.word("c")
    for name in _fields_read(source)[:_MAX_FIELDS]:
        tried = msgspec.structs.replace(inputs, reasoning=name)
        calls = () if id_form is None else (renderer.new_call(1, id_form),)
        rendered = renderer.turn(
            SampleTurn(reasoning=words[0], content=None if calls else words[1], calls=calls), tried
        )
        fields += [name] if rendered is not None and rendered.shows(words[0]) else []
    if "type" in source:
        fields += [f"content:{name}" for name in _REASONING_PARTS if name in source]
    settings: list[dict[str, Any]] = [{}, *({name: value} for name, value in switches)]
    best: tuple[int, Inputs] = (0, inputs)
    for field in fields:
        for setting in settings:
            tried = msgspec.structs.replace(inputs, reasoning=field, settings=setting)
            shapes = _reasoning_shapes(renderer, tried, id_form)
            if shapes > best[0]:
                best = (shapes, tried)
        if best[0] >= 3:
            break
    return best[1]


def _fields_read(source: str) -> list[str]:
    """The names of attributes that a template asks for and that no message of OpenAI's API has, in their order."""
    asked = (found[1] or found[2] for found in _ATTRIBUTE.finditer(source))
    return [name for name in dict.fromkeys(asked) if name not in _KNOWN_FIELDS and not hasattr(str, name)]


def _untold_reasoning(renderer: TurnRenderer, inputs: Inputs, source: str) -> str | None:
    """The first field of reasoning that is rendered at all."""
    for field in _REASONING_FIELDS:
        tried = msgspec.structs.replace(inputs, reasoning=field)
        turn = SampleTurn(reasoning=renderer.sentinels.word("r"), content=renderer.sentinels.word("c"))
        if field in source and any(
            rendered is not None and rendered.shows(turn.reasoning or "")
            for rendered in (renderer.turn(turn, tried, context) for context in _CONTEXTS)
        ):
            return field
    return None


def _reasoning_shapes(renderer: TurnRenderer, inputs: Inputs, id_form: str | None) -> int:
    """The number of shapes and contexts in which reasoning is shown, and not as content."""
    words = renderer.sentinels
    reasoning, content = words.word("r"), words.word("c")
    turn = SampleTurn(reasoning=reasoning, content=content)
    found = 0
    for context in _CONTEXTS:
        rendered = renderer.turn(turn, inputs, context)
        if rendered is not None and rendered.shows(reasoning, content):
            found += _is_told_apart(renderer, inputs, rendered)
    _, _, part_type = (inputs.reasoning or "").partition(":")
    if part_type:
        return 0 if not found or renderer.shows_unknown_key(turn, inputs, part_type) else found
    if id_form is not None:
        call = renderer.new_call(2, id_form)
        rendered = renderer.turn(SampleTurn(reasoning=reasoning, calls=(call,)), inputs)
        as_content = renderer.turn(SampleTurn(content=reasoning, calls=(call,)), inputs)
        if rendered is not None and rendered.shows(reasoning):
            found += as_content is None or rendered.text != as_content.text
    return found


def _is_told_apart(renderer: TurnRenderer, inputs: Inputs, rendered: RenderedTurn) -> bool:
    """Whether reasoning can be distinguished from content: by a marker between them, or one before reasoning only."""
    text, turn = rendered.text, rendered.turn
    reasoning, content = turn.reasoning or "", turn.content or ""
    at = text.find(reasoning)
    between = text[at + len(reasoning) : text.find(content)]
    if between.strip() or not between:
        return bool(between)
    plain = renderer.turn(SampleTurn(content=content), inputs, rendered.context)
    if plain is None or not plain.shows(content):
        return False
    head, other = text[:at], plain.text[: plain.text.find(content)]
    if other == head + between:
        return True  # reasoning has a place of its own, which is empty here
    shared = next((at for at, pair in enumerate(zip(head, other, strict=False)) if pair[0] != pair[1]), len(other))
    return bool(head[shared:].strip())


# -- the record


def _capabilities(
    renderer: TurnRenderer,
    inputs: Inputs,
    max_calls: int,
    id_form: str,
    switches: tuple[tuple[str, Any], ...],
    *,
    variables: Mapping[str, Any],
) -> Capabilities:
    content, call = renderer.sentinels.word("c"), renderer.new_call(1, id_form)
    both = renderer.turn(SampleTurn(content=content, calls=(call,)), inputs) if max_calls else None
    variable = _tools_variable(renderer, inputs, variables)
    values: dict[str, tuple[Any, ...]] = {}
    for name, value in switches:
        values[name] = (*values.get(name, ()), value)
    return Capabilities(
        tools=variable is not None or renderer.shows_tools(inputs),
        tool_calls=max_calls > 0,
        parallel_tool_calls=max_calls > 1,
        content_with_calls=both is not None and both.shows(content),
        call_ids=both is not None and both.shows(call.id),
        call_id_form=id_form,
        arguments=inputs.arguments,
        empty_content=inputs.empty_content,
        reasoning=inputs.reasoning,
        reasoning_settings=inputs.settings,
        thinking_switches=values,
        system=renderer.shows_roles(inputs, "system", "user"),
        needs_system=inputs.system,
        alternation=not renderer.shows_roles(inputs, "user", "user"),
        tool_results=max_calls > 0 and renderer.shows_roles(inputs, "user", "call", "tool"),
        no_tools="undefined" if inputs.omit_none else inputs.tools,
        variables=inputs.variables,
        lenient=inputs.lenient,
        content_parts=inputs.parts,
        tools_variable=variable,
    )


def _tools_variable(renderer: TurnRenderer, inputs: Inputs, variables: Mapping[str, Any]) -> str | None:
    """The first variable besides `tools` whose tools the prompt lists; None if it lists those of `tools`."""
    names = () if renderer.shows_tools(inputs) else sorted(variables)
    return next((name for name in names if name.endswith("tools") and renderer.shows_tools(inputs, name)), None)
