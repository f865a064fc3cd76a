"""The stages of a batch in Ray Data, on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import syntagma as sg
from tests.batch.rows import CALL, WEATHER, answer, made_format, made_template

ray: Any = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of Ray itself
ROWS = [{"id": n, "generated_text": None if n % 10 == 3 else answer(n)} for n in range(60)]


@pytest.fixture(scope="module", autouse=True)
def local() -> Iterator[None]:
    """A Ray of two processes, with a small store and without a dashboard."""
    pytest.importorskip("ray.data")
    ray.init(
        num_cpus=2,
        object_store_memory=100 << 20,
        include_dashboard=False,
        log_to_driver=False,
        configure_logging=False,
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def collected(dataset: Any) -> list[dict[str, Any]]:
    return sorted(dataset.take_all(), key=lambda row: row["id"])


@pytest.mark.parametrize("form", ["pyarrow", "numpy", "pandas", None])
def test_batches_of_every_form(form: str | None) -> None:
    parse = sg.batch.Parse(made_format(), tools=[WEATHER])
    data = ray.data.from_items(ROWS)
    options = {} if form is None else {"batch_format": form}
    found = collected(data.map_batches(parse, batch_size=16, **options))
    wanted = [parse.row(row) for row in ROWS]
    names = ("id", "content", "reasoning_content", "tool_calls", "finish_reason", "error")
    for name in names:
        assert [row[name] for row in found if row["id"] % 10 != 3] == [
            row[name] for row in wanted if row["id"] % 10 != 3
        ]
    assert all(row["error"]["code"] == "E-BATCH-COLUMN" for row in found if row["id"] % 10 == 3)


def test_rows_one_by_one() -> None:
    parse = sg.batch.Parse(made_format())
    found = collected(ray.data.from_items(ROWS).map(parse))
    assert [row["content"] for row in found] == [parse.row(row)["content"] for row in ROWS]


@pytest.mark.parametrize("form", ["pyarrow", "numpy", "pandas"])
def test_conversations_and_grammars(form: str) -> None:
    rows: list[dict[str, Any]] = [
        {"id": 0, "messages": [{"role": "user", "content": "Oslo?"}]},
        {
            "id": 1,
            "messages": [{"role": "user", "content": "a"}, {"role": "tool", "content": "b", "tool_call_id": "1"}],
        },
    ]
    render = sg.batch.Render(made_template(), tools=[WEATHER])
    constrain = sg.batch.Constrain(made_format(), "gbnf", tools=[WEATHER], tool_choice="required")
    data = ray.data.from_items(rows)
    found = collected(data.map_batches(render, batch_format=form).map_batches(constrain, batch_format=form))
    assert [row["prompt"] for row in found] == [render.row(row)["prompt"] for row in rows]
    assert all(sg.Grammar.from_gbnf(row["grammar"]).accepts(CALL) for row in found)


class Engine(BaseHTTPRequestHandler):
    """Takes a prompt as JSON and answers with the text of a completion."""

    def do_POST(self) -> None:
        prompt = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(f"<note>{len(prompt)}</note>" + CALL + "<|end|>").encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def test_a_processor_renders_before_and_parses_behind() -> None:
    llm = pytest.importorskip("ray.data.llm")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        config = llm.HttpRequestProcessorConfig(
            url=f"http://127.0.0.1:{server.server_address[1]}", concurrency=1, batch_size=4
        )
        render = sg.batch.Render(made_template(), columns={"prompt": "payload"})
        processor = llm.build_processor(
            config,
            preprocess=render,
            postprocess=sg.batch.Parse(made_format(), columns={"generated_text": "http_response"}),
        )
        rows = [{"id": n, "messages": [{"role": "user", "content": "x" * n}]} for n in range(6)]
        found = collected(processor(ray.data.from_items(rows)))
    finally:
        server.shutdown()
        server.server_close()
    assert [row["reasoning_content"] for row in found] == [str(len(render.row(row)["payload"])) for row in rows]
    assert all(row["tool_calls"][0]["name"] == "weather" for row in found)


def test_what_travels_and_what_does_not() -> None:
    codec = sg.ChatCodec.from_format(made_format(), made_template())
    turn = codec.prepare([{"role": "user", "content": "x"}], tools=[WEATHER], tool_choice="required")
    info = sg.testing.byte_vocabulary()
    assert turn.grammar is not None
    for value in (codec, turn, turn.grammar, info, made_format(), turn.prompt):
        assert type(ray.get(ray.put(value))) is type(value)
    compiler = sg.GrammarCompiler(info)
    for local_value in (compiler, compiler.compile(turn.grammar)):
        with pytest.raises(TypeError, match="E-STATE-PICKLE"):
            ray.put(local_value)
