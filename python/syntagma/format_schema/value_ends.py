"""What ends the values of arguments that are written one by one, for readers and grammars alike."""

from __future__ import annotations

from syntagma.format_schema.markers import Markers
from syntagma.format_schema.parts import ToolsSpec

__all__ = ["is_open", "value_ends"]


def is_open(tools: ToolsSpec) -> bool:
    """Whether values have no text after them that closes them: nothing, or whitespace."""
    return bool(tools.argument) and not tools.argument[0].around("value")[1].strip()


def value_ends(tools: ToolsSpec, gap: str, closer: str, markers: Markers) -> tuple[str, ...]:
    """The texts that end a value, each with and without the whitespace before it.

    That is what stands after `{value}`. Where that is nothing, it is the separator, or else what opens the next
    argument; and where it is no more than whitespace, what ends the arguments ends a value, too: with the whitespace
    before it, or a marker without.

    Args:
        tools: the form.
        gap: whitespace between the arguments and what ends them.
        closer: what ends them; empty: nothing does.
        markers: cuts the format's literals.
    """
    argument = tools.argument[0].written
    after = argument.around("value")[1]
    if after.strip():
        return tuple(dict.fromkeys((after.rstrip(), after.strip())))
    end = after or tools.argument_separator or argument.opener
    found = [end.rstrip(), end.strip()] if end.strip() else [end]
    if closer:
        found.append(gap + closer)
        if not gap or markers.pieces(closer)[0].is_marker:
            found.append(closer)
    return tuple(dict.fromkeys(found))
