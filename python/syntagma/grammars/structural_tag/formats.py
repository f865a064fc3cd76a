"""Formats of structural tags, put together: constants are joined, choices flat, what is enclosed is a tag."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

__all__ = ["EMPTY", "Node", "any_text", "choice", "constant", "repetition", "separated", "sequence"]

Node: TypeAlias = dict[str, Any]
EMPTY: Node = {"type": "const_string", "value": ""}
_MARK = 2
"""characters of a text that may begin or end a tag; shorter ones are punctuation"""


def constant(text: str) -> Node:
    """Exactly this text."""
    return {"type": "const_string", "value": text}


def any_text(excludes: Sequence[str]) -> Node:
    """Text that holds none of `excludes`."""
    needed = dict.fromkeys(text for text in excludes if not any(other != text and other in text for other in excludes))
    return {"type": "any_text", "excludes": list(needed)} if needed else {"type": "any_text"}


def sequence(parts: Sequence[Node]) -> Node:
    """One after another; a tag where a text begins and another one ends it."""
    joined: list[Node] = []
    for part in _flat(parts, "sequence"):
        if part == EMPTY:
            continue
        if joined and _is_constant(part) and _is_constant(joined[-1]):
            joined[-1] = constant(joined[-1]["value"] + part["value"])
        else:
            joined.append(part)
    joined = _triggered(_enclosed(_tagged(joined)))
    if len(joined) == 1:
        return joined[0]
    return {"type": "sequence", "elements": joined} if joined else EMPTY


def choice(parts: Sequence[Node]) -> Node:
    """Any one of them."""
    ways: list[Node] = []
    for part in _flat(parts, "or"):
        if part not in ways:
            ways.append(part)
    ways = _with_common_ends_merged(ways)
    some = [way for way in ways if way != EMPTY]
    if not some:
        return EMPTY
    whole = some[0] if len(some) == 1 else {"type": "or", "elements": some}
    return repetition(whole, 0, 1) if len(some) < len(ways) else whole


def _with_common_ends_merged(ways: list[Node]) -> list[Node]:
    """Merge alternatives with a common last part."""
    groups: dict[int, list[Node]] = {}
    for way in ways:
        groups.setdefault(id(_parts(way)[-1]), []).append(way)
    found = []
    for group in groups.values():
        if len(group) > 1:
            last = _parts(group[0])[-1]
            found.append(sequence([choice([sequence(_parts(way)[:-1]) for way in group]), last]))
        else:
            found += group
    return found


def _parts(node: Node) -> list[Node]:
    elements: list[Node] = node["elements"] if node["type"] == "sequence" else [node]
    return elements


def repetition(inner: Node, least: int, most: int | None) -> Node:
    """A format repeated."""
    if most == 0 or inner == EMPTY:
        return EMPTY
    if (least, most) == (1, 1) or ((least, most) == (0, 1) and inner["type"] in ("optional", "star")):
        return inner
    kind = {(0, 1): "optional", (0, None): "star", (1, None): "plus"}.get((least, most))
    if kind is not None:
        return {"type": kind, "content": inner}
    return {"type": "repeat", "min": least, "max": -1 if most is None else most, "content": inner}


def separated(inner: Node, separator: Node, least: int, most: int | None) -> Node:
    """A format repeated, with another one between."""
    if separator == EMPTY or most in (0, 1):
        return repetition(inner, least, most)
    tags = inner["elements"] if inner["type"] == "or" else [inner]
    if least <= 1 and most is None and _is_constant(separator) and all(tag["type"] == "tag" for tag in tags):
        return {
            "type": "tags_with_separator",
            "tags": tags,
            "separator": separator["value"],
            "at_least_one": least == 1,
        }
    later = repetition(sequence([separator, inner]), max(least - 1, 0), None if most is None else most - 1)
    whole = sequence([inner, later])
    return whole if least else repetition(whole, 0, 1)


def _flat(parts: Sequence[Node], kind: str) -> Iterator[Node]:
    for part in parts:
        if part["type"] == kind:
            yield from part["elements"]
        else:
            yield part


def _is_constant(node: Node) -> bool:
    return bool(node["type"] == "const_string")


def _tag(begin: Node, content: Node, end: Node) -> Node:
    return {"type": "tag", "begin": begin["value"], "content": content, "end": end["value"]}


def _is_mark(node: Node) -> bool:
    return _is_constant(node) and len(node["value"].strip()) >= _MARK


def _tagged(parts: list[Node]) -> list[Node]:
    """Free text between two texts, of which it does not hold the second, as a tag."""
    found: list[Node] = []
    for part in parts:
        if (
            len(found) > 1
            and _is_mark(part)
            and found[-1]["type"] == "any_text"
            and _is_mark(found[-2])
            and _keeps(found[-1], part["value"])
        ):
            content, begin = found.pop(), found.pop()
            found.append(_tag(begin, content, part))
        else:
            found.append(part)
    return found


def _enclosed(parts: list[Node]) -> list[Node]:
    """All from the first to the last text as a tag, if nothing but whitespace stands around them."""
    first, last = 0, len(parts) - 1
    while first < last and _is_edge(parts[first]):
        first += 1
    while first < last and _is_edge(parts[last]):
        last -= 1
    if last - first < 2 or not (_is_mark(parts[first]) and _is_mark(parts[last])):
        return parts
    content = {"type": "sequence", "elements": parts[first + 1 : last]}
    if not _keeps(content, parts[last]["value"]):
        return parts
    inner = content if last - first > 2 else parts[first + 1]
    return [*parts[:first], _tag(parts[first], inner, parts[last]), *parts[last + 1 :]]


def _is_edge(node: Node) -> bool:
    inner = node["content"] if node["type"] == "optional" else node
    return bool(inner["type"] == "regex" or (_is_constant(inner) and inner["value"].isspace()))


def _triggered(parts: list[Node]) -> list[Node]:
    """Free text and one tag after it, which may be missing, as tags with triggers."""
    if len(parts) != 2 or parts[0]["type"] != "any_text" or parts[1]["type"] != "optional":
        return parts
    after = parts[1]["content"]
    tags = after["elements"] if after["type"] == "or" else [after]
    excludes = parts[0].get("excludes", [])
    triggers: dict[str, None] = {}
    for tag in tags:
        begun = [text for text in excludes if tag["type"] == "tag" and tag["begin"].startswith(text)]
        if len(begun) != 1:
            return parts
        triggers[begun[0]] = None
    others = [text for text in excludes if text not in triggers]
    whole = {"type": "triggered_tags", "triggers": list(triggers), "tags": tags, "stop_after_first": True}
    return [{**whole, "excludes": others} if others else whole]


def _keeps(node: Node, end: str) -> bool:
    """Whether free text in a format is the same in a tag that ends so."""
    match node["type"]:
        case "any_text":
            return any(text in end for text in node.get("excludes", ()))
        case "triggered_tags":
            return any(text in end for text in (*node["triggers"], *node.get("excludes", ())))
        case "sequence" | "or":
            return all(_keeps(part, end) for part in node["elements"])
        case "optional" | "star" | "plus" | "repeat":
            return _keeps(node["content"], end)
        case _:
            return True
