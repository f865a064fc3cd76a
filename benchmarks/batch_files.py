"""A file of transcripts through `syntagma batch`: rows a second, resident memory, and a run that is killed.

Every row holds a raw answer of some 300 characters: text, reasoning, one call or two. It is parsed, and written with
its message. CPU is that of all processes, their start included. Memory is what they have resident, summed, every tenth
of a second: `after warm-up` is the mean over the second tenth of the rows, `later` the highest after that. Ray Data
reads the same file, on this machine, with as many processes; starting it is not counted, and of its memory only what
its processes do not share.

The killed run gets SIGKILL after a third of the rows, all its processes at once, is called again, and must then have
written what the whole run wrote, byte for byte.

Run: `python benchmarks/batch_files.py [--quick]`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.arguments import arguments
from support.tables import Table, number

import syntagma as sg

ROWS = 200_000
FORMAT = "hermes"
EVERY = 0.1
"""seconds between two looks at the memory"""
THOUGHT = "The user asks for the weather, so the tool is called with the city that was named. " * 2
PROSE = "It is going to be sunny in the morning, with some clouds and light rain later in the day. " * 2
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo", "days": %d}}\n</tool_call>'


def answer(row: int) -> str:
    texts = (
        PROSE + PROSE,
        f"<think>\n{THOUGHT}\n</think>\n\n{PROSE}",
        f"<think>\n{THOUGHT}\n</think>\n\n" + CALL % row,
        PROSE + CALL % row + "\n" + CALL % (row + 1),
    )
    return texts[row % len(texts)]


def write_rows(path: Path, rows: int) -> None:
    with path.open("w") as file:
        for row in range(rows):
            file.write(json.dumps({"id": row, "generated_text": answer(row)}) + "\n")


class Memory(threading.Thread):
    """Looks at the resident memory of processes until it is stopped."""

    def __init__(self, *, shared: bool) -> None:
        super().__init__(daemon=True)
        self._shared, self._stopped = shared, threading.Event()
        self.seen: list[tuple[float, float]] = []
        """seconds since the epoch, and bytes"""

    def run(self) -> None:
        while not self._stopped.wait(EVERY):
            own = list(family(os.getpid()))
            self.seen.append((time.time(), sum(resident(one, shared=self._shared) for one in own)))

    def stop(self) -> list[tuple[float, float]]:
        self._stopped.set()
        self.join()
        return self.seen


def family(process: int) -> Iterator[int]:
    """A process and all below it."""
    yield process
    try:
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from family(int(child))
    except OSError:
        return


def resident(process: int, *, shared: bool) -> int:
    """Bytes; without `shared` only those that no other process has."""
    try:
        if shared:
            return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except (OSError, IndexError):
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Private_"))


def through_files(source: Path, target: Path, workers: int) -> dict[str, Any]:
    """One run of `process_file`."""
    marks: dict[int, float] = {}
    rows = sum(1 for _ in source.open("rb"))

    def noted(progress: sg.batch.Progress) -> None:
        marks.setdefault(progress.rows * 10 // rows, time.time())

    memory = Memory(shared=True)
    memory.start()
    stage = sg.batch.Parse(sg.formats.get(FORMAT))
    summary = sg.batch.process_file(stage, source, target, workers=workers, progress=noted)
    cpu = sum(os.times()[:4])
    return {"seconds": summary.seconds, "cpu": cpu, "memory": phases(memory.stop(), marks[1], marks[2], time.time())}


def through_ray(source: Path, target: Path, workers: int) -> dict[str, Any]:
    """The same in Ray Data."""
    import ray

    ray.init(
        num_cpus=workers,
        object_store_memory=256 << 20,
        include_dashboard=False,
        log_to_driver=False,
        configure_logging=False,
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    stage = sg.batch.Parse(sg.formats.get(FORMAT))
    memory = Memory(shared=False)
    memory.start()
    begun = time.time()
    ray.data.read_json(str(source)).map_batches(stage, batch_format="pyarrow", batch_size=1000).write_parquet(
        str(target)
    )
    seconds = time.time() - begun
    seen = memory.stop()
    ray.shutdown()
    return {
        "seconds": seconds,
        "memory": phases(seen, begun + seconds * 0.1, begun + seconds * 0.2, begun + seconds),
    }


def phases(seen: list[tuple[float, float]], begin: float, end: float, last: float) -> tuple[float, float]:
    """Mean in the time of warm-up's end, and maximum after it."""
    warm = [size for at, size in seen if begin <= at < end] or [size for at, size in seen if at < end][-1:]
    later = [size for at, size in seen if end <= at <= last - EVERY] or warm
    return sum(warm) / len(warm), max(later)


