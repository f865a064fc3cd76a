"""What ends the values of arguments that are written one by one, for readers and grammars alike."""

from __future__ import annotations

from syntagma.format_schema.markers import Markers
from syntagma.format_schema.parts import ToolsSpec
from syntagma.format_schema.pattern import Pattern

__all__ = ["begins_exactly", "is_open", "needs_known_name", "stands_alone", "value_ends"]


_SIGNS = "!#$%&*+-./:;=>?@^_|~"
"""of which runs stand in prose, too"""


def is_open(tools: ToolsSpec) -> bool:
    """Whether values have no text after them that closes them: nothing, or whitespace."""
    return bool(tools.argument) and not tools.argument[0].around("value")[1].strip()


def stands_alone(opener: str) -> bool:
    """Whether a call with this opener is read without the section that a format shows around it.

    A single sign stands anywhere in prose, so it opens a call only inside of its section.
    """
    return len(opener.strip()) != 1


def begins_exactly(opener: str) -> bool:
    """Whether exactly the whitespace that is shown must follow this opener of a call: a sign, a run of it, or a word.

    These stand anywhere in prose, where other text, or none, follows them.
    """
    core = opener.strip()
    return len(core) == 1 or core.isalpha() or (bool(core) and core == core[0] * len(core) and core[0] in _SIGNS)


def needs_known_name(call: Pattern) -> bool:
    """Whether only a declared tool's name makes a call of this pattern: a sign or a word alone stands before it."""
    return (not stands_alone(call.opener) or call.opener.strip().isalpha()) and call.placeholders[:1] == ("name",)


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
