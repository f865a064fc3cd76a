"""Where the messages of a format with headers go: to reasoning, to the answer, or to a tool."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import msgspec

from syntagma.errors import FormatError
from syntagma.format_schema import (
    FormatSpec,
    Markers,
    MessagesSpec,
    Pattern,
    ToolsSpec,
    default_fields,
    message_ends,
    opening,
    required_fields,
    split_header,
)
from syntagma.format_schema import Literal as LiteralItem
from syntagma.format_schema.facts import Block, block_of
from syntagma.format_schema.names import NAME_ENDS, is_word
from syntagma.parsing.call_patterns import CallPattern, Op
from syntagma.parsing.message_header import WORD, Header, HeaderShape
from syntagma.parsing.message_markers import MarkerKind
from syntagma.parsing.pattern_compiler import form_parts
from syntagma.parsing.text.scanner import MarkerSet
from syntagma.parsing.text.window import Window

__all__ = ["BodyExits", "HeaderRouter", "Route", "RouteKind", "Routed", "is_name"]

RouteKind: TypeAlias = Literal["call", "reasoning", "content"]
Score: TypeAlias = tuple[tuple[int, int], ...]

_RANKS: dict[RouteKind, int] = {"content": 0, "reasoning": 1, "call": 2}
"""the kind of message with the highest rank wins if a header fits several equally well"""

_NAME_ENDS = frozenset(NAME_ENDS)


def is_name(text: str) -> bool:
    """Whether a word can be a tool's name."""
    return bool(text) and _NAME_ENDS.isdisjoint(text)


