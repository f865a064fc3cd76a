"""Patterns compiled for reading: literals cut into markers, whitespace made optional, every way to begin a call."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Literal as OneOf
from typing import TypeAlias

import msgspec

from syntagma.errors import FormatError
from syntagma.format_schema import Envelope, FormatSpec, Notation, Pattern, Placeholder, ToolsSpec, pieces
from syntagma.parsing.call_steps import CallSteps, Step, characters_of
from syntagma.parsing.text.scanner import MarkerSet

__all__ = [
    "Block",
    "CallPattern",
    "Form",
    "Nesting",
    "Op",
    "Section",
    "block_of",
    "form_parts",
    "forms_of",
    "marker_pieces",
    "starts_of",
]

_WORD = re.compile(r"\s+|\S+?(?=\s|\Z|(?<=[\]})])```)")
OpKind: TypeAlias = OneOf["literal", "whitespace", "placeholder"]


class Op(msgspec.Struct, frozen=True, dict=True):
    """A step of a pattern: a literal without whitespace, whitespace (any run or none), or a placeholder."""

    kind: OpKind
    text: str = ""
    marker: bool = False
    """a whole `<…>` or `[…]`: where tokens are known, only the token matches"""

    @cached_property
    def pieces(self) -> tuple[tuple[int, str], ...]:
        """The markers in it, each with its index."""
        return marker_pieces(self.text) if self.marker else ()


class Block(msgspec.Struct, frozen=True, dict=True):
    """Free text between two markers. Exactly the whitespace shown beside it is taken off, if it is there."""

    opener: str
    closer: str
    before: str
    """whitespace before the opener"""
    after_opener: str
    before_closer: str
    after: str
    """whitespace after the closer"""

    @cached_property
    def pieces(self) -> tuple[tuple[int, str], ...]:
        """The markers in the closer, each with its index."""
        return marker_pieces(self.closer)


class Section(msgspec.Struct, frozen=True):
    """What surrounds a group of calls."""

    opener: tuple[Op, ...]
    closer: tuple[Op, ...]
    before: str
    after: str


class Nesting(msgspec.Struct, frozen=True):
    """How elements are written that are named after their keys and may hold further ones."""

    open: str
    open_end: str
    close: str
    close_end: str
    item: str | None
    """the name of an array's elements"""
    after_opener: str
    before_closer: str
    """whitespace beside a value: exactly this run is taken off, if it is there"""


class Form(msgspec.Struct, frozen=True, dict=True):
    """One way to write calls: what the readers need to know of a `ToolsSpec`."""

    separator: str
    envelope: tuple[Envelope, ...]
    id: tuple[Pattern, ...]
    argument: CallPattern | None
    """the header of one argument, up to its value"""
    argument_separator: str
    value: Block | None
    """the markers around a value"""
    values: str
    types: dict[str, OneOf["string", "json"]]
    notation: Notation
    escape: frozenset[OneOf["attributes", "values"]]
    nesting: Nesting | None
    """arguments are elements named after their keys"""
    sectionless: bool
    """calls may stand without the opener of a section, even those that begin with no literal"""

    @cached_property
    def value_closers(self) -> MarkerSet:
        """What a raw value ends at: the closer of a value, with and without the whitespace before it."""
        value = self.value
        return MarkerSet(() if value is None else (value.closer, value.before_closer + value.closer))

    @cached_property
    def late_id(self) -> bool:
        """An id may come after the arguments."""
        return any("id" in one.pattern.placeholders for one in self.envelope)


