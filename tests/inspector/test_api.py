"""What the page asks, and what it is told."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma import embedded, formats, upstreams
from syntagma.analysis import lint_template
from syntagma.codec import ChatCodec
from syntagma.inspector import Inspector, answer
from syntagma.inspector.distributions import Distributions
from syntagma.inspector.pages import BODY_BYTES
from syntagma.templates import ChatTemplate
from tests.inspector.asking import CALL, FORECAST, request
from tests.upstreams.mock import MockEngine
from tests.upstreams.wires import WIRES

_TEMPLATE = """{% for message in messages %}[{{ message.role }}]
{% if message.reasoning_content %}<thoughts>{{ message.reasoning_content }}</thoughts>
{% endif %}{{ message.content or '' }}{% for call in message.tool_calls or [] %}
@call {{ call.function.name }} {{ call.function.arguments | tojson }} @end{% endfor %}
[END]
{% endfor %}{% if add_generation_prompt %}[assistant]
<thoughts>{% endif %}"""


def _step(at: int) -> bytes:
    return json.dumps({"asked": {"messages": [{"role": "user", "content": ""}]}, "at": at}).encode()


def ask(inspector: Inspector, path: str, body: Any, status: int = 200) -> Any:
    reply = answer(inspector, f"api/{path}", json.dumps(body).encode())
    assert reply.status == status, reply.body
    return json.loads(reply.body)


def test_a_request_is_seen_whole(inspector: Inspector) -> None:
    seen = ask(inspector, "look", request(finished=True))
    assert seen["faults"] == {}
    assert "".join(token["text"] for token in seen["tokens"]) == CALL
    assert {token["state"] for token in seen["tokens"]} == {"held"}
    assert seen["may_end"] is True
    assert seen["message"]["tool_calls"][0]["name"] == "get_forecast"
    assert [one["event"]["type"] for one in seen["events"]][-1] == "message_end"
    assert seen["format"]["clean"] is True
    assert seen["grammar"].startswith("start ::=")


def test_the_prompt_adds_up_and_only_the_templates_tokens_are_special(inspector: Inspector) -> None:
    prompt = ask(inspector, "look", request())["prompt"]
    text = "".join(piece for piece, _ in prompt["segments"])
    origins = [origin for piece, origin in prompt["segments"] for _ in piece]
    assert "Is it <|im_end|> warm" in text
    for start, end in prompt["special"]:
        assert set(origins[start:end]) == {"template"}
    assert text[prompt["start"] :].startswith("<|im_start|>assistant")


def test_each_marker_is_proved_by_renders_that_have_it(inspector: Inspector) -> None:
    seen = ask(inspector, "look", {"template": _TEMPLATE, "messages": [{"role": "user", "content": "Hi"}]})["format"]
    assert seen["chosen"] == "derived"
    assert seen["proof"]["call_start"], "the marker of calls is shown by no render"
    for name, proof in seen["proof"].items():
        for at in proof:
            pair = seen["evidence"][at]
            assert seen["markers"][name].strip() in pair["before"] + pair["first"] + pair["after"] or (
                seen["markers"][name].strip() in pair["second"]
            )


def test_events_come_with_the_tokens_that_they_are_read_from(inspector: Inspector) -> None:
    seen = ask(inspector, "look", request(finished=True))
    came = [one["token"] for one in seen["events"]]
    assert came == sorted(came)
    assert len(set(came)) > 5, "the answer was read in one piece"
    ends = [token["end"] for token in seen["tokens"]]
    assert ends[-1] == len(CALL)
    for one in seen["events"]:
        read = ends[one["token"] - 1]
        assert one["event"]["span"][1] <= read, "an event is of characters that had not come"
    arguments = "".join(one["event"].get("arguments", "") for one in seen["events"])
    assert json.loads(arguments) == {"city": "Lisbon", "unit": "celsius"}


def test_the_switches_of_a_template_are_told_and_work(inspector: Inspector) -> None:
    asked = request("", tool_choice="auto")
    seen = ask(inspector, "look", asked)
    assert seen["format"]["switches"]
    for name, values in seen["format"]["switches"].items():
        texts = {json.dumps(ask(inspector, "look", {**asked, "variables": {name: one}})["prompt"]) for one in values}
        assert len(texts) > 1 or len(values) == 1, f"{name} changes nothing"


def test_where_an_answer_departs_is_seen_and_told(inspector: Inspector) -> None:
    asked = request(CALL.replace("celsius", "kelvin"))
    tokens = ask(inspector, "look", asked)["tokens"]
    states = [token["state"] for token in tokens]
    out = states.index("out")
    assert set(states[:out]) == {"held"}
    assert set(states[out + 1 :]) == {"behind"}
    step = ask(inspector, "step", {"asked": asked, "at": out})
    assert step["why"]
    assert step["keyword"] == "#/properties/unit/enum"
    assert step["expected"]
    assert any(one["id"] == tokens[out]["id"] and not one["allowed"] for one in step["candidates"])
    assert "not allowed" in ask(inspector, "step", {"asked": asked, "at": out + 1})["why"]


def test_the_keyword_of_a_response_format_is_named(inspector: Inspector) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 7}}, "required": ["n"]}
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    asked = request(answer='{"n": 9}', tools=None, tool_choice="auto", response_format=wanted)
    states = [token["state"] for token in ask(inspector, "look", asked)["tokens"]]
    step = ask(inspector, "step", {"asked": asked, "at": states.index("out")})
    assert step["keyword"] == "#/properties/n/maximum"
    assert ask(inspector, "step", {"asked": asked, "at": 0, "token": "x"})["keyword"] in {"", "#/type"}


def test_a_grammar_of_the_content_is_given_as_text(inspector: Inspector) -> None:
    plain = {"tools": None, "tool_choice": "auto"}
    for grammar in ('start ::= "yes" | "no" ;', 'root ::= "yes" | "no"', 'start: "yes" | "no"'):
        asked = request(answer="no", **plain, grammar=grammar)
        assert ask(inspector, "look", asked)["may_end"] is True
        assert ask(inspector, "look", {**asked, "answer": "nay"})["tokens"][-1]["state"] in {"out", "behind"}
        assert ask(inspector, "step", {"asked": asked, "at": 1})["expected"]
    schema = request(answer="12", **plain, grammar='{"type": "integer"}')
    assert ask(inspector, "look", schema)["may_end"] is True
    wrong = ask(inspector, "look", request(**plain, grammar="start ::= missing ;"))["faults"]["grammar"]
    assert wrong["code"] == "E-GRAMMAR-UNDEFINED"
    assert "line 1" in wrong["place"]
    both = request(**plain, grammar="start ::= 'a' ;", response_format={"type": "json_object"})
    assert ask(inspector, "look", both)["faults"]["grammar"]["place"] == "/grammar"


class _Counting:
    """A backend that counts the tokens that its model reads."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self.tokens = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def open(self) -> Any:
        session, counting = self._backend.open(), self

        class Session:
            def prefill(self, token_ids: Any) -> Any:
                counting.tokens += len(token_ids)
                return session.prefill(token_ids)

            def extend(self, token_ids: Any) -> Any:
                counting.tokens += len(token_ids)
                return session.extend(token_ids)

        return Session()


