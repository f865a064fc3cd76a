"""From comparisons to a format: what was found becomes the text of a format file, each marker with its evidence."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from syntagma.analysis.answers import Wrapper, find_wrapper
from syntagma.analysis.atoms import atoms, cores, skip_prefix
from syntagma.analysis.calls import Calls, Unsupported, find_calls, swallowed_opener
from syntagma.analysis.conversations import Call, Turn
from syntagma.analysis.extents import Reading, read_view
from syntagma.analysis.frame import Frame
from syntagma.analysis.probes import Probed
from syntagma.analysis.reasoning import Thoughts, find_thoughts
from syntagma.analysis.scene import Scene
from syntagma.analysis.survey import Survey
from syntagma.analysis.tagged import Arguments, value_notation
from syntagma.errors import FormatError
from syntagma.format_schema import FormatSpec, read_tables

__all__ = ["Evidence", "Finding", "Inference", "infer"]


class Evidence(msgspec.Struct, frozen=True):
    """One thing that was found: `what` it is in the format, its `text`, and what it was `seen` in."""

    what: str
    text: str
    seen: str


class Finding(msgspec.Struct, frozen=True):
    """Something that keeps a certificate from being clean: a stable `code`, and a sentence."""

    code: str
    message: str


class Inference(msgspec.Struct, frozen=True, kw_only=True):
    """A derived format, how it came about, and what could not be explained."""

    spec: FormatSpec
    frame: Frame
    evidence: tuple[Evidence, ...]
    findings: tuple[Finding, ...]
    states: dict[str, str]
    """the state of reasoning by prompt: `default`, or `variable=value`"""


def infer(survey: Survey, scene: Scene, probed: Probed, literals: tuple[str, ...], eos_token: str) -> Inference:
    """Put a format together from what the comparisons find.

    Args:
        survey: the renders.
        scene: makes the few further renders that comparisons ask for.
        probed: what the template wants.
        literals: the template's string literals.
        eos_token: the text in place of the sentinel of the end-of-sequence token.
    """
    evidence: list[Evidence] = []
    findings: list[Finding] = []
    frame = survey.frame
    thoughts = find_thoughts(survey, scene, probed.inputs, literals, probed.thinking_names)
    cut = thoughts.lead_cut if thoughts is not None and thoughts.lead_cut else swallowed_opener(survey)
    if cut:
        frame = msgspec.structs.replace(frame, lead=frame.lead[: len(frame.lead) - cut])
        survey = msgspec.structs.replace(survey, frame=frame)
    wrapper = find_wrapper(survey, frame, thoughts)
    calls = None
    try:
        calls = find_calls(survey, frame, thoughts, wrapper.close if wrapper else "")
        if calls is not None and calls.arguments is not None:
            calls = msgspec.structs.replace(calls, arguments=_typed(scene, probed, calls.arguments))
    except Unsupported as error:
        findings.append(Finding("calls-unsupported", str(error)))
    opener = calls.call.partition("{")[0] if calls else ""
    states, strange = _states(survey, thoughts, wrapper, opener)
    beside_tools = scene.prompt(probed.inputs, {}, tools=True)
    if beside_tools is not None and beside_tools not in survey.prompts.values():
        extra = survey.extra(beside_tools)
        state = None if extra is None else _state(extra, thoughts, wrapper, opener)
        states["tools"] = state or "closed"
        strange += [("tools declared", beside_tools[-80:])] if state is None else []
    findings += [Finding("prompt-unexplained", f"the prompt ({name}) ends with {text!r}") for name, text in strange]
    tables: dict[str, dict[str, Any]] = {"": {}}
    if frame.anchor:
        tables[""]["anchor"] = frame.anchor
    if frame.end_of_turn:
        tables[""]["end_of_turn"] = _ends(frame.end_of_turn, frame.whole)
    if thoughts is not None:
        tables["reasoning"] = _reasoning_table(thoughts, states, calls)
        evidence.append(Evidence("reasoning", tables["reasoning"]["block"], thoughts.evidence))
        if thoughts.evidence == "prose":
            findings.append(Finding("reasoning-prose", "only the instructions of the prompt speak of thoughts"))
        if thoughts.ambiguous:
            findings.append(Finding("reasoning-end", "where the closer of thoughts ends could not be proved"))
    if wrapper is not None:
        tables["content"] = {"block": wrapper.open + "{content}" + wrapper.close}
        if wrapper.when != "always":
            tables["content"]["when"] = wrapper.when
        evidence.append(Evidence("content", tables["content"]["block"], wrapper.when))
    if calls is not None:
        tables["tools"] = _tools_table(calls)
        if calls.drop:
            tables.setdefault("content", {})["drop"] = [calls.drop]
        if calls.unproved_split:
            evidence.append(Evidence("tools.section", calls.section, "single calls only: its edge is not proved"))
        if calls.uneven:
            findings.append(Finding("calls-uneven", "what stands between calls differs from call to call"))
        evidence += [
            Evidence(f"tools.{key}", value if isinstance(value, str) else json.dumps(value), "rendered calls")
            for key, value in tables["tools"].items()
        ]
    evidence.append(Evidence("anchor", frame.anchor, "all shapes and prompts"))
    evidence.append(Evidence("end_of_turn", frame.end_of_turn, "tails of all shapes"))
    tables = _with_eos(tables, frame.whole, eos_token)
    try:
        spec = _spec(tables)
    except FormatError as error:
        findings.append(Finding("format-refused", error.message))
        tables.pop("tools", None)
        spec = _read_or_bare(tables)
    return Inference(spec=spec, frame=frame, evidence=tuple(evidence), findings=tuple(findings), states=dict(states))


def _ends(text: str, whole: str) -> list[str]:
    """The atoms of the end of the turn; what neither is blank nor bracketed hangs together."""
    made: list[str] = []
    loose = False
    for atom in atoms(text, whole):
        alone = atom.isspace() or atom == whole or (len(atom) > 1 and not atom.isalnum())
        if made and loose and not alone:
            made[-1] += atom
        else:
            made.append(atom)
        loose = not alone
    return made


def _read_or_bare(tables: dict[str, dict[str, Any]]) -> FormatSpec:
    try:
        return _spec(tables)
    except FormatError:
        return FormatSpec()


def _typed(scene: Scene, probed: Probed, arguments: Arguments) -> Arguments:
    """The arguments with how values that are no strings are written."""

    def render(values: tuple[Any, Any]) -> Reading | None:
        call = scene.call(2, probed.id_form)
        keys = list(call.arguments)
        turn = Turn(calls=(Call(call.name, dict(zip(keys, values, strict=True)), call.id),))
        view = scene.view(turn, probed.inputs) or scene.view(turn, probed.inputs, "middle")
        return None if view is None else read_view(view)

    def is_spelled_like_python(value: Any) -> bool:
        # A reading looks for `str(value)`, which is Python's spelling; JSON's is then not found.
        reading = render((value, scene.sentinels.number()))
        return reading is not None and bool(reading.calls) and reading.calls[0].tagged

    found = value_notation(arguments, render((scene.sentinels.number(), scene.sentinels.number())))
    if found is None:
        raise Unsupported("strings and numbers are written in ways that do not fit together")
    notation = dict(found.notation)
    if is_spelled_like_python(True):
        notation |= {"true": ("True", "true"), "false": ("False", "false")}
    if is_spelled_like_python(None):
        notation |= {"null": ("None", "null")}
    if is_spelled_like_python([scene.sentinels.word("v")]):
        notation |= {"quotes": ("'", '"')}
    return msgspec.structs.replace(found, notation=notation)


def _states(
    survey: Survey, thoughts: Thoughts | None, wrapper: Wrapper | None, opener: str
) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The state of reasoning by prompt, and the prompts whose end is not explained."""
    states: dict[str, str] = {}
    strange: list[tuple[str, str]] = []
    for setting, prompt in survey.prompts.items():
        name = "default" if setting is None else f"{setting[0]}={json.dumps(setting[1])}"
        extra = survey.extra(prompt)
        state = None if extra is None else _state(extra, thoughts, wrapper, opener)
        if state is None:
            strange.append((name, (extra if extra is not None else prompt)[-80:]))
        states[name] = state or "closed"
    return states, strange


