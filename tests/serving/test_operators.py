"""What operators see and set: late engines, packed bodies, limits, lines of the log."""

from __future__ import annotations

import gzip
import json
import logging
import re
import zlib
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from syntagma import upstreams
from syntagma.cli.app import app as command
from syntagma.cli.limits_option import limits_of
from syntagma.cli.serve_options import ServeOptions
from syntagma.cli.served import codec_maker, models_of
from syntagma.errors import RequestError, UpstreamError
from syntagma.limits import Limits
from syntagma.serving import Settings, create_app
from syntagma.serving.logs import JsonLines, TextLines
from tests.serving.support import body, client
from tests.upstreams.mock import MockEngine
from tests.upstreams.wires import TEMPLATE, WIRES

PATH = "/v1/chat/completions"
HI = {"messages": [{"role": "user", "content": "hi"}]}


def test_an_engine_that_is_down_at_the_start_is_served_when_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syntagma.serving.late_models._AGAIN_S", 0.0)
    with MockEngine(WIRES["llamacpp"]) as up, MockEngine(WIRES["llamacpp"]) as down:
        down.__exit__()
        options = ServeOptions(upstream=[f"a=llamacpp:{up.url}", f"b=llamacpp:{down.url}"])
        served, late = models_of(options)
        assert ([one.name for one in served], list(late)) == (["a"], ["b"])
        with TestClient(create_app(served, late=late)) as server:
            assert server.post(PATH, json={"model": "a", **HI}).status_code == 200
            waits = server.post(PATH, json={"model": "b", **HI})
            assert (waits.status_code, waits.json()["error"]["code"]) == (503, "E-UPSTREAM-CONNECT")
            assert str(down.port) not in waits.text
            assert server.get("/ready").status_code == 503
            down.__enter__()
            assert server.post(PATH, json={"model": "b", **HI}).status_code == 200
            assert server.get("/ready").status_code == 200
            assert {one["id"] for one in server.get("/v1/models").json()["data"]} == {"a", "b"}
        down.__exit__()
        up.__exit__()
        # Where none can be reached, or its name is not known, nothing begins.
        for addresses in ([f"a=llamacpp:{up.url}", f"b=llamacpp:{down.url}"], [f"llamacpp:{down.url}"]):
            with pytest.raises(UpstreamError):
                models_of(ServeOptions(upstream=addresses))
        up.__enter__()
        down.__enter__()


def test_engines_of_one_model_with_different_templates_are_named(caplog: pytest.LogCaptureFixture) -> None:
    with MockEngine(WIRES["llamacpp"]) as one, MockEngine(WIRES["vllm"]) as other:
        facts = {**WIRES["llamacpp"].facts["/props"], "chat_template": "{{ messages[0].content }}"}
        another = type(WIRES["llamacpp"])()
        another.facts = {**WIRES["llamacpp"].facts, "/props": facts}
        other.wire = another
        with caplog.at_level(logging.WARNING, "syntagma"):
            upstreams.load(f"llamacpp:{one.url}", f"llamacpp:{other.url}")
    assert any(
        "different chat templates" in record.getMessage() and other.url in record.getMessage()
        for record in caplog.records
    )


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_packed_bodies_are_unpacked_within_the_bounds(encoding: str) -> None:
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    headers = {"content-encoding": encoding}
    with client(settings=Settings(limits=Limits(server_body_bytes=1000))) as server:

        def post(data: bytes) -> Any:
            return server.post(PATH, content=data, headers=headers)

        sent = json.dumps(body()).encode()
        assert post(pack(sent)).status_code == 200
        # A few hundred bytes that hold ten million.
        bomb = post(pack(b" " * 10_000_000))
        assert (bomb.status_code, bomb.json()["error"]["code"]) == (413, "E-REQUEST-BODY")
        assert post(pack(sent)[:-5]).status_code == 400
        assert post(sent).status_code == 400
        other = server.post(PATH, content=sent, headers={"content-encoding": "br"})
        assert (other.status_code, other.json()["error"]["code"]) == (415, "E-REQUEST-BODY")


def test_limits_come_from_names_and_files(tmp_path: Path) -> None:
    file = tmp_path / "limits.toml"
    file.write_text("template_steps = 7\nserver_n = 3\n")
    found = limits_of(ServeOptions(limits=[str(file), "server_n=5", "template_seconds=1.5"], queue_timeout=9.0))
    assert (found.template_steps, found.server_n, found.template_seconds) == (7, 5, 1.5)
    assert found.server_queue_seconds == 9.0
    for wrong in ("nosuch=1", "server_n=many", "server_n=1.5", str(tmp_path / "none.toml")):
        with pytest.raises(RequestError):
            limits_of(ServeOptions(limits=[wrong]))


def test_limits_hold_for_templates_and_hints_name_the_option() -> None:
    with MockEngine(WIRES["llamacpp"]) as engine:
        options = ServeOptions(
            upstream=[f"m=llamacpp:{engine.url}"], limits=["template_steps=3", "template_steps_per_character=0"]
        )
        served, _ = models_of(options)
        with TestClient(create_app(served, Settings(limits=limits_of(options)))) as server:
            refused = server.post(PATH, json=HI)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "E-LIMIT-TEMPLATE-STEPS")
    assert "`--limits template_steps=…`" in refused.text
    assert "Limits(" not in refused.text


def test_limits_hold_for_a_template_that_was_read_again(tmp_path: Path) -> None:
    template = tmp_path / "chat_template.jinja"
    template.write_text(TEMPLATE, encoding="utf-8")
    with MockEngine(WIRES["llamacpp"]) as engine:
        options = ServeOptions(
            upstream=[f"m=llamacpp:{engine.url}"],
            chat_template=str(template),
            limits=["template_steps=3", "template_steps_per_character=0"],
        )
        (served,), _ = models_of(options)
        served.follow(codec_maker(options, served.codec)())
        with TestClient(create_app([served], Settings(limits=limits_of(options)))) as server:
            refused = server.post(PATH, json=HI)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "E-LIMIT-TEMPLATE-STEPS")


def test_hints_of_commands_name_commands() -> None:
    done = CliRunner().invoke(command, ["serve", "--model", "nope", "--port", "0"])
    assert done.exit_code == 2
    assert "`--model embedded`" in done.output
    done = CliRunner().invoke(command, ["serve", "--format", "zzzzzzzz", "--port", "0"])
    assert "`syntagma formats`" in done.output


def test_lines_of_requests_have_model_key_and_tokens(caplog: pytest.LogCaptureFixture) -> None:
    with client() as server, caplog.at_level(logging.INFO, "syntagma.access"):
        server.post(PATH, json=body())
    (record,) = [one for one in caplog.records if one.name == "syntagma.access"]
    line = TextLines().format(record)
    assert f"POST {PATH} 200 " in line
    assert re.search(r" model=scripted prompt_tokens=\d+ completion_tokens=\d+$", line)
    assert json.loads(JsonLines().format(record))["model"] == "scripted"
