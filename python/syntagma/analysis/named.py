"""Named formats as candidates for a template: what speaks for each, and each in the frame of the template."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from syntagma.analysis.certify.outputs import begun_at_end
from syntagma.analysis.infer.blocks import opener_of
from syntagma.analysis.locate.atoms import visible_atoms
from syntagma.analysis.probe.inputs import ProbeResult
from syntagma.analysis.render.conversation import SampleCall
from syntagma.analysis.render.turn_renderer import TurnRenderer
from syntagma.errors import FormatError
from syntagma.format_schema import FormatSpec, Pattern, ReasoningSpec, used_markers
from syntagma.format_schema.pattern import Literal
from syntagma.format_schema.spec import texts_beside_calls
from syntagma.formats import ChatFormat, get, names

__all__ = ["Evidence", "Support", "call_markers", "framed", "reasoning_told", "supports"]

_MIN_MARKER = 3
"""code points of the shortest text that counts as a marker"""
_MOST_PLACES = 64
_MOST_OF_NAME, _MOST_OF_VALUE = 48, 160
"""how many places of a prompt are looked at for an example of a call, and how long its names and values may be"""
_SIGNS = '{}[]():,="'


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a template and a model show beside the turns that the template writes.

    Attributes:
        told: the prompt with tools declared: what the model is told.
        answered: the same after a call and its result.
        tools: these tools.
        call: the call that the result belongs to.
        result: the text of the result.
        literals: the string literals of the template.
        tokens: the special and added tokens of the vocabulary; None: it is unknown.
        kin: words of the model's type, from its configuration.
    """

    told: str
    answered: str
    tools: list[dict[str, Any]]
    call: SampleCall
    result: str
    literals: tuple[str, ...]
    tokens: frozenset[str] | None
    kin: frozenset[str]

    @classmethod
    def of(
        cls,
        renderer: TurnRenderer,
        probed: ProbeResult,
        literals: Collection[str],
        tokens: Collection[str] | None,
        config: Mapping[str, Any] | None,
    ) -> Evidence:
        """Collect it with two renders."""
        calls = tuple(renderer.new_call(1, probed.id_form) for _ in range(2))
        result = renderer.sentinels.word("t")
        variable = probed.capabilities.tools_variable
        answered, tools = renderer.tools_prompt(probed.inputs, calls, result, variable) or ("", [])
        told, _ = renderer.tools_prompt(probed.inputs, calls, "", variable) or ("", [])
        kind = str((config or {}).get("model_type", "")).lower()
        return cls(
            told=told,
            answered=answered,
            tools=tools,
            call=calls[0],
            result=result,
            literals=tuple(literals),
            tokens=None if tokens is None else frozenset(tokens),
            kin=frozenset({kind, *re.findall(r"[a-z]+|\d+", kind), *re.findall(r"[a-z0-9]+", kind)} - {""}),
        )


