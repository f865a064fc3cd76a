"""Reads columns from batches of data libraries, and adds columns to them."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from syntagma.errors import ArgumentError, ArgumentTypeError

__all__ = ["arrow_type", "columns_of", "is_row", "rows_in", "with_columns"]


def is_row(batch: Any, needed: str | None, *, lists: bool) -> bool:
    """Whether a batch is one row, in contrast to a dictionary of columns.

    A column is an array or a list with one value per row.

    Args:
        batch: a batch in any form.
        needed: name of the required column, which decides; None: there is none.
        lists: whether the values of that column are lists, of messages or token ids. Then a list of lists is a column,
            and a list of messages or ids is the value of one row.
    """
    if not isinstance(batch, Mapping):
        return False
    if needed is None or needed not in batch:
        return not batch or not all(isinstance(one, np.ndarray) for one in batch.values())
    value = batch[needed]
    if not isinstance(value, np.ndarray | list | tuple):
        return True
    if lists and len(value) == 0:
        return not all(isinstance(one, np.ndarray | list) and len(one) == 0 for one in batch.values())
    return lists and isinstance(value[0], Mapping | numbers.Integral)


def columns_of(batch: Any, names: Iterable[str], *, needed: str | None) -> dict[str, list[Any]]:
    """The values of the named columns, without those that the batch does not have.

    Raises:
        ArgumentError: `E-BATCH-MISSING`, the required column is missing.
        ArgumentTypeError: `E-BATCH-FORM`, the batch has an unknown type.
    """
    there = _names_of(batch)
    if needed is not None and needed not in there:
        raise ArgumentError(
            "E-BATCH-MISSING",
            f"the batch has no column {needed!r}, only {', '.join(map(str, there)) or 'none'}",
            hint="name the column: columns={…}",
            pointer=f"/{needed}",
        )
    return {name: _values(batch[name]) for name in dict.fromkeys(names) if name in there}


def rows_in(batch: Any) -> int:
    """The number of rows of a batch."""
    if isinstance(batch, Mapping):
        return max((len(column) for column in batch.values()), default=0)
    return int(batch.num_rows) if _is_arrow(batch) else len(batch)


def _names_of(batch: Any) -> list[Any]:
    if isinstance(batch, Mapping):
        return list(batch)
    if _is_arrow(batch):
        return list(batch.schema.names)
    if _is_pandas(batch):
        return list(batch.columns)
    raise ArgumentTypeError(
        "E-BATCH-FORM",
        f"a batch must be a table, a dictionary of columns, a list of rows or a row, not a {type(batch).__name__}",
    )


def _values(column: Any) -> list[Any]:
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column)


def with_columns(batch: Any, found: Mapping[str, list[Any]], kinds: Mapping[str, str]) -> Any:
    """The batch with further columns. Existing columns of the same names are replaced."""
    if isinstance(batch, Mapping):
        return {**batch, **{name: _array(values) for name, values in found.items()}}
    if _is_pandas(batch):
        return batch.assign(**{name: _array(values) for name, values in found.items()})
    import pyarrow as pa

    there = {name: batch.column(name) for name in batch.schema.names}
    types = {name: arrow_type(kinds[name]) for name in found}
    made = {name: pa.array(values, types[name]) for name, values in found.items()}
    schema = pa.schema(
        [
            *(field for field in batch.schema if field.name not in found),
            *(pa.field(name, kind) for name, kind in types.items()),
        ],
        metadata=batch.schema.metadata,
    )
    columns = {**{name: one for name, one in there.items() if name not in found}, **made}
    return type(batch).from_arrays([columns[name] for name in schema.names], schema=schema)


def _array(values: list[Any]) -> Any:
    """An array of objects. `np.array` would turn lists of equal length into a two-dimensional array."""
    array = np.empty(len(values), dtype=object)
    for at, value in enumerate(values):
        array[at] = value
    return array


def arrow_type(kind: str) -> Any:
    """The Arrow type of a column type, see `syntagma.batch.stage.Kind`."""
    import pyarrow as pa

    text = pa.string()
    call = pa.struct([("id", text), ("name", text), ("arguments", text), ("complete", pa.bool_())])
    diagnostic = pa.struct([("code", text), ("message", text), ("start", pa.int64()), ("end", pa.int64())])
    return {
        "text": text,
        "count": pa.int64(),
        "flag": pa.bool_(),
        "texts": pa.list_(text),
        "ids": pa.list_(pa.int32()),
        "mask": pa.list_(pa.int8()),
        "calls": pa.list_(call),
        "diagnostics": pa.list_(diagnostic),
        "error": pa.struct([("code", text), ("message", text)]),
    }[kind]


def _is_arrow(batch: Any) -> bool:
    # No import is needed: a caller with an Arrow table has imported the library.
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(batch, arrow.Table | arrow.RecordBatch)


def _is_pandas(batch: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(batch, pandas.DataFrame)
