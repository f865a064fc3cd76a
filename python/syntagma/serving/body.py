"""From the bytes of a body to typed fields; an error names the path of the field at fault."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec import inspect

from syntagma.errors import RequestError
from syntagma.json_pointer import pointer_of
from syntagma.limits import Limits
from syntagma.serving.known_members import Shape, unknown_members
from syntagma.typed import ANY_MEMBER, Problem, as_type, problem

__all__ = [
    "bad_field",
    "bounded",
    "check_values",
    "decode_body",
    "over_limit",
    "refuse_fields",
    "typed_body",
    "unread_fields",
    "unsupported",
]

T = TypeVar("T", bound=msgspec.Struct)
_WORDS = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
_PIECE = 128 * 1024
"""bytes that are counted at a time"""


def check_values(body: bytes, limits: Limits) -> None:
    """Refuse a body with too many values before it is decoded, which could not be interrupted.

    Raises:
        RequestError: `E-REQUEST-LIMIT`.
    """
    containers = values = 0
    inside = False
    for piece in _pieces(body):
        # Escaped quotes end no string; characters in strings do not count.
        plain = np.frombuffer(piece.replace(b"\\\\", b"..").replace(b'\\"', b".."), dtype=np.uint8)
        strings = np.bitwise_xor.accumulate(plain == ord('"')) ^ inside
        inside = bool(strings[-1])
        outside = ~strings
        containers += int(np.count_nonzero(((plain == ord("[")) | (plain == ord("{"))) & outside))
        values += int(np.count_nonzero((plain == ord(",")) & outside))
    for name, given, allowed in (
        ("objects and arrays", containers, limits.server_body_containers),
        ("values", values, limits.server_body_values),
    ):
        if given > allowed:
            raise RequestError("E-REQUEST-LIMIT", f"the body has {given} {name}; {allowed} are allowed")


def _pieces(body: bytes) -> Iterator[bytes]:
    """A body in pieces, none of which ends inside an escape."""
    done = 0
    while done < len(body):
        end = min(done + _PIECE, len(body))
        while body[end - 1 : end] == b"\\" and end < len(body):
            end += 2
        yield body[done:end]
        done = min(end, len(body))


def decode_body(body: bytes) -> dict[str, Any]:
    """The JSON object of a body.

    Raises:
        RequestError: `E-REQUEST-JSON`.
    """
    try:
        data = msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise RequestError("E-REQUEST-JSON", f"the body is not JSON: {problem(error).text}") from error
    except UnicodeDecodeError as error:
        raise RequestError("E-REQUEST-JSON", f"the body is not UTF-8 at byte {error.start}") from error
    except RecursionError as error:
        raise RequestError("E-REQUEST-JSON", "the body nests too deeply") from error
    if not isinstance(data, dict):
        raise RequestError("E-REQUEST-JSON", "the body is not a JSON object")
    return data


def typed_body(data: dict[str, Any], kind: type[T]) -> T:
    """The object as a struct; fields that the struct lacks are ignored, see `unread_fields`.

    Raises:
        RequestError: `E-REQUEST-FIELD`, with the pointer of the field.
    """
    try:
        return as_type(data, kind)
    except msgspec.ValidationError as error:
        raise _bad_type(problem(error), _shape(kind)) from error


def _bad_type(found: Problem, kind: inspect.Type) -> RequestError:
    """The error for a value that does not match its type, in JSON's terms."""
    steps = found.path
    match found.kind:
        case "choice":
            message = f"must be {' or '.join(map(repr, _literals(kind, steps)))}, not {found.given}"
        case "missing":
            steps, message = (*steps, found.field), "is required"
        case "type":
            kinds = " or ".join(_WORDS.get(name, name) for name in found.wanted)
            message = f"must be {kinds}, not {_WORDS.get(found.given, found.given)}"
        case _:
            message = found.text[:1].lower() + found.text[1:]
    if ANY_MEMBER in steps:
        steps, message = steps[: steps.index(ANY_MEMBER)], f"a value in it {message}"
    return bad_field(pointer_of(*steps), message)


