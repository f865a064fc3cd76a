"""The partial file of a Parquet target: tables one after another, each an Arrow stream of its own.

A Parquet file has its directory at the end, so it cannot be appended to. Tables can be; they are written as Parquet
when all rows are complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from syntagma.batch.files.form import arrow
from syntagma.batch.stage import Kind
from syntagma.batch.tables import arrow_type
from syntagma.batch.values import json_of

__all__ = ["table_bytes", "table_of", "write_parquet"]

_LENGTH = 8
"""number of bytes of the length before each table"""


def table_of(rows: list[dict[str, Any]], kinds: Mapping[str, Kind]) -> Any:
    """Rows as a table. Values other than numbers and strings become JSON text, except in columns of results."""
    pa = arrow()
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {}
    for name in names:
        values = [row.get(name) for row in rows]
        columns[name] = pa.array(values, arrow_type(kinds[name])) if name in kinds else _plain_column(pa, values)
    return pa.table(columns)


def _plain_column(pa: Any, values: list[Any]) -> Any:
    if not any(isinstance(value, dict | list) for value in values):
        try:
            return pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            pass
    return pa.array([_as_text(value) for value in values], pa.string())


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json_of(value).decode()


def table_bytes(table: Any) -> bytes:
    """A table as bytes, preceded by its length."""
    pa = arrow()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as stream:
        stream.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return len(data).to_bytes(_LENGTH, "little") + data


def write_parquet(work: Path, target: Path, results: Mapping[str, Kind]) -> None:
    """Write all tables of a partial file as one Parquet file.

    Args:
        work: the file with the tables.
        target: the file to write.
        results: the columns of results, which are written even if there are no rows.
    """
    pa = arrow()
    import pyarrow.parquet as pq

    schema = _common_schema(pa, work, results)
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        for table in _tables(pa, work):
            writer.write_table(_fitted(pa, table, schema))


def _common_schema(pa: Any, work: Path, results: Mapping[str, Kind]) -> Any:
    """The columns of all tables, each with a type that fits all its values."""
    types: dict[str, Any] = {}
    for table in _tables(pa, work, only_schema=True):
        for field in table:
            seen = types.setdefault(field.name, field.type)
            if seen != field.type:
                types[field.name] = _common_type(pa, seen, field.type)
    for name, kind in results.items():
        types.setdefault(name, arrow_type(kind))
    return pa.schema([pa.field(name, pa.string() if kind == pa.null() else kind) for name, kind in types.items()])


def _common_type(pa: Any, one: Any, other: Any) -> Any:
    if pa.null() in (one, other):
        return other if one == pa.null() else one
    numbers = {pa.int64(), pa.float64()}
    return pa.float64() if {one, other} == numbers else pa.string()


def _fitted(pa: Any, table: Any, schema: Any) -> Any:
    columns = []
    for field in schema:
        if field.name not in table.schema.names:
            columns.append(pa.nulls(table.num_rows, field.type))
            continue
        column = table.column(field.name)
        if field.type == pa.string() and column.type not in (pa.string(), pa.null()):
            column = pa.array([_as_text(value) for value in column.to_pylist()], pa.string())
        columns.append(column.cast(field.type))
    return pa.table(columns, schema=schema)


def _tables(pa: Any, work: Path, *, only_schema: bool = False) -> Iterator[Any]:
    with work.open("rb") as file:
        while head := file.read(_LENGTH):
            with pa.ipc.open_stream(_rest(file, head)) as stream:
                yield stream.schema if only_schema else stream.read_all()


def _rest(file: BinaryIO, head: bytes) -> bytes:
    return file.read(int.from_bytes(head, "little"))
