from __future__ import annotations

import gc
import gzip
import json
import os
import pickle
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import syntagma as sg
from syntagma.batch import Parse, Progress, Summary, process_file
from tests.batch.rows import CALL, WEATHER, answer, made_format, made_template


def row(number: int) -> dict[str, Any]:
    return {"id": number, "generated_text": answer(number)}


def line(number: int) -> str:
    """A line of a file: most are rows, some are blank, no JSON, no object, or rows without a text."""
    odd = {3: "", 5: "{", 8: "[1]", 11: json.dumps({"id": number, "generated_text": None}), 13: '{"id": 1}'}
    return odd.get(number % 17, json.dumps(row(number)))


def write(path: Path, lines: list[str], *, end: str = "\n") -> Path:
    text = ("\n".join(lines) + end if lines else "").encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def read(path: Path) -> list[Any]:
    data = path.read_bytes()
    return [json.loads(one) for one in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()]


def oracle(lines: list[str]) -> tuple[list[dict[str, Any]], list[int]]:
    """What must come out: the rows with their results one by one, and the numbers of the lines that are bad."""
    parse, good, bad = Parse(made_format()), [], []
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        found = parse.row(value) if isinstance(value, dict) else {"error": {}}
        if found.pop("error") is None:
            good.append(found)
        else:
            bad.append(number)
    return good, bad


def check(summary: Summary, lines: list[str]) -> None:
    good, bad = oracle(lines)
    assert read(Path(summary.target)) == good
    side = [] if summary.errors is None else read(Path(summary.errors))
    assert [one["row"] for one in side] == bad
    assert (summary.written, summary.bad_rows, summary.rows) == (len(good), len(bad), len(good) + len(bad))
    left = [name for name in os.listdir(Path(summary.target).parent) if name.endswith((".partial", ".journal"))]
    assert left == []


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    numbers=st.lists(st.integers(0, 40), max_size=30),
    chunk_rows=st.integers(1, 12),
    end=st.sampled_from(["", "\n", "\r\n"]),
    suffixes=st.tuples(st.sampled_from(["", ".gz"]), st.sampled_from(["", ".gz"])),
)
def test_every_row_comes_out_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory,
    numbers: list[int],
    chunk_rows: int,
    end: str,
    suffixes: tuple[str, str],
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    lines = [line(number) for number in numbers]
    if not oracle(lines)[0]:
        lines.append(line(0))  # a file in which no row has the column is another case
    source = write(folder / f"in.jsonl{suffixes[0]}", lines, end=end)
    check(process_file(Parse(made_format()), source, folder / f"out.jsonl{suffixes[1]}", chunk_rows=chunk_rows), lines)


def test_several_processes_keep_the_order(tmp_path: Path) -> None:
    lines = [line(number) for number in range(200)]
    source = write(tmp_path / "in.jsonl", lines)
    check(process_file(Parse(made_format()), source, tmp_path / "out.jsonl", workers=3, chunk_rows=7), lines)


class Stopped(Exception):
    """A run that is stopped from within."""


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    stops=st.lists(st.integers(1, 4), max_size=3),
    commits=st.booleans(),
    suffix=st.sampled_from(["", ".gz"]),
    torn=st.binary(max_size=40),
)
def test_a_stopped_run_goes_on(
    tmp_path_factory: pytest.TempPathFactory, stops: list[int], commits: bool, suffix: str, torn: bytes
) -> None:
    """Stopped after any chunk, with anything half-written behind what was committed, nothing is lost or doubled."""
    folder = tmp_path_factory.mktemp("rows")
    lines = [line(number) for number in range(60)]
    source, target = write(folder / f"in.jsonl{suffix}", lines), folder / "out.jsonl"
    stage = Parse(made_format())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("syntagma.batch.files.run._COMMIT_SECONDS", 0.0 if commits else 60.0)
        for after in stops:
            with pytest.raises(Stopped):
                process_file(stage, source, target, chunk_rows=4, progress=_stop_after(after))
            assert not target.exists()
            for name in ("out.jsonl.partial", "out.jsonl.errors.jsonl.partial", "out.jsonl.journal"):
                if (folder / name).exists():
                    with (folder / name).open("ab") as file:
                        file.write(torn.replace(b"\n", b" "))
        summary = process_file(stage, source, target, chunk_rows=5)
    assert (summary.resumed_rows > 0) == (commits and bool(stops))
    check(summary, lines)


def _stop_after(count: int) -> Any:
    seen = []

    def stop(progress: Progress) -> None:
        seen.append(progress)
        if len(seen) == count:
            raise Stopped

    return stop


