"""One call as a grammar: a pattern with its placeholders filled for each tool."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeGuard

from syntagma.constraints.arguments.values import ArgumentEnds, is_spaced, unsupported
from syntagma.constraints.budgets import BudgetLabels
from syntagma.constraints.envelopes import Part, Slot, envelope_parts, is_encoded
from syntagma.constraints.headers import HeaderWriter
from syntagma.constraints.literals import literal, structure, text_without
from syntagma.constraints.whitespace import SOME_WHITESPACE, WHITESPACE, joined
from syntagma.errors import FormatError
from syntagma.format_schema import (
    Envelope,
    FormatSpec,
    Item,
    Pattern,
    Placeholder,
    ToolsSpec,
    argument_line,
    begins_exactly,
    is_open,
    leading,
    value_ends,
)
from syntagma.format_schema import Literal as LiteralItem
from syntagma.format_schema.names import NAME_SIGNS, is_header_word, is_name, is_word
from syntagma.format_schema.xml_escapes import xml_escaped
from syntagma.grammars import Grammar

__all__ = ["CallWriter", "ToolPart"]

_ANY_NAME = r"[A-Za-z0-9_.\-]+"
_ANY_ID = r"[A-Za-z0-9_\-]+"
_NUMBER = r"0|[1-9][0-9]*"
_MOST_ORDERS = 256
"""the most orders of members in the envelopes of all tools; above it, an envelope is only written as it is shown"""
_MOST_AT_ONCE = 32
"""the most tools whose arguments may come before the name; those of all are then matched at once"""


class ToolPart(NamedTuple):
    """The parts of a call that differ between tools.

    Attributes:
        names: the names that a call may have; None: any.
        arguments: the grammar of their arguments.
        may_be_bare: whether the call may have no arguments at all.
    """

    names: tuple[str, ...] | None
    arguments: Grammar
    may_be_bare: bool = True


class CallWriter:
    """Fills the placeholders of one pattern of calls.

    Args:
        spec: the format.
        tools: the form of calls that the pattern belongs to.
        shown: the pattern, without its header if calls are messages, and without whitespace at its ends.
        headers: the headers that such a message may have, up to its body.
        labels: labels the parts that a budget may bound.
        envelopes: the alternatives for its `{envelope}`; in all of them the arguments are an object, or in all a
            string.
        exact: whether an envelope that begins the call must begin as it is shown.

    Attributes:
        names: the number of times that the name stands in a call.
        has_number: whether the call contains its running number.
        encoded: whether the arguments are an object that is encoded as a string.
        bare_arguments: whether the arguments stand in the call itself, not in an envelope.
        ends: the texts that end separate arguments and their values.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the call does not contain its tool's name.
    """

    def __init__(
        self,
        spec: FormatSpec,
        tools: ToolsSpec,
        shown: Pattern,
        labels: BudgetLabels,
        *,
        envelopes: tuple[Envelope, ...] = (),
        headers: Sequence[Pattern] = (),
        exact: bool = False,
    ) -> None:
        self._tools = tools
        self._labels = labels
        self._markers = spec.cuts
        self._messages = spec.messages
        self._headers = headers
        self._pattern = shown
        self._exact = exact
        self._number: int | None = None
        self._envelopes = envelopes if "envelope" in shown.placeholders else ()
        inner = self._envelopes[0].pattern.placeholders if self._envelopes else ()
        placeholders = (*(headers[0].placeholders if headers else ()), *shown.placeholders, *inner)
        self._ids = _usable_ids(tools, named="name" in placeholders) if "id" in placeholders else ()
        shape = self._ids[0].placeholders if self._ids else ()
        self._differing = ("header", "name", "arguments", *(("id",) if "name" in shape else ()))
        self.names = (*placeholders, *shape).count("name")
        self.has_number = not {"index", "ordinal"}.isdisjoint((*placeholders, *shape))
        if placeholders.count("id") > 1:
            raise unsupported("an id that is written twice", "/tools/call", "one {id} in a call and what stands in it")
        self._id_ends = "".join(shown.around("id")[1].split()[:1]) if "id" in shown.placeholders else ""
        """the text that ends an id without quotes"""
        if not self.names:
            hint = "{name} in the first pattern of `call`, or in what stands in it"
            raise unsupported("a call that does not say its tool's name", "/tools/call", hint)
        self.encoded = bool(self._envelopes) and is_encoded(self._envelopes[0])
        self.bare_arguments = "arguments" in shown.placeholders
        self.ends = self._argument_ends(spec)
        self._is_spaced = not self.bare_arguments or is_spaced(tools)

    def _argument_ends(self, spec: FormatSpec) -> ArgumentEnds:
        if not self.bare_arguments or not self._tools.argument:
            return ArgumentEnds((), "")
        gap = self._pattern.around("arguments")[1]
        closer = next((piece.text.split()[0] for piece in self._markers.pieces(gap.strip())), "")
        found = value_ends(self._tools, leading(gap), closer, self._markers)
        if is_open(self._tools) and spec.messages is not None and closer in spec.messages.end:
            found += spec.messages.end
        line = argument_line(self._tools, closer, self._markers)
        return ArgumentEnds((*found, line) if line else found, closer)

    def callable(self, tools: Sequence[ToolPart]) -> Sequence[ToolPart]:
        """The tools that can be called with this pattern: if it shows no arguments, those that need none."""
        if self.bare_arguments or self._envelopes:
            return tools
        return [tool for tool in tools if tool.may_be_bare]

    def call(self, tools: Sequence[ToolPart], number: int | None = None) -> Grammar:
        """A call of any of `tools`. The parts that do not depend on the tool are written once, around all of them.

        Args:
            tools: the parts that differ; at least one.
            number: the number of calls before it; None: any running number may be written.
        """
        self._number = number
        ways = []
        for parts in self._ways(len(tools)):
            differs = [at for at, part in enumerate(parts) if self._differs(part)]
            first, after = differs[0], differs[-1] + 1
            inner = [
                part
                for differ, run in itertools.groupby(parts[first:after], self._differs)
                for part in (run if differ else (joined(self._filled(run, tools[0])),))
            ]
            of_each = Grammar.union(*(joined(self._filled(inner, tool)) for tool in tools))
            before, rest = (self._filled(part, tools[0]) for part in (parts[:first], parts[after:]))
            ways.append(joined((*before, of_each, *rest)))
        return Grammar.union(*ways)

    def _differs(self, part: Part) -> bool:
        return isinstance(part, Slot) and part.placeholder in self._differing

    def _ways(self, tools: int) -> Iterator[list[Part]]:
        """The parts of the call, for each way to write its envelope; for very many tools, only as it is shown."""
        exact = self._exact and self._pattern.placeholders[:1] == ("envelope",) and not self._pattern.opener
        for few_tools in (tools <= _MOST_AT_ONCE, False):
            each = [envelope_parts(envelope, few_tools=few_tools) for envelope in self._envelopes]
            too_many = sum(map(len, each)) * tools > _MOST_ORDERS
            if not too_many:
                break
        if exact or self.has_number or too_many:
            each = [ways[:1] for ways in each]
        ways = [
            _begun_as_shown(envelope, way) if exact else way
            for envelope, ways in zip(self._envelopes, each, strict=True)
            for way in ways
        ]
        for envelope in ways or [[]]:
            parts: list[Part] = [Slot("header"), *([WHITESPACE] if self._is_spaced else [])] if self._headers else []
            items = self._pattern.items
            for at, item in enumerate(items):
                if isinstance(item, LiteralItem) and (not self._is_spaced or (at == 0 and begins_exactly(item.text))):
                    parts += literal(item.text)
                elif isinstance(item, LiteralItem):
                    apart = item.text.isspace() and 0 < at < len(items) - 1 and not _holds_arguments(items[at + 1])
                    parts += [SOME_WHITESPACE] if apart else structure(item.text, self._markers)
                elif _holds_arguments(item):
                    inner = [Slot("arguments")] if item.name == "arguments" else envelope
                    before, after = at > 0 and self._is_spaced, at < len(items) - 1 and self._is_spaced
                    parts += [*([WHITESPACE] if before else []), *inner, *([WHITESPACE] if after else [])]
                else:
                    parts.append(Slot(item.name))
            yield parts

    def _filled(self, parts: Iterable[Part], tool: ToolPart) -> list[Grammar]:
        return [self._placeholder(part, tool) if isinstance(part, Slot) else part for part in parts]

    def _placeholder(self, slot: Slot, tool: ToolPart) -> Grammar:
        match slot.placeholder:
            case "arguments":
                return self._labels.arguments(tool.arguments)
            case "name":
                return self._in_json(tool.names) if slot.in_json else self._bare(tool.names)
            case "header":
                return self._header(tool.names)
            case "id":
                return self._id(tool.names)
            case "index" | "ordinal":
                return self._running(slot.placeholder)
            case other:
                raise unsupported(f"{{{other}}} in a call", "/tools/call")

    def _id(self, names: Sequence[str] | None) -> Grammar:
        if not self._ids:
            if not is_word(self._id_ends[:1]):
                return Grammar.from_regex(_ANY_ID)
            return Grammar.from_ebnf(f"start ::= {text_without([self._id_ends])} & #'{_ANY_ID}' ;")
        shapes = []
        for shape in self._ids:
            parts: list[Grammar] = []
            for item in shape.items:
                match item:
                    case LiteralItem(text):
                        parts.append(Grammar.literal(text))
                    case Placeholder("name"):
                        parts.append(self._spelled(names, self._stands_in_id))
                    case Placeholder(counter):
                        parts.append(self._running(counter))
            shapes.append(Grammar.concat(*parts))
        return Grammar.union(*shapes)

    def _stands_in_id(self, name: str) -> bool:
        """Whether a name can be read back from an id."""
        return is_word(name) and not (self._id_ends and self._id_ends in name)

    def _running(self, counter: str) -> Grammar:
        """The running number of a call: from 0, or as an ordinal from 1."""
        if self._number is None:
            return Grammar.from_regex(_NUMBER)
        return Grammar.literal(str(self._number + (counter == "ordinal")))

    def _header(self, names: Sequence[str] | None) -> Grammar:
        """The header of a message. In a word with `key=` a name may have more characters than in one without."""
        found = []
        for opener, inner, closers, in_key in self._header_parts:
            between: list[Grammar] = []
            for item in inner:
                if isinstance(item, LiteralItem):
                    between += self._header_writer.rest(item.text)
                elif item.name == "id":
                    between.append(self._id(names))
                else:
                    between.append(self._spelled(names, is_name if in_key else is_header_word))
            found.append(Grammar.concat(opener, *between, closers))
        return Grammar.union(*found)

    @functools.cached_property
    def _header_writer(self) -> HeaderWriter:
        assert self._messages is not None
        return HeaderWriter(self._messages, self._markers)

    @functools.cached_property
    def _header_parts(self) -> list[tuple[Grammar, tuple[Item, ...], Grammar, bool]]:
        """The parts of a header before, at and after the name, and whether the name is in a word with `key=`.

        Headers that begin alike are joined. The part before the name is written as shown: it identifies a call.
        """
        writer = self._header_writer
        closers: dict[tuple[str, tuple[Item, ...]], list[str]] = {}
        for shown in self._headers:
            at = [n for n, item in enumerate(shown.items) if isinstance(item, Placeholder)]
            inner = shown.items[at[0] : at[-1] + 1] if at else ()
            closers.setdefault((shown.opener, inner), []).append(shown.closer)
        return [
            (
                Grammar.concat(*literal(opener)),
                inner,
                Grammar.union(*(Grammar.concat(*writer.rest(text)) for text in after)),
                not opener[-1:].isspace() and "=" in "".join(opener.split()[-1:]),
            )
            for (opener, inner), after in closers.items()
        ]

    def _in_json(self, names: Sequence[str] | None) -> Grammar:
        """A name inside a JSON string."""
        if names is None:
            return Grammar.from_regex(_ANY_NAME)
        return Grammar.from_choices([json.dumps(name, ensure_ascii=False)[1:-1] for name in names])

    def _bare(self, names: Sequence[str] | None) -> Grammar:
        """A name without quotes."""
        follows = self._pattern.around("name")[1]
        if not follows and self._tools.argument and self._tools.values == "literal":
            opener = self._tools.argument[0].opener
            follows = "" if opener.strip()[:1] in NAME_SIGNS else opener
        follower = next(iter(follows.split()), "")
        return self._spelled(names, lambda name: is_name(name) and not (follower and follower in name))

    def _spelled(self, names: Sequence[str] | None, can_be_read: Callable[[str], bool]) -> Grammar:
        """One of the names.

        Raises:
            FormatError: `E-FORMAT-NAME`, a name could not be read back.
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


def _usable_ids(tools: ToolsSpec, *, named: bool) -> tuple[Pattern, ...]:
    """The patterns of ids that may be written: if nothing else holds the tool's name, those that do."""
    return tuple(shape for shape in tools.id if named or "name" in shape.placeholders) or tools.id


def _holds_arguments(item: Item) -> TypeGuard[Placeholder]:
    return isinstance(item, Placeholder) and item.name in ("arguments", "envelope")


def _begun_as_shown(envelope: Envelope, parts: list[Part]) -> list[Part]:
    """The parts of an envelope, written exactly as shown up to its first placeholder."""
    first = next(at for at, part in enumerate(parts) if isinstance(part, Slot))
    return [Grammar.literal(envelope.pattern.opener), *parts[first:]]