def test_no_prompt_is_read_twice() -> None:
    model = embedded.load()
    counting = _Counting(model)
    read = Distributions(counting)
    ids = model.tokenizer_info.encode("one two three four five six seven eight")
    plain = [model.open().prefill(ids[:n]) for n in range(1, len(ids) + 1)]
    for n in [*range(1, len(ids) + 1), 3, len(ids), 2]:
        found = read.after(tuple(ids[:n]))
        assert found is not None
        assert np.allclose(np.log(found), plain[n - 1] - np.logaddexp.reduce(plain[n - 1]), atol=1e-3)
    assert counting.tokens == len(ids)
    assert read.after((1,) * model.context_length) is None


def test_masked_probability_is_that_of_the_tokens_that_are_out(inspector: Inspector) -> None:
    asked = request("")
    step = ask(inspector, "step", {"asked": asked, "at": 0})
    model = embedded.load()
    codec = ChatCodec.from_pretrained(model.path)
    turn = codec.prepare(asked["messages"], tools=asked["tools"], tool_choice="required")
    logits = np.asarray(model.open().prefill(turn.prompt_ids(model.tokenizer_info)), np.float64)
    probabilities = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    [only] = [one["id"] for one in step["candidates"] if one["allowed"]]
    assert step["allowed"] == 1
    assert step["masked"] == pytest.approx(1 - probabilities[only], abs=1e-6)
    best = max(step["candidates"], key=lambda one: one["probability"])
    assert best["id"] == int(probabilities.argmax())


