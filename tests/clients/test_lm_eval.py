"""lm-eval: what a text makes likely, and what it is continued with, on tasks from a folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.environments import HOME

os.environ.update({"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "HF_HOME": os.environ.get(HOME, "")})

from tests.clients import asks
from tests.clients.asks import CHAT
from tests.clients.page import check_program

lm_eval = pytest.importorskip("lm_eval")

import requests  # noqa: E402 - lm-eval's own
from lm_eval.tasks import TaskManager  # type: ignore[import-not-found]  # noqa: E402

COMPLETIONS = "/v1/completions"
TOKENS = 12
TASK = """
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {data}}}
test_split: train
output_type: {name}
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
target_delimiter: ""
"""
GENERATED = f"generation_kwargs: {{until: ['\\n\\n'], max_gen_toks: {TOKENS}, temperature: 0}}"


def asked(path: str, **fields: Any) -> Any:
    answer = requests.post(asks.HOST + path, json={"model": asks.MODEL, **fields}, timeout=60)
    answer.raise_for_status()
    return answer.json()


def said() -> tuple[str, str]:
    """The prompt of a greeting, and what the model says to it."""
    prompt = asked("/apply-template", messages=[{"role": "user", "content": asks.GREETING}])["prompt"]
    answer = asked(COMPLETIONS, prompt=prompt, max_tokens=TOKENS, temperature=0)
    return prompt, answer["choices"][0]["text"]


def evaluated(folder: Path, endpoint: str, name: str, documents: list[dict[str, str]], **more: Any) -> list[Any]:
    """What the model gave for each document of a task."""
    data = folder / "data.jsonl"
    data.write_text("".join(f"{json.dumps(one)}\n" for one in documents))
    (folder / "task.yaml").write_text(TASK.format(name=name, data=data) + (GENERATED if "generate" in name else ""))
    found = lm_eval.simple_evaluate(
        "local-chat-completions" if endpoint == CHAT else "local-completions",
        model_args={"base_url": asks.HOST + endpoint, "model": asks.MODEL},
        tasks=[name],
        task_manager=TaskManager(include_path=str(folder), include_defaults=False),
        apply_chat_template=endpoint == CHAT,
        bootstrap_iters=0,
        **more,
    )
    return [one["resps"][0][0] for one in sorted(found["samples"][name], key=lambda one: one["doc_id"])]


@pytest.mark.parametrize("endpoint", [COMPLETIONS])
def test_prompt_logprobs(endpoint: str, tmp_path: Path) -> None:
    prompt, answer = said()
    answers = [answer, " zebra zebra", answer[:5]]
    documents = [{"question": prompt, "answer": one} for one in answers]
    whole, wrong, part = evaluated(tmp_path, endpoint, "loglikelihood", documents, batch_size=2)
    # What the model says itself is the likeliest, token by token; and a sum of fewer of its tokens is not smaller.
    assert [greedy for _, greedy in (whole, wrong, part)] == [True, False, True]
    assert wrong[0] < whole[0] <= part[0] < 0


@pytest.mark.parametrize("endpoint", [COMPLETIONS, CHAT])
def test_chat(endpoint: str, tmp_path: Path) -> None:
    prompt, answer = said()
    question = asks.GREETING if endpoint == CHAT else prompt
    documents = [{"question": question, "answer": answer}] * 2
    batch = {} if endpoint == CHAT else {"batch_size": 2}
    assert evaluated(tmp_path, endpoint, "generate_until", documents, **batch) == [answer, answer]


def test_the_program_of_the_page() -> None:
    check_program("lm_eval")