def _state(extra: str, thoughts: Thoughts | None, wrapper: Wrapper | None, opener: str) -> str | None:
    if thoughts is not None:
        if not thoughts.start.strip():
            return "open"
        if not extra.strip():
            return "closed"
        rest = skip_prefix(extra, thoughts.start)
        if rest is not None and not rest.strip():
            return "open"
        inside = extra if rest is None else rest
        if inside.strip().endswith(thoughts.end.strip()):
            return "off"
    openers = [text.strip() for text in (wrapper.open if wrapper else "", opener)]
    if not extra.strip() or any(text.startswith(extra.strip()) for text in openers):
        return "closed"
    return None


def _reasoning_table(thoughts: Thoughts, states: dict[str, str], calls: Calls | None) -> dict[str, Any]:
    table: dict[str, Any] = {"block": thoughts.start + "{reasoning}" + thoughts.end}
    default = states.get("default", "closed")
    if default != "closed":
        table["start"] = default
    switch: dict[str, dict[str, str]] = {}
    for name, state in states.items():
        variable, _, value = name.partition("=")
        if value:
            switch.setdefault(variable, {})[value] = state
    switch = {name: values for name, values in switch.items() if set(values.values()) != {default}}
    if switch:
        table["switch"] = switch
    if calls is not None:
        openers = [text.partition("{")[0].strip() for text in (calls.section, calls.call, calls.alternate)]
        markers = [_first_marker(text) for text in openers if any(len(atom) > 3 for atom in cores(text))]
        markers = list(dict.fromkeys(markers))
        if markers:
            table["interrupt"] = markers
    return table