class CallPattern(msgspec.Struct, frozen=True, dict=True):
    """One way in which a call can begin, alone or after the opener of its section."""

    ops: tuple[Op, ...]
    """up to and with the placeholder that holds the arguments, or all of the call if it has none"""
    closer: tuple[Op, ...]
    """literals after the arguments"""
    form: Form
    section: Section | None
    before: str
    after: str
    bare_call: bool
    """the call itself begins with an object or a name, whatever opens its section"""
    ends: tuple[Op, ...] = ()
    """what ends arguments one by one as the first of `closer` does"""

    @cached_property
    def decisive(self) -> tuple[Op, ...]:
        """The literals after the arguments that tell their end from the beginning of an argument."""
        opener = self.form.argument.ops if self.form.argument is not None else ()
        begins = "".join(op.text for op in itertools.takewhile(lambda op: op.kind != "placeholder", opener))
        read = ""
        for n, op in enumerate(self.closer):
            read += op.text
            if not begins.startswith(read):
                return self.closer[: n + 1]
        return self.closer

    @cached_property
    def first(self) -> str:
        """The literal that it begins with; `{` of a bare object; empty if it begins with a name."""
        op = self.ops[0]
        if op.kind == "literal":
            return op.text
        return "{" if op.text in ("envelope", "arguments") else ""

    @cached_property
    def bare(self) -> bool:
        """It begins with an object, no literal before it."""
        return self.ops[0].kind == "placeholder"

    @cached_property
    def framed(self) -> bool:
        """A marker stands before the commit point, so that text that gets so far was meant as a call."""
        return any(op.marker for op in self.ops)

    @cached_property
    def intended(self) -> bool:
        """A literal stands before the call, so that an object after it was meant as one."""
        return self.ops[0].kind == "literal"

    @cached_property
    def steps(self) -> CallSteps:
        """The same, as its readers take it."""
        return CallSteps(tuple(self._step(at) for at in range(len(self.ops))))

    def _step(self, at: int) -> Step:
        op = self.ops[at]
        if op.kind == "whitespace":
            return Step("whitespace")
        if op.kind == "literal":
            return Step("literal", op.text, is_marker=op.marker)
        if op.text == "envelope":
            return Step("envelope", first_chars=frozenset("{"))
        if op.text == "value":
            return Step("value")
        if op.text == "arguments":
            ends = (*self.decisive[:1], *self.ends)
            is_open = self.form.values == "literal" and bool(self.closer)
            return Step("arguments", first_chars=None if is_open else frozenset(("{", *(one.text[0] for one in ends))))
        before = self.ops[max(0, at - 2) : at]
        return Step(
            "capture",
            op.text,
            characters=characters_of(op.text),
            end=self._end_of_capture(at),
            is_element=any(one.kind == "literal" and one.text.endswith("<") for one in before),
            is_repeated=op.text == "name" and any(one == op for one in self.ops[:at]),
        )

    def _end_of_capture(self, at: int) -> str:
        """The literal that may stand after the capture at this step: the next, or what arguments end with."""
        for op in self.ops[at + 1 :]:
            if op.kind == "literal":
                return op.text
            if op.kind == "placeholder" and op.text not in ("arguments", "envelope"):
                return ""
        return self.closer[0].text if self.closer else ""

    @cached_property
    def weight(self) -> int:
        """Literal characters, which decide a tie."""
        return sum(len(op.text) for op in self.ops if op.kind == "literal")


FormParts: TypeAlias = tuple[Form, tuple[Section, ...], tuple[CallPattern, ...]]


def block_of(pattern: Pattern, placeholder: str) -> Block:
    """The block that a pattern with one free-text placeholder describes."""
    opener, closer = pattern.around(placeholder)
    core, end = opener.strip(), closer.strip()
    return Block(
        opener=core,
        closer=end,
        before=opener[: len(opener) - len(opener.lstrip())] if core else "",
        after_opener=opener[len(opener.rstrip()) :] if core else "",
        before_closer=closer[: len(closer) - len(closer.lstrip())] if end else "",
        after=closer[len(closer.rstrip()) :] if end else "",
    )


def marker_pieces(text: str) -> tuple[tuple[int, str], ...]:
    """The markers inside a literal, each with its index."""
    found = []
    at = 0
    for piece in pieces(text):
        if piece.is_marker:
            found.append((at, piece.text))
        at += len(piece.text)
    return tuple(found)