class Support(msgspec.Struct, frozen=True, kw_only=True):
    """What speaks for a named format beside its certificate. Each field may be 0 or False.

    Attributes:
        name: the name of the format.
        prompt: the characters of its `[prompt]` that the template renders.
        example: whether what the prompt tells the model holds an example of a call in its notation.
        tokens: how many markers of its calls are special or added tokens of the vocabulary.
        source: how many of them stand in the source of the template.
        end: whether the turns of the template end as its turns do.
        kin: whether the model's type is one that it is for.
        unseen: how many of its markers beside calls stand neither in the template nor in the vocabulary. It speaks for
            nothing: of formats for which as much speaks, the one that claims least is written.
    """

    name: str
    prompt: int = 0
    example: bool = False
    tokens: int = 0
    source: int = 0
    end: bool = False
    kin: bool = False
    unseen: int = 0

    @property
    def weight(self) -> tuple[int, ...]:
        """The evidence in the order in which it counts; the model's type only breaks ties."""
        return (self.prompt, self.example, self.tokens, self.source, self.end)

    @property
    def tells_calls(self) -> bool:
        """Whether anything tells how calls are written."""
        return bool(self.prompt or self.example or self.tokens or self.source)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The evidence in words."""
        found = []
        if self.prompt:
            found.append("the prompt lists tools as its `[prompt]` says")
        if self.example:
            found.append("the prompt shows the model an example of its calls")
        if self.tokens:
            found.append(f"{self.tokens} of its markers of calls are tokens of the vocabulary")
        if self.source:
            found.append(f"{self.source} of its markers of calls stand in the template")
        if self.end:
            found.append("turns end as its turns do")
        if self.kin:
            found.append("the model's type is one that it is for")
        return tuple(found)


def supports(evidence: Evidence, derived: FormatSpec) -> dict[str, Support]:
    """The evidence for each named format that has calls, by name."""
    found: dict[str, Support] = {}
    ends = {text for texts in derived.turn_ends for text in texts if text.strip()}
    tokens, source = evidence.tokens or frozenset(), evidence.literals

    def stands(marker: str) -> bool:
        return any(marker in text for text in source)

    for name in names():
        spec = get(name).spec
        if spec.tools is None:
            continue
        markers = call_markers(spec)
        opened = {marker for marker in markers[:1] if stands(marker)}
        found[name] = Support(
            name=name,
            prompt=_matched(spec, evidence),
            example=_shows_example(spec, evidence.told),
            tokens=sum(marker in tokens for marker in markers) if markers and markers[0] in tokens else 0,
            source=sum(map(stands, markers)) if opened else 0,
            end=any(text in ends for texts in spec.turn_ends for text in texts),
            kin=bool(evidence.kin.intersection((name, *spec.aliases, *spec.families))),
            unseen=sum(not (marker in tokens or stands(marker)) for marker in _markers_of(texts_beside_calls(spec))),
        )
    return found


def _matched(spec: FormatSpec, evidence: Evidence) -> int:
    """How many characters of a format's `[prompt]` the template renders; 0 if it lists tools otherwise."""
    prompt, text = spec.prompt, evidence.answered
    if prompt is None or not text:
        return 0
    if evidence.tokens is not None and not any(marker in evidence.tokens for marker in call_markers(spec)[:1]):
        return 0
    listed = prompt.separator.join(_one_tool(prompt.tool, tool) for tool in evidence.tools)
    if prompt.tool_list.replace("{tools}", listed) not in text:
        return 0
    own = len(prompt.tool_list.replace("{tools}", ""))
    if evidence.result not in text:
        return own
    values = (("{result}", evidence.result), ("{id}", evidence.call.id), ("{name}", evidence.call.name))
    shown = list(prompt.result)
    for placeholder, value in values:
        shown = [one.replace(placeholder, value) for one in shown]
    return own + max((len(one) for one in shown if one in text), default=-own)


def _one_tool(pattern: str, tool: dict[str, Any]) -> str:
    whole, function = (json.dumps(value, ensure_ascii=False) for value in (tool, tool["function"]))
    return pattern.replace("{tool}", whole).replace("{function}", function)


def call_markers(spec: FormatSpec) -> list[str]:
    """The markers of the first form of calls, the one that opens calls first."""
    tools = spec.tools
    assert tools is not None
    literals = [item.text for item in tools.call[0].items if isinstance(item, Literal)]
    texts = [tools.section[0].opener, *literals, tools.section[0].closer]
    return _markers_of(texts)


def _markers_of(texts: Iterable[str]) -> list[str]:
    pieces = [piece for text in texts for piece in visible_atoms(text)]
    return list(dict.fromkeys(piece for piece in pieces if _is_marker(piece)))


def _is_marker(text: str) -> bool:
    return len(text) >= _MIN_MARKER and not text[0].isalnum() and not text[-1].isalnum()


# -- examples of calls in what a prompt tells the model


def _shows_example(spec: FormatSpec, told: str) -> bool:
    """Whether a text holds an example of a call in one of the forms of a format, with any words in its places."""
    for form in spec.forms:
        for call in form.call:
            bodies = [call.text.replace("{envelope}", one.pattern.text) for one in form.envelope]
            for body in bodies or [call.text]:
                text = form.section[0].text.replace("{calls}", body)
                if form.argument:
                    text = text.replace("{arguments}", form.argument[0].text, 1)
                if _stands_in(_pieces(text), told):
                    return True
    return False


def _pieces(text: str) -> list[str | int]:
    """The literals of a pattern, cut at whitespace and signs, and for each placeholder how long its words may be."""
    made: list[str | int] = []
    for item in Pattern(text.replace('"{name}"', "{name}")).items:
        if isinstance(item, Literal):
            for sign in _SIGNS:
                # Signs of JSON stand apart from words, with or without whitespace.
                item = Literal(item.text.replace(sign, f" {sign} "))  # noqa: PLW2901
            made += item.text.split()
        else:
            made.append(_MOST_OF_VALUE if item.name in ("arguments", "value") else _MOST_OF_NAME)
    return made


def _stands_in(pieces: list[str | int], text: str) -> bool:
    """Whether pieces follow each other in a text, with whitespace or, in the places of numbers, other words between."""
    first = pieces[0]
    at = text.find(first) if isinstance(first, str) else -1
    for _ in range(_MOST_PLACES):
        if at < 0:
            return False
        if _follows(pieces, text, at):
            return True
        at = text.find(str(first), at + 1)
    return False