def test_a_run_that_was_stopped_while_it_finished_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line(number) for number in range(30)]
    source, target = write(tmp_path / "in.jsonl", lines), tmp_path / "out.jsonl"
    real = os.replace
    for allowed in (0, 1):
        moved: list[object] = []

        def replace(one: Any, other: Any, allowed: int = allowed, moved: list[object] = moved) -> None:
            if len(moved) == allowed:
                raise Stopped
            moved.append(one)
            real(one, other)

        monkeypatch.setattr(os, "replace", replace)
        with pytest.raises(Stopped):
            process_file(Parse(made_format()), source, target)
    monkeypatch.setattr(os, "replace", real)
    check(process_file(Parse(made_format()), source, target), lines)


def test_a_finished_file_is_not_written_again(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [line(number) for number in range(20)])
    target = tmp_path / "out.jsonl"
    process_file(Parse(made_format()), source, target)
    with pytest.raises(sg.BatchError) as caught:
        process_file(Parse(made_format()), source, target)
    assert caught.value.code == "E-BATCH-EXISTS"
    clean = write(tmp_path / "clean.jsonl", [line(0)])
    summary = process_file(Parse(made_format()), clean, target, overwrite=True)
    check(summary, [line(0)])
    assert not (tmp_path / "out.jsonl.errors.jsonl").exists(), "of the run before"


@pytest.mark.parametrize("change", ["options", "source", "journal", "partial"])
def test_another_run_does_not_go_on_with_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    monkeypatch.setattr("syntagma.batch.files.run._COMMIT_SECONDS", 0.0)
    lines = [line(number) for number in range(40)]
    source, target = write(tmp_path / "in.jsonl", lines), tmp_path / "out.jsonl"
    with pytest.raises(Stopped):
        process_file(Parse(made_format()), source, target, chunk_rows=5, progress=_stop_after(3))
    stage = Parse(made_format())
    if change == "options":
        stage = Parse(made_format(), tools=[WEATHER])
    elif change == "source":
        lines.append(line(0))
        write(source, lines)
    elif change == "journal":
        (tmp_path / "out.jsonl.journal").write_text("odd\n")
    else:
        (tmp_path / "out.jsonl.partial").write_text("")
    with pytest.raises(sg.BatchError) as caught:
        process_file(stage, source, target)
    assert caught.value.code == "E-BATCH-RESUME"
    check(process_file(stage, source, target, overwrite=True), lines)


def test_one_run_at_a_time(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [line(number) for number in range(20)])
    target = tmp_path / "out.jsonl"

    def again(_: Progress) -> None:
        with pytest.raises(sg.BatchError) as caught:
            process_file(Parse(made_format()), source, target)
        assert caught.value.code == "E-BATCH-BUSY"

    process_file(Parse(made_format()), source, target, progress=again)