def _ops(text: str) -> Iterator[Op]:
    """A literal's steps.

    Whitespace may stand where none is shown: after a marker, between `>` and `<`, between a bracket and a code fence.
    """
    steps: list[Op] = []
    for piece in pieces(text):
        last = steps[-1] if steps else Op("whitespace")
        if piece.is_marker:
            if last.text.endswith(">"):
                steps.append(Op("whitespace"))
            steps.append(Op("literal", piece.text, marker=True))
            continue
        for word in _WORD.findall(piece.text):
            if word.isspace():
                steps.append(Op("whitespace"))
                continue
            if steps and steps[-1].kind == "literal":
                steps.append(Op("whitespace"))
            steps.append(Op("literal", word))
    yield from steps


def compile_ops(pattern: Pattern) -> tuple[Op, ...]:
    """All steps of a pattern, optional whitespace between literals and placeholders."""
    ops: list[Op] = []
    for item in pattern.items:
        steps = [Op("placeholder", item.name)] if isinstance(item, Placeholder) else list(_ops(item.text))
        for step in steps:
            kinds = {step.kind, ops[-1].kind} if ops else set()
            if "placeholder" in kinds and "whitespace" not in kinds and "suffix" not in (step.text, ops[-1].text):
                ops.append(Op("whitespace"))
            ops.append(step)
    while ops and ops[0].kind == "whitespace":
        ops.pop(0)
    while ops and ops[-1].kind == "whitespace":
        ops.pop()
    return tuple(ops)


def _edges(pattern: Pattern) -> tuple[str, str]:
    before, after = pattern.opener, pattern.closer
    if not isinstance(pattern.items[-1], Placeholder) and len(pattern.items) == 1:
        after = pattern.items[0].text if not isinstance(pattern.items[0], Placeholder) else ""
    return before[: len(before) - len(before.lstrip())], after[len(after.rstrip()) :]


def _section(pattern: Pattern) -> Section:
    ops = compile_ops(pattern)
    at = next(i for i, op in enumerate(ops) if op.text == "calls" and op.kind == "placeholder")
    before, after = _edges(pattern)
    if any(op.kind == "placeholder" for op in ops[at + 1 :]):
        raise _unsupported("captures after the calls of a section")
    return Section(_trim(ops[:at]), _closers(ops[at + 1 :]), before, after)


def _closers(ops: tuple[Op, ...]) -> tuple[Op, ...]:
    """What closes, without whitespace; a bracket that opens goes with what it opens."""
    found: list[Op] = []
    glued = False
    for op in ops:
        if op.kind == "whitespace":
            glued = False
            continue
        if glued:
            found[-1] = Op("literal", found[-1].text + op.text, marker=True)
        else:
            found.append(op)
        glued = op.kind == "literal" and op.text.endswith(("[", "<", "{", "("))
    return tuple(found)


def _trim(ops: tuple[Op, ...]) -> tuple[Op, ...]:
    return ops[:-1] if ops and ops[-1].kind == "whitespace" else ops


def _unsupported(what: str) -> FormatError:
    return FormatError("E-FORMAT-UNSUPPORTED", f"the reader does not know {what} yet")


def _check(spec: ToolsSpec, *, named: bool) -> None:
    if len(spec.argument) > 1:
        raise _unsupported("several ways to write an argument")
    if spec.argument and spec.values == "literal":
        _check_keywords(spec)
    elif spec.argument and not (spec.argument[0].opener.strip() and spec.argument[0].around("value")[1].strip()):
        raise _unsupported("arguments without a marker before the key or after the value")
    if spec.argument and not all("arguments" not in call.placeholders or call.closer.strip() for call in spec.call):
        raise _unsupported("arguments without a marker after them")
    for call in spec.call:
        says = named or "name" in call.placeholders or any("name" in one.pattern.placeholders for one in spec.envelope)
        if not says and not any("name" in one.placeholders for one in spec.id):
            raise _unsupported("calls without a name")
        if (
            call.placeholders
            and call.placeholders[0] in ("name", "id")
            and not call.opener
            and spec.section[0].opener == ""
        ):
            raise _unsupported("calls that begin with a name, without a marker before it")


