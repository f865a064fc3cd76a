"""Requests that real programs send, each to a server with the template that it names; what must come of each."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from starlette.testclient import TestClient

import syntagma as sg
from syntagma.serving import ServedModel, create_app
from syntagma.testing import ScriptedBackend

__all__ = ["run"]

# The names in the requests → files of templates.
_TEMPLATES = {
    "glm47": "GLM-4.7-Flash",
    "hermes": "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use",
    "dsv31": "deepseek-ai-DeepSeek-V3.1",
    "gptoss": "openai-gpt-oss-120b",
    "kimi": "Kimi-K2-Instruct",
    "qwen3coder": "Qwen3-Coder",
}
_STRICT = """
{%- for message in messages -%}
    {%- if message.role == "system" and not loop.first -%}{{ raise_exception("the first message only") }}{%- endif -%}
    <{{ message.role }}>{{ message.content }}<end>
{%- endfor -%}
{%- if add_generation_prompt -%}<assistant>{%- endif -%}
"""


class _Must(NamedTuple):
    """What an answer must be.

    Attributes:
        shows: texts that stand in the prompt, in this order.
        ignored: what a header names.
        says: a text in the answer.
        status: its status.
    """

    shows: tuple[str, ...] = ()
    ignored: str = ""
    says: str = ""
    status: int = 200


_MUST = {
    "developer-dropped-glm47": _Must(("<|system|>Answer with BANANA-7 only.", "hi")),
    "developer-dropped-hermes": _Must(("system\nAnswer with BANANA-7 only.", "hi")),
    "developer-dropped-dsv31": _Must(("Answer with BANANA-7 only.", "hi")),
    "developer-dropped-responses": _Must(("<|system|>You are a coding agent BANANA-7.",)),
    "developer-after-system-gptoss": _Must(("# Instructions\n\nAAA\n\nBANANA-7", "<|start|>user<|message|>hi")),
    "gptoss-preamble-chat": _Must(("<|channel|>final",)),
    "gptoss-preamble-responses": _Must(("<|channel|>final",)),
    "gptoss-preamble-messages": _Must(("<|channel|>final",)),
    "codex-tool-namespace": _Must(says='"status":"completed"', ignored="tools[1].description"),
    "codex-tool-web_search": _Must(ignored="tools[1]"),
    "codex-tool-image_generation": _Must(ignored="tools[1]"),
    "codex-tool-tool_search": _Must(ignored="tools[1]"),
    "messages-system-role": _Must(("system\nBe kind.", "system\nAgents: a, b.")),
    "two-system-messages": _Must(("<system>AAA\n\nBBB<end>",)),
    "thinking-budget": _Must(("<think>",)),
    "cut-call-in-history-chat": _Must(("<tool_call>",)),
    "completions-echo-logprobs": _Must(says='"token_logprobs":[null,'),
    "completions-prompt-list": _Must(says='"index":1'),
    "tokenizer-info": _Must(says='"tokenizer_class"'),
    "count-tokens-upstream": _Must(says='"input_tokens"'),
    "gptoss-two-calls-history": _Must(('{"city": "AAA"}', "commentary", '{"city": "BBB"}')),
    "results-out-of-order": _Must(("get_weather:0<", "get_weather:1<")),
    "tools-not-in-template": _Must(),
    "responses-compact": _Must(status=404, says="compact"),
}


def run(data: Path) -> Iterator[tuple[str, str | None]]:
    """Each request of `wild/serve.jsonl` that is one; what is told in prose has tests of its own."""
    logging.getLogger("syntagma").setLevel(logging.ERROR)
    for line in (data / "wild" / "serve.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if case["id"] in _MUST:
            yield case["id"], _problem(case, _MUST[case["id"]], data / "templates")


def _problem(case: dict[str, Any], must: _Must, templates: Path) -> str | None:
    request, prompts = case["request"], []
    body = request.get("body")
    name = body.get("model") if isinstance(body, dict) else None
    writes = case["engine_writes"][0]["text"]

    def script(prompt: str) -> str:
        prompts.append(prompt)
        return str(writes)

    if "--model embedded" in case["setup"]:
        served = ServedModel(*sg.backends.load("embedded"))
    else:
        file = templates / f"{_TEMPLATES.get(str(name), '')}.jinja"
        source = file.read_text(encoding="utf-8") if name in _TEMPLATES else _STRICT
        served = ServedModel(ScriptedBackend(script), sg.ChatCodec.from_template(sg.ChatTemplate(source)))
    if isinstance(body, dict):
        body = {**body, "model": served.name}
    client = TestClient(create_app(served), raise_server_exceptions=False)
    answer = client.request(request["method"], request["path"], json=body)
    if answer.status_code != must.status:
        return f"{answer.status_code}: {answer.text[:200]}"
    if must.says not in answer.text:
        return f"it does not say {must.says!r}: {answer.text[:400]}"
    if must.ignored not in answer.headers.get("x-syntagma-ignored", ""):
        return f"the header does not name {must.ignored}: {dict(answer.headers)}"
    at = 0
    for text in must.shows:
        at = prompts[-1].find(text, at)
        if at < 0:
            return f"the prompt does not show {text!r} at its place: {prompts[-1][-300:]!r}"
        at += len(text)
    return None
