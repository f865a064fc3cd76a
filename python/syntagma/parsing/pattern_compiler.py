"""Compiles the patterns of a format's calls: `ToolsSpec` → all ways in which calls can begin."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import msgspec

from syntagma.errors import FormatError
from syntagma.format_schema import (
    FormatSpec,
    Markers,
    Pattern,
    Placeholder,
    ToolsSpec,
    argument_line,
    begins_exactly,
    is_open,
    leading,
    stands_alone,
    structure_steps,
    trailing,
    value_ends,
)
from syntagma.format_schema.facts import block_of
from syntagma.parsing.call_patterns import CallPattern, Form, FormParts, Nesting, Op, Section

__all__ = ["compile_ops", "form_parts", "forms_of", "starts_of"]


def _ops(text: str, markers: Markers) -> Iterator[Op]:
    """The steps of a literal."""
    for step in structure_steps(markers.pieces(text)):
        if step is None:
            yield Op("whitespace")
        else:
            yield Op("literal", step.text, step.is_marker, markers.placed(step.text))


def compile_ops(pattern: Pattern, markers: Markers) -> tuple[Op, ...]:
    """All steps of a pattern, with optional whitespace between literals and placeholders."""
    ops: list[Op] = []
    for item in pattern.items:
        steps = [Op("placeholder", item.name)] if isinstance(item, Placeholder) else list(_ops(item.text, markers))
        for step in steps:
            kinds = {step.kind, ops[-1].kind} if ops else set()
            if "placeholder" in kinds and "whitespace" not in kinds:
                ops.append(Op("whitespace"))
            ops.append(step)
    while ops and ops[0].kind == "whitespace":
        ops.pop(0)
    while ops and ops[-1].kind == "whitespace":
        ops.pop()
    return tuple(ops)


def _section(pattern: Pattern, markers: Markers, pointer: str) -> Section:
    ops = compile_ops(pattern, markers)
    at = next(i for i, op in enumerate(ops) if op.text == "calls" and op.kind == "placeholder")
    before, after = leading(pattern.text), trailing(pattern.text)
    if any(op.kind == "placeholder" for op in ops[at + 1 :]):
        raise _unsupported("placeholders after {calls}", f"{pointer}/section", "only text may close a section")
    return Section(_trim(ops[:at]), _closers(ops[at + 1 :], markers), before, after)


def _closers(ops: tuple[Op, ...], markers: Markers) -> tuple[Op, ...]:
    """The closers, without whitespace; an opening bracket joins the literal that it opens."""
    found: list[Op] = []
    glued = False
    for op in ops:
        if op.kind == "whitespace":
            glued = False
            continue
        if glued and op.kind == "literal":
            text = found[-1].text + op.text
            found[-1] = Op("literal", text, True, markers.placed(text))
        else:
            found.append(op)
        glued = op.kind == "literal" and op.text.endswith(("[", "<", "{", "("))
    return tuple(found)


def _trim(ops: tuple[Op, ...]) -> tuple[Op, ...]:
    return ops[:-1] if ops and ops[-1].kind == "whitespace" else ops


def _unsupported(what: str, pointer: str, hint: str | None = None) -> FormatError:
    return FormatError("E-FORMAT-UNSUPPORTED", f"the reader does not know {what}", hint=hint, pointer=pointer)


def _check(spec: ToolsSpec, pointer: str, *, named: bool) -> None:
    if len(spec.argument) > 1:
        hint = "each further way is a further form, [[tools.also]]"
        raise _unsupported("several ways to write an argument", f"{pointer}/argument", hint)
    if spec.argument and spec.values == "literal":
        _check_keywords(spec, pointer)
    elif spec.argument:
        _check_raw_values(spec, pointer)
    separate = [call for call in spec.call if spec.argument and "arguments" in call.placeholders]
    if spec.values == "literal":
        separate = []  # literals have their own end
    if not all(call.around("arguments")[1].strip() for call in separate):
        hint = (
            "text after {arguments} in `call`, which ends them; whitespace does not count. Values that end by "
            'themselves, as with values = "literal", need none'
        )
        raise _unsupported("arguments without a marker after them", f"{pointer}/call", hint)
    for call in spec.call:
        before = set(itertools.takewhile(lambda one: one not in ("arguments", "envelope"), call.placeholders))
        before.update(*(one.pattern.placeholders for one in spec.envelope))
        in_id = "id" in before and any("name" in one.placeholders for one in spec.id)
        if not (named or "name" in before or in_id):
            hint = "{name} before the arguments in `call`, in `envelope`, or in `id`"
            raise _unsupported("calls without a name", f"{pointer}/call", hint)
        begins_bare = call.placeholders[:1] in (("name",), ("id",)) and not call.opener
        if begins_bare and spec.section[0].opener == "":
            hint = "text before it in `call`, or a `section` that begins with text"
            raise _unsupported("calls that begin with a name, without a marker before it", f"{pointer}/call", hint)


def _check_raw_values(spec: ToolsSpec, pointer: str) -> None:
    """Check that keys and raw values can be told from each other and from the text around them."""
    pattern = spec.argument[0]
    before, after = pattern.around("value")
    if not before.strip():
        hint = "a sign or a marker between {key} and {value}" + _or_literals(spec)
        raise _unsupported("values with nothing before them", f"{pointer}/argument", hint)
    if not after and not spec.argument_separator and not pattern.opener.strip():
        hint = "a line break or a marker after {value}, or an `argument_separator`" + _or_literals(spec)
        raise _unsupported("values with nothing after them", f"{pointer}/argument", hint)
    if is_open(spec) and "values" in spec.escape:
        raise _unsupported("escapes in values without a marker after them", f"{pointer}/escape")
    if pattern.opener.strip():
        return
    for call in spec.call:
        names = [item.name if isinstance(item, Placeholder) else "" for item in call.items]
        at = names.index("arguments") if "arguments" in names else 0
        if at and names[at - 1]:
            hint = f"text between {{{names[at - 1]}}} and {{arguments}}, such as a line break"
            raise _unsupported("keys that directly follow another placeholder", f"{pointer}/call", hint)


def _or_literals(spec: ToolsSpec) -> str:
    """What a hint adds where values could be literals."""
    return '; `values = "literal"` if strings have quotes' if _are_keywords(spec.argument[0]) else ""


def _value_tail(pattern: Pattern) -> str:
    """The text after an argument's value, if it repeats the key; else empty."""
    tail = pattern.text.partition("{value}")[2].strip()
    return tail if "{key}" in tail else ""


