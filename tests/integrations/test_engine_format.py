"""Which format an engine's model writes, and entry points that harm no start."""

from __future__ import annotations

import logging
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import syntagma as sg
from syntagma.integrations import sglang, vllm
from syntagma.integrations.engine_format import FORMAT_VARIABLE, TEMPLATE_VARIABLE, engine_format
from syntagma.integrations.vllm.request import asked_of, declared_tools, turn_grammar


@pytest.fixture
def template() -> str:
    with as_file(files("syntagma.embedded") / "data" / "chat_template.jinja") as path:
        return path.read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FORMAT_VARIABLE, raising=False)
    monkeypatch.delenv(TEMPLATE_VARIABLE, raising=False)


def test_the_template_of_the_tokenizer_is_analysed_once(template: str) -> None:
    found = engine_format(SimpleNamespace(chat_template=template))
    assert found == sg.analyze(sg.ChatTemplate(template)).format
    assert engine_format(SimpleNamespace(chat_template={"tool_use": "", "default": template})) is found


def test_the_end_of_the_turn_may_be_the_tokenizers() -> None:
    template = (
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% if m.role == 'assistant' %}{{ eos_token }}{% endif %}"
        "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    ends = engine_format(SimpleNamespace(chat_template=template, eos_token="<|over|>", bos_token=None)).stop_strings
    assert ends == ("<|over|>",)


def test_the_environment_comes_first(template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "template.jinja"
    file.write_text(template)
    monkeypatch.setenv(TEMPLATE_VARIABLE, str(file))
    assert engine_format(SimpleNamespace(chat_template="{{ messages }}")).spec.tools is not None
    monkeypatch.setenv(FORMAT_VARIABLE, "hermes")
    assert engine_format(None) == sg.formats.get("hermes")
    own = tmp_path / "own.toml"
    own.write_text('[tools]\ncall = "<leaf>{name}\\n{arguments}</leaf>"\n')
    monkeypatch.setenv(FORMAT_VARIABLE, str(own))
    assert engine_format(None).triggers == ("<leaf>",)


@pytest.mark.parametrize(
    ("variable", "value", "code"),
    [
        (FORMAT_VARIABLE, "no-such-format", "E-FORMAT-UNKNOWN"),
        (FORMAT_VARIABLE, "no/such/file.toml", "E-ARGUMENT-FORMAT"),
        (TEMPLATE_VARIABLE, "no/such/file.jinja", "E-ARGUMENT-FORMAT"),
        ("NOTHING", "", "E-ARGUMENT-FORMAT"),
    ],
)
def test_what_is_wrong_is_said(variable: str, value: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(sg.SyntagmaError) as raised:
        engine_format(SimpleNamespace(chat_template=None))
    assert raised.value.code == code


@pytest.mark.parametrize("plugin", [vllm, sglang], ids=["vllm", "sglang"])
def test_an_entry_point_without_its_engine_says_so_and_raises_nothing(
    plugin: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, plugin.__name__.rpartition(".")[2], None)
    with caplog.at_level(logging.ERROR):
        plugin.register()
    assert "syntagma is not available" in caplog.text


def test_an_entry_point_imports_no_engine_until_it_is_called() -> None:
    code = (
        "import sys; import syntagma.integrations.vllm\nassert not {'vllm', 'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class Params(SimpleNamespace):
    """vLLM's parameters of structured outputs, as plain as they are."""

    def __init__(self, **fields: Any) -> None:
        names = ("json", "json_object", "regex", "choice", "grammar", "structural_tag")
        super().__init__(**(dict.fromkeys(names) | fields))

    def all_constraints_none(self) -> bool:
        return not any(value is not None for value in vars(self).values())


def request(**fields: Any) -> Any:
    params = fields.pop("params", None)
    usual = {"tools": None, "tool_choice": None, "extract_structured_outputs": lambda: params}
    return SimpleNamespace(**(usual | fields))


FUNCTION = {"type": "function", "name": "clock", "parameters": {"type": "object"}}


def test_a_request_of_the_other_api_is_read() -> None:
    asked = request(tools=[FUNCTION, {"type": "web_search"}], tool_choice={"type": "function", "name": "clock"})
    assert declared_tools(asked) == [FUNCTION]
    assert asked_of(asked, {"a": 1}) == {
        "tool_choice": {"type": "function", "function": {"name": "clock"}},
        "template_kwargs": {"a": 1},
    }
    held = turn_grammar(sg.formats.get("hermes"), asked, prompt=None, template_kwargs=None)
    assert held is not None
    grammar = sg.Grammar.from_structural_tag(held["structural_tag"])
    assert grammar.accepts('<tool_call>{"name": "clock", "arguments": {}}</tool_call>')
    assert not grammar.accepts("Yes.")


def test_what_a_tag_cannot_say_goes_out_as_a_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise sg.GrammarError("E-GRAMMAR-UNSUPPORTED", "not here")

    monkeypatch.setattr(sg.Grammar, "to_structural_tag", refused, raising=False)
    held = turn_grammar(
        sg.formats.get("hermes"), request(params=Params(choice=["a", "b"])), prompt=None, template_kwargs={}
    )
    assert held is not None
    assert sg.Grammar.from_gbnf(held["grammar"]).accepts("b")


@pytest.mark.parametrize("params", [None, Params()])
def test_nothing_asked_is_nothing_held(params: Any) -> None:
    asked = request(params=params)
    assert turn_grammar(sg.formats.get("hermes"), asked, prompt=None, template_kwargs=None) is None