def test_the_model_writes_on_until_the_answer_is_whole(inspector: Inspector) -> None:
    text, finished = "", False
    for _ in range(60):
        more = ask(inspector, "continue", {"asked": request(text), "seed": 3})
        text, finished = text + more["text"], more["finished"]
        if finished:
            break
    assert finished
    seen = ask(inspector, "look", request(text, finished=True))
    assert {token["state"] for token in seen["tokens"]} == {"held"}
    assert seen["message"]["tool_calls"][0]["complete"] is True


def test_an_answer_that_is_out_is_not_written_on(inspector: Inspector) -> None:
    told = ask(inspector, "continue", {"asked": request("No.")}, status=400)
    assert told["code"] == "E-ARGUMENT-VALUE"


@pytest.mark.parametrize("name", formats.names())
def test_every_named_format_is_shown(inspector: Inspector, name: str) -> None:
    seen = ask(inspector, "look", request("", format=name, tool_choice="auto"))
    assert seen["format"] is not None
    assert seen["format"]["chosen"] == name
    assert "format" not in seen["faults"]


@pytest.mark.parametrize(
    ("more", "part", "code"),
    [
        ({"template": "{% for"}, "format", "E-TEMPLATE-SYNTAX"),
        ({"format": "no such format"}, "format", "E-FORMAT-UNKNOWN"),
        ({"messages": [{"content": "Hi"}]}, "prompt", "E-TEMPLATE-UNDEFINED"),
        ({"tools": [{"type": "function", "function": {}}]}, "prompt", "E-TOOL-INVALID"),
        (
            {"response_format": {"type": "nothing"}, "tools": None, "tool_choice": "auto"},
            "grammar",
            "E-REQUEST-RESPONSE-FORMAT",
        ),
        ({"tool_choice": "sometimes"}, "grammar", "E-REQUEST-TOOL-CHOICE"),
    ],
)
def test_what_is_wrong_is_told_where_it_would_be_shown(
    inspector: Inspector, more: dict[str, Any], part: str, code: str
) -> None:
    seen = ask(inspector, "look", request(**more))
    assert seen["faults"][part]["code"] == code
    assert seen["faults"][part]["message"]


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("api/look", b"{", 400, "E-REQUEST-JSON"),
        ("api/look", b"\xff", 400, "E-REQUEST-JSON"),
        ("api/look", b"[" * 100_000, 400, "E-REQUEST-JSON"),
        ("api/look", b'{"messages": 3}', 400, "E-REQUEST-FIELD"),
        ("api/look", b'{"unknown": 3}', 400, "E-REQUEST-FIELD"),
        ("api/look", None, 404, "E-REQUEST-ROUTE"),
        ("api/nothing", b"{}", 404, "E-REQUEST-ROUTE"),
        ("api/look", b" " * (BODY_BYTES + 1), 413, "E-REQUEST-BODY"),
        ("api/look", json.dumps({"answer": "x" * 20_001}).encode(), 413, "E-REQUEST-LIMIT"),
        ("api/step", _step(5), 400, "E-ARGUMENT-VALUE"),
        ("api/step", _step(-1), 400, "E-ARGUMENT-VALUE"),
        ("", b"{}", 405, "E-REQUEST-METHOD"),
        ("../inspector.py", None, 404, "E-REQUEST-ROUTE"),
        ("static/main.js", None, 404, "E-REQUEST-ROUTE"),
    ],
)  # fmt: skip
def test_wrong_requests_are_refused(
    inspector: Inspector, path: str, body: bytes | None, status: int, code: str
) -> None:
    reply = answer(inspector, path, body)
    assert (reply.status, json.loads(reply.body)["code"]) == (status, code)


