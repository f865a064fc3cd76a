"""What holds of every backend that runs the shipped model: it writes what our own backend writes.

`test_ENGINE_backend.py` inherits the laws, and has a fixture `pair` that loads the folder or the GGUF file.
"""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syntagma as sg
from syntagma.decoding.backend import on_host
from syntagma.embedded import EmbeddedModel
from syntagma.events import ContentDelta, MessageEnd
from tests.engines.cases import LEFT_NAME, TABLE, Case, hold, record
from tests.engines.shipped import CONVERSATIONS, TOOLS, greedy, log_probabilities, prompt_of

__all__ = ["DOCS", "BackendLaws", "Pair"]

DOCS = Path(__file__).resolve().parents[2] / "docs" / "engines"
"""the pages of engines"""

Pair = tuple[sg.Backend, sg.ChatCodec]

SCHEMA = {
    "type": "object",
    "properties": {"minutes": {"type": "integer", "maximum": 90}, "label": {"type": "string", "maxLength": 12}},
    "required": ["minutes", "label"],
    "additionalProperties": False,
}
TIMER = CONVERSATIONS["call"]["messages"]
ASKED: dict[str, dict[str, Any]] = {
    "free": {"max_tokens": 24},
    "auto": {"tools": TOOLS, "max_tokens": 60},
    "required": {"tools": TOOLS, "tool_choice": "required"},
    "schema": {"response_format": {"type": "json_schema", "json_schema": {"name": "t", "schema": SCHEMA}}},
    "thinking": {"tools": TOOLS, "template_kwargs": {"enable_thinking": True}, "max_tokens": 60},
    "cut": {"tools": TOOLS, "max_tokens": 4},
}


def told(message: sg.Message) -> tuple[Any, ...]:
    """A message without the ids of its calls, which are random."""
    calls = [(call.name, call.arguments, call.complete) for call in message.tool_calls]
    return message.reasoning_content, message.content, calls


class BackendLaws:
    """Inherit from it, and define `pair`."""

    engine: str
    """its name in the table of engines"""
    tolerance = 1e-3
    """of the log-probabilities"""

    @pytest.fixture
    def model(self, pair: Pair) -> sg.Model:
        return sg.Model(*pair)

    @pytest.fixture
    def reference(self) -> sg.Model:
        return sg.load("embedded")

    @pytest.mark.parametrize("name", CONVERSATIONS)
    def test_tokens_and_logits_are_those_of_our_backend(self, pair: Pair, ours: EmbeddedModel, name: str) -> None:
        backend, _ = pair
        text = prompt_of(ours, name)
        prompt = backend.tokenizer_info.encode(text)
        assert prompt == ours.encode(text)
        tokens, logits = greedy(ours, prompt)
        session = backend.open()
        given = [on_host(session.prefill(prompt)), *(on_host(session.step(token)) for token in tokens[:-1])]
        for mine, theirs in zip(given, logits, strict=True):
            assert (mine.dtype, mine.shape) == (np.float32, (backend.tokenizer_info.vocab_size,))
            np.testing.assert_allclose(log_probabilities(mine), log_probabilities(theirs), atol=self.tolerance)
        assert [int(one.argmax()) for one in given] == tokens

    def test_what_users_write_is_no_control_token(self, pair: Pair) -> None:
        info = pair[0].tokenizer_info
        text = "a <tool_call> and <|im_end|>"
        assert info.added_token_ids.isdisjoint(info.encode(text, trusted=()))
        assert info.decode(info.encode(text, trusted=())) == text.encode()
        assert len(info.added_token_ids.intersection(info.encode(text))) == 2

    def test_several_tokens_at_once_are_as_many_steps(self, pair: Pair) -> None:
        backend, _ = pair
        prompt, tokens = (
            backend.tokenizer_info.encode("Set a timer"),
            backend.tokenizer_info.encode(" for 7 minutes, please: now"),
        )
        one, many = backend.open(), backend.open()
        one.prefill(prompt)
        many.prefill(prompt)
        for token in tokens:
            stepped = on_host(one.step(token))
        at_once = on_host(many.extend(tokens))
        np.testing.assert_allclose(log_probabilities(at_once), log_probabilities(stepped), atol=self.tolerance)
        # Logits may be written into; the sequence does not notice.
        at_once[:] = 0
        after, alone = log_probabilities(on_host(many.step(5))), log_probabilities(on_host(one.step(5)))
        np.testing.assert_allclose(after, alone, atol=self.tolerance)

    @pytest.mark.parametrize("name", ASKED)
    def test_answers_are_those_of_our_backend(self, model: sg.Model, reference: sg.Model, name: str) -> None:
        mine = model.chat(TIMER, temperature=0, **ASKED[name])
        assert told(mine) == told(reference.chat(TIMER, temperature=0, **ASKED[name]))

    @pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
    @pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)
    def test_the_table_of_cases(self, model: sg.Model, case: Case, stream: bool) -> None:
        hold(model, case, stream=stream)
        record(self.engine, case, stream=stream)

    def test_required_calls_are_valid_at_any_temperature(self, model: sg.Model) -> None:
        for seed in range(5):
            message = model.chat(TIMER, tools=TOOLS, tool_choice="required", temperature=2.0, seed=seed)
            assert message.tool_calls
            for call in message.tool_calls:
                assert (call.name, call.complete) == ("set_timer", True)
                assert isinstance(call.parsed_arguments()["minutes"], int)

    def test_streams_hold_the_message_and_can_be_closed(self, model: sg.Model) -> None:
        events = list(model.stream(TIMER, temperature=0, max_tokens=4))
        assert isinstance(events[-1], MessageEnd)
        assert events[-1].finish_reason == "length"
        whole = model.chat(TIMER, temperature=0, max_tokens=4)
        assert "".join(event.text for event in events if isinstance(event, ContentDelta)) == whole.content
        with closing(model.stream(TIMER, temperature=0)) as stream:  # type: ignore[type-var]
            next(stream)
        assert told(model.chat(TIMER, temperature=0, max_tokens=4)) == told(whole)
        record(self.engine, LEFT_NAME, stream=True)

    def test_the_context_ends(self, pair: Pair) -> None:
        backend, _ = pair
        assert backend.context_length == 1024
        with pytest.raises(sg.ModelError) as caught:
            sg.Generator(backend).start([5] * 1024)
        assert caught.value.code == "E-MODEL-CONTEXT"
        session = backend.open()
        session.prefill([5] * 1020)
        session.extend([5] * 3)
        session.step(5)
        for tokens in ([5], [5, 5]):
            with pytest.raises(sg.ModelError) as caught:
                session.extend(tokens)
            assert caught.value.code == "E-MODEL-CONTEXT"

    @pytest.mark.parametrize("tokens", [[], [-1], [1024], [5, 10**9]])
    def test_tokens_that_are_not_there(self, pair: Pair, tokens: list[int]) -> None:
        with pytest.raises(sg.ModelError) as caught:
            pair[0].open().prefill(tokens)
        assert caught.value.code == "E-MODEL-TOKEN"

    def test_sequences_do_not_disturb_each_other(self, model: sg.Model) -> None:
        alone = told(model.chat(TIMER, tools=TOOLS, temperature=0, max_tokens=40))
        turns = zip(*(model.stream(TIMER, temperature=0, max_tokens=20) for _ in range(3)), strict=True)
        assert all(len({str(event) for event in events}) == 1 for events in turns)
        answers: list[Any] = []
        threads = [
            threading.Thread(
                target=lambda: answers.append(told(model.chat(TIMER, tools=TOOLS, temperature=0, max_tokens=40)))
            )
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [alone] * 3
