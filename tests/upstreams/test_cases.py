"""Every case through our server and the wire format of every engine, with the openai client."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from openai import BadRequestError, OpenAI

from syntagma import upstreams
from syntagma.serving import ServedModel, create_app
from tests.engines.cases import CUT_NAME, LEFT_NAME, record
from tests.serving.live import listening
from tests.upstreams.cases import CASES, CUT, CUT_TEXT, Case, ask, check
from tests.upstreams.mock import MockEngine
from tests.upstreams.wires import REFUSED, TEMPLATE, WIRES, address_of

MODEL = "tiny"


class Served(NamedTuple):
    wire: str
    engine: MockEngine
    client: OpenAI

    @property
    def name(self) -> str:
        """In the table of engines: variants of one wire format count together."""
        return f"mock-{self.wire.partition(' ')[0]}"

    @property
    def refused(self) -> frozenset[str]:
        return REFUSED.get(self.wire, frozenset())


@pytest.fixture(scope="module", params=WIRES)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    template = tmp_path_factory.mktemp("template") / "chat_template.jinja"
    template.write_text(TEMPLATE, encoding="utf-8")
    with contextlib.ExitStack() as stack:
        engine = stack.enter_context(MockEngine(WIRES[request.param]))
        loaded = upstreams.load(address_of(request.param, engine.url), chat_template=Path(template))
        base_url = stack.enter_context(listening(create_app(ServedModel(*loaded, name=MODEL))))
        yield Served(
            request.param,
            engine,
            stack.enter_context(OpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=60)),
        )


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case(served: Served, case: Case, stream: bool) -> None:
    if case.name in served.refused:
        with pytest.raises(BadRequestError) as raised:
            ask(served.client, MODEL, case.fields, stream=stream)
        assert raised.value.code == "E-UPSTREAM-CONSTRAINT"
        assert raised.value.param is not None
    else:
        check(case, ask(served.client, MODEL, case.fields, stream=stream))
    record(served.name, case, stream=stream, refused=case.name in served.refused)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_answer_that_is_cut(served: Served, stream: bool) -> None:
    answer = ask(served.client, MODEL, CUT_TEXT if served.refused else CUT, stream=stream)
    assert answer.finish_reason == "length"
    assert answer.completion_tokens == CUT["max_tokens"]
    record(served.name, CUT_NAME, stream=stream)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_client_that_leaves_closes_the_engines_connection(served: Served, stream: bool) -> None:
    served.engine.endless, before = True, served.engine.left
    try:
        if stream:
            ask_endless = served.client.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": "Write."}], stream=True
            )
            with ask_endless as chunks:
                next(iter(chunks))
        else:
            with pytest.raises(Exception, match="timed out"):
                served.client.with_options(timeout=0.5).chat.completions.create(
                    model=MODEL, messages=[{"role": "user", "content": "Write."}]
                )
        deadline = time.monotonic() + 1
        while served.engine.left == before:
            assert time.monotonic() < deadline, "the connection stays open"
            time.sleep(0.01)
    finally:
        served.engine.endless = False
    record(served.name, LEFT_NAME, stream=stream)
