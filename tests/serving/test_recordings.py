"""Answers that the server keeps are parsed again; nothing of a key is among what it keeps."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from syntagma.errors import RequestError
from syntagma.recording import Bundle, replay
from syntagma.serving import Operations, Settings, create_app
from syntagma.serving.keys import key_of
from syntagma.serving.recordings import RecordingSettings
from tests.serving.support import CALL, WEATHER, body, model
from tests.serving.test_life import PATIENCE, Caller, run

URL = "/v1/chat/completions"
ASKS = {"x-syntagma-record": "1"}
SECRET = "sk-0123456789abcdef-secret"
ANSWER = "<note>hm</note>well" + CALL


def settings(folder: Path, **options: Any) -> Settings:
    return Settings(recording=RecordingSettings(folder=str(folder), **options))


def kept(folder: Path) -> list[Bundle]:
    return [Bundle.from_json(path.read_bytes()) for path in sorted(folder.iterdir())]


def ask(chosen: Settings, *requests: tuple[str, dict[str, Any], dict[str, str]], script: str = ANSWER) -> None:
    with TestClient(create_app(model(script), chosen)) as client:
        for url, data, headers in requests:
            answer = client.post(url, json=data, headers=headers)
            assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_was_asked_for_is_kept(tmp_path: Path, stream: bool) -> None:
    asked = body(tools=[WEATHER], stream=stream, n=2)
    ask(settings(tmp_path / "kept"), (URL, asked, {**ASKS, "x-request-id": "a/../b"}), (URL, asked, {}))
    bundles = kept(tmp_path / "kept")
    assert len(bundles) == 2
    assert [path.name.split("-", 1)[1] for path in sorted((tmp_path / "kept").iterdir())] == [
        f"a____b-{number}.recording.json" for number in range(2)
    ]
    for bundle in bundles:
        assert bundle.message.tool_calls[0].parsed_arguments() == {"city": "Oslo", "days": 2}
        assert bundle.prompt is not None
        assert bundle.prompt.text.endswith("<user>hi<end><assistant>")
        assert [tool.name for tool in bundle.request.tools or ()] == ["weather"]
        assert bundle.finished
        assert all(chunk.ids for chunk in bundle.chunks)
        assert all(replay(bundle, chunks=cut).same for cut in ("as-came", "whole", "each-character"))


def test_every_answer_of_every_endpoint_is_kept(tmp_path: Path) -> None:
    messages = {
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 50,
        "model": "scripted",
        "temperature": 0,
    }
    ask(
        settings(tmp_path, every=True),
        (URL, body(), {}),
        ("/v1/responses", {"model": "scripted", "input": "hi", "temperature": 0}, {}),
        ("/v1/messages", messages, {}),
        ("/v1/completions", {"model": "scripted", "prompt": "hi", "temperature": 0}, {}),
        script="hello",
    )
    bundles = kept(tmp_path)
    assert [bundle.message.content for bundle in bundles] == ["hello"] * 4
    assert all(replay(bundle).same for bundle in bundles)


def test_an_answer_that_fails_is_kept_as_far_as_it_came(tmp_path: Path) -> None:
    def fail(step: int) -> None:
        if step == 3:
            raise RuntimeError("the accelerator is on fire")

    with TestClient(create_app(model("hello", on_step=fail), settings(tmp_path))) as client:
        answer = client.post(URL, json=body(stream=True), headers=ASKS)
        assert "server_error" in answer.text
    (bundle,) = kept(tmp_path)
    assert not bundle.finished
    assert bundle.message.content == "hel"
    assert replay(bundle).same


def test_an_answer_that_its_client_leaves_is_kept_as_far_as_it_came(tmp_path: Path) -> None:
    begun = threading.Event()

    async def scene() -> None:
        served = model("x" * 10**6, on_step=lambda _: begun.set(), context_length=10**9)
        app = create_app(served, settings(tmp_path, every=True))
        caller = Caller(app, URL, body(stream=True))
        task = asyncio.ensure_future(caller.run())
        await asyncio.to_thread(begun.wait, PATIENCE)
        await asyncio.wait_for(caller.begun.wait(), PATIENCE)
        caller.leave.set()
        await task
        for _ in range(PATIENCE * 100):
            if list(tmp_path.glob("*.json")):
                return
            await asyncio.sleep(0.01)

    run(scene)
    (bundle,) = kept(tmp_path)
    assert not bundle.finished
    assert set(str(bundle.message.content)) <= {"x"}
    assert all(replay(bundle, chunks=cut).same for cut in ("as-came", "whole", "each-character"))


def test_nothing_of_a_key_is_kept(tmp_path: Path) -> None:
    chosen = Settings(recording=RecordingSettings(folder=str(tmp_path)), operations=Operations(keys=(key_of(SECRET),)))
    ask(chosen, (URL, body(), {**ASKS, "authorization": f"Bearer {SECRET}", "cookie": "odd-cookie"}))
    (path,) = tmp_path.iterdir()
    text = path.read_text()
    assert SECRET not in text
    assert "odd-cookie" not in text
    assert "authorization" not in text.lower()
    assert path.stat().st_mode & 0o077 == 0


def test_nothing_is_kept_where_the_operator_does_not_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ask(Settings(), (URL, body(), ASKS))
    ask(settings(tmp_path / "kept"), (URL, body(), {"x-syntagma-record": "0"}))
    assert [path.name for path in tmp_path.rglob("*")] == ["kept"]


def test_the_oldest_make_room(tmp_path: Path) -> None:
    other = tmp_path / "notes.json"
    other.write_text("mine")
    many = [(URL, body(seed=number), ASKS | {"x-request-id": f"r{number}"}) for number in range(5)]
    ask(settings(tmp_path, files=2), *many)
    assert sorted(path.name.split("-")[1] for path in tmp_path.glob("*.recording.json")) == ["r3", "r4"]
    size = max(path.stat().st_size for path in tmp_path.glob("*.recording.json"))
    ask(settings(tmp_path, bytes=size + size // 2), *many)
    assert [path.name.split("-")[1] for path in tmp_path.glob("*.recording.json")] == ["r4"]
    ask(settings(tmp_path, bytes=10), *many)
    assert len(list(tmp_path.glob("*.recording.json"))) == 1
    assert other.read_text() == "mine"
    assert list(tmp_path.glob(".*")) == []


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RequestError) as raised:
        create_app(model("hello"), settings(tmp_path / "file" / "kept"))
    assert raised.value.code == "E-REQUEST-FILE"
    assert json.dumps(raised.value.to_dict())