def _nesting(spec: ToolsSpec) -> Nesting | None:
    """How elements are written that are named after their keys; None: arguments have another shape."""
    if spec.element is None:
        return None
    start, start_end, end, end_end = spec.element
    return Nesting(
        start.lstrip(),
        start_end.rstrip(),
        end.lstrip(),
        end_end.rstrip(),
        spec.item,
        after_opener=start_end[len(start_end.rstrip()) :],
        before_closer=end[: len(end) - len(end.lstrip())],
    )


def _check_keywords(spec: ToolsSpec) -> None:
    """Literal values stand between keys and separators, as in a call of a program."""
    pattern = spec.argument[0]
    between = pattern.around("value")[0].strip()
    if pattern.placeholders != ("key", "value") or pattern.opener or pattern.closer or not between:
        raise _unsupported("literal values in other arguments than `key, mark, value`")
    if not spec.argument_separator.strip():
        raise _unsupported("literal values without a separator")


def forms_of(spec: FormatSpec) -> list[FormParts]:
    """Every form of the format's calls, with its sections, and its calls on their own.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`.
    """
    # After headers no call begins by itself.
    tools = spec.tools if spec.messages is None else None
    return [form_parts(form) for form in (tools.forms if tools is not None else ())]


def form_parts(tools: ToolsSpec, *, named: bool = False) -> FormParts:
    """One form of calls; `named`: the tool's name stands in front of them.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`.
    """
    _check(tools, named=named)
    sections = tuple(map(_section, tools.section))
    sectionless = any(not section.opener for section in sections)
    form = Form(
        separator=tools.separator.strip(),
        envelope=tools.envelope,
        id=tools.id,
        argument=None,
        argument_separator=tools.argument_separator.strip(),
        value=block_of(tools.argument[0], "value") if tools.argument else None,
        values=tools.values,
        types=tools.types,
        notation=tools.literals,
        escape=tools.escape,
        nesting=_nesting(tools),
        sectionless=sectionless,
    )
    header: tuple[Op, ...] = ()
    if tools.argument and tools.values != "literal":
        ops = compile_ops(tools.argument[0])
        at = next(i for i, op in enumerate(ops) if op.kind == "placeholder" and op.text == "value")
        # Whitespace before a value is data, and not the header's.
        header = (*_trim(ops[:at]), ops[at])
        argument = CallPattern(header, (), form, None, "", "", bare_call=False)
        form = msgspec.structs.replace(form, argument=argument)
    calls = []
    for pattern in tools.call:
        ops = compile_ops(pattern)
        ends = [i for i, op in enumerate(ops) if op.kind == "placeholder" and op.text in ("arguments", "envelope")]
        cut = ends[0] + 1 if ends else len(ops)
        before, after = _edges(pattern)
        rest = _closers(ops[cut:])
        if any(op.kind == "placeholder" for op in rest):
            raise _unsupported("captures after the arguments of a call")
        call = CallPattern(ops[:cut], rest, form, None, before, after, bare_call=ops[0].kind == "placeholder")
        calls.append(call)
        if header and call.ops[-1].text == "arguments":
            calls.append(msgspec.structs.replace(call, ops=(*call.ops[:-1], *header)))
    return form, sections, tuple(calls)


def starts_of(
    form: FormParts,
) -> Iterator[CallPattern]:
    """Every way in which a group of calls of this form can begin."""
    shape, sections, calls = form
    for section in sections:
        for call in calls:
            if section.opener:
                yield msgspec.structs.replace(
                    call, ops=(*section.opener, Op("whitespace"), *call.ops), section=section, before=section.before
                )
    for call in calls:
        if call.ops[0].kind == "literal" or (call.first and shape.sectionless):
            yield call
