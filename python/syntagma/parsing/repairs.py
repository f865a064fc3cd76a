"""The repairs of calls: what each is, and which of one call are still to be reported."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

__all__ = ["REPAIRS", "Repair", "Repairs"]

Repair: TypeAlias = Literal[
    "quotes", "words", "value", "key", "comma", "escape", "round", "closer",
    "inner quotes", "opening quote", "spelling", "zeros", "set", "adjacent", "object",
    "twice", "unclosed", "type", "wrapper", "separator", "list", "opener", "between", "last",
]  # fmt: skip

REPAIRS: dict[Repair, str] = {
    "quotes": "a string in single quotes was read",
    "words": "a word of another notation was read",
    "value": "a value without quotes was read as a string",
    "key": "a key without quotes was read",
    "comma": "a comma before the end of an object or array was left out",
    "escape": "an escape that JSON does not have was read",
    "round": "round brackets were read as those of an array",
    "closer": "what was open in the arguments was closed where the call ends",
    "inner quotes": "quotes inside a string were read as its text",
    "opening quote": "a string without its opening quote was read",
    "spelling": "a string or key that is spelled as in JSON was read",
    "zeros": "zeros before a number were left out",
    "set": "a set was read as an array",
    "adjacent": "strings beside each other were read as one",
    "object": "an object of JSON was read in place of the arguments",
    "twice": "a closer of an argument that was written twice was left out",
    "unclosed": "an argument was closed where the next one begins, or the call ends",
    "type": "an argument without its type was read",
    "wrapper": "what was written around the arguments was taken off",
    "separator": "arguments that nothing separates from the name were read",
    "list": "a call was read where a list of calls should stand",
    "opener": "another spelling of what opens the calls was read",
    "last": "a separator after the last call was left out",
    "between": "another separator, or none, was read between two calls",
}


class Repairs:
    """The repairs of one call. Each kind is reported once.

    Args:
        reported: kinds that were reported before.

    Attributes:
        repairs: those to be reported, in order.
    """

    __slots__ = ("_reported", "repairs")

    def __init__(self, reported: Iterable[Repair] = ()) -> None:
        self._reported = set(reported)
        self.repairs: list[Repair] = []

    def tell(self, repair: Repair) -> bool:
        """Whether a repair of this kind was reported before. If not, it is; the reader stops, and makes it then."""
        if repair in self._reported:
            return True
        self._reported.add(repair)
        self.repairs.append(repair)
        return False

    def tell_object(self) -> bool:
        """As `tell`: an object of JSON stands in place of the arguments. How it is spelled is no repair of its own."""
        self._reported |= {"spelling", "words"}
        return self.tell("object")

    def take(self) -> str | None:
        """The next repair to be reported, as a sentence."""
        return REPAIRS[self.repairs.pop(0)] if self.repairs else None