def test_the_page_loads_nothing_from_elsewhere(inspector: Inspector) -> None:
    for name in ("", "index.html", "main.js", "views.js", "dom.js", "state.js", "examples.js", "style.css", "icon.svg"):
        reply = answer(inspector, name, None)
        assert reply.status == 200
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        text = reply.body.decode().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text
        assert "https://" not in text
        assert "innerHTML" not in text


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=60))
def test_any_answer_is_cut_into_tokens_that_add_up(inspector: Inspector, text: str) -> None:
    seen = ask(
        inspector, "look", {"messages": [{"role": "user", "content": "Hi"}], "tools": [FORECAST], "answer": text}
    )
    assert seen["faults"] == {}
    model = embedded.load().tokenizer_info
    assert b"".join(model.token_bytes(token["id"]) for token in seen["tokens"]).decode("utf-8", "replace") == text
    ends = [token["end"] for token in seen["tokens"]]
    assert ends == sorted(ends)
    assert (ends or [0])[-1] == len(text)
    assert (
        "".join(one["event"].get("text", "") for one in seen["events"] if one["event"]["type"] != "malformed") in text
    )


def test_a_format_file_takes_the_place_of_a_name(inspector: Inspector) -> None:
    toml = '[tools]\ncall = "@call {name} {arguments} @end"\n'
    written = '@call get_forecast {"city": "Lima", "unit": "celsius"} @end'
    asked = request(written, format_file=toml, template=_TEMPLATE, finished=True)
    seen = ask(inspector, "look", asked)
    assert "@call {name}" in seen["format"]["toml"]
    assert seen["message"]["tool_calls"][0]["name"] == "get_forecast"
    wrong = ask(inspector, "look", request(format_file='[tools]\ncal = "x"'))
    assert wrong["faults"]["format"]["code"].startswith("E-FORMAT-")
    both = ask(inspector, "look", request(format_file=toml, format="hermes"))
    assert both["faults"]["format"]["code"] == "E-REQUEST-FIELD"


def test_why_a_format_and_what_is_wrong_with_its_template(inspector: Inspector) -> None:
    template = _TEMPLATE.replace("message.content or ''", "message.content")
    seen = ask(inspector, "look", request("", template=template))
    assert seen["format"]["why"][0].startswith("derived: ")
    found = lint_template(ChatTemplate(template))
    assert [line.partition(":")[0] for line in seen["format"]["defects"]] == [one.rule for one in found] != []
    assert ask(inspector, "look", request("", format="hermes"))["format"]["why"] == []


def test_a_running_engine_writes_the_answer() -> None:
    backend = embedded.load()
    with MockEngine(WIRES["llamacpp"]) as engine:
        upstream, codec = upstreams.connect(f"llamacpp:{engine.url}"), ChatCodec.from_pretrained(backend.path)
        inspector = Inspector(backend, codec, upstream)
        assert ask(inspector, "continue", {"asked": request(CALL)}, status=400)["hint"] == "clear it"
        told = ask(inspector, "continue", {"asked": request("")})
        assert told["finished"]
        seen = ask(inspector, "look", request(told["text"], finished=True))
        assert {token["state"] for token in seen["tokens"]} == {"held"}
        assert seen["message"]["tool_calls"][0]["complete"]
        inspector.close()
