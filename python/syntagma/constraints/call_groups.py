"""The calls of a turn as grammars: all ways to write them that the format shows, with the section around them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from syntagma.constraints.arguments import ArgumentsGrammar, arguments_grammar
from syntagma.constraints.arguments.values import is_spaced
from syntagma.constraints.budgets import BudgetLabels
from syntagma.constraints.call_writer import CallWriter, ToolPart
from syntagma.constraints.envelopes import alike
from syntagma.constraints.literals import literal, structure
from syntagma.constraints.schemas import allows_none, arguments_schema, tool_input
from syntagma.constraints.whitespace import SOME_WHITESPACE, WHITESPACE, joined
from syntagma.errors import FormatError
from syntagma.format_schema import (
    Envelope,
    FormatSpec,
    Pattern,
    Placeholder,
    ToolsSpec,
    leading,
    shown_headers,
    split_header,
    trailing,
)
from syntagma.format_schema.facts import call_beginnings, search_key, without_arguments
from syntagma.grammars import Grammar
from syntagma.limits import Limits
from syntagma.messages import Tool, ToolInput
from syntagma.request import ResolvedRequest

__all__ = ["CallGroup", "call_groups"]

_WORDS = tuple(map(Placeholder, ("name", "id", "index", "ordinal")))
_NUMBERED_CALLS = 16
"""the first so many calls of a turn have their running number enforced; each repeats the text around it"""


class CallGroup(NamedTuple):
    """Calls that begin alike, with all text around them but whitespace.

    Attributes:
        begins: the text by which the parser finds their beginning; empty: there is none, and a call begins where the
            answer does.
        beginnings: such texts, with each declared name if only a sign stands before it.
        calls: one or more calls.
        before: the whitespace that the format shows before them.
        after: the whitespace that it shows after them.
        may_be_followed: whether text may follow, since they end in a marker.
    """

    begins: str
    beginnings: tuple[str, ...]
    calls: Grammar
    before: str
    after: str
    may_be_followed: bool


def call_groups(
    spec: FormatSpec,
    request: ResolvedRequest,
    *,
    limits: Limits,
    labels: BudgetLabels,
    triggered: bool = False,
    begun: str = "",
) -> list[CallGroup]:
    """The groups of calls, first the one that the writer uses.

    They cover all patterns of the format whose grammar can be exact and whose texts are read back as written: of two
    patterns that begin alike and end differently, the parser looks for the end of the first.

    Args:
        spec: the format.
        request: the resolved request.
        limits: bounds on schemas.
        labels: labels the parts that a budget may bound.
        triggered: whether the text begins with a trigger.
        begun: the beginning of the calls in the prompt; only calls that continue it are kept.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the first form has no strict reading; `E-FORMAT-NAME`, a tool's name cannot
            be written in it.
        UnsupportedSchema: the parameters of a tool that must be enforced are refused; with their pointer.
    """
    assert spec.tools is not None
    builder = _Groups(spec, request, limits, labels, triggered=triggered, begun=begun)
    return builder.messages() if spec.messages is not None else builder.inline()


class _Way(NamedTuple):
    """One pattern of a form, and its calls.

    Attributes:
        pattern: the pattern without whitespace at its ends.
        before: the whitespace at its beginning.
        after: the whitespace at its end.
        writer: writes one call.
        first: writes the first call of the turn; None: it cannot be the first.
        tools: the parts that differ between the tools that may be called.
        call: one call, with any running number.
    """

    pattern: Pattern
    before: str
    after: str
    writer: CallWriter
    first: CallWriter | None
    tools: Sequence[ToolPart]
    call: Grammar


def _ends_in_word(way: _Way) -> bool:
    """Whether a call ends in a name, an id or a number, so that only the next text ends it."""
    return way.pattern.items[-1] in _WORDS


class _Groups:
    def __init__(
        self,
        spec: FormatSpec,
        request: ResolvedRequest,
        limits: Limits,
        labels: BudgetLabels,
        *,
        triggered: bool,
        begun: str,
    ) -> None:
        self._spec = spec
        self._request = request
        self._limits = limits
        self._labels = labels
        self._markers = spec.cuts
        self._triggered = triggered
        self._begun = begun
        self._single = not request.parallel_tool_calls or request.choice.mode == "named"
        self._parts: dict[tuple[object, ...], list[ToolPart]] = {}
        """the parts that differ between tools, by all that they depend on"""

    def messages(self) -> list[CallGroup]:
        """Calls that are messages, with the openers of messages between them."""
        spec = self._spec
        assert spec.tools is not None
        assert spec.messages is not None
        headers = [header for header in shown_headers(spec) if header.text.startswith(self._begun)]
        if not headers:
            return []
        begun = [Pattern(header.text.removeprefix(self._begun)) for header in headers]
        body = _stripped(split_header(spec.tools.call[0], spec.messages).body)[0]
        # Further patterns may show the same message with another end, such as the one after which the turn is over.
        whole, ends = spec.tools.call[0].text.rstrip(), spec.messages.end
        end = next((end for end in ends if whole.endswith(end)), "")
        known = {one.text.rstrip() for one in spec.tools.call}
        others = (other for other in ends if end and whole.removesuffix(end) + other in known)
        texts = dict.fromkeys((body.text, *(body.text.removesuffix(end) + other for other in others)))
        ways: list[_Way] = []
        for shown, envelopes in itertools.product(map(Pattern, texts), alike(spec.tools.envelope)):
            writer, first = (
                CallWriter(spec, spec.tools, shown, self._labels, envelopes=envelopes, headers=one)
                for one in (shown_headers(spec), begun)
            )
            tools = self._tools(0, spec.tools, writer)
            ways.append(_Way(shown, "", "", writer, first if self._begun else writer, tools, writer.call(tools)))
        between = literal(spec.messages.start[0]) if spec.messages.start else ()
        calls = self._several(spec.tools, ways, ways, Grammar.concat(*between))
        return [CallGroup("", (), calls, "", "", False)]

    def inline(self) -> list[CallGroup]:
        """Calls between other text."""
        assert self._spec.tools is not None
        groups: dict[tuple[str, bool], list[CallGroup]] = {}
        for number, form in enumerate(self._spec.tools.forms):
            ways = list(self._ways(number, form))
            sections: dict[str, Pattern] = {}
            for section in form.section if ways else ():
                sections.setdefault(" ".join(section.text.split()), section)
            for section in sections.values():
                for group in self._groups(form, section, ways):
                    groups.setdefault((group.begins, group.may_be_followed), []).append(group)
        return [same[0]._replace(calls=Grammar.union(*(one.calls for one in same))) for same in groups.values()]

    def _groups(self, form: ToolsSpec, shown: Pattern, ways: Sequence[_Way]) -> Iterator[CallGroup]:
        """The calls of a form in one section, grouped by their beginning."""
        section, before, after = _stripped(shown)
        opener, closer = section.opener.rstrip(), section.closer.lstrip()
        separator = joined((WHITESPACE, *structure(form.separator, self._markers), WHITESPACE))
        marked = all(self._is_marker(closer or way.pattern.closer) for way in ways)
        ends = [WHITESPACE, *structure(closer, self._markers)] if closer else []
        if opener:
            if not opener.startswith(self._begun):
                return
            begins = structure(opener.removeprefix(self._begun), self._markers)
            calls = self._several(form, [way._replace(first=way.writer) for way in ways], ways, separator)
            whole = joined((*begins, WHITESPACE, calls, *ends))
            if not (self._single or self._begun or any(way.writer.has_number for way in ways)):
                whole = Grammar.repeat(whole, min=1, separator=WHITESPACE)
            key = search_key(self._spec, opener)
            yield CallGroup(key, (key,), whole, before, after, marked)
            return
        firsts: dict[str, list[_Way]] = {}
        for way in ways:
            if way.first is not None:
                firsts.setdefault(search_key(self._spec, way.pattern.opener), []).append(way)
        for begins_with, same in firsts.items():
            calls = joined((self._several(form, same, ways, separator), *ends))
            names = None if self._request.tools is None else [tool.name for tool in self._request.tools]
            found = [one for way in same for one in call_beginnings(self._spec, way.pattern, names)]
            space = after if closer else same[0].after + after
            yield CallGroup(begins_with, tuple(dict.fromkeys(found)), calls, before + same[0].before, space, marked)

    def _ways(self, number: int, form: ToolsSpec) -> Iterator[_Way]:
        """The patterns of a form that a grammar can express, each once."""
        begins: dict[str, str] = {}
        seen: set[str] = set()
        bare = [] if not form.argument or is_spaced(form) else [without_arguments(one) for one in form.call]
        for shown in (*form.call, *bare):
            pattern, before, after = _stripped(shown)
            text = " ".join(pattern.text.split())
            head, _, closer = text.rpartition("}")
            if text in seen or begins.setdefault(head, closer) != closer:
                continue
            seen.add(text)
            for envelopes in alike(form.envelope if "envelope" in pattern.placeholders else ()):
                try:
                    writer = CallWriter(self._spec, form, pattern, self._labels, envelopes=envelopes)
                    tools = writer.callable(self._tools(number, form, writer))
                    call = writer.call(tools) if tools else None
                except FormatError:
                    if number == 0 and shown is form.call[0] and envelopes[:1] == form.envelope[:1]:
                        raise
                    continue
                if call is not None:
                    first = self._first(form, pattern, writer, envelopes)
                    yield _Way(pattern, before, after, writer, first, tools, call)

    def _first(
        self, form: ToolsSpec, pattern: Pattern, writer: CallWriter, envelopes: tuple[Envelope, ...]
    ) -> CallWriter | None:
        """The writer of a call that begins the turn; None: the pattern does not continue the text in the prompt."""
        if not pattern.text.startswith(self._begun):
            return None
        if not (self._begun or self._triggered):
            return writer
        rest = Pattern(pattern.text.removeprefix(self._begun))
        return CallWriter(self._spec, form, rest, self._labels, envelopes=envelopes, exact=self._triggered)

    def _several(self, form: ToolsSpec, first: Sequence[_Way], ways: Sequence[_Way], separator: Grammar) -> Grammar:
        """The first call, by one of these patterns, and further ones if more than one may come."""
        number = None
        if any(way.writer.has_number for way in ways):
            number = 0 if form.numbers == "turn" else self._request.history_calls
        further = Grammar.union(*(way.call for way in ways))
        if number is None and len(first) == len(ways) and all(way.first is way.writer for way in first):
            if self._single or form.separator.strip() or not any(map(_ends_in_word, ways)):
                return further if self._single else Grammar.repeat(further, min=1, separator=separator)
            # A word at the end of a call ends with the whitespace after it.
            each = (Grammar.concat(way.call, SOME_WHITESPACE if _ends_in_word(way) else separator) for way in ways)
            return Grammar.concat(Grammar.repeat(Grammar.union(*each)), further)
        if any(map(_ends_in_word, ways)) and not form.separator.strip():
            separator = SOME_WHITESPACE
        begins = Grammar.union(*(way.first.call(way.tools, number) for way in first if way.first is not None))
        if self._single:
            return begins
        later = Grammar.repeat(Grammar.concat(separator, further))
        last = -1 if number is None else number + _NUMBERED_CALLS - 1
        for one in range(last, number or 0, -1):
            numbered = Grammar.union(*(way.writer.call(way.tools, one) for way in ways))
            later = Grammar.optional(Grammar.concat(separator, numbered, later))
        return Grammar.concat(begins, later)

    def _is_marker(self, closer: str) -> bool:
        pieces = self._markers.pieces(closer.strip())
        return bool(pieces) and pieces[-1].is_marker

    def _tools(self, number: int, form: ToolsSpec, writer: CallWriter) -> list[ToolPart]:
        """The parts that differ between the tools in a form; forms whose arguments are an object share them."""
        in_object, once = not writer.bare_arguments, writer.names == 1
        written = (form.literals,) if in_object or not form.argument else (number, writer.ends)
        key = (*written, writer.encoded, once)
        if key not in self._parts:
            arguments = arguments_grammar(
                form, self._markers, self._limits, in_object=in_object, encoded=writer.encoded, ends=writer.ends
            )
            self._parts[key] = _tool_parts(self._request, arguments, once=once)
        return self._parts[key]


def _tool_parts(request: ResolvedRequest, arguments: ArgumentsGrammar, *, once: bool) -> list[ToolPart]:
    """The tools that may be called, each with its arguments; `once`: a call has the name in one place only."""
    if request.choice.tools is None:
        return [ToolPart(None, arguments.anything(None))]
    parts: list[ToolPart] = []
    unconstrained: list[Tool] = []
    for index, tool in request.choice.tools:
        is_held = request.choice.forced or request.enforce == "parameters" or tool.strict
        if is_held and tool.input is not None and tool.input.syntax != "text":
            text = tool_input(tool.input, f"/tools/{index}", request.limits)
            parts.append(ToolPart((tool.name,), arguments.of_text(ToolInput.KEY, text), may_be_bare=False))
        elif is_held:
            pointer = f"/tools/{index}/function/parameters"
            schema = arguments_schema(tool)
            by_schema = arguments.by_schema(schema, strict=tool.strict, pointer=pointer)
            parts.append(ToolPart((tool.name,), by_schema, may_be_bare=allows_none(schema)))
        else:
            unconstrained.append(tool)
    if unconstrained and not arguments.any_differs and once:
        # These tools differ only in their names, so they share one grammar.
        parts.append(ToolPart(tuple(tool.name for tool in unconstrained), arguments.anything(None)))
    else:
        parts += [ToolPart((tool.name,), arguments.anything(tool.parameters or {})) for tool in unconstrained]
    return parts


def _stripped(shown: Pattern) -> tuple[Pattern, str, str]:
    """A pattern without the whitespace at its ends, and that whitespace."""
    text = shown.text
    before, after = leading(text), trailing(text)
    return Pattern(text.strip()), before, after
