"""From comparisons to a format: what was found becomes the text of a format file, each part with its evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from syntagma.analysis.infer.blocks import (
    ContentBlock,
    ReasoningBlock,
    find_content_block,
    find_reasoning_block,
    find_untold_wrapper,
    is_empty_tag,
    opener_before_calls,
)
from syntagma.analysis.infer.call_body import ArgumentPatterns
from syntagma.analysis.infer.call_inference import CallPatterns, UnsupportedCalls, find_call_patterns, opener_in_lead
from syntagma.analysis.infer.frame import Frame, find_frame, without_shared_edges
from syntagma.analysis.infer.headers import (
    MessageHeaders,
    find_message_headers,
    header_fields,
    split_by_headers,
)
from syntagma.analysis.infer.spellings import differ_by_one
from syntagma.analysis.infer.value_types import with_value_types
from syntagma.analysis.locate.atoms import atoms, text_after, visible_atoms
from syntagma.analysis.locate.observations import Observations
from syntagma.analysis.probe.inputs import ProbeResult
from syntagma.analysis.render.conversation import SampleTurn, Sentinels
from syntagma.analysis.render.turn_renderer import TurnRenderer
from syntagma.errors import FormatError
from syntagma.format_schema import FormatSpec, Notation, read_tables, used_markers
from syntagma.formats import ChatFormat
from syntagma.templates import ChatTemplate

__all__ = ["Evidence", "Finding", "Inference", "infer_format"]

_MAX_QUOTED = 80
"""characters of a prompt's end that a finding quotes"""
_OPENING, _CLOSING = "<[({⟦«‹◁", ">])}⟧»›▷"


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
    """A derived format, how it came about, and what speaks against it before any further message is rendered."""

    spec: FormatSpec
    frame: Frame
    evidence: tuple[Evidence, ...]
    findings: tuple[Finding, ...]


