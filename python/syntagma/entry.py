"""Checks of arguments, where Python's own error would come too late, or where what is wrong came from somebody else.

`entry` is for functions that take text, data or files of others: what raises inside is told by the argument's name.
`strict_entry` and `check_argument` are for arguments that are used only later. All else raises as Python does.
"""

from __future__ import annotations

import functools
import inspect
import numbers
import os
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin

import msgspec

from syntagma.errors import ArgumentError, ArgumentTypeError, SyntagmaError

__all__ = [
    "check_argument",
    "check_call",
    "check_fields",
    "entry",
    "options_named",
    "own",
    "strict_entry",
    "with_options_named",
]

_Call = TypeVar("_Call", bound=Callable[..., Any])
_Value = TypeVar("_Value")
_MAX_INTEGER = 2**31
_MAX_LOOKED_AT = 1_000
"""number of members of a collection that are checked"""


def entry(call: _Call) -> _Call:
    """Decorate a public function or method: when it raises, its arguments are checked against its annotations.

    They are checked first if a wrong one could do harm (a number instead of a path is an open file).

    Raises:
        ArgumentTypeError: `E-ARGUMENT-TYPE`, the type of an argument does not match its annotation.
        ArgumentError: `E-ARGUMENT-TEXT`, a text contains a lone surrogate; `E-ARGUMENT-VALUE`, a number is too large.
    """
    options_named(call)
    annotations = getattr(call, "__annotations__", {}).values()
    later = inspect.isgeneratorfunction(call) or inspect.isasyncgenfunction(call)
    first = later or any("Path" in str(one) for one in annotations)

    @functools.wraps(call)
    def checked(*args: Any, **options: Any) -> Any:
        if first:
            check_call(call, args, options, None)
        try:
            return call(*args, **options)
        except SyntagmaError:
            raise
        except Exception as error:
            check_call(call, args, options, error)
            raise

    return typing.cast("_Call", checked)


def options_named(call: _Call) -> _Call:
    """Decorate a function whose docstring describes its typed `**options` in one line: `help()` names them."""
    call.__doc__ = with_options_named(call.__doc__, call)
    return call


def with_options_named(doc: str | None, call: Callable[..., Any]) -> str | None:
    """A docstring that names the keys of a callable's typed `**options` where it describes them, for `help()`."""
    for name, wanted in getattr(call, "__annotations__", {}).items():
        if isinstance(wanted, str) and wanted.startswith("Unpack[") and doc:
            keys = call.__globals__[wanted[7:-1]].__annotations__
            doc = doc.replace(f"**{name}: ", f"**{name}: {', '.join(f'`{key}`' for key in keys)}: ", 1)
    return doc


def strict_entry(call: _Call) -> _Call:
    """Decorate a public function or method that uses its arguments only later: they are checked before it runs.

    Raises:
        ArgumentTypeError: `E-ARGUMENT-TYPE`, the type of an argument does not match its annotation.
    """
    options_named(call)

    @functools.wraps(call)
    def checked(*args: Any, **options: Any) -> Any:
        check_call(call, args, options, None)
        return call(*args, **options)

    return typing.cast("_Call", checked)


def own(value: _Value) -> _Value:
    """The library's object inside of an object that wraps one, its attribute `syntagma`; else the value itself."""
    return typing.cast("_Value", getattr(value, "syntagma", value))


def check_argument(name: str, value: Any, wanted: Any) -> None:
    """Check one argument that is used only later.

    Raises:
        ArgumentTypeError: `E-ARGUMENT-TYPE`, the value is of another type.
    """
    if not _fits(value, wanted):
        _wrong_type(name, wanted, value, None)


def check_fields(value: Any) -> None:
    """Check the types of a struct's fields, because msgspec does not check them when Python code creates the struct.

    Raises:
        ArgumentTypeError: `E-ARGUMENT-TYPE`, a field has the wrong type; `pointer` names it.
    """
    kind: type = type(value)
    for name, wanted, plain in _fields(kind):
        given = getattr(value, name)
        if type(given) not in plain and not _fits(given, wanted):
            _wrong_type(name, wanted, given, None)


def check_call(
    call: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any], error: Exception | None
) -> None:
    """Check the arguments of a call against the annotations of the callable. `error`: what the call raised, or None.

    Raises:
        ArgumentTypeError, ArgumentError: see `entry`.
    """
    try:
        bound = inspect.signature(call).bind(*args, **options)
    except TypeError:
        return
    hints = _hints(call)
    given = [
        (name, hints.get(name, Any), value)
        for field, values in bound.arguments.items()
        for name, value in _named(bound.signature.parameters[field], field, values)
    ]
    for name, wanted, value in given:
        if not _fits(value, wanted):
            _wrong_type(name, wanted, value, error)
    for name, _, value in given if error is not None else ():
        _check_structs(name, value, error)
        if _holds(value, _is_broken_text):
            message = f"{name} contains a lone surrogate, which cannot be encoded"
            raise ArgumentError("E-ARGUMENT-TEXT", message, pointer=f"/{name}") from error
        if _holds(value, _is_out_of_range):
            message = f"a number in {name} is outside of its range"
            raise ArgumentError("E-ARGUMENT-VALUE", message, pointer=f"/{name}") from error


