"""Batches in the forms that data libraries use: columns out of them, and columns of results into them."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from syntagma.errors import ArgumentError, ArgumentTypeError

__all__ = ["arrow_type", "columns_of", "is_row", "rows_in", "with_columns"]


def is_row(batch: Any, needed: str | None, *, lists: bool) -> bool:
    """Whether a dictionary is one row, not a dictionary of columns.

    A column is an array or a list with one value a row.

    Args:
        batch: a batch in any form.
        needed: the column by which it is told; None: there is none.
        lists: whether a value of that column is itself a list, of messages or of token ids. Lists of these make a
            column then, and no row.
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
    """The values of those of the columns that a batch has.

    Raises:
        ArgumentError: `E-BATCH-MISSING`, the needed one is not among them.
        ArgumentTypeError: `E-BATCH-FORM`, no form of batch that is known.
    """
    there = _names_of(batch)
    if needed is not None and needed not in there:
        raise ArgumentError(
            "E-BATCH-MISSING",
            f"the batch has no column {needed!r}, only {', '.join(map(str, there)) or 'none'}",
            hint="name another one: columns={…}",
            pointer=f"/{needed}",
        )
    return {name: _values(batch[name]) for name in dict.fromkeys(names) if name in there}


def rows_in(batch: Any) -> int:
    """How many rows a batch has."""
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
        f"a batch is a table, a dictionary of columns, a list of rows or a row, not a {type(batch).__name__}",
    )


def _values(column: Any) -> list[Any]:
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column)


def with_columns(batch: Any, found: Mapping[str, list[Any]], kinds: Mapping[str, str]) -> Any:
    """The batch with further columns; one that is there already is replaced."""
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
    """An array of objects; numpy would make a table of lists that have one length."""
    array = np.empty(len(values), dtype=object)
    for at, value in enumerate(values):
        array[at] = value
    return array


def arrow_type(kind: str) -> Any:
    """The Arrow type of a kind of column, see `syntagma.batch.stage.Kind`."""
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
    # Asked without importing the library: whoever brings a table has imported it.
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(batch, arrow.Table | arrow.RecordBatch)


def _is_pandas(batch: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(batch, pandas.DataFrame)
