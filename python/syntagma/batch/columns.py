"""Maps the standard names of a stage's columns to their names in the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from syntagma.entry import check_argument
from syntagma.errors import ArgumentError

__all__ = ["Columns"]


class Columns:
    """The names of a stage's columns in the data."""

    def __init__(self, standard: Iterable[str], given: Mapping[str, str] | None) -> None:
        """Check and store the names.

        Args:
            standard: the standard names of a stage's columns.
            given: standard name → name in the data; None: the standard names.

        Raises:
            ArgumentError: `E-BATCH-NAME`, the stage has no such column, or two columns get the same name.
        """
        known = tuple(dict.fromkeys(standard))
        check_argument("columns", given, Mapping[str, str] | None)
        names = dict(given or {})
        unknown = sorted(names.keys() - set(known))
        if unknown:
            raise ArgumentError(
                "E-BATCH-NAME",
                f"the stage has no column {unknown[0]!r}",
                hint=f"its columns: {', '.join(known)}",
                pointer=f"/columns/{unknown[0]}",
            )
        self._names = {name: names.get(name, name) for name in known}
        twice = [name for at, name in enumerate(names) if names[name] in [names[one] for one in list(names)[:at]]]
        if twice:
            raise ArgumentError(
                "E-BATCH-NAME", f"two columns have the name {names[twice[0]]!r}", pointer=f"/columns/{twice[0]}"
            )

    def __getitem__(self, standard: str) -> str:
        """The name in the data for a standard name."""
        return self._names[standard]