def _literals(kind: inspect.Type, steps: Sequence[str]) -> tuple[Any, ...]:
    """The allowed values of the field at a path, if its type lists them; else nothing."""
    if isinstance(kind, inspect.UnionType):
        return next(filter(None, (_literals(one, steps) for one in kind.types)), ())
    if not steps:
        return kind.values if isinstance(kind, inspect.LiteralType) else ()
    if isinstance(kind, inspect.ListType):
        return _literals(kind.item_type, steps[1:])
    fields = kind.fields if isinstance(kind, inspect.StructType) else ()
    return next((_literals(field.type, steps[1:]) for field in fields if field.encode_name == steps[0]), ())


def unread_fields(
    data: dict[str, Any], kind: type[msgspec.Struct], shapes: Mapping[str, Shape], passed_on: str | None = None
) -> Iterator[str]:
    """The pointers of the members that nothing reads, at any depth, in the order of the object.

    Args:
        data: the object.
        kind: the struct that it was read as.
        shapes: the shapes of members that no struct describes, by pointer.
        passed_on: a field whose items may have any members, since they are passed on as they are.
    """
    for pointer in _unread(data, _shape(kind), "", shapes):
        if passed_on is None or not pointer.startswith(f"/{passed_on}/"):
            yield pointer


@functools.cache
def _shape(kind: type[msgspec.Struct]) -> inspect.Type:
    """The fields of a struct and their types; cached, since every request needs them."""
    return inspect.type_info(kind)


def _unread(value: Any, kind: inspect.Type, pointer: str, shapes: Mapping[str, Shape]) -> Iterator[str]:
    if pointer in shapes:
        yield from unknown_members(value, shapes[pointer], pointer)
        return
    if isinstance(kind, inspect.UnionType):
        fitting = (one for one in kind.types if isinstance(one, inspect.StructType | inspect.ListType))
        kind = next((one for one in fitting if _takes(one, value)), kind)
    if isinstance(kind, inspect.StructType) and isinstance(value, dict):
        known = {field.encode_name: field.type for field in kind.fields}
        for name, inner in value.items():
            place = pointer + pointer_of(name)
            if name not in known:
                yield place
            else:
                yield from _unread(inner, known[name], place, shapes)
    elif isinstance(kind, inspect.ListType) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unread(item, kind.item_type, pointer + pointer_of(index), shapes)


def _takes(kind: inspect.Type, value: Any) -> bool:
    return isinstance(value, dict if isinstance(kind, inspect.StructType) else list)


def bad_field(pointer: str, message: str) -> RequestError:
    """The error for a field with a wrong type or value; `message` does not repeat where it is."""
    return RequestError("E-REQUEST-FIELD", message, pointer=pointer or None)


def unsupported(pointer: str, message: str, hint: str | None = None) -> RequestError:
    """The error for a known field that asks for something unsupported."""
    return RequestError("E-REQUEST-UNSUPPORTED", message, hint=hint, pointer=pointer)


def refuse_fields(fields: msgspec.Struct, names: Iterable[str]) -> None:
    """Refuse fields that are not supported; null, false and empty values ask for nothing and pass.

    Raises:
        RequestError: `E-REQUEST-UNSUPPORTED`.
    """
    for name in names:
        if getattr(fields, name):
            raise unsupported(f"/{name}", "is not supported")


def over_limit(pointer: str, given: int, allowed: int, what: str = "") -> RequestError:
    """The error for a value above a limit of the server; `what`: the unit that is counted."""
    counted = f"must be at most {allowed}" if not what else f"must have at most {allowed} {what}"
    return RequestError("E-REQUEST-LIMIT", f"{counted}, not {given}", pointer=pointer)


def bounded(name: str, value: int | None, default: int, least: int, most: int) -> int:
    """The value, or the default for None; checked against its bounds.

    Raises:
        RequestError: `E-REQUEST-FIELD`, it is too low; `E-REQUEST-LIMIT`, it is above a limit of the server.
    """
    if value is None:
        return default
    if value < least:
        raise bad_field(f"/{name}", f"must be at least {least}, not {value}")
    if value > most:
        raise over_limit(f"/{name}", value, most)
    return value