class _Shape(msgspec.Struct, frozen=True):
    """The value of a field: a literal, or a name between literals.

    Attributes:
        literal: the whole value; None: the value holds a name.
        before, after: the literals around the name.
        between: the literal between two occurrences of the name; None: it occurs once.
        weight: the length of all literals, code points.
    """

    literal: str | None
    before: str = ""
    after: str = ""
    between: str | None = None
    weight: int = 0

    @classmethod
    def of(cls, pattern: Pattern) -> _Shape:
        """The shape that a pattern describes."""
        if not pattern.placeholders:
            return cls(pattern.text)
        inner = "".join(item.text for item in pattern.items[1:-1] if isinstance(item, LiteralItem))
        return cls(
            None,
            pattern.opener,
            pattern.closer,
            inner if pattern.placeholders[1:] else None,
            sum(len(item.text) for item in pattern.items if isinstance(item, LiteralItem)),
        )

    def id_in(self, word: str) -> str | None:
        """The id of a call in a word of this shape."""
        before, after = self.before, self.after
        if not word.startswith(before) or not word.endswith(after):
            return None
        found = word[len(before) : len(word) - len(after)]
        return found if is_word(found) else None

    def name_in(self, word: str) -> str | None:
        """The name in a word of this shape; two occurrences must be equal."""
        before, after, between = self.before, self.after, self.between
        if not word.startswith(before) or not word.endswith(after) or len(word) < len(before) + len(after):
            return None
        name = word[len(before) : len(word) - len(after)]
        if between is not None:
            inner = name
            name = inner[: max((len(inner) - len(between)) // 2, 0)]
            if inner != name + between + name:
                return None
        return name if is_name(name) else None


class Route(msgspec.Struct, frozen=True):
    """One example of a format, cut at the end of its header.

    Attributes:
        fields: the value's shape for every field that it shows, except the id of a call, which may be missing.
        block: the markers around its text; None for a call.
        calls: the patterns of the body of a call.
        end: the marker that ends it, as shown.
        exact: whether it takes only headers without problems and without further fields that lead anywhere.
        shapes: every field that a header may have, with the shape of its value if it is shown.
    """

    kind: RouteKind
    fields: dict[str, Pattern]
    shapes: tuple[tuple[str, _Shape | None], ...]
    block: Block | None = None
    calls: tuple[CallPattern, ...] = ()
    end: str = ""
    exact: bool = False


class Routed(NamedTuple):
    """Where a header leads.

    Attributes:
        routes: the examples that it fits best, all of one kind; empty: it leads nowhere.
        name: the tool's name in it, or None.
        call_id: the call's id in it, or None.
    """

    routes: list[Route]
    name: str | None = None
    call_id: str | None = None


class BodyExits(NamedTuple):
    """The texts that leave the body of a message.

    Attributes:
        markers: each text, with the end of the message in it; empty: the text is dropped.
        texts: the texts.
    """

    markers: dict[str, str]
    texts: MarkerSet


class HeaderRouter:
    """The examples of a format, and the markers of its headers.

    Attributes:
        shape: what may stand in a header.
        begins: the openers of messages; an empty one: a message begins with its first field.
        role: the word after them for the model's role; may be empty.
        starts: opener and role together.
        sections: markers that begin a field.
        body: the marker that ends a header.
        ends: the markers that end a message; if the format has none, those that begin the next.
        stops: those of them after which the turn may be over.
        keeps_ends: whether the end of a message belongs to the next one.
        otherwise: the kind of a message whose header leads nowhere.
        markers: cuts literals at the markers of the format.
        kinds: the kind of each marker; one that ends a message and begins the next has the kind of what it begins.
        frame_markers: all markers around and in headers.
        end_markers: `ends`.
        body_exits: the texts that leave the body of a message, by its kind, the whitespace before its end, and whether
            it may also end at the beginning of the next message.
    """

    def __init__(self, spec: FormatSpec, messages: MessagesSpec) -> None:
        self.fields = messages.fields
        self._routes = list(_routes(spec, messages))
        self._ids = _ids(spec, messages)
        self._default = default_fields(messages)
        self._leading = {field for route in self._routes for field in route.fields}
        self._naming = {field for route in self._routes for field, shape in route.fields.items() if shape.placeholders}
        self.sections = tuple(field for field in messages.fields if not field[0].isspace())
        self._needed = required_fields(spec)
        keys = {field.strip(): field for field in messages.fields if field[0].isspace()}
        self._naming_keys = tuple(key for key, field in keys.items() if field in self._naming)
        self._prefixes = {**keys, **{field: field for field in self.sections}}
        self.markers = markers = spec.cuts
        openings = [opening(start, markers) for start in messages.start]
        self.begins = tuple(dict.fromkeys(begin for begin, _ in openings))
        self.role = openings[0][1] if openings else ""
        sections = {field: self._values(field) if field in self._needed else () for field in self.sections}
        leading = next((field for field, values in sections.items() if values), "") if self.role else ""
        if messages.recover and not leading:
            raise FormatError(
                "E-FORMAT-CONFLICT",
                "no header can be recovered without a role and a field of fixed values",
                pointer="/messages/recover",
            )
        self.shape = HeaderShape(
            sections=sections,
            keys=frozenset(keys),
            has_role=bool(self.role),
            role=self.role,
            leading=leading if messages.recover else "",
        )
        self.starts = messages.start
        self.body = messages.body
        self.keeps_ends = not messages.end
        self.ends = message_ends(messages, markers)
        self.stops = frozenset(messages.end[1:])
        self.otherwise: RouteKind = messages.otherwise
        self.kinds: dict[str, MarkerKind] = {
            **dict.fromkeys(self.ends, "end"),
            **dict.fromkeys(self.sections, "section"),
            self.body: "body",
            **dict.fromkeys(self.begins, "begin"),
        }
        self.frame_markers = MarkerSet(self.kinds)
        self.end_markers = MarkerSet(self.ends)
        edges = {"", *(route.block.before_closer for route in self._routes if route.block is not None)}
        self.body_exits = {
            (kind, edge, loose): self._exits(spec.drop if kind == "content" else (), edge, loose=loose)
            for kind in ("content", "reasoning")
            for edge in edges
            for loose in (False, True)
        }

    def _exits(self, drop: tuple[str, ...], edge: str, *, loose: bool) -> BodyExits:
        """The texts that leave a body that the format shows with this whitespace before its end."""
        markers = {**dict.fromkeys(drop, ""), **{edge + end: end for end in self.ends}}
        markers.update({end: end for end in (*self.ends, *(self.begins if loose else ()))})
        return BodyExits(markers, MarkerSet(markers))

    def find(self, window: Window, markers: MarkerSet, *, final: bool) -> tuple[int, str | None]:
        """Find the first of these markers from the cursor on. Text tokens that look like one are ignored.

        Returns:
            its index, and the marker; or the index from which on the text may be the beginning of one, and None.
        """
        start = window.pos
        while True:
            at, marker = markers.search(window.text, start, final=final)
            if marker is None or not window.knows_tokens or window.are_markers(at, self.markers.placed(marker)):
                return at, marker
            start = at + 1

    def _values(self, field: str) -> tuple[str, ...]:
        """The values that a field may have; empty if some route takes any."""
        shapes = [route.fields[field] for route in self._routes if field in route.fields]
        return (
            () if any(shape.placeholders for shape in shapes) else tuple(dict.fromkeys(shape.text for shape in shapes))
        )

    def unopened_header(self, text: str) -> str | None:
        """The text before a field as the beginning of a header without its opener; None: it is no part of one.

        It begins with the role, or names a tool: the recipient of a message must not be lost.
        """
        words = WORD.findall(text)
        if words and words[0] == self.role:
            return text
        names = any(word.startswith(key) and word != key for key in self._naming_keys for word in words)
        return f"{self.role} {text}" if names or self.shape.begins(text) else None

    def route(self, header: Header) -> Routed:
        """Where a header leads."""
        if header.role not in ("", self.role):
            return Routed([])
        values = dict(self._default) if header.is_sound else {}
        values.update((self._prefixes[key], value) for key, value in header.values.items() if key in self._prefixes)
        lost = any(field not in values for field in self._needed)
        lost = lost or not header.unknown.isdisjoint(self._naming_keys)
        best: tuple[Score, int] | None = None
        found: list[tuple[Route, str | None]] = []
        for route in self._routes:
            # A field that can name a tool leads to nothing else, unless an example shows it.
            further = values.keys() - route.fields.keys()
            if lost or further & self._naming or (route.exact and (not header.is_sound or further & self._leading)):
                continue
            fits = _fits(route, values)
            if fits is None:
                continue
            score, name = fits
            rank = (score, _RANKS[route.kind])
            if best is None or rank > best:
                best, found = rank, []
            if rank == best:
                found.append((route, name))
        if not found:
            return Routed([])
        first, name = found[0]
        if first.kind != "call":
            return Routed([first], name)
        if header.guessed:
            return Routed([])
        ids = (shape.id_in(values[field]) for field, shape in self._ids if field in values)
        return Routed([route for route, other in found if other == name], name, next(ids, None))


def _fits(route: Route, values: dict[str, str]) -> tuple[Score, str | None] | None:
    """How well a header fits, field by field, and the name in it; None if it does not."""
    score: list[tuple[int, int]] = []
    name: str | None = None
    for field, shape in route.shapes:
        if shape is None:
            score.append((0, 0))
            continue
        value = values.get(field)
        if value is None:
            return None
        if shape.literal is not None:
            if shape.literal != value:
                return None
            score.append((2, 0))
            continue
        read = shape.name_in(value)
        if read is None or name not in (None, read):
            return None
        name = read
        score.append((1, shape.weight))
    return tuple(score), name


def _ids(spec: FormatSpec, messages: MessagesSpec) -> list[tuple[str, _Shape]]:
    """The fields that hold the id of a call, each with the shape of its value."""
    patterns = (pattern for _, form in spec.tools.placed_forms for pattern in form.call) if spec.tools else ()
    fields = (field for pattern in patterns for field in split_header(pattern, messages).fields)
    return [(prefix, _Shape.of(shape)) for prefix, shape in fields if shape.placeholders == ("id",)]


def _routes(spec: FormatSpec, messages: MessagesSpec) -> list[Route]:
    markers = spec.cuts
    found = []
    for pointer, form in spec.tools.placed_forms if spec.tools is not None else ():
        found += [_call(form, pattern, messages, markers, pointer) for pattern in form.call]
    for pattern in spec.reasoning_blocks:
        found.append(_text("reasoning", pattern, messages, markers))
    for number, pattern in enumerate(spec.content.block if spec.content is not None else ()):
        found.append(_text("content", pattern, messages, markers, exact=number > 0))
    return found


def _text(
    kind: Literal["reasoning", "content"],
    pattern: Pattern,
    messages: MessagesSpec,
    markers: Markers,
    *,
    exact: bool = False,
) -> Route:
    header = split_header(pattern, messages)
    block = msgspec.structs.replace(block_of(header.body, kind, markers), after_opener=header.body.opener)
    if not _is_end(block.closer, messages) or block.opener:
        raise FormatError(
            "E-FORMAT-UNSUPPORTED",
            f"the body of {pattern.text!r} is more than its text",
            hint=f"{{{kind}}} follows the header, and one of `messages.end` follows it",
            pointer=f"/{kind}/block",
        )
    fields = dict(header.fields)
    return Route(kind, fields, _shapes(fields, messages), block, end=block.closer, exact=exact)


def _call(form: ToolsSpec, pattern: Pattern, messages: MessagesSpec, markers: Markers, pointer: str) -> Route:
    header = split_header(pattern, messages)
    text = header.body.text.rstrip()
    end = next((one for one in messages.end if text.endswith(one)), "")
    bare = Pattern(text.removesuffix(end))
    # Arguments between tags end at the text after them, which may be the end of the message.
    open_ended = bool(form.argument) and bare.placeholders[-1:] == ("arguments",) and not bare.closer
    body = header.body if open_ended else bare
    fields = {prefix: shape for prefix, shape in header.fields if shape.placeholders != ("id",)}
    named = any(shape.placeholders for shape in fields.values())
    alone = msgspec.structs.replace(form, call=(body,), also=())
    # There may be whitespace between the header and the call.
    calls = form_parts(alone, markers, pointer, named=named)[2]
    others = (
        tuple(Op("literal", one, True, markers.placed(one)) for one in messages.end if one != end) if open_ended else ()
    )
    spaced = tuple(msgspec.structs.replace(call, ops=(Op("whitespace"), *call.ops), ends=others) for call in calls)
    return Route("call", fields, _shapes(fields, messages), None, spaced, end)


def _shapes(fields: dict[str, Pattern], messages: MessagesSpec) -> tuple[tuple[str, _Shape | None], ...]:
    """Every field that a header may have, with the shape of its value if an example shows it."""
    return tuple((field, _Shape.of(fields[field]) if field in fields else None) for field in messages.fields)


def _is_end(closer: str, messages: MessagesSpec) -> bool:
    return closer in messages.end if messages.end else not closer
