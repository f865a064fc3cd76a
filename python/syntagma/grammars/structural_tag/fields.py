"""The fields of one format in a structural tag, each checked for its type, and the errors of structural tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from syntagma.errors import GrammarError, LimitError

__all__ = ["LAST_ID", "Fields", "Token", "invalid", "limit_error", "unsupported"]

LAST_ID = 2**32 - 1
"""the largest number of a token"""
_MOST = 2**31 - 1
"""the largest number that a format may count to"""

Token: TypeAlias = int | str
"""A token, by its number or its text."""


class Fields(NamedTuple):
    """The fields of a format.

    Attributes:
        value: the format.
        pointer: where it stands.
    """

    value: Mapping[str, Any]
    pointer: str

    def at(self, field: str) -> str:
        """Where a field stands."""
        return f"{self.pointer}/{field}"

    def only(self, known: Sequence[str]) -> None:
        """Refuse fields that are not known: what is asked for is never ignored."""
        for field in self.value:
            if field not in known:
                raise unsupported(
                    f"the format {self.value.get('type')} has no field {field!r}",
                    self.at(str(field)),
                    hint="known are: " + ", ".join(known),
                )

    def text(self, field: str, *, empty: bool = True) -> str:
        """A text."""
        text = self.value.get(field)
        if not isinstance(text, str):
            raise invalid(f"{field} is text", self.at(field))
        if not (text or empty):
            raise invalid(f"{field} is not empty", self.at(field))
        return text

    def flag(self, field: str, default: bool = False) -> bool:
        """A switch."""
        flag = self.value.get(field, default)
        if not isinstance(flag, bool):
            raise invalid(f"{field} is true or false", self.at(field))
        return flag

    def number(self, field: str, unit: str, *, least: int = 0) -> int | None:
        """A number of something; None: it is not given, or null."""
        count = self.value.get(field)
        if count is None:
            return None
        if isinstance(count, bool) or not isinstance(count, int) or not least <= count <= _MOST:
            raise invalid(f"{field} is a number of {unit}, {least} at least", self.at(field))
        return count

    def members(self, field: str, *, some: bool = True) -> Sequence[Any]:
        """A list; `some`: of one member at least."""
        listed = self.value.get(field)
        if not isinstance(listed, Sequence) or isinstance(listed, str):
            raise invalid(f"{field} is a list", self.at(field))
        if some and not listed:
            raise invalid(f"{field} has one member at least", self.at(field))
        return listed

    def texts(self, field: str, *, optional: bool = False) -> list[str]:
        """Texts, none of them empty; `optional`: the field may be missing or null, and the list empty."""
        if optional and self.value.get(field) is None:
            return []
        listed = self.members(field, some=not optional)
        for at, text in enumerate(listed):
            if not isinstance(text, str) or not text:
                raise invalid(f"{field} are texts, none of them empty", f"{self.at(field)}/{at}")
        return list(listed)

    def token(self, field: str) -> Token:
        """A token."""
        return as_token(self.value.get(field), self.at(field))

    def tokens(self, field: str, *, optional: bool = False) -> list[Token]:
        """Tokens; `optional`: the field may be missing or null, and the list empty."""
        if optional and self.value.get(field) is None:
            return []
        listed = self.members(field, some=not optional)
        return [as_token(token, f"{self.at(field)}/{at}") for at, token in enumerate(listed)]


def as_token(token: Any, pointer: str) -> Token:
    """A token by its number or its text, checked."""
    is_id = isinstance(token, int) and not isinstance(token, bool) and 0 <= token <= LAST_ID
    if is_id or (isinstance(token, str) and token):
        return token  # type: ignore[no-any-return]
    raise invalid("a token is its text or its number", pointer)


def invalid(message: str, pointer: str, hint: str | None = None) -> GrammarError:
    """The error of a tag that cannot be read."""
    return GrammarError("E-GRAMMAR-STRUCTURAL-TAG", message, pointer=pointer, hint=hint)


def unsupported(message: str, pointer: str, hint: str | None = None) -> GrammarError:
    """The error for a field that is not enforced, or unknown."""
    return GrammarError("E-GRAMMAR-UNSUPPORTED", message, pointer=pointer, hint=hint)


def limit_error(code: str, limit: str, given: int, allowed: int, pointer: str) -> LimitError:
    """The error of a tag that is larger than a limit allows."""
    # What is counted one by one is refused at the first too many.
    more = " or more" if given == allowed + 1 else ""
    return LimitError(
        code,
        f"{limit} allows {allowed}, the structural tag has {given}{more}",
        limit=limit,
        given=given,
        allowed=allowed,
        pointer=pointer,
        hint=f"simplify the input or raise Limits.{limit}",
    )
