"""The arguments of a call as grammars: one object, or separate arguments, each with its key and its value."""

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
        markers: cuts the format's literals.
        limits: bounds on schemas.
        in_object: whether they stand in an envelope, and so are an object.
        encoded: whether that object is written as a JSON string.
        ends: the texts that end separate arguments and their values.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the form has no strict reading.
    """
    if in_object or not tools.argument:
        return ObjectArguments(ValueWriter(tools.literals, limits), encoded=encoded)
    if tools.element is not None and tools.values != "literal":
        return ElementArguments(tools, limits)
    return SeparateArguments(tools, markers, limits, ends)
