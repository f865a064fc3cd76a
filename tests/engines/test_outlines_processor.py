"""`integrations.outlines` with the shipped model in transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import syntagma as sg
from syntagma.integrations.outlines import processor_for
from tests.docs.blocks import run_blocks
from tests.engines.cases import MESSAGES, TABLE, TOOLS, Case, Sampling, check_message, options_of, record

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
outlines = pytest.importorskip("outlines")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "engines" / "outlines.md"


class Loaded:
    """A model of transformers in Outlines, with its codec."""

    def __init__(self, folder: Path) -> None:
        torch.set_num_threads(1)
        network = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.model = outlines.from_transformers(network, self.tokenizer)
        self.codec = sg.ChatCodec.from_pretrained(folder)


@pytest.fixture(scope="module")
def loaded(plain_folder: Path) -> Loaded:
    return Loaded(plain_folder)


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)
def test_the_table_of_cases(loaded: Loaded, case: Case) -> None:
    """Whole only: Outlines does not stream from transformers."""
    turn, sampling = loaded.codec.prepare(MESSAGES, **options_of(case)), Sampling(case)
    generate = outlines.Generator(loaded.model, processor=processor_for(loaded.model, turn))
    options: dict[str, Any] = {"max_new_tokens": sampling.max_tokens, "do_sample": False}
    if sampling.temperature:
        options |= {"do_sample": True, "temperature": sampling.temperature, "top_k": 0}
    for _ in range(2):  # the same generator again
        torch.manual_seed(sampling.seed)
        parser = turn.parser()
        parser.feed(generate(turn.prompt, **options))
        # Outlines hands out text and no reason.
        parser.finish("length" if sampling.max_tokens < 10 else "stop")
        check_message(case, parser.message.to_openai(), parser.finish_reason)
    record("outlines", case, stream=False)


def test_batches_with_a_turn_for_each_prompt(loaded: Loaded) -> None:
    turns = [
        loaded.codec.prepare(
            [{"role": "user", "content": "Set a timer for 7 minutes"}], tools=TOOLS, tool_choice=choice
        )
        for choice in ("required", "none")
    ]
    generate = outlines.Generator(loaded.model, processor=processor_for(loaded.model, turns))
    texts = generate.batch([turn.prompt for turn in turns], max_new_tokens=80, do_sample=False)
    messages = []
    for turn, text in zip(turns, texts, strict=True):
        parser = turn.parser()
        parser.feed(text)
        parser.finish()
        messages.append(parser.message)
    assert messages[0].tool_calls
    assert not messages[1].tool_calls
    assert messages[1].content


def test_the_prompt_is_that_of_the_turn(loaded: Loaded) -> None:
    """Outlines would make a user's message of any other text."""
    turn = loaded.codec.prepare([{"role": "user", "content": "Hello there"}], tools=TOOLS)
    processor_for(loaded.model, turn)
    assert loaded.model.type_adapter.format_input(turn.prompt) == str(turn.prompt)
    assert loaded.model.type_adapter.format_input(str(turn.prompt)) != str(turn.prompt)


def test_another_model_is_refused() -> None:
    with pytest.raises(sg.ArgumentTypeError, match="E-ARGUMENT-TYPE"):
        processor_for(object(), sg.Grammar.from_choices(["a"]))


def test_the_page_runs(plain_folder: Path) -> None:
    run_blocks(PAGE, folder=plain_folder)