def _first_marker(text: str) -> str:
    """The first atom if it is a whole marker, else all of the text: a word alone would be found anywhere."""
    first = cores(text)[0]
    return first if len(first) > 3 and not first[0].isalnum() and not first[-1].isalnum() else text


def _tools_table(calls: Calls) -> dict[str, Any]:
    table: dict[str, Any] = {}
    bare = calls.section == "{calls}"
    if not bare:
        table["section"] = [calls.section, calls.edge + calls.section] if calls.edge else calls.section
    if calls.separator:
        table["separator"] = calls.separator
    edge = calls.edge if bare else ""
    ways = dict.fromkeys(text for text in (calls.call, edge + calls.call, calls.alternate) if text)
    table["call"] = list(ways) if len(ways) > 1 else calls.call
    if calls.envelope is not None:
        table["envelope"] = calls.envelope
    if calls.id is not None:
        table["id"] = calls.id
    arguments = calls.arguments
    if arguments is not None:
        table["argument"] = arguments.argument
        if arguments.separator:
            table["argument_separator"] = arguments.separator
        if arguments.values != "text":
            table["values"] = arguments.values
        if arguments.types:
            table["types"] = arguments.types
        if arguments.notation:
            table["literals"] = {key: list(words) for key, words in arguments.notation.items()}
    return table


def _with_eos(value: Any, sentinel: str, token: str) -> Any:
    if isinstance(value, str):
        return value.replace(sentinel, token)
    if isinstance(value, list):
        return [text for text in (_with_eos(item, sentinel, token) for item in value) if text]
    if isinstance(value, dict):
        return {key: _with_eos(item, sentinel, token) for key, item in value.items()}
    return value


def _spec(tables: dict[str, dict[str, Any]]) -> FormatSpec:
    """The format in tables by part; those of `""` are keys of the format itself."""
    return read_tables({**tables.get("", {}), **{part: table for part, table in tables.items() if part}})