def _nesting(spec: ToolsSpec) -> Nesting | None:
    """The nesting of elements that are named after their keys; None: arguments have another shape."""
    if spec.element is None or spec.values == "literal":
        return None
    start, start_end, end, end_end = spec.element
    return Nesting(
        start.lstrip(),
        start_end.rstrip(),
        end.lstrip(),
        end_end.rstrip(),
        spec.item,
        after_opener=trailing(start_end),
        before_closer=leading(end),
    )


def _check_keywords(spec: ToolsSpec, pointer: str) -> None:
    """Check that literal values stand between keys and the text after them, as in a call of a program or in tags."""
    pattern = spec.argument[0]
    if not _are_keywords(pattern):
        hint = "{key}, a sign, {value}, with text before and after them or without; whitespace for the sign beside text"
        raise _unsupported("literal values in arguments of another shape", f"{pointer}/argument", hint)
    if not spec.argument_separator and not pattern.closer and not pattern.opener.strip():
        hint = "an `argument_separator`, a marker before {key}, or a line break after {value}"
        raise _unsupported("literal values with nothing between them", f"{pointer}/argument", hint)


def _are_keywords(pattern: Pattern) -> bool:
    """Whether a key and a literal stand in a pattern so that they are told apart."""
    between = pattern.around("value")[0]
    told_apart = bool(between.strip() or (between and pattern.opener.strip()))
    return told_apart and pattern.placeholders in (("key", "value"), ("key", "value", "key"))


def forms_of(spec: FormatSpec) -> list[FormParts]:
    """All forms of the format's calls, each with its sections and its calls.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, with the pointer of the key.
    """
    # In a format with headers, calls begin in bodies only.
    tools = spec.tools if spec.messages is None else None
    return [form_parts(form, spec.cuts, pointer) for pointer, form in (tools.placed_forms if tools is not None else ())]


