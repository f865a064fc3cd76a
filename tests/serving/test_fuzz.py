"""Whatever stands in a request, it is the request's fault: no mutation of a valid one is a server error."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

from tests.serving.support import CLOCK, WEATHER, body, client

VALID: dict[str, Any] = body(
    messages=[
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "hm",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "clock", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "noon"},
    ],
    tools=[WEATHER, CLOCK],
    tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [CLOCK]}},
    parallel_tool_calls=False,
    response_format={
        "type": "json_schema",
        "json_schema": {
            "name": "x",
            "strict": True,
            "schema": {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}, "required": ["a"]},
        },
    },
    stop=["zzz"],
    seed=1,
    max_tokens=8,
    top_p=0.9,
    n=1,
    logprobs=True,
    top_logprobs=1,
    stream_options={"include_usage": True},
    chat_template_kwargs={"opened": False},
)
STRANGE: list[Any] = [
    None,
    True,
    0,
    -1,
    2**70,
    1.5,
    "",
    "text",
    "\u0000",
    "é" * 40,
    [],
    {},
    [None],
    {"": None},
    {"type": "text"},
    {"type": "function", "function": None},
    ["a", 1],
    {"$ref": "#"},
    "{{ messages }}",
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside a JSON value."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += places(inner, (*path, key))
    return found


def mutated(rng: random.Random) -> dict[str, Any]:
    request = copy.deepcopy(VALID)
    for _ in range(rng.choice((1, 1, 2, 3))):
        path = rng.choice(places(request))
        holder: Any = request
        for key in path[:-1]:
            holder = holder[key]
        if rng.random() < 0.25:
            del holder[path[-1]]
        else:
            holder[path[-1]] = copy.deepcopy(rng.choice(STRANGE))
        if not places(request):
            break
    return request


@pytest.mark.parametrize("seed", range(6))
def test_no_request_is_a_server_error(seed: int) -> None:
    rng = random.Random(seed)
    served = client('{"a": "b"}')
    for _ in range(60):
        request = mutated(rng) | {"stream": rng.random() < 0.5}
        answer = served.post("/v1/chat/completions", json=request)
        assert answer.status_code in (200, 400, 404), (json.dumps(request), answer.text)
        if answer.status_code == 200 and request["stream"]:
            assert answer.text.endswith("data: [DONE]\n\n"), (json.dumps(request), answer.text[-300:])
        elif answer.status_code != 200:
            assert answer.json()["error"]["message"]


@pytest.mark.parametrize("seed", range(3))
def test_no_bytes_are_a_server_error(seed: int) -> None:
    rng = random.Random(seed)
    served = client("hello")
    valid = json.dumps(VALID).encode()
    for _ in range(60):
        raw = bytearray(valid)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(raw))
            raw[at : at + rng.choice((0, 1, 1, 20))] = bytes(
                rng.randrange(256) for _ in range(rng.choice((0, 1, 1, 3)))
            )
        answer = served.post("/v1/chat/completions", content=bytes(raw))
        assert answer.status_code in (200, 400, 404), (bytes(raw), answer.text)
