"""The arguments of a call as grammars: one object, or each argument with its key and its value."""

from __future__ import annotations

from syntagma.constraints.arguments.elements import ElementArguments
from syntagma.constraints.arguments.objects import ObjectArguments
from syntagma.constraints.arguments.separate import SeparateArguments
from syntagma.constraints.arguments.values import ArgumentEnds, ArgumentsGrammar
from syntagma.constraints.schemas import ValueWriter
from syntagma.format_schema import Markers, ToolsSpec
from syntagma.limits import Limits

__all__ = ["ArgumentsGrammar", "arguments_grammar"]


def arguments_grammar(
    tools: ToolsSpec, markers: Markers, limits: Limits, *, in_object: bool, encoded: bool, ends: ArgumentEnds
) -> ArgumentsGrammar:
    """The grammars of `{arguments}` in a form of calls.

    Args:
        tools: the form.
        markers: how the format's literals are cut.
        limits: bounds on schemas.
        in_object: they stand in an envelope, so they are an object there.
        encoded: that object is written as a JSON string.
        ends: what ends arguments that are written one by one, and their values.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the form has no strict reading.
    """
    if in_object or not tools.argument:
        return ObjectArguments(ValueWriter(tools.literals, limits), encoded=encoded)
    if tools.element is not None and tools.values != "literal":
        return ElementArguments(tools, limits)
    return SeparateArguments(tools, markers, limits, ends)
