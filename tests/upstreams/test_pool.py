"""Several engines of one name."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

import syntagma as sg
from syntagma import upstreams
from syntagma.generation import Model
from syntagma.upstreams.llamacpp import LlamaCpp
from syntagma.upstreams.pool import UpstreamPool
from tests.upstreams.mock import PLAIN, MockEngine
from tests.upstreams.wires import CODEC, WIRES

MESSAGES = [{"role": "user", "content": "Hello"}]


@pytest.fixture
def engines() -> Iterator[list[MockEngine]]:
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(MockEngine(WIRES["llamacpp"])) for _ in range(3)]


def pool(engines: list[MockEngine], **options: Any) -> Model:
    return Model(UpstreamPool([LlamaCpp(one.url) for one in engines], **options), CODEC)


def counts(engines: list[MockEngine]) -> list[int]:
    return [len(one.bodies) for one in engines]


def test_they_take_turns(engines: list[MockEngine]) -> None:
    model = pool(engines)
    for _ in range(6):
        assert model.chat(MESSAGES).content == PLAIN
    assert counts(engines) == [2, 2, 2]
    model.close()


@pytest.mark.parametrize("fault", [{"status": 500}, {"status": 503}, {"drop_after": 0}])
def test_one_that_fails_before_its_first_piece_is_passed_over(engines: list[MockEngine], fault: dict[str, Any]) -> None:
    for name, value in fault.items():
        setattr(engines[1], name, value)
    model = pool(engines)
    for _ in range(6):
        assert model.chat(MESSAGES).content == PLAIN
    # After its failure it is left alone.
    assert counts(engines)[1] == 1
    model.close()


def test_one_that_comes_back_is_asked_again(engines: list[MockEngine]) -> None:
    engines[1].status = 500
    model = pool(engines, recheck=0.05)
    for _ in range(3):
        model.chat(MESSAGES)
    failed = len(engines[1].bodies)
    assert failed
    engines[1].status = 200
    deadline = time.monotonic() + 20
    while len(engines[1].bodies) == failed:
        assert time.monotonic() < deadline
        time.sleep(0.02)
        model.chat(MESSAGES)
    model.close()


@pytest.mark.parametrize(
    ("fault", "code"), [({"status": 400}, "E-UPSTREAM-REFUSED"), ({"drop_after": 2}, "E-UPSTREAM-BROKEN")]
)
def test_what_another_engine_would_not_mend_is_not_tried_again(
    engines: list[MockEngine], fault: dict[str, Any], code: str
) -> None:
    for engine in engines:
        for name, value in fault.items():
            setattr(engine, name, value)
    model = pool(engines)
    with pytest.raises(sg.UpstreamError) as raised:
        model.chat(MESSAGES)
    assert raised.value.code == code
    assert sum(counts(engines)) == 1
    model.close()


def test_where_none_answers_the_last_error_is_raised(engines: list[MockEngine]) -> None:
    for engine in engines:
        engine.status = 500
    model = pool(engines)
    with pytest.raises(sg.UpstreamError) as raised:
        model.chat(MESSAGES)
    assert raised.value.code == "E-UPSTREAM-FAILED"
    assert counts(engines) == [1, 1, 1]
    model.close()


def test_a_pool_is_loaded_while_one_of_it_is_away(engines: list[MockEngine]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        away = f"llamacpp:http://127.0.0.1:{free.getsockname()[1]}"
    model = Model(*upstreams.load(away, f"llamacpp:{engines[0].url}"))
    for _ in range(3):
        assert model.chat(MESSAGES).content == PLAIN
    model.close()


def test_a_pool_needs_engines_that_can_be_held_alike() -> None:
    class Other(LlamaCpp):
        languages = ("structural_tag",)

    with pytest.raises(sg.UpstreamError) as raised:
        UpstreamPool([LlamaCpp("http://a"), Other("http://b")])
    assert raised.value.code == "E-UPSTREAM-POOL"
    with pytest.raises(sg.UpstreamError):
        UpstreamPool([])
