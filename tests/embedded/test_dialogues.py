"""The generator of training dialogues: it repeats itself, keeps what is held out, and fits the template that ships."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

TRAINING = Path(__file__).resolve().parents[2] / "training"


@pytest.fixture(autouse=True)
def training_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TRAINING))


def test_the_same_seed_gives_the_same_dialogues() -> None:
    from generator import dialogue

    first, second, other = random.Random(5), random.Random(5), random.Random(6)
    made = [dialogue(first) for _ in range(30)]
    assert made == [dialogue(second) for _ in range(30)]
    assert made != [dialogue(other) for _ in range(30)]


def test_held_out_tools_never_appear_in_training() -> None:
    from generator import dialogue
    from tools import NOUNS, VERBS, is_held_out

    held = {f"{verb}_{noun}" for verb in VERBS for noun in NOUNS if is_held_out(verb, noun)}
    assert len(held) > 100
    rng = random.Random(1)
    assert held.isdisjoint(spec.name for _ in range(400) for spec in dialogue(rng).tools)
    evaluated = [dialogue(rng, kind="call", held_out=True) for _ in range(50)]
    assert held.issuperset(name for made in evaluated for name, _ in made.calls)


@pytest.mark.parametrize("kind", ["call", "natural", "parallel", "json", "talk", "result", "refuse", "drill"])
@pytest.mark.parametrize("thinking", [False, True])
def test_text_is_what_the_template_renders(kind: str, thinking: bool) -> None:
    from generator import dialogue
    from rendering import render, segments

    rng = random.Random(kind)
    for _ in range(20):
        made = dialogue(rng, kind=kind, thinking=thinking)
        pieces = segments(made)
        whole = render(list(made.messages), made.declarations(), prompt=False, thinking=made.thinking)
        assert "".join(text for text, _ in pieces) == whole.removesuffix("\n")
        assert [learned for _, learned in pieces] == [False, True] * (len(pieces) // 2)
        assert all(text.endswith("<|im_end|>") for text, learned in pieces if learned)


def test_expected_calls_satisfy_the_schemas_of_their_tools() -> None:
    import jsonschema

    from generator import dialogue

    rng = random.Random(2)
    for _ in range(200):
        made = dialogue(rng, kind=rng.choice(("call", "natural", "parallel")))
        declared: dict[str, Any] = {tool["function"]["name"]: tool["function"] for tool in made.declarations() or ()}  # type: ignore[index]
        for name, arguments in made.calls:
            jsonschema.validate(arguments, declared[name]["parameters"])
            order = list(declared[name]["parameters"]["properties"])
            assert list(arguments) == [key for key in order if key in arguments]


def test_expected_answers_satisfy_their_schema() -> None:
    import jsonschema

    from generator import dialogue

    rng = random.Random(3)
    for _ in range(100):
        made = dialogue(rng, kind="json", thinking=False)
        assert made.schema is not None
        jsonschema.validate(made.answer, made.schema)
        assert json.loads(str(made.messages[-1]["content"])) == made.answer
