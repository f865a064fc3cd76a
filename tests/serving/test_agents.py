"""What agent programs send: tools in namespaces and of providers, items by reference, further roles and blocks."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from starlette.testclient import TestClient

from syntagma import upstreams
from syntagma.codec import ChatCodec
from syntagma.formats import ChatFormat
from syntagma.serving import ServedModel, Settings, create_app
from syntagma.templates import ChatTemplate
from syntagma.testing import ScriptedBackend
from tests.serving.support import FORMAT, TEMPLATE, client
from tests.upstreams.mock import MockEngine
from tests.upstreams.wires import CODEC, WIRES

RESPONSES, MESSAGES, CHAT = "/v1/responses", "/v1/messages", "/v1/chat/completions"


def function(name: str, **more: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    return {"type": "function", "name": name, "parameters": parameters, **more}


def namespace(name: str, *tools: dict[str, Any]) -> dict[str, Any]:
    return {"type": "namespace", "name": name, "description": "Tools of a server.", "tools": list(tools)}


NAMESPACES = [
    function("shell"),
    namespace("mcp__docs__", function("search", defer_loading=True), {"type": "custom", "name": "write"}),
    namespace("mcp__code", function("search")),
]


def call(name: str, **arguments: Any) -> str:
    return f"<call>{json.dumps({'name': name, 'arguments': arguments})}</call>"


def events_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(event.split("data: ", 1)[1]) for event in text.split("\n\n") if "data: " in event]


@pytest.mark.parametrize(
    ("written", "name", "in_namespace"),
    [
        (call("shell", q="x"), "shell", None),
        (call("mcp__docs__search", q="x"), "search", "mcp__docs__"),
        (call("mcp__code__search", q="x"), "search", "mcp__code"),
        (call("mcp__docs__write", input="x"), "write", "mcp__docs__"),
    ],
)
def test_calls_of_tools_in_namespaces_have_two_fields(written: str, name: str, in_namespace: str | None) -> None:
    fields = {"model": "scripted", "input": "hi", "tools": NAMESPACES, "tool_choice": "required", "temperature": 0}
    with client(written) as server:
        whole = server.post(RESPONSES, json=fields)
        assert whole.status_code == 200, whole.text
        (item,) = whole.json()["output"]
        assert (item["name"], item.get("namespace")) == (name, in_namespace)
        assert "namespace" in item or in_namespace is None
        events = events_of(server.post(RESPONSES, json={**fields, "stream": True}).text)
    items = [event["item"] for event in events if event["type"].startswith("response.output_item.")]
    items.append(events[-1]["response"]["output"][0])
    assert len(items) == 3
    assert {(item["name"], item.get("namespace")) for item in items} == {(name, in_namespace)}
    # What had no effect is named: loading all at once is what leaving out the search of tools means.
    assert "tools[1].tools[0].defer_loading" in whole.headers["x-syntagma-ignored"]


def test_the_prompt_has_each_tool_under_one_name_and_histories_use_it() -> None:
    prompts: list[str] = []

    def script(prompt: str) -> str:
        prompts.append(prompt)
        return "done"

    history = [
        {"role": "user", "content": "hi"},
        {
            "type": "function_call",
            "call_id": "1",
            "name": "search",
            "namespace": "mcp__docs__",
            "arguments": '{"q": "a"}',
        },
        {"type": "function_call_output", "call_id": "1", "output": "found"},
        {"type": "custom_tool_call", "call_id": "2", "name": "write", "namespace": "mcp__docs__", "input": "text"},
        {"type": "custom_tool_call_output", "call_id": "2", "output": "written"},
    ]
    answer = client(script).post(RESPONSES, json={"model": "scripted", "input": history, "tools": NAMESPACES})
    assert answer.status_code == 200, answer.text
    tools = json.loads(prompts[0].split("<tools>")[1].split("<end>")[0])
    assert [tool["function"]["name"] for tool in tools] == [
        *("shell", "mcp__docs__search", "mcp__docs__write", "mcp__code__search")
    ]
    assert '<call>{"name": "mcp__docs__search", "arguments": {"q": "a"}}</call>' in prompts[0]
    assert '"name": "mcp__docs__write"' in prompts[0].split("<end>", 1)[1]


def test_a_choice_names_a_tool_by_its_namespace() -> None:
    choice = {"type": "function", "name": "search", "namespace": "mcp__code"}
    fields = {"model": "scripted", "input": "hi", "tools": NAMESPACES, "temperature": 0}
    for chosen in (choice, {"type": "allowed_tools", "mode": "required", "tools": [choice]}):
        answer = client(call("shell", q="x")).post(RESPONSES, json={**fields, "tool_choice": chosen})
        assert answer.status_code == 200, answer.text
        assert answer.json()["output"][0]["namespace"] == "mcp__code"


def test_a_wrong_tool_in_a_namespace_is_named_where_it_stands() -> None:
    tools = [{"type": "web_search"}, namespace("a", function("x"), {"type": "function", "name": 5})]
    answer = client().post(RESPONSES, json={"model": "scripted", "input": "hi", "tools": tools})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "tools[1].tools[1].name"


HOSTED = {
    RESPONSES: [
        *({"type": kind} for kind in ("web_search", "image_generation", "tool_search", "local_shell", "apply_patch")),
        {"type": "mcp", "server_label": "docs"},
        {"type": "file_search", "vector_store_ids": ["x"]},
    ],
    MESSAGES: [
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
        {"type": "bash_20250124", "name": "bash"},
        {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
    ],
    CHAT: [{"type": "web_search"}],
}


def body_of(url: str, tools: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    said = {"input": "hi"} if url == RESPONSES else {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 200}
    return {"model": "scripted", "temperature": 0, "tools": tools, **said, **more}


@pytest.mark.parametrize("url", [RESPONSES, MESSAGES, CHAT])
def test_tools_of_providers_are_left_out_and_named(url: str, caplog: pytest.LogCaptureFixture) -> None:
    own = {
        RESPONSES: function("weather"),
        MESSAGES: {"name": "weather", "input_schema": function("weather")["parameters"]},
        CHAT: {"type": "function", "function": {"name": "weather", "parameters": function("weather")["parameters"]}},
    }[url]
    tools = [*HOSTED[url], own]
    with client(call("weather", q="x")) as server, caplog.at_level(logging.WARNING, "syntagma.serving"):
        for _ in range(2):
            answer = server.post(url, json=body_of(url, tools))
            assert answer.status_code == 200, answer.text
            assert "weather" in answer.text
    named = answer.headers["x-syntagma-ignored"].split(", ")
    assert {f"tools[{index}]" for index in range(len(tools) - 1)} <= set(named)
    told = [record.getMessage() for record in caplog.records if "left out" in record.getMessage()]
    assert len(told) == len(HOSTED[url])  # once for a model and type
    strict = client("hello", settings=Settings(strict_fields=True))
    refused = strict.post(url, json=body_of(url, tools))
    assert refused.status_code == 400
    assert "--strict-fields" in refused.text
    assert strict.post(url, json=body_of(url, [own])).status_code == 200


def test_items_are_found_by_reference_and_listed() -> None:
    with client("hello") as server:
        first = server.post(RESPONSES, json={"model": "scripted", "input": "who?"}).json()
        said = first["output"][0]["id"]
        inputs = server.get(f"{RESPONSES}/{first['id']}/input_items").json()
        assert [item["role"] for item in inputs["data"]] == ["user"]
        reference = [{"type": "item_reference", "id": inputs["first_id"]}, {"type": "item_reference", "id": said}]
        again = [*reference, {"role": "user", "content": "and then?"}]
        second = server.post(RESPONSES, json={"model": "scripted", "input": again})
        assert second.status_code == 200, second.text
        page = server.get(f"{RESPONSES}/{second.json()['id']}/input_items?order=asc&limit=2").json()
        assert [item["id"] for item in page["data"]] == [inputs["first_id"], said]
        assert page["has_more"] is True
        rest = server.get(f"{RESPONSES}/{second.json()['id']}/input_items?order=asc&after={said}").json()
        assert [len(rest["data"]), rest["has_more"]] == [1, False]
        later = server.post(
            RESPONSES, json={"model": "scripted", "input": "more", "previous_response_id": first["id"]}
        ).json()
        assert len(server.get(f"{RESPONSES}/{later['id']}/input_items").json()["data"]) == 3
        for path, param in (("?order=up", "order"), ("?limit=0", "limit"), ("?after=x", "after")):
            wrong = server.get(f"{RESPONSES}/{first['id']}/input_items{path}")
            assert (wrong.status_code, wrong.json()["error"]["param"]) == (400, param)
        missing = server.post(
            RESPONSES, json={"model": "scripted", "input": [{"type": "item_reference", "id": "none"}]}
        )
        assert (missing.status_code, missing.json()["error"]["param"]) == (404, "input[0].id")
        assert server.get(f"{RESPONSES}/none/input_items").status_code == 404
        assert server.post(f"{RESPONSES}/none/cancel").status_code == 404
        assert server.post(f"{RESPONSES}/{first['id']}/cancel").status_code == 400
        assert server.post(f"{RESPONSES}/compact", json={}).status_code == 404


def test_tokens_of_an_input_are_counted() -> None:
    fields = {"model": "scripted", "input": "who?", "instructions": "be brief", "tools": NAMESPACES}
    with client("hello") as server:
        counted = server.post(f"{RESPONSES}/input_tokens", json=fields).json()
        used = server.post(RESPONSES, json=fields).json()["usage"]["input_tokens"]
    assert counted == {"object": "response.input_tokens", "input_tokens": used}


@pytest.mark.parametrize("kind", ["web_search_call", "local_shell_call", "mcp_list_tools", "image_generation_call"])
def test_items_of_other_types_are_left_out_and_named(kind: str) -> None:
    items = [{"role": "user", "content": "hi"}, {"type": kind, "id": "x"}]
    answer = client().post(RESPONSES, json={"model": "scripted", "input": items})
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-syntagma-ignored"] == "input[1]"


def prompt_of(url: str, messages: list[dict[str, Any]], **more: Any) -> str:
    prompts: list[str] = []

    def script(prompt: str) -> str:
        prompts.append(prompt)
        return "ok"

    fields = {"model": "scripted", "max_tokens": 20, "messages": messages, **more}
    answer = client(script).post(url, json=fields)
    assert answer.status_code == 200, answer.text
    return prompts[0]


def test_system_messages_may_stand_in_an_anthropic_conversation() -> None:
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "system", "content": [{"type": "text", "text": "be brief"}]},
        {"role": "user", "content": "go on"},
    ]
    assert "<system>be brief<end>" in prompt_of(MESSAGES, messages)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ({"type": "text", "media_type": "text/plain", "data": "Oslo is a town."}, "Oslo is a town."),
        ({"type": "content", "content": "Oslo is a town."}, "Oslo is a town."),
        (
            {"type": "content", "content": [{"type": "text", "text": "Oslo"}, {"type": "text", "text": "Lima"}]},
            "Oslo\nLima",
        ),
    ],
)
def test_documents_that_are_text_are_read(source: dict[str, Any], text: str) -> None:
    block = {"type": "document", "source": source, "title": "Towns", "context": "A list."}
    prompt = prompt_of(MESSAGES, [{"role": "user", "content": [block, {"type": "text", "text": "so?"}]}])
    assert f"Towns\n\nA list.\n\n{text}\nso?" in prompt


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        ("no such file", "<tool>Error: no such file<end>"),
        ("Error: no such file", "<tool>Error: no such file<end>"),
        ([{"type": "text", "text": "no such"}, {"type": "text", "text": "file"}], "<tool>Error:\nno such\nfile<end>"),
        (None, "<tool>Error: <end>"),
    ],
)
def test_the_model_sees_that_a_result_is_an_error(content: Any, seen: str) -> None:
    result = {"type": "tool_result", "tool_use_id": "1", "content": content, "is_error": True}
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "read", "input": {}}]},
        {"role": "user", "content": [result]},
    ]
    assert seen in prompt_of(MESSAGES, messages)


def served_by(kind: str, engine: MockEngine) -> TestClient:
    """A server in front of a made engine."""
    return TestClient(create_app(ServedModel(upstreams.connect(f"{kind}:{engine.url}"), CODEC, name="scripted")))


@pytest.mark.parametrize("kind", ["llamacpp", "vllm"])
def test_engines_count_tokens_where_they_can(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wire = WIRES[kind]
    monkeypatch.setitem(wire.facts, "/tokenize", {"tokens": [1, 2, 3], "count": 3})
    messages = [{"role": "user", "content": "hi"}]
    with MockEngine(wire) as engine, served_by(kind, engine) as server:
        counted = server.post(f"{MESSAGES}/count_tokens", json={"model": "scripted", "messages": messages})
        assert counted.json() == {"input_tokens": 3}
        assert server.post("/tokenize", json={"prompt": "hi"}).json()["tokens"] == [1, 2, 3]
        texts = server.post("/tokenize", json={"prompt": "hi", "return_token_strs": True})
        assert texts.status_code == 400
        assert "--model FOLDER" in texts.text


def test_a_budget_that_an_engine_cannot_hold_is_named() -> None:
    thinking = {"type": "enabled", "budget_tokens": 2000}
    messages = [{"role": "user", "content": "hi"}]
    fields = {"model": "scripted", "max_tokens": 20, "messages": messages}
    with MockEngine(WIRES["llamacpp"]) as engine, served_by("llamacpp", engine) as server:
        answer = server.post(MESSAGES, json={**fields, "thinking": thinking})
        assert answer.status_code == 200, answer.text
        assert answer.headers["x-syntagma-ignored"] == "thinking.budget_tokens"
        refused = server.post(CHAT, json={**fields, "thinking_token_budget": 2000})
        assert refused.status_code == 400


WEATHER = {"type": "function", "function": {"name": "weather", "parameters": function("weather")["parameters"]}}
UNKNOWN, KNOWN = call("wether", q="a"), call("weather", q="b")


def asked(rule: str, script: str, url: str = CHAT, **more: Any) -> Any:
    settings = Settings(unknown_tools=rule, enforce="off")  # type: ignore[arg-type]
    said = {"messages": [{"role": "user", "content": "hi"}], "tools": [WEATHER], "max_tokens": 500}
    if url == RESPONSES:
        said = {"input": "hi", "tools": [function("weather")]}
    return client(script, settings=settings).post(url, json={"model": "scripted", "temperature": 0, **said, **more})


def test_calls_of_undeclared_tools_are_passed_on_and_named(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "syntagma.serving"):
        answer = asked("pass", UNKNOWN + KNOWN, include_diagnostics=True).json()
    calls = answer["choices"][0]["message"]["tool_calls"]
    assert [one["function"]["name"] for one in calls] == ["wether", "weather"]
    (noticed,) = answer["usage"]["extra"]["diagnostics"]
    assert (noticed["index"], noticed["code"]) == (0, "E-PARSE-TOOL")
    assert "the nearest is 'weather'" in noticed["message"]
    assert any("E-PARSE-TOOL" in record.getMessage() for record in caplog.records)
    assert "diagnostics" not in asked("pass", UNKNOWN).json()["usage"]["extra"]


def test_diagnostics_come_with_the_usage_of_a_stream_and_are_counted() -> None:
    settings = Settings(enforce="off")
    fields = {
        "model": "scripted",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [WEATHER],
        "temperature": 0,
    }
    with client(UNKNOWN, settings=settings) as server:
        text = server.post(CHAT, json={**fields, "stream": True, "include_diagnostics": True}).text
        counted = server.get("/metrics").text
    chunks = [json.loads(event.removeprefix("data: ")) for event in text.split("\n\n")[:-2]]
    assert chunks[-1]["usage"]["extra"]["diagnostics"][0]["code"] == "E-PARSE-TOOL"
    assert 'syntagma:parse_diagnostics_total{code="E-PARSE-TOOL",model_name="scripted"} 1.0' in counted


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("url", [CHAT, RESPONSES])
def test_calls_of_undeclared_tools_can_be_left_out(url: str, streams: bool) -> None:
    answer = asked("drop", UNKNOWN + KNOWN + UNKNOWN, url, stream=streams)
    assert answer.status_code == 200, answer.text
    assert "wether" not in answer.text
    assert "weather" in answer.text
    if url == CHAT and not streams:
        choice = answer.json()["choices"][0]
        assert (len(choice["message"]["tool_calls"]), choice["finish_reason"]) == (1, "tool_calls")
        alone = asked("drop", UNKNOWN).json()["choices"][0]
        assert ("tool_calls" in alone["message"], alone["finish_reason"]) == (False, "stop")
    if url == CHAT and streams:
        indices = [
            part["index"]
            for event in events_of(answer.text.replace("data: [DONE]", ""))
            for choice in event["choices"]
            for part in choice["delta"].get("tool_calls", [])
        ]
        assert set(indices) == {0}


def test_calls_of_undeclared_tools_can_be_content_or_refused() -> None:
    assert "wether" in asked("content", UNKNOWN).json()["choices"][0]["message"]["content"]
    refused = asked("refuse", UNKNOWN)
    assert (refused.status_code, refused.json()["error"]["code"]) == (502, "E-REQUEST-ANSWER")
    streamed = asked("refuse", "Well. " + UNKNOWN, stream=True)
    assert streamed.status_code == 200
    assert "E-REQUEST-ANSWER" in streamed.text
    assert "tool_calls" not in streamed.text
    assert asked("refuse", KNOWN).status_code == 200


def test_tokens_of_reasoning_are_counted() -> None:
    usage = asked("pass", "<note>well</note>ok").json()["usage"]
    assert usage["completion_tokens_details"] == {"reasoning_tokens": len("well")}


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({"store": False}, {"encrypted_content"}),
        ({"include": ["reasoning.encrypted_content"]}, {"encrypted_content"}),
        ({}, {"id"}),
    ],
    ids=["nothing stored", "asked for", "stored"],
)
def test_reasoning_comes_back_in_whatever_form_clients_keep_it(
    fields: dict[str, Any], kept: set[str], streams: bool
) -> None:
    prompts: list[str] = []
    thought = "well, “quite” well"
    shown = TEMPLATE.replace("{{ message.content }}", "{{ message.reasoning_content }}{{ message.content }}")
    codec = ChatCodec.from_format(ChatFormat.from_toml(FORMAT), ChatTemplate(shown))

    def script(prompt: str) -> str:
        prompts.append(prompt)
        return f"<note>{thought}</note>" + KNOWN

    def said(item: dict[str, Any]) -> str:
        with TestClient(create_app(ServedModel(ScriptedBackend(script), codec))) as server:
            asked = {"model": "scripted", "input": "hi", "tools": [function("weather")], "temperature": 0, **fields}
            answer = server.post(RESPONSES, json={**asked, "stream": streams})
            whole = events_of(answer.text)[-1]["response"] if streams else answer.json()
            reasoning, call = whole["output"]
            assert ("encrypted_content" in reasoning) == ("encrypted_content" in kept)
            given = {"type": "reasoning", "summary": [], **{name: reasoning[name] for name in kept}, **item}
            result = {"type": "function_call_output", "call_id": call["call_id"], "output": "rain"}
            again = server.post(
                RESPONSES, json={**asked, "input": [{"role": "user", "content": "hi"}, given, call, result]}
            )
            assert again.status_code == 200, again.text
            return again.headers.get("x-syntagma-ignored", "")

    assert said({}) == ""
    assert thought in prompts[-1]
    said({"content": [{"type": "reasoning_text", "text": "other"}]})
    assert "other" in prompts[-1]
    assert thought not in prompts[-1]
    # What is not ours is named.
    if kept == {"encrypted_content"}:
        for foreign in ("gAAAA", "syntagma:?", "syntagma:/w=="):
            assert "input[1]" in said({"encrypted_content": foreign})
            assert thought not in prompts[-1]


@pytest.mark.parametrize("history", ["repair", "strict"])
def test_a_cut_call_in_the_history(history: Any) -> None:
    served = ServedModel(
        ScriptedBackend("done"),
        ChatCodec.from_format(ChatFormat.from_toml(FORMAT), ChatTemplate(TEMPLATE)),
        history=history,
    )
    cut = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Os'}}
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "tool_calls": [cut]},
        {"role": "tool", "tool_call_id": "c1", "content": "Error: cut off"},
    ]
    answer = TestClient(create_app(served)).post(CHAT, json={"messages": messages})
    if history == "strict":
        assert answer.status_code == 400
        assert answer.json()["error"]["param"] == "messages[1].tool_calls[0].function.arguments"
    else:
        assert answer.status_code == 200
        prompts: list[str] = served.engine.prompts  # type: ignore[union-attr]
        assert '<call>{"name": "weather", "arguments": {"city": "Os"}}</call>' in prompts[0]