class _Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What the comparisons found."""

    frame: Frame
    reasoning: ReasoningBlock | None
    content: ContentBlock | None
    calls: CallPatterns | None
    not_understood: str | None
    """what is not understood of how calls are written"""
    before_calls: ContentBlock | None = None
    """how content is written that calls follow, where content alone is written otherwise"""
    headers: MessageHeaders | None = None
    """the headers of messages, which then lead to reasoning, content and calls"""


def infer_format(seen: Observations, renderer: TurnRenderer, probed: ProbeResult, template: ChatTemplate) -> Inference:
    """Put a format together from what the comparisons find.

    Args:
        seen: the turns and prompts to compare.
        renderer: makes the few further renders that comparisons ask for.
        probed: what the template wants.
        template: the template, for its string literals and its end-of-sequence token.
    """
    eos = renderer.eos
    whole_frame = find_frame(seen, eos)
    parts = _compare(seen, whole_frame, renderer, probed, template)
    states, unexplained = _prompt_states(parts, seen)
    with_tools = renderer.prompt(probed.inputs, {}, tools=True)
    if with_tools is not None and with_tools not in seen.prompts.values() and _state(parts, with_tools) is None:
        unexplained.append(("tools declared", with_tools[-_MAX_QUOTED:]))
    tables = _tables(parts, states)
    if parts.headers is None and not parts.frame.end_of_turn.strip():
        tables |= _ends_at_next(parts.frame, renderer, probed)
    tables, leaks = _without_leaks(tables, renderer.sentinels, eos)
    evidence = tuple(_evidence(parts, tables))
    spec, refusals = _supported(_with_eos(tables, eos, template.eos_token))
    findings = [*_uncertainties(parts, unexplained), *leaks, *refusals]
    written = probed.untold_reasoning is not None or any("R" in located.shape for located in seen.turns)
    if written and parts.reasoning is None and parts.headers is None:
        findings.append(
            Finding(
                "reasoning-untold",
                "reasoning is written, and no marker stands between it and what follows: nothing tells where it ends",
            )
        )
    default = seen.prompts.get(None)
    if default is not None and whole_frame.after_header(default) is None:
        findings.append(
            Finding("header-disagrees", "the default generation prompt does not hold the header of rendered turns")
        )
    return Inference(spec=spec, frame=parts.frame, evidence=evidence, findings=tuple(findings))


def _compare(
    seen: Observations, frame: Frame, renderer: TurnRenderer, probed: ProbeResult, template: ChatTemplate
) -> _Parts:
    """Compare the turns: reasoning first, because what it takes from the lead belongs to no other part."""
    headers = find_message_headers(seen, frame)
    if headers is not None:
        frame = msgspec.structs.replace(frame, end_of_turn=headers.end_of_turn)
        calls, not_understood = _compare_calls(seen, frame, renderer, probed)
        if calls is not None:
            calls = split_by_headers(calls, headers)
            not_understood = None if calls is not None else "a call has no header like that of other messages"
        return _Parts(
            frame=frame, reasoning=None, content=None, calls=calls, not_understood=not_understood, headers=headers
        )
    frame = without_shared_edges(frame, seen)
    reasoning = find_reasoning_block(
        seen,
        frame,
        renderer,
        probed.inputs,
        literals=template.string_literals(),
        variables=probed.thinking_variables,
    )
    frame = frame.shortened((reasoning.lead_cut if reasoning is not None else 0) or opener_in_lead(seen, frame))
    content = find_content_block(seen, frame, reasoning)
    if content is None and reasoning is not None:
        content = find_untold_wrapper(
            reasoning,
            renderer,
            probed.inputs,
            literals=template.string_literals(),
            variables=probed.thinking_variables,
        )
    calls, not_understood = _compare_calls(seen, frame, renderer, probed, (reasoning, content))
    before_calls = None
    opener = opener_before_calls(seen, frame, reasoning)
    if opener is not None and calls is not None:
        # What stands between content and calls closes the content.
        closer = calls.after_content
        before_calls = ContentBlock(open=opener, close=closer if closer.strip() else "")
        calls = msgspec.structs.replace(calls, after_content="" if closer.strip() else closer)
    return _Parts(
        frame=frame,
        reasoning=reasoning,
        content=content,
        calls=calls,
        not_understood=not_understood,
        before_calls=before_calls,
    )


def _compare_calls(
    seen: Observations,
    frame: Frame,
    renderer: TurnRenderer,
    probed: ProbeResult,
    blocks: tuple[ReasoningBlock | None, ContentBlock | None] = (None, None),
) -> tuple[CallPatterns | None, str | None]:
    """How calls are written, or what of it is not understood."""
    try:
        calls = find_call_patterns(seen, frame, *blocks)
        if calls is not None and calls.arguments is not None:
            typed = with_value_types(renderer, probed, calls.arguments)
            if typed is None:
                raise UnsupportedCalls("strings and numbers are written in ways that do not fit together")
            # What the types of values tell may move the edge between what opens arguments and the first one.
            moved = typed.opens[len(calls.arguments.opens) :]
            closer = calls.arguments.closes[len(typed.closes) :]
            bare = calls.bare or (calls.call.replace("{arguments}", "", 1) if moved and not closer else "")
            call = calls.call.replace("{arguments}", moved + "{arguments}" + closer, 1)
            calls = msgspec.structs.replace(calls, call=call, bare=bare, arguments=typed)
    except UnsupportedCalls as error:
        return None, str(error)
    if calls is not None and calls.envelope is None and (calls.arguments is None or calls.arguments.is_object):
        calls = msgspec.structs.replace(calls, sorts_keys=_sorts_keys(renderer, probed))
    texts = () if calls is None else (calls.call, calls.envelope or "", calls.id or "")
    if calls is not None and any(counter in text for text in texts for counter in ("{index}", "{ordinal}")):
        calls = msgspec.structs.replace(calls, counts_on=_counts_on(renderer, probed))
    return calls, None


def _sorts_keys(renderer: TurnRenderer, probed: ProbeResult) -> bool:
    """Whether the arguments of a call are written in the order of their keys, whatever order they are given in."""
    call = renderer.new_call(2, probed.id_form)
    first, second = call.arguments
    turned = msgspec.structs.replace(call, arguments={second: call.arguments[second], first: call.arguments[first]})
    rendered = renderer.in_any_context(SampleTurn(calls=(turned,)), probed.inputs)
    return rendered is not None and -1 < rendered.text.find(first) < rendered.text.find(second)


def _counts_on(renderer: TurnRenderer, probed: ProbeResult) -> bool:
    """Whether the number of a call is one more where a call stands in the history."""
    earlier, call = (SampleTurn(calls=(renderer.new_call(1, probed.id_form),)) for _ in range(2))
    alone, after = renderer.turn(call, probed.inputs), renderer.turn_after(earlier, call, probed.inputs)
    return alone is not None and after is not None and differ_by_one(alone.text, after.text)


# -- the state of reasoning after a prompt


def _prompt_states(parts: _Parts, seen: Observations) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The state of reasoning by prompt (`default`, or `variable=value`), and the prompts whose end is not explained."""
    states: dict[str, str] = {}
    unexplained: list[tuple[str, str]] = []
    for setting, prompt in seen.prompts.items():
        name = "default" if setting is None else f"{setting[0]}={json.dumps(setting[1])}"
        state = _state(parts, prompt)
        if state is None:
            extra = parts.frame.after_header(prompt)
            unexplained.append((name, (prompt if extra is None else extra)[-_MAX_QUOTED:]))
        states[name] = state or "closed"
    return states, unexplained