def test_a_column_that_no_row_has_stops_the_run_at_once(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", ['{"text": "x"}'] * 50 + ["{"])
    with pytest.raises(sg.ArgumentError) as caught:
        process_file(Parse(made_format()), source, tmp_path / "out.jsonl")
    assert caught.value.code == "E-BATCH-MISSING"
    assert "text" in caught.value.message
    assert os.listdir(tmp_path) == ["in.jsonl"], "nothing is left that the next run would trip over"


def test_bad_rows_are_told_with_file_row_and_data(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [line(0), "", "{odd", '{"generated_text": 7, "id": "a"}'])
    side = tmp_path / "bad.jsonl"
    process_file(Parse(made_format()), source, tmp_path / "out.jsonl", errors=side)
    broken, wrong = read(side)
    assert (broken["source"], broken["row"], broken["text"]) == (str(source), 3, "{odd")
    assert broken["error"]["code"] == "E-BATCH-LINE"
    assert (wrong["row"], wrong["data"]) == (4, {"generated_text": 7, "id": "a"})
    assert wrong["error"]["code"] == "E-BATCH-COLUMN"


def test_a_line_that_is_too_long_is_a_bad_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("reading", "processing"):
        monkeypatch.setattr(f"syntagma.batch.files.{module}.LINE_BYTES", 300)
    lines = [line(0), json.dumps({"generated_text": "x" * 5000}), line(1)]
    source = write(tmp_path / "in.jsonl", lines)
    summary = process_file(Parse(made_format()), source, tmp_path / "out.jsonl")
    assert [one["id"] for one in read(tmp_path / "out.jsonl")] == [0, 1]
    assert summary.errors is not None
    assert [(one["row"], one["error"]["code"]) for one in read(Path(summary.errors))] == [(2, "E-BATCH-LINE")]


def test_damaged_files_say_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syntagma.batch.files.reading._PIECE", 4096)
    source = write(
        tmp_path / "in.jsonl.gz", [json.dumps({"id": n, "generated_text": os.urandom(40).hex()}) for n in range(2000)]
    )
    whole = source.read_bytes()
    source.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(sg.BatchError) as caught:
        process_file(Parse(made_format()), source, tmp_path / "out.jsonl", chunk_rows=100)
    assert caught.value.code == "E-BATCH-READ"
    assert caught.value.line is not None
    assert 1 < caught.value.line < 2000


@pytest.mark.parametrize("name", ["rows", "rows.txt", "rows.csv.gz", "rows.gz", ".jsonl"])
def test_names_say_what_is_in_a_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(sg.BatchError) as caught:
        process_file(Parse(made_format()), tmp_path / name, tmp_path / "out.jsonl")
    assert caught.value.code == "E-BATCH-SUFFIX"


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [line(0)])
    for one, other, code in (
        (tmp_path / "none.jsonl", tmp_path / "out.jsonl", "E-BATCH-READ"),
        (source, tmp_path / "none" / "out.jsonl", "E-BATCH-WRITE"),
    ):
        with pytest.raises(sg.BatchError) as caught:
            process_file(Parse(made_format()), one, other)
        assert caught.value.code == code
    for options in ({"workers": 0}, {"chunk_rows": 0}):
        with pytest.raises(sg.ArgumentError):
            process_file(Parse(made_format()), source, tmp_path / "out.jsonl", **options)


class Ends(Parse):
    """A stage in which one row ends the process."""

    def _answer(self, given: Any) -> dict[str, Any]:
        if "STOP" in given["generated_text"]:
            os._exit(3)
        return super()._answer(given)


def test_a_process_that_dies_is_told_with_its_rows(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [line(0)] * 20 + ['{"generated_text": "STOP"}'] + [line(0)] * 5)
    with pytest.raises(sg.BatchError) as caught:
        process_file(Ends(made_format()), source, tmp_path / "out.jsonl", workers=2, chunk_rows=4)
    assert (caught.value.code, caught.value.line) == ("E-BATCH-WORKER", 21)
    # Chunks that were done are not done again, and the order is kept, once the cause is gone.
    kept = pickle.loads(pickle.dumps(caught.value))
    assert "21 to 24" in kept.message


class Echo(Parse):
    """A stage that costs nothing."""

    def _answer(self, given: Any) -> dict[str, Any]:
        return {"content": given["generated_text"]}


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    peaks = []
    for count in (4_000, 40_000):
        source = write(tmp_path / f"{count}.jsonl", [json.dumps({"generated_text": "x" * 200})] * count)
        gc.collect()
        tracemalloc.start()
        process_file(Echo(made_format()), source, tmp_path / f"{count}.out.jsonl", chunk_rows=500)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_prompts_and_grammars_of_files(tmp_path: Path) -> None:
    rows = [{"messages": [{"role": "user", "content": str(n)}], "tools": [WEATHER]} for n in range(5)]
    source = write(tmp_path / "in.jsonl", [json.dumps(one) for one in rows])
    process_file(sg.batch.Render(made_template()), source, tmp_path / "prompts.jsonl")
    constrain = sg.batch.Constrain(made_format(), "gbnf", tool_choice="required")
    process_file(constrain, tmp_path / "prompts.jsonl", tmp_path / "asked.jsonl")
    found = read(tmp_path / "asked.jsonl")
    assert [one["messages"] for one in found] == [one["messages"] for one in rows]
    grammar = sg.Grammar.from_gbnf(found[0]["grammar"])
    assert grammar.accepts(CALL)
    assert not grammar.accepts("Yes.")


# -- Parquet


def test_parquet_holds_what_json_lines_hold(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    lines = [line(number) for number in range(100)]
    source = write(tmp_path / "in.jsonl", lines)
    stage = Parse(made_format())
    good, bad = oracle(lines)
    # To Parquet and from there to JSON lines again, in pieces that fit neither chunks nor groups of rows.
    summary = process_file(stage, source, tmp_path / "out.parquet", chunk_rows=7, workers=2)
    assert (summary.written, summary.bad_rows) == (len(good), len(bad))
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.to_pylist() == good
    pq.write_table(table.select(["id", "generated_text"]), tmp_path / "in.parquet", row_group_size=11)
    process_file(stage, tmp_path / "in.parquet", tmp_path / "again.jsonl", chunk_rows=4)
    assert read(tmp_path / "again.jsonl") == good
    process_file(stage, tmp_path / "in.parquet", tmp_path / "again.parquet", chunk_rows=4)
    assert pq.read_table(tmp_path / "again.parquet").to_pylist() == good


@pytest.mark.parametrize("target", ["out.parquet", "out.jsonl"])
def test_a_stopped_run_over_parquet_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    monkeypatch.setattr("syntagma.batch.files.run._COMMIT_SECONDS", 0.0)
    rows = [row(number) if number % 7 else {"id": number, "generated_text": None} for number in range(50)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet", row_group_size=9)
    for after in (3, 1, 4):
        with pytest.raises(Stopped):
            process_file(
                Parse(made_format()),
                tmp_path / "in.parquet",
                tmp_path / target,
                chunk_rows=4,
                progress=_stop_after(after),
            )
    summary = process_file(Parse(made_format()), tmp_path / "in.parquet", tmp_path / target, chunk_rows=4)
    found = pq.read_table(tmp_path / target).to_pylist() if target.endswith("parquet") else read(tmp_path / target)
    assert [one["id"] for one in found] == [number for number in range(50) if number % 7]
    assert summary.errors is not None
    assert [one["row"] for one in read(Path(summary.errors))] == [number + 1 for number in range(0, 50, 7)]
    assert 0 < summary.resumed_rows < 50


def test_columns_of_mixed_values_become_text_in_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    values: list[Any] = [1, 2.5, None, "text", [1], {"a": {}}, 2**70, True]
    rows = [{"generated_text": "x", "mixed": value, "number": at, "none": None} for at, value in enumerate(values)]
    rows[3]["late"] = 1.5
    source = write(tmp_path / "in.jsonl", [json.dumps(one) for one in rows])
    process_file(Parse(made_format()), source, tmp_path / "out.parquet", chunk_rows=1)
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column("mixed").to_pylist() == ["1", "2.5", None, "text", "[1]", '{"a":{}}', str(2**70), "true"]
    assert table.column("number").to_pylist() == list(range(8))
    assert table.column("late").to_pylist() == [None, None, None, 1.5, None, None, None, None]
    assert table.column("none").to_pylist() == [None] * 8


def test_an_empty_file_gives_an_empty_file(tmp_path: Path) -> None:
    process_file(Parse(made_format()), write(tmp_path / "in.jsonl", []), tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == b""
    pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    process_file(Parse(made_format()), tmp_path / "in.jsonl", tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.num_rows == 0
    assert "tool_calls" in table.schema.names


def test_zstandard(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    lines = [line(number) for number in range(60)]
    source = write(tmp_path / "in.jsonl", lines)
    process_file(Parse(made_format()), source, tmp_path / "out.jsonl.zst", chunk_rows=5)
    # Several compressed pieces, one behind the other, are read as one file.
    process_file(Parse(made_format()), tmp_path / "out.jsonl.zst", tmp_path / "again.jsonl", chunk_rows=9)
    assert read(tmp_path / "again.jsonl") == oracle(lines)[0]


def test_a_parquet_file_without_the_column_is_refused(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"text": ["x"]}), tmp_path / "in.parquet")
    with pytest.raises(sg.ArgumentError) as caught:
        process_file(Parse(made_format()), tmp_path / "in.parquet", tmp_path / "out.parquet")
    assert caught.value.code == "E-BATCH-MISSING"
    (tmp_path / "odd.parquet").write_bytes(b"no Parquet")
    with pytest.raises(sg.BatchError):
        process_file(Parse(made_format()), tmp_path / "odd.parquet", tmp_path / "out.parquet")


def test_codes_are_counted_over_chunks_processes_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one would count them in the results, however the rows are divided."""
    lines = [json.dumps({"generated_text": (CALL, CALL[:-20], None, CALL[:30])[at % 4]}) for at in range(60)] + ["{"]
    source = write(tmp_path / "in.jsonl", lines)
    parse, wanted, diagnosed = Parse(made_format()), Counter({"E-BATCH-LINE": 1}), 0
    for text in lines[:-1]:
        found = parse.row(json.loads(text))
        told = {one["code"] for one in found["diagnostics"] or ()}
        wanted.update([found["error"]["code"]] if found["error"] else told)
        diagnosed += bool(told)
    for at, (workers, size) in enumerate([(1, 1000), (1, 7), (2, 7)]):
        summary = process_file(parse, source, tmp_path / f"{at}.jsonl", workers=workers, chunk_rows=size)
        assert (summary.codes, summary.diagnosed_rows) == (dict(wanted), diagnosed)
    monkeypatch.setattr("syntagma.batch.files.run._COMMIT_SECONDS", 0.0)
    target = tmp_path / "resumed.jsonl"
    with pytest.raises(Stopped):
        process_file(parse, source, target, chunk_rows=7, progress=_stop_after(3))
    summary = process_file(parse, source, target, chunk_rows=7)
    assert summary.resumed_rows
    assert (summary.codes, summary.diagnosed_rows) == (dict(wanted), diagnosed)
