"""Templates that list tools and write no call: what their prompts tell of the format, and what they do not."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from syntagma import formats
from syntagma.analysis import Analysis, analyze
from syntagma.cli.app import app
from syntagma.codec import ChatCodec
from syntagma.decoding import TokenizerInfo
from syntagma.errors import FormatError
from syntagma.formats import ChatFormat
from syntagma.templates import ChatTemplate
from syntagma.testing import byte_vocabulary

PROMPTS = [name for name in formats.names() if formats.get(name).spec.prompt is not None]


def _template(name: str, *, result: str | None = None, spoiled: bool = False, shows_results: bool = True) -> str:
    """A template that lists tools, and shows their results, as the format says, and passes calls over."""
    prompt = formats.get(name).spec.prompt
    assert prompt is not None
    opener, _, closer = prompt.tool_list.partition("{tools}")
    before, tool, after = prompt.tool.partition("{tool}" if "{tool}" in prompt.tool else "{function}")
    one = "tool" if tool == "{tool}" else "tool.function"
    shown = (result if result is not None else prompt.result[0]).replace("'", "\\'").replace("\n", "\\n")
    for placeholder, value in (("result", "content"), ("id", "tool_call_id"), ("name", "name")):
        shown = shown.replace("{" + placeholder + "}", f"' + m.{value} + '")
    lines = [
        "{%- if tools %}{{ '[sys]Tools: ' + " + repr(opener + ("!" if spoiled else "")) + " }}",
        "{%- for tool in tools %}{{ " + repr(before) + " + (" + one + " | tojson) + " + repr(after),
        " + ('' if loop.last else "
        + repr(prompt.separator)
        + ") }}{%- endfor %}{{ "
        + repr(closer)
        + " }}{%- endif %}",
        "{%- for m in messages %}",
        "{%- if m.role == 'tool' %}" + ("{{ '" + shown + "' }}" if shows_results else ""),
        "{%- else %}{{ '[' + m.role + ']' + (m.content or '') + '[end]' }}{%- endif %}",
        "{%- endfor %}",
        "{%- if add_generation_prompt %}{{ '[assistant]' }}{%- endif %}",
    ]
    return "".join(lines)


@functools.cache
def _analysis(source: str, vocabulary: TokenizerInfo | None = None) -> Analysis:
    return analyze(source, vocabulary=vocabulary)


@pytest.mark.parametrize("name", PROMPTS)
def test_a_format_whose_prompt_is_rendered_is_chosen_for_its_calls(name: str) -> None:
    found = _analysis(_template(name))
    assert found.assumed == (name,)
    assert found.chosen == name
    assert found.format.spec.tools == formats.get(name).spec.tools
    assert found.format.spec.anchor == "[assistant]"
    assert found.derived.spec.tools is None
    assert found.certificate is not None
    assert "no render shows calls" in found.certificate.summary
    assert found.to_dict()["assumed"] == [name]


@pytest.mark.parametrize("name", PROMPTS)
def test_every_result_that_a_format_shows_counts(name: str) -> None:
    prompt = formats.get(name).spec.prompt
    assert prompt is not None
    for result in prompt.result:
        assert _analysis(_template(name, result=result)).assumed == (name,)


@pytest.mark.parametrize("name", PROMPTS)
def test_what_differs_in_one_place_is_not_assumed(name: str) -> None:
    assert name not in _analysis(_template(name, spoiled=True)).assumed
    assert _analysis(_template(name, result="(result) {result}")).assumed == ()


def test_lists_that_several_formats_share_name_them_all() -> None:
    shared = [name for name in PROMPTS if "<tools>" in str(formats.get(name).spec.prompt)]
    plain = [name for name in shared if "{function}" not in str(formats.get(name).spec.prompt)]
    assert len(plain) > 1
    assert set(_analysis(_template(plain[0], shows_results=False)).assumed) == set(plain)


@pytest.mark.parametrize("name", PROMPTS)
def test_a_vocabulary_without_the_markers_rules_a_format_out(name: str) -> None:
    with_markers = byte_vocabulary(("<end>", *formats.get(name).triggers))
    assert _analysis(_template(name), with_markers).assumed == (name,)
    assert _analysis(_template(name), byte_vocabulary(("<end>",))).assumed == ()
    assert analyze(_template(name), vocabulary=formats.get(name).triggers).assumed == (name,)
    assert analyze(_template(name), vocabulary=["<end>"]).assumed == ()


class _Tokenizer:
    """What is read of a tokenizer of transformers."""

    def __init__(self, template: str, added: tuple[str, ...]) -> None:
        self.chat_template = template
        self._added = added

    def get_added_vocab(self) -> dict[str, int]:
        return {text: at for at, text in enumerate(self._added)}


@pytest.mark.parametrize("known", [True, False])
def test_codecs_tell_the_analysis_of_the_vocabulary(known: bool, caplog: pytest.LogCaptureFixture) -> None:
    name = PROMPTS[0]
    source = _template(name) + f"{{# {known} #}}"
    tokens = ("<end>", *formats.get(name).triggers) if known else ("<end>",)
    caplog.set_level("INFO", "syntagma.analysis")
    ChatCodec.from_tokenizer(_Tokenizer(source, tokens))
    ChatCodec.from_template(ChatTemplate(source + " "), vocabulary=byte_vocabulary(tokens))
    told = [record.getMessage() for record in caplog.records if record.getMessage().startswith("format ")]
    assert [one.startswith(f"format {name},") for one in told] == [known, known]


@pytest.mark.parametrize("known", [True, False])
def test_the_command_line_takes_a_tokenizer(known: bool, tmp_path: Path) -> None:
    name = PROMPTS[0]
    words = [*{chr(code) for code in range(33, 127)}]
    tokens = ["</s>", *(formats.get(name).triggers if known else ())]
    added = [{"id": len(words) + at, "content": text, "special": True} for at, text in enumerate(tokens)]
    model = {"type": "BPE", "vocab": {word: at for at, word in enumerate(words)}, "merges": []}
    decoder = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    described = {"version": "1.0", "added_tokens": added, "pre_tokenizer": decoder, "decoder": decoder, "model": model}
    (tmp_path / "tokenizer.json").write_text(json.dumps(described), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "</s>"}', encoding="utf-8")
    (tmp_path / "chat.jinja").write_text(_template(name), encoding="utf-8")
    arguments = ["analyze", str(tmp_path / "chat.jinja"), "--json", "--tokenizer", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert json.loads(result.stdout)["assumed"] == ([name] if known else []), result.output


def test_a_template_that_writes_calls_assumes_nothing() -> None:
    source = _template(PROMPTS[0]).replace("(m.content or '')", "(m.content or '') + ((m.tool_calls or []) | string)")
    assert _analysis(source).assumed == ()


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("tool_list", "<tools></tools>"),
        ("tool_list", "{tools}</tools>"),
        ("tool", "{tools}"),
        ("result", "<result>{result}"),
        ("result", "<result>{content}</result>"),
    ],
)
def test_a_prompt_needs_its_placeholders_between_texts(key: str, text: str) -> None:
    keys = {"tool_list": "<tools>{tools}</tools>", key: text}
    with pytest.raises(FormatError) as caught:
        ChatFormat.from_toml("[prompt]\n" + "".join(f'{name} = "{value}"\n' for name, value in keys.items()))
    assert caught.value.code == "E-FORMAT-PATTERN"
    assert caught.value.line == 2 + list(keys).index(key)