def _state(parts: _Parts, prompt: str) -> str | None:
    """The state of reasoning after a prompt, from what follows the header; None if that is not explained."""
    extra, reasoning = parts.frame.after_header(prompt), parts.reasoning
    if extra is None:
        return None
    if reasoning is not None:
        if not reasoning.start.strip():
            return "open"
        if not extra.strip():
            return "closed"
        rest = text_after(reasoning.start, extra)
        if rest is not None and not rest.strip():
            return "open"
        inside = extra if rest is None else rest
        closed = bool(reasoning.end.strip()) and inside.strip().endswith(reasoning.end.strip())
        if closed or is_empty_tag(extra, reasoning.start):
            return "off"
    openers = (parts.content.open if parts.content else "", parts.calls.call.partition("{")[0] if parts.calls else "")
    if not extra.strip() or any(text.strip().startswith(extra.strip()) for text in openers):
        return "closed"
    return None


# -- findings and evidence


def _uncertainties(parts: _Parts, unexplained: list[tuple[str, str]]) -> Iterator[Finding]:
    """What the comparisons could not decide."""
    if parts.not_understood is not None:
        yield Finding("calls-unsupported", parts.not_understood)
    for name, text in unexplained:
        yield Finding("prompt-unexplained", f"the prompt ({name}) ends with {text!r}")
    if parts.reasoning is not None and parts.reasoning.evidence == "prose":
        yield Finding("reasoning-prose", "only the instructions of the prompt speak of reasoning")
    if parts.reasoning is not None and parts.reasoning.ambiguous:
        yield Finding("reasoning-end", "where the closer of reasoning ends could not be proved")
    if parts.calls is not None and parts.calls.separators_differ:
        yield Finding("calls-uneven", "what stands between calls differs from call to call")


def _evidence(parts: _Parts, tables: dict[str, Any]) -> Iterator[Evidence]:
    if parts.reasoning is not None:
        yield Evidence("reasoning", tables.get("reasoning", {}).get("block", ""), parts.reasoning.evidence)
    if parts.content is not None:
        yield Evidence("content", parts.content.open + "{content}" + parts.content.close, parts.content.when)
    if parts.before_calls is not None:
        shown = parts.before_calls
        yield Evidence("content.before_calls", shown.open + "{content}" + shown.close, "content with calls")
    if parts.calls is not None:
        if parts.calls.unproved_split:
            yield Evidence("tools.section", parts.calls.section, "single calls only: its edge is not proved")
        for key, value in tables.get("tools", {}).items():
            yield Evidence(f"tools.{key}", value if isinstance(value, str) else json.dumps(value), "rendered calls")
    yield Evidence("anchor", parts.frame.anchor, "all shapes and prompts")
    yield Evidence("end_of_turn", parts.frame.end_of_turn, "tails of all shapes")


# -- the tables of a format file


def _tables(parts: _Parts, states: dict[str, str]) -> dict[str, Any]:
    """The keys and tables of the format file."""
    frame, content = parts.frame, parts.content
    tables: dict[str, Any] = {}
    if frame.end_of_turn:
        tables["end_of_turn"] = _end_of_turn_list(frame.end_of_turn, frame.eos)
    if parts.headers is not None:
        return {**tables, **_tables_of_messages(parts.headers, parts.calls)}
    if frame.anchor:
        tables = {"anchor": frame.anchor, **tables}
    if parts.reasoning is not None:
        tables["reasoning"] = _reasoning_table(parts.reasoning, states)
    if content is not None:
        tables["content"] = {"block": content.open + "{content}" + content.close}
        if content.when != "always":
            tables["content"]["when"] = content.when
    if parts.before_calls is not None:
        block = parts.before_calls.open + "{content}" + parts.before_calls.close
        tables.setdefault("content", {})["before_calls"] = block
    if parts.calls is not None:
        tables["tools"] = _tools_table(parts.calls)
        if parts.calls.drop:
            tables.setdefault("content", {})["drop"] = [parts.calls.drop]
    markers = [_first_line(text) for text in _delimiters(parts) if _begins_weakly(_first_line(text))]
    if markers:
        tables["markers"] = list(dict.fromkeys(markers))
    return tables


