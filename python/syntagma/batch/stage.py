"""`Stage`: the base class of stages, which handles batches of any form and rows that cannot be processed."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, TypeAlias

from syntagma.batch.tables import columns_of, is_row, rows_in, with_columns
from syntagma.batch.values import plain
from syntagma.entry import check_argument, entry, with_options_named
from syntagma.errors import ArgumentError, SyntagmaError

__all__ = ["ERROR", "Columns", "Kind", "Stage"]

Kind: TypeAlias = Literal["text", "count", "flag", "texts", "ids", "mask", "calls", "diagnostics", "error"]
"""the type of a column of results"""

ERROR = "error"
"""standard name of the column with the error of a row that could not be processed"""


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


class Stage:
    """A step over rows. It can be pickled, and called with batches of any form.

    Attributes:
        needs: standard name of the required column; None: no column is required.
        lists: whether the values of the required column are lists.
        reads: standard names of all input columns.
        results: standard names and types of the output columns.
    """

    needs: str | None
    lists: bool
    reads: ClassVar[tuple[str, ...]]
    results: Mapping[str, Kind]

    def __init_subclass__(cls) -> None:
        cls.__doc__ = with_options_named(cls.__doc__, inspect.unwrap(cls.__init__))

    def __init__(self, columns: Mapping[str, str] | None) -> None:
        self._columns = Columns((*self.reads, *self.results, ERROR), columns)

    def __call__(self, batch: Any) -> Any:
        """Process a batch, and return it with the columns of results, in the same form.

        If a row cannot be processed, its results are null and its column `error` has the code and the message.

        Args:
            batch: an Arrow table or record batch, a pandas DataFrame, a dictionary of columns, a list of rows, or one
                row as a dictionary. Null members of structures count as missing, because Arrow adds them; in JSON text
                they are kept.

        Raises:
            ArgumentError: `E-BATCH-MISSING`, a table does not have the required column.
            ArgumentTypeError: `E-BATCH-FORM`, the batch is none of these.
        """
        needed = None if self.needs is None else self._columns[self.needs]
        if is_row(batch, needed, lists=self.lists):
            return self._joined({name: plain(value) for name, value in batch.items()}, batch)
        if isinstance(batch, list | tuple):
            return [self(one) for one in batch]
        names = {standard: self._columns[standard] for standard in self.reads}
        given = columns_of(batch, names.values(), needed=needed)
        found = self._answers({name: plain(one[at]) for name, one in given.items()} for at in range(rows_in(batch)))
        kinds = self.written
        return with_columns(batch, {name: [row[name] for row in found] for name in kinds}, kinds)

    @entry
    def row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """One row with its results. Null members of structures are kept."""
        return self._joined(row, row)

    @property
    def written(self) -> dict[str, Kind]:
        """The names in the data and the types of the output columns."""
        kinds: dict[str, Kind] = {**self.results, ERROR: "error"}
        return {self._columns[name]: kind for name, kind in kinds.items()}

    @property
    def error_column(self) -> str:
        """The name in the data of the column with errors."""
        return self._columns[ERROR]

    @property
    def diagnostics_column(self) -> str | None:
        """The name in the data of the column with diagnostics; None: the stage has none."""
        return self._columns["diagnostics"] if "diagnostics" in self.results else None

    def identity(self) -> list[Any]:
        """Plain data that identifies the stage. A run over a file may be resumed only by a stage with equal data."""
        return [type(self).__qualname__, self.written, *self._identity()]

    def _identity(self) -> list[Any]:
        raise NotImplementedError

    def _joined(self, read: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
        return {**row, **self._answers([read])[0]}

    def _answers(self, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The results of each row, under their names in the data."""
        return [self._named(self._answer_or_error(row)) for row in rows]

    def _answer_or_error(self, row: Mapping[str, Any]) -> dict[str, Any]:
        try:
            given = {standard: row.get(self._columns[standard]) for standard in self.reads}
            if self.needs is not None and self._columns[self.needs] not in row:
                raise self._missing(self.needs, row)
            return self._answer(given)
        except SyntagmaError as error:
            return {ERROR: {"code": error.code, "message": error.message}}
        except Exception as error:  # one bad row must not end a batch of millions
            return {ERROR: {"code": "E-BATCH-ROW", "message": f"unexpected {type(error).__name__}: {error}"}}

    def _missing(self, standard: str, row: Mapping[str, Any]) -> ArgumentError:
        needed = self._columns[standard]
        return ArgumentError(
            "E-BATCH-MISSING",
            f"the row has no column {needed!r}, only {', '.join(map(str, row)) or 'none'}",
            hint=f"name the column: columns={{{standard!r}: …}}",
            pointer=f"/{needed}",
        )

    def _named(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        return {self._columns[name]: answer.get(name) for name in (*self.results, ERROR)}

    def _answer(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The results of a row, by standard names.

        Raises:
            SyntagmaError: the row cannot be processed.
        """
        raise NotImplementedError
