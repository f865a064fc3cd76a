"""Checks of arguments, which raise `WrongTypeError` or `WrongValueError`."""

from __future__ import annotations

import functools
import math
import numbers
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from syntagma.compat.xgrammar.exception import WrongTypeError, WrongValueError
from syntagma.entry import check_call
from syntagma.errors import ArgumentError, ArgumentTypeError, SyntagmaError

__all__ = ["checked", "integer", "integers", "members", "number", "wrong_type", "wrong_value"]

_Call = TypeVar("_Call", bound=Callable[..., Any])


def checked(call: _Call) -> _Call:
    """Decorate a public function or method: when it raises, its arguments are checked against its annotations.

    Raises:
        WrongTypeError: `E-ARGUMENT-TYPE`, an argument is not of the annotated type.
        WrongValueError: where `syntagma.entry.entry` raises `ArgumentError`.
    """

    @functools.wraps(call)
    def run(*args: Any, **options: Any) -> Any:
        try:
            return call(*args, **options)
        except (WrongValueError, NotImplementedError):
            raise
        except Exception as error:
            try:
                check_call(call, args, options, error)
            except SyntagmaError as found:
                _as_here(found, error)
            _as_here(error, error)
            raise

    return cast("_Call", run)


def _as_here(error: Exception, cause: Exception) -> None:
    """Raise an argument error as the class of this package; return for any other error."""
    if isinstance(error, ArgumentTypeError):
        raise WrongTypeError(error.code, error.message, hint=error.hint, pointer=error.pointer) from cause
    if isinstance(error, ArgumentError):
        raise WrongValueError(error.code, error.message, hint=error.hint, pointer=error.pointer) from cause


def wrong_type(name: str, wanted: str, value: object, *, hint: str | None = None) -> WrongTypeError:
    """The error for an argument of the wrong type, `E-ARGUMENT-TYPE`."""
    kind = "a type" if isinstance(value, type) else f"a {_kind(value)}"
    return WrongTypeError("E-ARGUMENT-TYPE", f"{name} must be {wanted}, not {kind}", hint=hint, pointer=f"/{name}")


def _kind(value: object) -> str:
    """The name of a value's type, with its package if the name alone could be confused with ours."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package in ("builtins", "numpy", "torch") else f"{package}.{kind.__name__}"


def wrong_value(name: str, message: str, *, code: str = "E-ARGUMENT-VALUE") -> WrongValueError:
    """The error for an argument whose value is never valid."""
    return WrongValueError(code, message, pointer=f"/{name}")


def integer(name: str, value: Any, least: int | None = None) -> int:
    """A whole number; `True` and `False` are refused.

    Raises:
        WrongTypeError: not an integer.
        WrongValueError: below `least`.
    """
    if type(value) is not int:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise wrong_type(name, "int", value)
        try:
            value = operator.index(value)
        except TypeError as error:  # a tensor of floats, or of several numbers
            raise wrong_type(name, "int", value) from error
    if least is not None and value < least:
        raise wrong_value(name, f"{name} must be at least {least}, not {value}")
    return int(value)


def integers(name: str, values: Any) -> list[int]:
    """The whole numbers in a sequence, an array or a tensor of one dimension.

    Raises:
        WrongTypeError: something else.
    """
    return [integer(f"{name}/{place}", value) for place, value in enumerate(members(name, values))]


def members(name: str, values: Any) -> list[Any]:
    """The members of a sequence, an array or a tensor; strings and sets are not sequences.

    Raises:
        WrongTypeError: something else.
    """
    if isinstance(values, str | bytes) or not (isinstance(values, Sequence) or hasattr(values, "tolist")):
        raise wrong_type(name, "a sequence", values)
    plain = values if isinstance(values, Sequence) else values.tolist()
    if not isinstance(plain, Sequence):
        raise wrong_type(name, "a sequence", values)
    return list(plain)


def number(name: str, value: Any) -> float:
    """A finite number that is not negative.

    Raises:
        WrongTypeError: not a number.
        WrongValueError: negative, infinite or NaN.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise wrong_type(name, "float", value)
    given = float(value)
    if not (math.isfinite(given) and given >= 0):
        raise wrong_value(name, f"{name} must be finite and not negative, not {given}")
    return given