def _tables_of_messages(headers: MessageHeaders, calls: CallPatterns | None) -> dict[str, Any]:
    """The tables of a format whose turns are messages with headers."""
    tables: dict[str, Any] = {}
    if headers.reasoning is not None:
        tables["reasoning"] = {"block": headers.reasoning, "repeat": True}
    tables["content"] = {"block": list(headers.content)}
    shown, ends = [*headers.content, headers.reasoning or ""], list(headers.ends)
    if calls is not None:
        tables["tools"] = _tools_table(calls)
        shown.append(calls.call)
        ends += [atom for atom in visible_atoms(calls.call)[-1:] if "}" not in atom]
    tables["messages"] = {
        "start": headers.start,
        "fields": header_fields(shown, headers.body),
        "body": headers.body,
        "end": list(dict.fromkeys(ends)),
    }
    return tables


def _delimiters(parts: _Parts) -> Iterator[str]:
    """The texts by which a reader finds its way: what opens and closes reasoning, the answer and calls."""
    if parts.reasoning is not None:
        yield from (parts.reasoning.start, parts.reasoning.end)
    for block in (parts.content, parts.before_calls):
        if block is not None:
            yield from (block.open, block.close)
    if parts.calls is not None:
        for text in (parts.calls.section, parts.calls.call):
            yield from (text.partition("{")[0], text.rpartition("}")[2])


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0].rstrip()


def _begins_weakly(line: str) -> bool:
    """Whether a line begins with a word that stands in any prose: of signs, or of letters, with a sign after them.

    Only the whole line is a marker then.
    """
    first, *rest = line.split(" ")
    is_word = first.rstrip(":.,;!?").isalpha() or not any(char.isalnum() for char in first)
    return any(rest) and is_word and not any(char in line for char in "\r\t")


def _ends_at_next(frame: Frame, renderer: TurnRenderer, probed: ProbeResult) -> dict[str, Any]:
    """The end of a turn where the template writes none: the markers with which a user's message or a result opens."""
    call = renderer.new_call(1, probed.id_form)
    openers = [frame.user_open, renderer.result_opener(call, probed.inputs) if probed.max_calls else ""]
    firsts = (next(iter(visible_atoms(text, frame.eos)), "") for text in openers)
    markers = list(dict.fromkeys(atom for atom in firsts if len(atom) > 1 and atom[0] in _OPENING))
    return {"end_of_turn": [markers]} if markers else {}


def _end_of_turn_list(text: str, eos: str) -> list[str]:
    """The markers that the end of the turn is made of.

    The end-of-sequence token, other whitespace than a space, and a bracketed atom at the beginning of a marker are
    markers of their own. Any other marker goes on, through brackets, signs, words and spaces, until one of the first
    two or until a closing bracket meets an opening one. A single sign stands in any prose, so the whitespace around it
    is a part of its marker; a run of one sign does so within a line, so only the whitespace before it is.
    """
    made: list[str] = []
    goes_on = False
    for atom in atoms(text, eos):
        single = atom == eos or (atom.isspace() and atom != " ")
        meets = bool(made) and made[-1].rstrip(" ")[-1:] in _CLOSING and atom[0] in _OPENING
        is_weak = bool(made) and len(made[-1].strip()) == 1 and not made[-1].strip().isalnum()
        if made and ((goes_on and not single and not meets) or (is_weak and atom.isspace())):
            made[-1] += atom
        else:
            made.append(atom)
            goes_on = not single and not (len(atom) > 1 and atom[0] in _OPENING)
    for at in range(len(made) - 1, 0, -1):
        if len(set(made[at].strip())) == 1 and not made[at].strip().isalnum() and made[at - 1].isspace():
            made[at - 1 : at + 1] = [made[at - 1] + made[at]]
    return [part for piece in made for part in _without_outer_spaces(piece)]


def _without_outer_spaces(text: str) -> list[str]:
    """A marker with the spaces around it as markers of their own."""
    inside = text.strip(" ")
    if not inside:
        return [text]
    before, _, after = text.partition(inside)
    return [part for part in (before, inside, after) if part]


