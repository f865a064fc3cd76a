"""Templates that list tools and write no call: what their prompts tell of the format, and what they do not."""

from __future__ import annotations

import functools

import pytest

from syntagma import formats
from syntagma.analysis import Analysis, analyze
from syntagma.decoding import TokenizerInfo
from syntagma.errors import FormatError
from syntagma.formats import ChatFormat
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
def test_a_format_whose_prompt_is_rendered_is_assumed_and_not_chosen(name: str) -> None:
    found = _analysis(_template(name))
    assert found.assumed == (name,)
    assert found.chosen == "derived"
    assert found.format.spec.tools is None
    assert found.certificate is not None
    assert not found.certificate.clean
    sentence = next(finding.message for finding in found.certificate.findings if finding.code == "calls-not-written")
    assert f"`{name}`" in sentence
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