def _check_structs(name: str, value: Any, error: Exception | None) -> None:
    """Check the fields of structs, also in a sequence: a wrong field may have caused the exception."""
    members = list(value)[:_MAX_LOOKED_AT] if isinstance(value, list | tuple) else [value]
    for member in members:
        if isinstance(member, msgspec.Struct):
            for field, wanted, _ in _fields(type(member)):
                if not _fits(getattr(member, field), wanted):
                    _wrong_type(f"{name}/{field}", wanted, getattr(member, field), error)


def _named(parameter: inspect.Parameter, field: str, value: Any) -> list[tuple[str, Any]]:
    if parameter.kind is parameter.VAR_KEYWORD:
        return list(value.items())
    return [(field, one) for one in value] if parameter.kind is parameter.VAR_POSITIONAL else [(field, value)]


def _wrong_type(name: str, wanted: Any, value: Any, error: Exception | None) -> NoReturn:
    kind, spelled = type(value).__name__, _spelled(wanted)
    if kind in spelled.split(" or "):  # two classes of one name
        kind = f"{type(value).__module__}.{kind}"
    came = "a type" if isinstance(value, type) else f"a {kind}"
    raise ArgumentTypeError("E-ARGUMENT-TYPE", f"{name} must be {spelled}, not {came}", pointer=f"/{name}") from error


def _spelled(wanted: Any) -> str:
    if isinstance(wanted, type) and get_origin(wanted) is None:
        return wanted.__name__ if wanted is not type(None) else "None"
    if get_origin(wanted) in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_spelled(one) for one in get_args(wanted)))
    return str(wanted).replace("typing.", "").replace("collections.abc.", "").replace("syntagma.", "")


# -- annotations


@functools.cache
def _fields(kind: type) -> list[tuple[str, Any, frozenset[Any]]]:
    """The fields of a struct: name, type, and the classes whose direct instances need no further check.

    The result is cached, because structs of options are created very often.
    """
    try:
        hints = typing.get_type_hints(kind)
    except NameError:  # a type that is imported only for type checkers
        return []
    plain = (bool, int, float, str, bytes, type(None))
    found = []
    for name in getattr(kind, "__struct_fields__", ()):
        wanted = hints[name]
        parts = get_args(wanted) if get_origin(wanted) in (Union, types.UnionType) else (wanted,)
        found.append((name, wanted, frozenset(part for part in parts if part in plain)))
    return found


@functools.cache
def _hints(call: Callable[..., Any]) -> dict[str, Any]:
    """The types of a callable's arguments by name; keys of a `TypedDict` in place of `**options` that it types."""
    found: dict[str, Any] = {}
    for name, wanted in typing.get_type_hints(inspect.unwrap(call)).items():
        if get_origin(wanted) is typing.Unpack:
            found |= typing.get_type_hints(get_args(wanted)[0])
        else:
            found[name] = wanted
    return found


# -- values


def _fits(value: Any, wanted: Any) -> bool:
    """Whether a value may be of a type; false only if it certainly is not."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if wanted is Any or isinstance(wanted, TypeVar | str | typing.ForwardRef):
        return True
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in parts)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in parts)
    if wanted is None:
        return value is None
    if origin is None:
        return _is_instance(value, wanted)
    return _fits_container(value, origin, parts)


def _is_instance(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, type):
        return True
    if wanted is int:
        return isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if wanted is float:
        return isinstance(value, numbers.Real) and not isinstance(value, bool)
    if getattr(wanted, "_is_protocol", False):
        return all(hasattr(value, name) for name in _members(wanted))
    return isinstance(value, wanted)


def _members(protocol: type) -> list[str]:
    return [name for name in vars(protocol) if not name.startswith("_")]


def _fits_container(value: Any, origin: Any, parts: tuple[Any, ...]) -> bool:
    if not isinstance(origin, type):
        return True
    if origin is os.PathLike or origin is type or not issubclass(origin, Iterable):
        return isinstance(value, origin)
    if issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            return False
        members = list(value.items())[:_MAX_LOOKED_AT]
        return len(parts) != 2 or all(_fits(key, parts[0]) and _fits(one, parts[1]) for key, one in members)
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, origin):
        return False
    if not isinstance(value, Sequence | Set):
        return True
    if origin is tuple and not (len(parts) == 2 and parts[1] is Ellipsis):
        return len(value) == len(parts) and all(map(_fits, value, parts))
    return all(_fits(one, parts[0]) for one in list(value)[:_MAX_LOOKED_AT])


def _holds(value: Any, wrong: Callable[[Any], bool], depth: int = 0) -> bool:
    """Whether `wrong` is true for the value or any value in it."""
    if wrong(value):
        return True
    if depth > 8 or isinstance(value, str | bytes):
        return False
    if isinstance(value, Mapping):
        return any(_holds(one, wrong, depth + 1) for pair in list(value.items())[:_MAX_LOOKED_AT] for one in pair)
    if isinstance(value, Sequence | Set):
        return any(_holds(one, wrong, depth + 1) for one in list(value)[:_MAX_LOOKED_AT])
    return False


def _is_broken_text(value: Any) -> bool:
    return isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value)


def _is_out_of_range(value: Any) -> bool:
    return isinstance(value, int) and not -1 < value < _MAX_INTEGER