def _reasoning_table(reasoning: ReasoningBlock, states: dict[str, str]) -> dict[str, Any]:
    table: dict[str, Any] = {"block": reasoning.start + "{reasoning}" + reasoning.end}
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
    return table


def _tools_table(calls: CallPatterns) -> dict[str, Any]:
    table: dict[str, Any] = {}
    space = calls.after_content
    has_section = calls.section != "{calls}"
    if has_section:
        table["section"] = [calls.section, space + calls.section] if space else calls.section
    if calls.separator:
        table["separator"] = calls.separator
    spaced = calls.call if has_section else space + calls.call
    spaced_bare = space + calls.bare if calls.bare and not has_section else ""
    forms = dict.fromkeys(text for text in (calls.call, spaced, calls.alternate, calls.bare, spaced_bare) if text)
    table["call"] = list(forms) if len(forms) > 1 else calls.call
    if calls.envelope is not None:
        table["envelope"] = calls.envelope
    if calls.id is not None:
        table["id"] = calls.id
    if calls.counts_on:
        table["numbers"] = "conversation"
    arguments = calls.arguments
    if arguments is not None:
        table |= _arguments_table(arguments)
    if calls.sorts_keys:
        table["literals"] = {**table.get("literals", {}), "any_order": True}
    return table


def _arguments_table(arguments: ArgumentPatterns) -> dict[str, Any]:
    table: dict[str, Any] = {}
    if not arguments.is_object:
        table["argument"] = arguments.argument
        if arguments.separator:
            table["argument_separator"] = arguments.separator
        if arguments.values != "text":
            table["values"] = arguments.values
    if arguments.types:
        table["types"] = arguments.types
    if arguments.item is not None:
        table["item"] = arguments.item
    if arguments.escape:
        table["escape"] = list(arguments.escape)
    if arguments.notation:
        table["literals"] = arguments.notation
    return table


def _without_leaks(tables: dict[str, Any], words: Sentinels, eos: str) -> tuple[dict[str, Any], list[Finding]]:
    """The tables without those parts that hold text of the probes, each of which is a finding."""
    kept: dict[str, Any] = {}
    findings = []
    for part, value in tables.items():
        if words.survive_in(json.dumps(value, ensure_ascii=False).replace(eos, " ")):
            findings.append(Finding("leak", f"`{part}` held text that only the probes put in, and was left out"))
        else:
            kept[part] = value
    return kept, findings


def _with_eos(value: Any, sentinel: str, token: str) -> Any:
    """The same value with the real end-of-sequence token; texts of lists that become empty are left out."""
    if isinstance(value, str):
        return value.replace(sentinel, token)
    if isinstance(value, list):
        return [text for text in (_with_eos(item, sentinel, token) for item in value) if text]
    if isinstance(value, dict):
        return {key: _with_eos(item, sentinel, token) for key, item in value.items()}
    return value


# -- what the library reads of it


def _supported(tables: dict[str, Any]) -> tuple[FormatSpec, list[Finding]]:
    """The format as far as the library can read it; what it cannot read is left out, and is a finding."""
    spec, findings = _spec_of(tables)
    why: FormatError | None = None
    for attempt, code in _weaker(spec):
        try:
            ChatFormat(attempt).parser()
        except FormatError as error:
            why = error
            continue
        return attempt, findings if why is None else [*findings, Finding(code, why.message)]
    return spec, findings


def _spec_of(tables: dict[str, Any]) -> tuple[FormatSpec, list[Finding]]:
    """The format of the tables; without calls if it is refused with them, empty if it is refused without them, too."""
    try:
        return read_tables(tables), []
    except FormatError as error:
        findings = [Finding("format-refused", error.message)]
    without_calls = {part: table for part, table in tables.items() if part != "tools"}
    try:
        return read_tables(without_calls), findings
    except FormatError:
        return FormatSpec(), findings


def _weaker(spec: FormatSpec) -> Iterator[tuple[FormatSpec, str]]:
    """The format, then without its notation of values, then without calls; each with the code of the finding."""
    yield spec, ""
    if spec.tools is not None:
        if spec.tools.values == "text" and not spec.tools.literals.is_json:
            plain = msgspec.structs.replace(spec.tools, literals=Notation())
            yield msgspec.structs.replace(spec, tools=plain), "notation-unsupported"
        unmarked = msgspec.structs.replace(spec, tools=None, markers=())
        markers = used_markers(unmarked, spec.markers)
        yield msgspec.structs.replace(unmarked, markers=markers), "calls-unsupported"
