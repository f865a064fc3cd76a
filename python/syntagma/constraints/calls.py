"""Calls as grammars: one call per tool, and the section around them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from syntagma.constraints.arguments import arguments_grammar
from syntagma.constraints.arguments.values import ArgumentEnds, unsupported
from syntagma.constraints.budgets import BudgetLabels
from syntagma.constraints.literals import from_trigger, literal, text_without
from syntagma.constraints.schemas import arguments_schema
from syntagma.errors import FormatError
from syntagma.format_schema import (
    Envelope,
    EnvelopeNode,
    EnvelopePlaceholder,
    FormatSpec,
    Markers,
    Members,
    Pattern,
    Placeholder,
    ToolsSpec,
    is_open,
    shown_headers,
    split_header,
    value_ends,
)
from syntagma.format_schema import Literal as LiteralItem
from syntagma.format_schema.names import is_header_word, is_name, is_word
from syntagma.format_schema.xml_escapes import xml_escaped
from syntagma.grammars import Grammar
from syntagma.limits import Limits
from syntagma.messages import Tool
from syntagma.request import ResolvedRequest

__all__ = ["calls_grammar", "ends_in_marker"]

_ANY_NAME = r"[A-Za-z0-9_.\-]+"
_ANY_ID = r"[A-Za-z0-9_\-]+"
_NUMBER = r"0|[1-9][0-9]*"
_NUMBERED_CALLS = 16
"""calls of a turn, from the first on, whose number is held; each costs a grammar what stands around the number"""


def calls_grammar(
    spec: FormatSpec, request: ResolvedRequest, *, limits: Limits, labels: BudgetLabels, triggered: bool = False
) -> Grammar:
    """One or more calls with everything around them, as the first form of the format writes them.

    Where calls are messages with headers, every header may be written that the format shows whole, in front of the body
    of the first; what opens a message stands between them. With `triggered` the text begins with a trigger: whitespace
    before it is not part of it.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the form has no strict reading yet; `E-FORMAT-NAME`, a tool's name cannot
            be written in it.
        UnsupportedSchema: the parameters of a tool whose calls must keep to them are refused; the pointer says where.
    """
    tools, messages = spec.tools, spec.messages
    assert tools is not None
    section, pattern = tools.section[0].written, tools.call[0].written
    writer = begins = _CallWriter(spec, tools, pattern, labels)
    if triggered:
        section = Pattern(from_trigger(spec, section.text))
        begun = Pattern(from_trigger(spec, pattern.text))
        if begun != pattern and not section.opener:
            begins = _CallWriter(spec, tools, begun, labels)
    choices = _choices(writer, request, tools, limits)
    number = (0 if tools.numbers == "turn" else request.history_calls) if writer.has_number else None
    calls = begins.call(choices, number)
    if request.parallel_tool_calls and request.choice.mode != "named":
        separator = literal(tools.separator if messages is None else "".join(messages.start[:1]))
        further = writer.call(choices)
        if begins is writer and number is None:
            calls = Grammar.repeat(further, min=1, separator=Grammar.concat(*separator) if separator else None)
        else:
            later = Grammar.repeat(Grammar.concat(*separator, further))
            last = -1 if number is None else number + _NUMBERED_CALLS - 1
            for one in range(last, number or 0, -1):
                later = Grammar.optional(Grammar.concat(*separator, writer.call(choices, one), later))
            calls = Grammar.concat(calls, later)
    parts: list[Grammar] = []
    for item in section.items:
        match item:
            case LiteralItem(text):
                parts += literal(text)
            case Placeholder():
                parts.append(calls)
    return Grammar.concat(*parts)


def ends_in_marker(spec: FormatSpec, tools: ToolsSpec) -> bool:
    """Whether the last thing of a section is a marker, so that text after it cannot be taken for a part of it."""
    closer = tools.section[0].closer.strip() or tools.call[0].closer.strip()
    return bool(closer) and Markers(spec.markers).pieces(closer)[-1].is_marker


def _choices(writer: _CallWriter, request: ResolvedRequest, tools: ToolsSpec, limits: Limits) -> list[_Part]:
    """What differs between the calls that may be written."""
    choice = request.choice
    in_object = not writer.bare_arguments
    arguments = arguments_grammar(tools, limits, in_object=in_object, encoded=writer.encoded, ends=writer.ends)
    if choice.tools is None:
        return [_Part(None, arguments.anything(None))]
    parts: list[_Part] = []
    unconstrained: list[Tool] = []
    for index, tool in choice.tools:
        if choice.forced or request.enforce == "parameters" or tool.strict:
            pointer = f"/tools/{index}/function/parameters"
            by_schema = arguments.by_schema(arguments_schema(tool), strict=tool.strict, pointer=pointer)
            parts.append(_Part((tool.name,), by_schema))
        else:
            unconstrained.append(tool)
    if unconstrained and not arguments.any_differs and writer.names == 1:
        # Only the names of these tools differ: they share one grammar.
        parts.append(_Part(tuple(tool.name for tool in unconstrained), arguments.anything(None)))
    else:
        parts += [_Part((tool.name,), arguments.anything(tool.parameters or {})) for tool in unconstrained]
    return parts


class _Part(NamedTuple):
    """What differs between tools: the names that a call may have (None: any), and the arguments that follow."""

    names: tuple[str, ...] | None
    arguments: Grammar


class _Item(NamedTuple):
    """A literal or a placeholder of a call; what stands in an envelope is JSON text, without markers."""

    text: str = ""
    placeholder: str = ""
    in_json: bool = False


class _CallWriter:
    """Fills the placeholders of a call pattern."""

    def __init__(self, spec: FormatSpec, tools: ToolsSpec, shown: Pattern, labels: BudgetLabels) -> None:
        self._tools = tools
        self._labels = labels
        self._number: int | None = None
        self._headers = shown_headers(spec)
        self._pattern = shown if spec.messages is None else split_header(shown, spec.messages).body
        self._envelope: Envelope | None = tools.envelope[0] if "envelope" in self._pattern.placeholders else None
        inner = self._envelope.pattern.placeholders if self._envelope else ()
        placeholders = (*(self._headers[0].placeholders if self._headers else ()), *self._pattern.placeholders, *inner)
        shape = tools.id[0].placeholders if tools.id and "id" in placeholders else ()
        self._differing = ("header", "name", "arguments", *(("id",) if "name" in shape else ()))
        self.names = (*placeholders, *shape).count("name")
        """how often the name stands in a call"""
        self.has_number = not {"index", "ordinal"}.isdisjoint((*placeholders, *shape))
        """whether the call says its running number"""
        if placeholders.count("id") > 1:
            raise unsupported("an id that is written twice", "/tools/call", "one {id} in a call and what stands in it")
        self._id_ends = "".join(self._pattern.around("id")[1].split()[:1]) if "id" in self._pattern.placeholders else ""
        """what ends an id that nothing encloses"""
        if not self.names:
            hint = "{name} in the first pattern of `call`, or in what stands in it"
            raise unsupported("a call that does not say its tool's name", "/tools/call", hint)
        self.encoded = self._envelope is not None and any(
            placeholder.name == "arguments" and placeholder.quoted for placeholder in _placeholders(self._envelope.root)
        )
        """whether the arguments are an object that is spelled as a string"""
        self.bare_arguments = "arguments" in self._pattern.placeholders
        """whether the arguments stand in the call itself, and not in an object"""
        self.ends = self._argument_ends(spec)

    def _argument_ends(self, spec: FormatSpec) -> ArgumentEnds:
        """What ends the arguments, where they are written one by one, and their values."""
        if not self.bare_arguments or not self._tools.argument:
            return ArgumentEnds((), "")
        markers = Markers(spec.markers)
        gap = self._pattern.around("arguments")[1]
        closer = next((piece.text.split()[0] for piece in markers.pieces(gap.strip())), "")
        found = value_ends(self._tools, gap[: len(gap) - len(gap.lstrip())], closer, markers)
        if is_open(self._tools) and spec.messages is not None and closer in spec.messages.end:
            found += spec.messages.end
        return ArgumentEnds(found, closer)

    def call(self, parts: Sequence[_Part], number: int | None = None) -> Grammar:
        """A call of any of `parts`. What does not depend on the tool is written once, around all of them.

        Args:
            parts: what differs.
            number: how many calls came before; None: any number may be written.
        """
        self._number = number
        items = list(self._items())
        differs = [i for i, item in enumerate(items) if item.placeholder in self._differing]
        first, after = differs[0], differs[-1] + 1
        return Grammar.concat(
            *self._sequence(items[:first], parts[0]),
            Grammar.union(*(Grammar.concat(*self._sequence(items[first:after], part)) for part in parts)),
            *self._sequence(items[after:], parts[0]),
        )

    def _items(self) -> Iterator[_Item]:
        """The items of the call, those of the envelope in its place."""
        if self._headers:
            yield _Item(placeholder="header")
        for item in self._pattern.items:
            if isinstance(item, LiteralItem):
                yield _Item(text=item.text)
            elif item.name == "envelope" and self._envelope is not None:
                for inner in self._envelope.pattern.items:
                    if isinstance(inner, LiteralItem):
                        yield _Item(text=inner.text, in_json=True)
                    else:
                        yield _Item(placeholder=inner.name, in_json=True)
            else:
                yield _Item(placeholder=item.name)

    def _sequence(self, items: Sequence[_Item], part: _Part) -> list[Grammar]:
        found: list[Grammar] = []
        for item in items:
            if item.placeholder:
                found += self._placeholder(item.placeholder, part.names, part.arguments, quoted=item.in_json)
            else:
                found += [Grammar.literal(item.text)] if item.in_json else literal(item.text)
        return found

    def _placeholder(
        self, placeholder: str, names: Sequence[str] | None, arguments: Grammar, *, quoted: bool
    ) -> list[Grammar]:
        match placeholder:
            case "arguments":
                return [self._labels.arguments(arguments)]
            case "name":
                return [self._in_json(names) if quoted else self._bare(names, self._pattern)]
            case "header":
                return [Grammar.union(*(Grammar.concat(*self._header(shown, names)) for shown in self._headers))]
            case "id":
                return [self._id(names)]
            case "index" | "ordinal":
                return [self._running(placeholder)]
            case _:
                raise unsupported(f"{{{placeholder}}} in a call", "/tools/call")

    def _id(self, names: Sequence[str] | None) -> Grammar:
        if not self._tools.id:
            if not is_word(self._id_ends[:1]):
                return Grammar.from_regex(_ANY_ID)
            return Grammar.from_ebnf(f"start ::= {text_without([self._id_ends])} & #'{_ANY_ID}' ;")
        shape = self._tools.id[0]
        parts: list[Grammar] = []
        for item in shape.items:
            match item:
                case LiteralItem(text):
                    parts.append(Grammar.literal(text))
                case Placeholder("name"):
                    parts.append(self._spelled(names, is_word))
                case Placeholder(counter):
                    parts.append(self._running(counter))
        return Grammar.concat(*parts)

    def _running(self, counter: str) -> Grammar:
        """The number of the call: from 0, or as an ordinal from 1."""
        if self._number is None:
            return Grammar.from_regex(_NUMBER)
        return Grammar.literal(str(self._number + (counter == "ordinal")))

    def _header(self, shown: Pattern, names: Sequence[str] | None) -> list[Grammar]:
        """The header of a message; in a word with `key=`, more signs are read than in one without."""
        parts: list[Grammar] = []
        word = ""
        for item in shown.items:
            if isinstance(item, LiteralItem):
                parts += literal(item.text)
                word = "" if item.text[-1:].isspace() else item.text.split()[-1]
            else:
                parts.append(self._spelled(names, is_name if "=" in word else is_header_word))
        return parts

    def _in_json(self, names: Sequence[str] | None) -> Grammar:
        """A name inside of a JSON string."""
        if names is None:
            return Grammar.from_regex(_ANY_NAME)
        return Grammar.from_choices([json.dumps(name, ensure_ascii=False)[1:-1] for name in names])

    def _bare(self, names: Sequence[str] | None, shown: Pattern) -> Grammar:
        """A name that nothing encloses, as this pattern shows it."""
        follower = next(iter(shown.around("name")[1].split()), "")
        return self._spelled(names, lambda name: is_name(name) and not (follower and follower in name))

    def _spelled(self, names: Sequence[str] | None, can_be_read: Callable[[str], bool]) -> Grammar:
        """One of the names.

        Raises:
            FormatError: `E-FORMAT-NAME`, one could not be read back.
        """
        if names is None:
            return Grammar.from_regex(_ANY_NAME)
        escapes = "attributes" in self._tools.escape
        spelled = {xml_escaped(name, attribute=True) if escapes else name: name for name in names}
        for text, name in spelled.items():
            if not can_be_read(text):
                raise FormatError(
                    "E-FORMAT-NAME",
                    f"the tool's name {name!r} cannot be read back from this format",
                    hint="a bare name holds no whitespace, quotes, brackets, commas or equals signs, "
                    "and not the text that comes after it",
                )
        return Grammar.from_choices(list(spelled))


def _placeholders(node: EnvelopeNode) -> list[EnvelopePlaceholder]:
    found: list[EnvelopePlaceholder] = []
    pending: list[EnvelopeNode] = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, EnvelopePlaceholder):
            found.append(current)
        elif isinstance(current, Members):
            pending += [value for _, value in current.items]
    return found
