"""The texts that end the values of separate arguments, for the parser and the grammar alike."""

from __future__ import annotations

from syntagma.format_schema.markers import Markers
from syntagma.format_schema.parts import ToolsSpec

__all__ = ["argument_line", "is_open", "value_ends"]


def is_open(tools: ToolsSpec) -> bool:
    """Whether values have no closer: only whitespace or nothing follows them."""
    return bool(tools.argument) and not tools.argument[0].around("value")[1].strip()


def value_ends(tools: ToolsSpec, gap: str, closer: str, markers: Markers) -> tuple[str, ...]:
    """The texts that end a value, each with and without the whitespace before it.

    It is the text after `{value}`. If there is none, it is the separator, or else the opener of the next argument. If
    it is only whitespace, the end of the arguments also ends a value: with the whitespace before it, or, if it is a
    marker, without.

    Args:
        tools: the form.
        gap: the whitespace between the arguments and their end.
        closer: the end of the arguments; empty: there is none.
        markers: cuts the format's literals.
    """
    argument = tools.argument[0]
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


def argument_line(tools: ToolsSpec, closer: str, markers: Markers) -> str:
    """The beginning of a line that opens a further argument, which ends a raw value whose closer is missing.

    Both it and the closer of values have words, and neither begins like the other, or like the end of the arguments.
    Empty: no such line ends a value.

    Args:
        tools: the form.
        closer: the end of the arguments; empty: there is none.
        markers: cuts the format's literals.
    """
    if not tools.argument or tools.values == "literal":
        return ""
    argument = tools.argument[0]
    own = argument.around("value")[1].strip()
    opener = next((piece.text.split()[0] for piece in markers.pieces(argument.opener.strip())), "")
    pairs = ((own, closer), (own, opener), (opener, closer))
    alike = any(one.startswith(other) or other.startswith(one) for one, other in pairs if other)
    return "" if alike or not (_has_words(own) and _has_words(opener)) else "\n" + opener


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))