def alone(what: str, source: Path, target: Path, workers: int) -> dict[str, Any]:
    """A measurement in a process of its own."""
    command = [sys.executable, __file__, "--one", what, str(source), str(target), str(workers)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def killed(source: Path, target: Path, workers: int) -> str:
    """Kill a run after a third of its rows, and call it again; what came of it."""
    command = [sys.executable, "-m", "syntagma", "batch", "parse", str(source), str(target), "--format", FORMAT]
    command += ["--workers", str(workers), "--json"]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    journal = target.with_name(target.name + ".journal")
    third = source.stat().st_size / 3
    while run.poll() is None:
        time.sleep(0.05)
        lines = journal.read_text().splitlines()[1:-1] if journal.exists() else []
        if lines and json.loads(lines[-1])["position"] > third:
            os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    if run.returncode != -signal.SIGKILL or target.exists():
        return "the run ended before it could be killed"
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    summary = json.loads(done.stdout)
    return (
        f"{summary['resumed_rows']:,} of {summary['rows']:,} rows were there, the rest took {summary['seconds']:.1f} s"
    )


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        _, _, what, source, target, workers = sys.argv
        measure = through_ray if what == "Ray Data" else through_files
        print(json.dumps(measure(Path(source), Path(target), int(workers))))
        return
    options = arguments(__doc__)
    rows = ROWS // 10 if options.quick else ROWS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder / "in.jsonl", rows)
        size = (folder / "in.jsonl").stat().st_size
        print(f"\n{rows:,} rows, {size / 1e6:,.0f} MB of JSON lines.\n")
        targets = ["jsonl", *(["parquet"] if importlib.util.find_spec("pyarrow") else [])]
        runs = [("process_file", form, workers) for form in targets for workers in (1, 2)]
        if importlib.util.find_spec("ray"):
            runs.append(("Ray Data", "parquet", 2))
        columns = [
            "run",
            "target",
            "processes",
            "rows/s",
            "seconds",
            "CPU µs a row",
            "MB after warm-up",
            "later, at most",
            "ratio",
        ]
        table = Table(columns, texts=2)
        for what, form, workers in runs:
            target = folder / f"{what.split()[0]}{workers}.{form}"
            found = alone(what, folder / "in.jsonl", target, workers)
            warm, later = found["memory"]
            cpu = number(found["cpu"] / rows * 1e6) if "cpu" in found else ""
            cells = [number(rows / found["seconds"]), number(found["seconds"]), cpu]
            table.row(what, form, workers, *cells, number(warm / 1e6), number(later / 1e6), f"{later / warm:.2f}")
        same = digest(folder / "process_file1.jsonl") == digest(folder / "process_file2.jsonl")
        print(f"\nOne process and two wrote {'the same bytes' if same else 'DIFFERENT BYTES'}.")
        told = killed(folder / "in.jsonl", folder / "killed.jsonl", 2)
        same = digest(folder / "killed.jsonl") == digest(folder / "process_file1.jsonl")
        print(f"Killed and called again: {told}; {'the same bytes' if same else 'DIFFERENT BYTES'} as in one run.")


if __name__ == "__main__":
    main()