def form_parts(tools: ToolsSpec, markers: Markers, pointer: str, *, named: bool = False) -> FormParts:
    """One form of calls, compiled.

    Args:
        tools: the form.
        markers: cuts the format's literals.
        pointer: its JSON pointer in the format.
        named: whether the tool's name stands in front of the calls.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, with the pointer of the key.
    """
    _check(tools, pointer, named=named)
    sections = tuple(_section(pattern, markers, pointer) for pattern in tools.section)
    sectionless = any(not section.opener for section in sections)
    form = Form(
        separator=tools.separator.strip(),
        envelope=tools.envelope,
        id=tools.id,
        argument=None,
        argument_separator=tools.argument_separator.strip(),
        argument_opener=tools.argument[0].opener.strip() if tools.argument else "",
        value=block_of(tools.argument[0], "value", markers) if tools.argument else None,
        value_tail=_value_tail(tools.argument[0]) if tools.argument and tools.values == "literal" else "",
        values=tools.values if tools.argument else "text",
        types=tools.types,
        notation=tools.literals,
        escape=tools.escape,
        nesting=_nesting(tools),
        markers=markers,
        sectionless=sectionless,
    )
    header: tuple[Op, ...] = ()
    if tools.argument and tools.values != "literal":
        ops = compile_ops(tools.argument[0], markers)
        at = next(i for i, op in enumerate(ops) if op.kind == "placeholder" and op.text == "value")
        # Whitespace before a value is data, not part of the header.
        header = (*_trim(ops[:at]), ops[at])
        argument = CallPattern(header, (), form, None, "", "", bare_call=False)
        form = msgspec.structs.replace(form, argument=argument)
    calls = []
    for pattern in tools.call:
        ops = compile_ops(pattern, markers)
        if begins_exactly(pattern.opener):
            rest = ops[2:] if len(ops) > 1 and ops[1].kind == "whitespace" else ops[1:]
            ops = (Op("literal", pattern.opener.lstrip()), *rest)
        ends = [i for i, op in enumerate(ops) if op.kind == "placeholder" and op.text in ("arguments", "envelope")]
        cut = ends[0] + 1 if ends else len(ops)
        before, after = leading(pattern.text), trailing(pattern.text)
        rest = _closers(ops[cut:], markers)
        if any(op.text in ("arguments", "envelope") for op in rest if op.kind == "placeholder"):
            raise _unsupported("arguments that come twice", f"{pointer}/call", "one {arguments} or {envelope}")
        gap = pattern.around("arguments")[1] if header and "arguments" in pattern.placeholders else ""
        space = leading(gap)
        call = CallPattern(
            ops[:cut],
            rest,
            form,
            None,
            before,
            after,
            bare_call=ops[0].kind == "placeholder",
            value_ends=value_ends(tools, space, rest[0].text if rest else "", markers) if header else (),
            argument_line=argument_line(tools, rest[0].text if rest else "", markers) if header else "",
        )
        calls.append(call)
        if header and call.ops[-1].text == "arguments":
            calls.append(msgspec.structs.replace(call, ops=(*call.ops[:-1], *header)))
    return form, sections, tuple(calls)


def starts_of(
    form: FormParts,
) -> Iterator[CallPattern]:
    """All ways in which a group of calls of this form can begin.

    A call may stand without its section, unless its opener is a single sign, which occurs anywhere in prose.
    """
    shape, sections, calls = form
    for section in sections:
        for call in calls:
            if section.opener:
                yield msgspec.structs.replace(
                    call, ops=(*section.opener, Op("whitespace"), *call.ops), section=section, before=section.before
                )
    # A section of nothing but whitespace before its calls: that belongs to the first of them.
    space = next((section.before for section in sections if not section.opener), "")
    for known in calls:
        call = msgspec.structs.replace(known, before=space + known.before) if space else known
        first = call.ops[0]
        if shape.sectionless:
            if first.kind == "literal" or call.first:
                yield call
        elif first.kind == "literal" and stands_alone(first.text):
            yield call