def _follows(pieces: list[str | int], text: str, at: int) -> bool:
    words = 0
    for piece in pieces:
        if isinstance(piece, int):
            words = piece
            continue
        start = at
        if words:
            at = text.find(piece, at + 1, at + words + len(piece))
        else:
            at += len(text[at : at + _MOST_OF_NAME]) - len(text[at : at + _MOST_OF_NAME].lstrip())
        if at < 0 or not text.startswith(piece, at) or (words == _MOST_OF_NAME and "\n\n" in text[start:at]):
            return False
        at, words = at + len(piece), 0
    return True


# -- reasoning that no render shows


def reasoning_told(evidence: Evidence, preferred: ReasoningSpec | None) -> ReasoningSpec | None:
    """A block of reasoning of a named format whose markers the model knows, or that the template names; None: none.

    Args:
        evidence: what template and model show.
        preferred: the reasoning of the format that is chosen for calls; it comes before all others.
    """
    known = [preferred] if preferred is not None else []
    known += [spec.reasoning for spec in (get(name).spec for name in names()) if spec.reasoning is not None]
    for reasoning in known:
        if reasoning.to == "reasoning" and _is_told(reasoning.block[0], evidence):
            return ReasoningSpec(block=reasoning.block, repeat=reasoning.repeat)
    return None


def _is_told(block: Pattern, evidence: Evidence) -> bool:
    opener, closer = block.opener.strip(), block.closer.strip()
    if not (_is_marker(opener) and _is_marker(closer)):
        return False
    if evidence.tokens is not None and {opener, closer} <= evidence.tokens:
        return True
    named = [any(text in literal for literal in evidence.literals) for text in (opener, closer)]
    return all(named) or (named[1] and opener_of(closer) == opener)


# -- a named format in the frame of a template


def framed(named: FormatSpec, derived: FormatSpec, reasoning: ReasoningSpec | None) -> Iterator[FormatSpec]:
    """A named format with the frame of the derived one; with the derived reasoning first, where there is some.

    Args:
        named: the named format.
        derived: the derived one.
        reasoning: reasoning that no render shows, for a template that shows none.
    """
    if named.messages is not None:
        yield named
        return
    anchor, ends = _anchor(named, derived), _ends(named, derived)
    content = named.content
    if content is None and derived.content is not None and derived.content.when == "reasoning":
        content = derived.content
    spec = msgspec.structs.replace(named, anchor=anchor, end_of_turn=ends, content=content, markers=())
    choices: list[ReasoningSpec | None]
    if derived.reasoning is not None:
        choices = [_whole_reasoning(named, derived.reasoning)]
        choices += [named.reasoning] if named.reasoning is not None else []
    else:
        own = named.reasoning if reasoning is None else reasoning
        choices = [own and ReasoningSpec(block=own.block, repeat=own.repeat), *([None] if own is not None else [])]
    for one in choices:
        try:
            made = msgspec.structs.replace(spec, reasoning=one)
            made = msgspec.structs.replace(made, markers=used_markers(made, (*named.markers, *derived.markers)))
            ChatFormat(made).parser()
        except FormatError:
            continue
        yield made


def _whole_reasoning(named: FormatSpec, derived: ReasoningSpec) -> ReasoningSpec:
    """The derived reasoning, with the block of the named format if comparisons have cut its opener."""
    known, found = named.reasoning_blocks, derived.block[0].opener.strip()
    if not known or not found or known[0].opener.strip() == found or not known[0].opener.strip().endswith(found):
        return derived
    assert named.reasoning is not None
    return msgspec.structs.replace(named.reasoning, start=derived.start, switch=derived.switch)


def _anchor(named: FormatSpec, derived: FormatSpec) -> str | None:
    """The anchor of the derived format, without what a part of the named one opens with."""
    if not derived.anchor:
        return derived.anchor
    openers = [block.opener.strip() for block in (*named.reasoning_blocks, *named.wrappers)]
    openers += [section.opener.strip() for form in named.forms[:1] for section in form.section]
    size = max((begun_at_end(derived.anchor, opener) for opener in openers), default=0)
    return derived.anchor[: len(derived.anchor) - size] or None


def _ends(named: FormatSpec, derived: FormatSpec) -> tuple[str | tuple[str, ...], ...]:
    """The ends of the named format if the template writes one of them, with what it writes after that."""
    if not derived.written_end.strip():
        return named.end_of_turn
    known = {text for texts in named.turn_ends for text in texts if text.strip()}
    for at, texts in enumerate(derived.turn_ends):
        if known.intersection(texts):
            return (*named.end_of_turn, *(one for one in derived.end_of_turn[at + 1 :] if str(one).isspace()))
    if not isinstance(derived.end_of_turn[0], str):  # what the next message opens with: the template writes no end
        own = named.turn_ends[0] if named.turn_ends else ()
        return (tuple(dict.fromkeys((*own, *derived.end_of_turn[0]))), *named.end_of_turn[1:])
    return derived.end_of_turn
